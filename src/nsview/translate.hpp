// One process's number in every pid namespace that sees it.
//
// Asks the kernel about that process alone: NSpid of its status for all levels, NS_GET_PARENT for the namespaces'
// names, and NS_GET_PID_FROM_PIDNS (Linux 6.11) for the way in; a kernel without it costs a pass over /proc. Numbers
// may be those of threads. Sources: proc_pid_status(5), ioctl_nsfs(2).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "nsview/snapshot.hpp"
#include "sys/fd.hpp"

namespace tare::nsview {

struct Level {
  std::uint64_t ns = 0;  // 0: out of this process's reach
  pid_t number = 0;
};

struct Numbers {
  pid_t pid = 0;              // in this process's namespace
  pid_t leader = 0;           // of the process, where `pid` is a thread
  std::vector<Level> levels;  // the outermost that is seen first
  Process process;
  std::string cgroup;  // the text of /proc/PID/cgroup
};

// Throws not_found where there is no such process, unsupported where /proc is another namespace's.
Numbers numbers_of(pid_t pid);

// The pid namespace of a process, as a descriptor. Throws not_found, or kernel with the reason.
sys::Fd pid_namespace_of(pid_t pid);

// Which process of ours is `number` in that namespace. 0: none. `kernel_calls`: false for the way of older kernels.
pid_t from_namespace(const sys::Fd& ns, pid_t number, bool kernel_calls = true);
// The other way: pid's number there. 0: it is not seen there.
pid_t in_namespace(const sys::Fd& ns, pid_t pid, bool kernel_calls = true);

}  // namespace tare::nsview
