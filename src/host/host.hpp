// The facts of this machine, read once.
//
// For: the verbs, which hand the result to plan::make and cgroup::locate. A start reads them on its
// hot path, so each function says how many system calls it takes; call only what is needed.
// Not for: deciding anything, and nothing here is cached: the caller keeps what it got.
// Errors: kind kernel where /proc can't be read. Sources: proc(5), cgroups(7), capabilities(7).
#pragma once

#include <string_view>

#include "facts/facts.hpp"

namespace tare::host {

// The kernel's version, which few need. One call.
facts::Version kernel_version();

// Everything else in facts::Facts. Some 12 calls; 4 without the cgroups.
enum class Cgroups { wanted, unwanted };
facts::Facts facts(Cgroups which = Cgroups::wanted);

// Which cgroup hierarchies this process can see, where, and where it is in them. 7 calls.
facts::Cgroups cgroups();

// What cgroups() does with the texts of /proc/self/mountinfo and /proc/self/cgroup. Pure.
// Of several mounts of a hierarchy the first one wins that nothing later covers and whose root holds
// this process; where none holds it, the first visible one whose root is "/", then any visible one.
facts::Cgroups parse_cgroups(std::string_view mountinfo, std::string_view cgroup);

}  // namespace tare::host
