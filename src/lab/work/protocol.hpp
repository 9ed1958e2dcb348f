// What the laboratory and its worker say to each other over one SOCK_SEQPACKET socket: one short
// line of text a message.
//
//   laboratory                               worker
//   hello OWNER                          ->  hello 2 pid=7 uid=0 ...        who it is, as it sees itself
//   command\0NAME\0CWD\0ARG\0ARG...       ->  ok                             workload NAME runs this program
//   shell\0CWD\0TEXT                     ->  ok                             /bin/sh -c TEXT has ended with status 0
//   run WORKLOAD COUNT DELAY TIME        ->  done WALL CPU FAULTS VOL INV COUNT   a batch, measured inside
//   bye                                  ->  (exits; end of file says the same)
//   anything that fails                  ->  fail STEP ERRNO STATUS
//
// OWNER: the laboratory's pid, by which things that could be left behind are called. COUNT: operations (to
// be done at most; done). DELAY: hundredths of a percent that each operation is slowed by (the proof of
// the method; 0 otherwise). TIME: nanoseconds after which the batch ends, whatever was done until then;
// 0: no such end. WALL, CPU: nanoseconds. FAULTS: minor and major page faults. VOL, INV: voluntary and
// involuntary context switches. STEP: the call that failed, or what was not as it must be; STATUS: wait
// status of a child that didn't end well, or 0.
//
// Nothing here allocates or throws: the worker uses it between measurements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tare::lab {

inline constexpr int kProtocolVersion = 2;
inline constexpr std::size_t kMessageLimit = 64 * 1024;

// The worker's argv is {"tare-work", "serve"}; these descriptors are kept for it.
inline constexpr int kSocketFd = 3;
inline constexpr int kProgramFd = 4;  // tare-work itself, for the workload "exec"
// Where the place has an interface of its own, the far end's sockets: a listening TCP socket and a bound UDP socket in
// another network namespace, so that what is sent to their addresses goes over that interface; else /dev/null.
inline constexpr int kFarTcpFd = 5;
inline constexpr int kFarUdpFd = 6;
inline constexpr int kLastFd = kFarUdpFd;

struct RunRequest {
  std::string_view workload;
  std::int64_t count = 0;
  std::int64_t delay = 0;    // hundredths of a percent
  std::int64_t time_ns = 0;  // 0: no end but the count
};

struct RunResult {
  std::int64_t wall_ns = 0;
  std::int64_t cpu_ns = 0;
  std::int64_t faults = 0;
  std::int64_t voluntary = 0;
  std::int64_t involuntary = 0;
  std::int64_t count = 0;  // operations done
  bool operator==(const RunResult&) const = default;
};

struct Failure {
  std::string_view step;
  std::int64_t errno_value = 0;
  std::int64_t status = 0;
};

// Each returns false for anything that isn't exactly such a message.
bool parse_hello(std::string_view message, std::int64_t& owner) noexcept;
bool parse_run(std::string_view message, RunRequest& out) noexcept;
bool parse_done(std::string_view message, RunResult& out) noexcept;
bool parse_failure(std::string_view message, Failure& out) noexcept;

// A message being written into a buffer of fixed size. What doesn't fit is cut off.
class Message {
 public:
  Message& word(std::string_view text) noexcept;                 // a blank in front unless it is the first
  Message& number(std::int64_t n) noexcept;                      // as word
  Message& pair(std::string_view key, std::int64_t n) noexcept;  // " key=n"
  std::string_view text() const noexcept { return {buffer_, size_}; }

 private:
  void put(std::string_view text) noexcept;
  char buffer_[512];
  std::size_t size_ = 0;
};

}  // namespace tare::lab
