// Starts the process that a plan describes.
//
// For: runtime's create, run and exec, and the laboratory's places: all go through `start`, so that
// what is measured is what users run.
// Errors: tare::Error with the plan's words for the operation that failed; nothing is left running.
// Source: clone(2), pidfd_open(2), user_namespaces(7).
#pragma once

#include <functional>

#include "launch/protocol.hpp"
#include "plan/plan.hpp"
#include "sys/child.hpp"
#include "sys/fd.hpp"

namespace tare::launch {

struct Request {
  // clone3(CLONE_INTO_CGROUP), where valid.
  int cgroup_fd = -1;
  // Namespaces of a running process (exec): setns(2) with these CLONE_NEW* bits.
  int target_pidfd = -1;
  int target_namespaces = 0;
  // create: the two fifos that plan::Code::wait_for_start uses.
  int start_fifo = -1;
  int result_fifo = -1;
  int preserve_fds = 0;

  std::function<void(pid_t)> on_cloned;  // the pid is known, nothing has been waited for
  std::function<void(pid_t)> on_hooks;   // namespaces and mounts are there: prestart, createRuntime
  std::function<void(sys::Fd)> on_console;
};

// Returns when the program runs (exec succeeded), or, where the plan waits for start, when everything
// is set up. Ticks: how long each operation took, in nanoseconds, beside plan.outer + plan.ops.
struct Started {
  sys::Child child;
  std::vector<std::uint64_t> operation_nanoseconds;
};
// Where the plan waits for start, the child goes on to read the plan in memory that it may share with the
// caller: the plan must then never be freed.
Started start(const plan::Plan& plan, const Request& request);

// The error that a failed message stands for; `step` are the plan's words, empty where there is no plan.
[[noreturn]] void throw_failure(const Message& message, std::string_view step);

// `tare start`: lets a created container go. Throws conflict where nobody waits.
void release(const sys::DirFd& state_folder);

// /proc/PID/uid_map, gid_map and setgroups. By newuidmap and newgidmap where the caller may not write
// the maps itself. `groups_denied` says whether setgroups(2) was given up for it.
bool maps_need_setgroups_denied(const std::vector<oci::IdMapping>& gids, std::uint32_t euid, std::uint32_t egid);
void write_id_maps(pid_t pid, const std::vector<oci::IdMapping>& uids, const std::vector<oci::IdMapping>& gids);

}  // namespace tare::launch
