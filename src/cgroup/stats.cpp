#include "cgroup/stats.hpp"

#include <limits>

#include "cgroup/files.hpp"

namespace tare::cgroup {
namespace {

using Count = Stats::Count;

// Every read of one directory's files.
class Reader {
 public:
  explicit Reader(const Entry& entry) : directory_(entry.directory() + "/") {}

  Count number(std::string_view file) const { return try_read_number(directory_ + std::string(file)); }
  std::string text(std::string_view file) const { return try_read(directory_ + std::string(file)).value_or(""); }
  // v1 says "no limit" with a number near the largest (rounded to pages), cgroup2 with "max".
  Count limit(std::string_view file) const {
    const Count value = number(file);
    return value && *value >= (std::uint64_t{1} << 62) ? std::nullopt : value;
  }

 private:
  std::string directory_;
};

Count times(Count value, std::uint64_t factor) { return value ? Count(*value * factor) : std::nullopt; }

void read_cpu_v2(const Reader& reader, Stats& stats) {
  const std::string text = reader.text("cpu.stat");
  stats.cpu_usage_ns = times(keyed_number(text, "usage_usec"), 1000);
  stats.cpu_user_ns = times(keyed_number(text, "user_usec"), 1000);
  stats.cpu_system_ns = times(keyed_number(text, "system_usec"), 1000);
  stats.throttled_periods = keyed_number(text, "nr_throttled");
  stats.throttled_ns = times(keyed_number(text, "throttled_usec"), 1000);
}

void read_memory_v2(const Reader& reader, Stats& stats) {
  stats.memory_usage = reader.number("memory.current");
  stats.memory_peak = reader.number("memory.peak");  // since Linux 5.19
  stats.memory_limit = reader.limit("memory.max");
  stats.oom_kills = keyed_number(reader.text("memory.events"), "oom_kill");
  const std::string text = reader.text("memory.stat");
  stats.memory_anon = keyed_number(text, "anon");
  stats.memory_file = keyed_number(text, "file");
  stats.memory_kernel = keyed_number(text, "kernel");  // since Linux 5.18
  stats.page_faults = keyed_number(text, "pgfault");
  stats.major_faults = keyed_number(text, "pgmajfault");
}

void read_memory_v1(const Reader& reader, Stats& stats) {
  stats.memory_usage = reader.number("memory.usage_in_bytes");
  stats.memory_peak = reader.number("memory.max_usage_in_bytes");
  stats.memory_limit = reader.limit("memory.limit_in_bytes");
  stats.oom_kills = keyed_number(reader.text("memory.oom_control"), "oom_kill");
  const std::string text = reader.text("memory.stat");
  stats.memory_anon = keyed_number(text, "total_rss");
  stats.memory_file = keyed_number(text, "total_cache");
  stats.memory_kernel = reader.number("memory.kmem.usage_in_bytes");
  stats.page_faults = keyed_number(text, "total_pgfault");
  stats.major_faults = keyed_number(text, "total_pgmajfault");
}

}  // namespace

Stats stats(const Location& location) {
  Stats stats;
  // cgroup2 counts CPU time in every cgroup, whether or not it has the controller; cpuacct, where it
  // is mounted, is read for what v1's cpu hierarchy limits.
  if (const Entry* entry = location.find("cpuacct")) {
    const Reader reader(*entry);
    if (entry->v2) {
      read_cpu_v2(reader, stats);
    } else {
      stats.cpu_usage_ns = reader.number("cpuacct.usage");
      stats.cpu_user_ns = reader.number("cpuacct.usage_user");
      stats.cpu_system_ns = reader.number("cpuacct.usage_sys");
    }
  }
  if (const Entry* entry = location.find("cpu"); entry != nullptr && !entry->v2) {
    const std::string text = Reader(*entry).text("cpu.stat");
    stats.throttled_periods = keyed_number(text, "nr_throttled");
    stats.throttled_ns = keyed_number(text, "throttled_time");
  }
  if (const Entry* entry = location.find("memory"))
    entry->v2 ? read_memory_v2(Reader(*entry), stats) : read_memory_v1(Reader(*entry), stats);
  if (const Entry* entry = location.find("pids")) {
    const Reader reader(*entry);
    stats.pids_current = reader.number("pids.current");
    stats.pids_peak = reader.number("pids.peak");  // since Linux 6.1 (v1: 6.12)
    stats.pids_limit = reader.limit("pids.max");
  }
  return stats;
}

}  // namespace tare::cgroup
