// How each operation of a plan is done, by the process that becomes the container's.
//
// For: launch's child, between clone and exec. Nothing here allocates, throws, uses libc's errno or
// thread storage: the process may share its memory with its parent.
// Not for: operations that talk with the parent or start a process (launch/child.cpp has those).
// Errors: a Fault: the call that failed and its errno; `detail` in State may say more.
#pragma once

#include <cstddef>
#include <cstdint>

#include "plan/plan.hpp"

namespace tare::isolate {

struct Fault {
  const char* call = nullptr;  // "" or the system call's name; nullptr: no fault
  int error = 0;
  explicit operator bool() const noexcept { return call != nullptr; }
};
inline constexpr Fault kNoFault{};

// What operations leave for each other. Descriptors are -1 until made.
struct State {
  int root = -1;            // the container's root, while it is still below the host's
  int proc = -1;            // a private /proc
  int mounted_proc = -1;    // what was mounted on /proc and /sys: masks are looked up from there, wherever
  int mounted_sys = -1;     // somebody may have moved the folders meanwhile
  int console_master = -1;  // to be sent to the parent
  int console_slave = -1;
  int null_device = -1;                             // a mount of the host's /dev/null, for masks
  int empty_folder = -1;                            // a read-only tmpfs, for masks
  bool null_placed = false, folder_placed = false;  // already the mask of some path
  int dev = -1;                                     // /dev of the container, once reached
  bool fresh_dev = false;                           // it is a tmpfs that was mounted here, and empty then
  bool pivoted = false;
  int* slots = nullptr;  // what open_source made
  bool rootless_binds = false;
  long caller_umask = 022;
  char* detail = nullptr;  // a zero-terminated text beside a fault
  std::size_t detail_size = 0;
  char program[4096] = {};  // where find_program found it
};

Fault apply(const plan::Op& op, State& state) noexcept;

}  // namespace tare::isolate
