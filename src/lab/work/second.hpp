// What many workloads need: a descriptor that closes itself, and a second process to work with.
//
// The second process is forked before the clock starts, shares the CPU that the worker is pinned to, and
// dies with the worker however that dies. Nothing allocates or throws.
#pragma once

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <utility>

#include "lab/work/workload.hpp"

namespace tare::lab {

class End {
 public:
  End() = default;
  explicit End(int fd) noexcept : fd_(fd) {}
  End(End&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  End& operator=(End&& other) noexcept {
    reset(std::exchange(other.fd_, -1));
    return *this;
  }
  ~End() { reset(); }
  void reset(int fd = -1) noexcept {
    if (fd_ >= 0) close(fd_);
    fd_ = fd;
  }
  int get() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

class Second {
 public:
  Second() = default;
  Second(const Second&) = delete;
  Second& operator=(const Second&) = delete;
  ~Second() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

  // The child does body() and leaves with the status that it gives; 0 says that all went well.
  template <class Body>
  Fault start(Body&& body) noexcept {
    const pid_t parent = getpid();
    pid_ = fork();
    if (pid_ < 0) return {"fork", errno};
    if (pid_ > 0) return {};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);  // it had died before it was asked to tell
    _exit(body());
  }
  Fault wait() noexcept {
    int status = 0;
    if (waitpid(pid_, &status, 0) != pid_) return {"waitpid", errno};
    pid_ = -1;
    if (status != 0) return {"second-process", 0, status};
    return {};
  }
  pid_t pid() const noexcept { return pid_; }

 private:
  pid_t pid_ = -1;
};

// For faults on the way out: the first one counts.
inline void keep_first(Fault& fault, const Fault& later) noexcept {
  if (fault.step == nullptr) fault = later;
}

// What the second process does in a round trip: sends each byte back until there are no more.
int echo(int in, int out) noexcept;
// One byte to the echo and back an operation, checked to be the same; `finish` makes the echo see the end.
template <class Finish>
Fault round_trips(const Batch& batch, RunResult& result, std::int64_t chunk, int out, int in, Second& second,
                  Finish&& finish) noexcept {
  unsigned char next = 1;
  const auto trip = [&]() noexcept -> Fault {
    const unsigned char sent = next++;
    unsigned char got = 0;
    if (write(out, &sent, 1) != 1) return {"write", errno};
    if (read(in, &got, 1) != 1) return {"read", errno};
    if (got != sent) [[unlikely]] {
      return {"byte-that-came-back"};
    }
    return {};
  };
  Fault fault = trip();  // the child's first pages come in before the clock starts
  Meter meter;
  if (fault.step == nullptr) fault = repeat(batch, result, chunk, trip);
  meter.stop_clock();
  finish();
  if (fault.step != nullptr) return fault;
  fault = second.wait();
  meter.finish(result);
  return fault;
}

// A block of 16 KiB an operation into `out`; the second process drains the other end (drain) and says
// how much came, which is part of the time and must be all of it.
inline constexpr std::size_t kBlock = 16 * 1024;
int drain(int fd) noexcept;
Fault stream(const Batch& batch, RunResult& result, std::int64_t chunk, int fd, Second& second) noexcept;

}  // namespace tare::lab
