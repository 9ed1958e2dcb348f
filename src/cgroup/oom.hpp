// When the kernel found no more memory within a container's limit.
//
// For: `events`. Sources: cgroup-v1/memory.rst ("OOM Control"), cgroup-v2.rst (memory.events).
#pragma once

#include <cstdint>
#include <optional>

#include "cgroup/cgroup.hpp"
#include "sys/fd.hpp"

namespace tare::cgroup {

class OomWatch {
 public:
  // What happened before does not count. Without a memory controller nothing ever happens.
  explicit OomWatch(const Location& location);
  // For poll(2): the descriptor (-1: none) and the events that mean "look".
  int fd() const { return fd_.get(); }
  short poll_events() const;
  // Did it happen since the last look? Never waits. A removed cgroup: no, and then there is nothing left to watch.
  bool happened();

 private:
  std::optional<std::uint64_t> kills();  // cgroup2
  sys::Fd fd_;                           // cgroup2: memory.events; v1: an eventfd
  sys::Fd control_;                      // v1: memory.oom_control, open as long as the eventfd is to hear of it
  bool v2_ = false;
  std::uint64_t seen_ = 0;
};

}  // namespace tare::cgroup
