// The workloads inside tare-work, and how a batch of one is timed.
//
// Each is a function that does `batch.count` operations, checks that it did what it counts and fills in
// the result; workloads.cpp has the table of their names. All places run the same bytes with the same
// count. Nothing here allocates or throws.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "lab/work/protocol.hpp"

namespace tare::lab {

// A command that a workload runs; argv ends with a null pointer.
struct Command {
  std::string_view name{};  // of the workload
  char** argv = nullptr;
  char** environment = nullptr;
};

struct Batch {
  std::int64_t count = 0;            // operations; the most of them where time_ns is given
  std::int64_t delay = 0;            // hundredths of a percent of slowing; see repeat
  std::int64_t time_ns = 0;          // above 0: as many operations as end up in that time (and the chunk then begun)
  const Command* command = nullptr;  // of the workloads that run one
};

// What failed, with the errno or the wait status of the child; step == nullptr: nothing did. Without
// both, what the step names was not as it must be: a self-check failed.
struct Fault {
  const char* step = nullptr;
  int errno_value = 0;
  int status = 0;
};

using Run = Fault (*)(const Batch& batch, RunResult& result) noexcept;

struct Entry {
  std::string_view name;
  Run run;
};

std::span<const Entry> workloads() noexcept;        // all but the commands
Run find_workload(std::string_view name) noexcept;  // nullptr: none is called so
Fault run_command(const Batch& batch, RunResult& result) noexcept;

// What the file workloads, and whoever cleans up after a killed laboratory, call their things by: the
// laboratory's pid, as it is told in hello (the worker's own where nobody told).
void set_owner(std::int64_t owner) noexcept;
std::int64_t owner() noexcept;

// Reads clocks and counters around a batch. Use: construct, loop, finish().
class Meter {
 public:
  Meter() noexcept;
  void stop_clock() noexcept;               // where tear-down follows that isn't part of the work
  void finish(RunResult& result) noexcept;  // after all children were waited for

 private:
  std::int64_t wall_;
  std::int64_t stopped_ = 0;
  RunResult before_;
};

std::int64_t monotonic_ns() noexcept;

// Calls op() `batch.count` times, or for `batch.time_ns`, reading the clock once after every `chunk`
// operations; op returns a Fault. Where a delay is asked for, each chunk is followed by a busy wait of
// exactly that share of the time the chunk took: the batch then lasts 1 + delay times as long, by
// construction, however fast the machine is at the moment. The clock is read in the same places without
// a delay, so that reading it is not part of the difference. `chunk` is a millisecond's worth or more: a
// wait after each operation, or each 60 us, changed the speed of the operations that came after it (the
// pipe by 0.3 %, the system call by 0.2 %, measured), and the known cost was not known any more.
template <class Op>
Fault repeat(const Batch& batch, RunResult& result, std::int64_t chunk, Op&& op) noexcept {
  std::int64_t left = batch.count;
  std::int64_t begin = monotonic_ns();
  const std::int64_t end = batch.time_ns > 0 ? begin + batch.time_ns : INT64_MAX;
  result.count = 0;
  while (left > 0 && begin < end) {
    const std::int64_t n = left < chunk ? left : chunk;
    for (std::int64_t i = 0; i < n; ++i) {
      if (const Fault fault = op(); fault.step != nullptr) [[unlikely]] {
        return fault;
      }
    }
    left -= n;
    result.count += n;
    std::int64_t now = monotonic_ns();
    if (batch.delay > 0) {
      const std::int64_t until = now + (now - begin) * batch.delay / 10'000;
      while (now < until) now = monotonic_ns();
    }
    begin = now;
  }
  return {};
}

// The same between a Meter's beginning and its end: for work without anything to tear down.
template <class Op>
Fault measure(const Batch& batch, RunResult& result, std::int64_t chunk, Op&& op) noexcept {
  Meter meter;
  const Fault fault = repeat(batch, result, chunk, op);
  meter.finish(result);
  return fault;
}

}  // namespace tare::lab
