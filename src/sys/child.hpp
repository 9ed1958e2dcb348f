// A child process with an owner: killed and reaped on destruction unless released.
// Source: pidfd_open(2), waitid(2).
#pragma once

#include <sys/types.h>

#include "sys/fd.hpp"

namespace tare::sys {

// What became of a child, as a shell counts it: the status, or 128 + signal.
struct ExitStatus {
  bool signalled = false;
  int value = 0;  // exit status or signal number
  int as_shell() const { return signalled ? 128 + value : value; }
};

class Child {
 public:
  Child() = default;
  Child(pid_t pid, Fd pidfd) : pid_(pid), pidfd_(std::move(pidfd)) {}
  Child(Child&& other) noexcept : pid_(std::exchange(other.pid_, 0)), pidfd_(std::move(other.pidfd_)) {}
  Child& operator=(Child&& other) noexcept;
  ~Child() { destroy(); }

  pid_t pid() const { return pid_; }
  const Fd& pidfd() const { return pidfd_; }
  // Waits for the end and reaps. Throws kernel where there is no such child.
  ExitStatus wait();
  void kill(int signal) const noexcept;
  // From now on someone else answers for it.
  pid_t release() noexcept { return std::exchange(pid_, 0); }

 private:
  void destroy() noexcept;
  pid_t pid_ = 0;
  Fd pidfd_;
};

// When a process started, in clock ticks after boot (field 22 of /proc/PID/stat): with the pid it
// names one process for ever. 0 where there is no such process; a zombie counts as none.
std::uint64_t start_time(pid_t pid);

}  // namespace tare::sys
