// Keeps the runtime's own file out of the container's reach (CVE-2019-5736).
#pragma once

namespace tare::launch {

// Executes this program again from a detached read-only mount of its file (or, where that can't be had,
// from a sealed copy in memory), so that what a container sees as /proc/PID/exe of the runtime can't be
// written to. Returns where that is the case already. To be called first of all by verbs that put a
// process into a container. Throws kernel where neither way works.
// Source: open_tree(2), mount_setattr(2), memfd_create(2), execveat(2).
void protect_own_file(char** argv);

}  // namespace tare::launch
