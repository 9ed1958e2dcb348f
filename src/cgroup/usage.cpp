#include "cgroup/usage.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cgroup/files.hpp"
#include "cgroup/stats.hpp"

namespace tare::cgroup {
namespace {

class Reader {
 public:
  explicit Reader(const Entry& entry) : directory_(entry.directory() + "/") {}

  std::string text(std::string_view file) const {
    try {
      return try_read(directory_ + std::string(file)).value_or("");
    } catch (const Error&) {
      return "";  // EOPNOTSUPP of pressure files that are turned off, and the like
    }
  }
  std::uint64_t number(std::string_view file) const {
    const std::string found = text(file);
    return found == "max" ? kNoLimit : parse_number<std::uint64_t>(found).value_or(0);
  }
  MemoryEntry entry_v1(std::string_view stem) const {
    return {number(cat(stem, "limit_in_bytes")), number(cat(stem, "usage_in_bytes")),
            number(cat(stem, "max_usage_in_bytes")), number(cat(stem, "failcnt"))};
  }
  const std::string& directory() const { return directory_; }

 private:
  std::string directory_;
};

// f(words) for each line.
template <class F>
void each_line(std::string_view text, F&& f) {
  for (const std::string_view line : split(text, '\n')) {
    std::vector<std::string_view> words;
    for (const std::string_view word : split(line, ' '))
      if (!word.empty()) words.push_back(word);
    if (!words.empty()) f(words);
  }
}

std::uint64_t to_number(std::string_view text) { return parse_number<std::uint64_t>(text).value_or(0); }

// "some.key=12": what follows the sign, where the key is that.
std::optional<std::string_view> value_of(std::string_view word, std::string_view key) {
  if (word.size() <= key.size() || !word.starts_with(key) || word[key.size()] != '=') return std::nullopt;
  return word.substr(key.size() + 1);
}

void read_cpu(const Location& location, CpuUsage& cpu) {
  const Entry* account = location.find("cpuacct");
  if (account != nullptr && account->v2) {
    const Reader reader(*account);
    const std::string text = reader.text("cpu.stat");
    cpu.total = keyed_number(text, "usage_usec").value_or(0) * 1000;
    cpu.user = keyed_number(text, "user_usec").value_or(0) * 1000;
    cpu.kernel = keyed_number(text, "system_usec").value_or(0) * 1000;
  } else if (account != nullptr) {
    const Reader reader(*account);
    cpu.total = reader.number("cpuacct.usage");
    cpu.user = reader.number("cpuacct.usage_user");
    cpu.kernel = reader.number("cpuacct.usage_sys");
    each_line(reader.text("cpuacct.usage_percpu"), [&](const auto& words) {
      for (const auto word : words) cpu.percpu.push_back(to_number(word));
    });
    bool header = true;  // "cpu user system"
    each_line(reader.text("cpuacct.usage_all"), [&](const auto& words) {
      if (!header && words.size() == 3) {
        cpu.percpu_user.push_back(to_number(words[1]));
        cpu.percpu_kernel.push_back(to_number(words[2]));
      }
      header = false;
    });
  }
  const Entry* limit = location.find("cpu");
  if (limit == nullptr) return;
  const std::string text = Reader(*limit).text("cpu.stat");
  cpu.periods = keyed_number(text, "nr_periods").value_or(0);
  cpu.throttled_periods = keyed_number(text, "nr_throttled").value_or(0);
  cpu.throttled_time = limit->v2 ? keyed_number(text, "throttled_usec").value_or(0) * 1000
                                 : keyed_number(text, "throttled_time").value_or(0);
}

void read_cpuset(const Entry& entry, CpusetUsage& cpuset) {
  const Reader reader(entry);
  cpuset.cpus = parse_list(reader.text(entry.v2 ? "cpuset.cpus.effective" : "cpuset.cpus"));
  cpuset.mems = parse_list(reader.text(entry.v2 ? "cpuset.mems.effective" : "cpuset.mems"));
  if (entry.v2) return;
  cpuset.cpu_exclusive = reader.number("cpuset.cpu_exclusive");
  cpuset.mem_hardwall = reader.number("cpuset.mem_hardwall");
  cpuset.mem_exclusive = reader.number("cpuset.mem_exclusive");
  cpuset.memory_migrate = reader.number("cpuset.memory_migrate");
  cpuset.memory_spread_page = reader.number("cpuset.memory_spread_page");
  cpuset.memory_spread_slab = reader.number("cpuset.memory_spread_slab");
  cpuset.memory_pressure = reader.number("cpuset.memory_pressure");
  cpuset.sched_load_balance = reader.number("cpuset.sched_load_balance");
  cpuset.sched_relax_domain_level =
      parse_number<std::int64_t>(reader.text("cpuset.sched_relax_domain_level")).value_or(0);
}

void read_memory(const Entry& entry, MemoryUsage& memory) {
  const Reader reader(entry);
  const std::string text = reader.text("memory.stat");
  each_line(text, [&](const auto& words) {
    if (words.size() == 2) memory.raw.emplace_back(words[0], to_number(words[1]));
  });
  memory.cache = keyed_number(text, entry.v2 ? "file" : "cache").value_or(0);
  if (!entry.v2) {
    memory.usage = reader.entry_v1("memory.");
    memory.swap = reader.entry_v1("memory.memsw.");
    memory.kernel = reader.entry_v1("memory.kmem.");
    memory.kernel_tcp = reader.entry_v1("memory.kmem.tcp.");
    return;
  }
  memory.usage = {reader.number("memory.max"), reader.number("memory.current"), reader.number("memory.peak"),
                  keyed_number(reader.text("memory.events"), "max").value_or(0)};
  const std::uint64_t limit = reader.number("memory.swap.max");
  memory.swap.limit = limit == kNoLimit || memory.usage.limit == kNoLimit ? kNoLimit : memory.usage.limit + limit;
  memory.swap.usage = memory.usage.usage + reader.number("memory.swap.current");
  memory.kernel.usage = keyed_number(text, "kernel").value_or(0);
  memory.kernel.limit = memory.kernel_tcp.limit = kNoLimit;
  memory.kernel_tcp.usage = keyed_number(text, "sock").value_or(0);
}

bool read_device(std::string_view word, BlockEntry& entry) {
  const std::size_t colon = word.find(':');
  if (colon == word.npos) return false;
  entry.major = to_number(word.substr(0, colon));
  entry.minor = to_number(word.substr(colon + 1));
  return true;
}

std::vector<BlockEntry> block_entries_v1(const std::string& text) {
  std::vector<BlockEntry> entries;
  each_line(text, [&](const auto& words) {
    BlockEntry entry;
    if (words.size() != 3 || !read_device(words[0], entry)) return;  // the last line is a sum
    entry.operation = words[1];
    entry.value = to_number(words[2]);
    entries.push_back(std::move(entry));
  });
  return entries;
}

void read_block_io(const Location& location, BlockUsage& io) {
  const Entry* v1 = location.find("blkio");
  if (v1 == nullptr) return;
  const Reader reader(*v1);
  if (!v1->v2) {
    io.bytes = block_entries_v1(reader.text("blkio.throttle.io_service_bytes_recursive"));
    io.operations = block_entries_v1(reader.text("blkio.throttle.io_serviced_recursive"));
    return;
  }
  each_line(reader.text("io.stat"), [&](const auto& words) {
    BlockEntry entry;
    if (!read_device(words[0], entry)) return;
    struct Key {
      const char* key;
      const char* operation;
      std::vector<BlockEntry>* entries;
    };
    for (const Key& key : {Key{"rbytes", "Read", &io.bytes}, Key{"wbytes", "Write", &io.bytes},
                           Key{"dbytes", "Discard", &io.bytes}, Key{"rios", "Read", &io.operations},
                           Key{"wios", "Write", &io.operations}, Key{"dios", "Discard", &io.operations}}) {
      for (const auto word : words) {
        const auto value = value_of(word, key.key);
        if (!value) continue;
        entry.operation = key.operation;
        entry.value = to_number(*value);
        key.entries->push_back(entry);
      }
    }
  });
}

// Sizes by the names of the files: "hugetlb.2MB.max", on v1 "hugetlb.2MB.limit_in_bytes".
std::vector<HugepageUsage> read_hugepages(const Entry& entry) {
  std::vector<HugepageUsage> pages;
  const std::string_view end = entry.v2 ? ".max" : ".limit_in_bytes";
  std::vector<std::string> names;
  try {
    names = sys::list_dir(sys::open_dir(entry.directory()));
  } catch (const Error&) {
    return pages;
  }
  std::sort(names.begin(), names.end());
  const Reader reader(entry);
  for (const std::string& name : names) {
    if (!name.starts_with("hugetlb.") || !name.ends_with(end) || name.find(".rsvd.") != name.npos) continue;
    HugepageUsage page;
    page.size = name.substr(8, name.size() - 8 - end.size());
    std::string stem = cat("hugetlb.", page.size, ".rsvd");  // reserved pages count, too, where they are counted
    if (!exists(reader.directory() + stem + std::string(end))) stem = cat("hugetlb.", page.size);
    if (entry.v2) {
      page.usage = reader.number(stem + ".current");
      page.failcnt = keyed_number(reader.text(cat("hugetlb.", page.size, ".events")), "max").value_or(0);
    } else {
      page.usage = reader.number(stem + ".usage_in_bytes");
      page.max = reader.number(stem + ".max_usage_in_bytes");
      page.failcnt = reader.number(stem + ".failcnt");
    }
    pages.push_back(std::move(page));
  }
  return pages;
}

bool is_decimal(std::string_view text) {
  return !text.empty() && text.front() != '.' && text.back() != '.' &&
         text.find_first_not_of("0123456789.") == text.npos && std::count(text.begin(), text.end(), '.') <= 1;
}

}  // namespace

std::vector<std::uint32_t> parse_list(std::string_view text) {
  constexpr std::uint32_t kMost = 8192;
  std::vector<std::uint32_t> numbers;
  if (text.empty()) return numbers;
  for (const auto range : split(text, ',')) {
    const std::size_t dash = range.find('-');
    const auto first = parse_number<std::uint32_t>(range.substr(0, dash));
    const auto last = dash == range.npos ? first : parse_number<std::uint32_t>(range.substr(dash + 1));
    if (!first || !last || *first > *last || *last >= kMost) return {};
    for (std::uint32_t n = *first; n <= *last; ++n) numbers.push_back(n);
    if (numbers.size() > kMost) return {};
  }
  return numbers;
}

std::optional<Pressure> parse_pressure(std::string_view text) {
  Pressure pressure;
  bool found = false;
  each_line(text, [&](const auto& words) {
    Pressure::Line* line = words[0] == "some" ? &pressure.some : words[0] == "full" ? &pressure.full : nullptr;
    if (line == nullptr) return;
    found = true;
    for (const auto word : words) {
      if (const auto v = value_of(word, "avg10"); v && is_decimal(*v)) line->avg10 = *v;
      if (const auto v = value_of(word, "avg60"); v && is_decimal(*v)) line->avg60 = *v;
      if (const auto v = value_of(word, "avg300"); v && is_decimal(*v)) line->avg300 = *v;
      if (const auto v = value_of(word, "total")) line->total = to_number(*v);
    }
  });
  return found ? std::optional(pressure) : std::nullopt;
}

Usage usage(const Location& location) {
  Usage out;
  read_cpu(location, out.cpu);
  if (const Entry* entry = location.find("cpuset")) read_cpuset(*entry, out.cpuset);
  if (const Entry* entry = location.find("memory")) read_memory(*entry, out.memory);
  if (const Entry* entry = location.find("pids")) {
    out.pids_current = Reader(*entry).number("pids.current");
    const std::uint64_t limit = Reader(*entry).number("pids.max");
    out.pids_limit = limit == kNoLimit ? 0 : limit;
  }
  read_block_io(location, out.block_io);
  if (const Entry* entry = location.find("hugetlb")) out.hugepages = read_hugepages(*entry);
  // Stalls are counted for every cgroup of the unified hierarchy, whichever controllers it has.
  if (const Entry* entry = location.v2()) {
    const Reader reader(*entry);
    out.cpu.pressure = parse_pressure(reader.text("cpu.pressure"));
    out.memory.pressure = parse_pressure(reader.text("memory.pressure"));
    out.block_io.pressure = parse_pressure(reader.text("io.pressure"));
  }
  return out;
}

}  // namespace tare::cgroup
