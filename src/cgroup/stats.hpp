// What a container's cgroups have counted, alike on v1 and cgroup2.
//
// For: `events`, `tare weigh`, tests. Read it before the cgroups are removed; the counts include
// processes that have ended, also those nobody waited for.
// Units: nanoseconds (cgroup2 counts microseconds), bytes. What a layout or kernel does not count is absent.
// Not for: a series over time of one process. Sources: cgroup-v1/cpuacct.rst, cgroup-v1/memory.rst, cgroup-v2.rst.
#pragma once

#include <cstdint>
#include <optional>

#include "cgroup/cgroup.hpp"

namespace tare::cgroup {

struct Stats {
  using Count = std::optional<std::uint64_t>;
  Count cpu_usage_ns;
  Count cpu_user_ns, cpu_system_ns;  // the kernel splits by sampling; only the sum is exact
  Count throttled_periods, throttled_ns;
  Count memory_usage, memory_peak;
  Count memory_limit;  // absent: none
  Count memory_anon, memory_file, memory_kernel;
  Count page_faults, major_faults;
  Count oom_kills;
  Count pids_current, pids_peak;
  Count pids_limit;  // absent: none
};

// Controllers that the location lacks leave their fields absent; a removed cgroup leaves all so.
Stats stats(const Location& location);

}  // namespace tare::cgroup
