// All that a container's cgroups count, in the shape in which `events` tells it.
//
// For: `events`, alike on v1 and cgroup2. Not for: what is measured often; stats() reads less.
// Units: nanoseconds, bytes. What a layout or kernel does not count is absent or 0. A limit that is none is the largest
// number. Sources: cgroup-v1/*.rst, cgroup-v2.rst, accounting/psi.rst; the shape is that of runc's events.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cgroup/cgroup.hpp"

namespace tare::cgroup {

inline constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

// Stall information; the averages as the kernel writes them, "1.25".
struct Pressure {
  struct Line {
    std::string avg10 = "0", avg60 = "0", avg300 = "0";
    std::uint64_t total = 0;
  };
  Line some, full;
};

struct CpuUsage {
  std::uint64_t total = 0, kernel = 0, user = 0;
  std::vector<std::uint64_t> percpu, percpu_kernel, percpu_user;  // v1
  std::uint64_t periods = 0, throttled_periods = 0, throttled_time = 0;
  std::optional<Pressure> pressure;
};

struct CpusetUsage {
  std::vector<std::uint32_t> cpus, mems;
  std::uint64_t cpu_exclusive = 0, mem_hardwall = 0, mem_exclusive = 0, memory_migrate = 0, memory_spread_page = 0,
                memory_spread_slab = 0, memory_pressure = 0, sched_load_balance = 0;
  std::int64_t sched_relax_domain_level = 0;
};

struct MemoryEntry {
  std::uint64_t limit = 0, usage = 0, max = 0, failcnt = 0;
};

struct MemoryUsage {
  std::uint64_t cache = 0;
  MemoryEntry usage, swap, kernel, kernel_tcp;  // swap: memory and swap together
  std::vector<std::pair<std::string, std::uint64_t>> raw;
  std::optional<Pressure> pressure;
};

struct BlockEntry {
  std::uint64_t major = 0, minor = 0, value = 0;
  std::string operation;  // "Read"
};

struct BlockUsage {
  std::vector<BlockEntry> bytes, operations;
  std::optional<Pressure> pressure;
};

struct HugepageUsage {
  std::string size;  // "2MB"
  std::uint64_t usage = 0, max = 0, failcnt = 0;
};

struct Usage {
  CpuUsage cpu;
  CpusetUsage cpuset;
  MemoryUsage memory;
  std::uint64_t pids_current = 0, pids_limit = 0;  // limit 0: none
  BlockUsage block_io;
  std::vector<HugepageUsage> hugepages;
};

// A removed cgroup leaves its parts empty.
Usage usage(const Location& location);

// "0-3,7" as numbers; nothing where it is something else. At most 8192 of them.
std::vector<std::uint32_t> parse_list(std::string_view text);
// "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\nfull ...". Nothing where it is something else.
std::optional<Pressure> parse_pressure(std::string_view text);

}  // namespace tare::cgroup
