// What a batch takes beside the worker's own account: CPU time of all processes in the place's cgroup (so that children
// nobody waits for count), the most memory that the cgroup has held, and hardware counters of the worker and its
// children.
//
// Read from outside before and after a batch, never within its clock. What this machine doesn't have is -1.
// Source: cgroups(7), Documentation/admin-guide/cgroup-v1 and cgroup-v2, perf_event_open(2).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "sys/fd.hpp"

namespace tare::lab {

struct Reading {
  std::int64_t cpu_ns = -1, peak_bytes = -1, instructions = -1, cycles = -1;
};

class Meter {
 public:
  // directories: the place's cgroup in each hierarchy.
  Meter(pid_t worker, const std::vector<std::string>& directories);
  Reading read() const;

 private:
  sys::Fd cpu_, peak_, instructions_, cycles_;
  bool cpu_in_microseconds_ = false;  // cgroup2's cpu.stat
};

// after - before; the peak is that of `after`.
Reading difference(const Reading& before, const Reading& after);

}  // namespace tare::lab
