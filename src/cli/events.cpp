// events: a line of JSON for each, in the form of runc's.
#include <algorithm>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "cli/commands.hpp"

namespace tare::cli {
namespace {

constexpr Option kOptions[] = {
    {Opt::interval, 0, "interval", "TIME", "between two counts (default: 5s)"},
    {Opt::stats, 0, "stats", nullptr, "the counts, once"},
};

using Count = std::pair<const char*, std::uint64_t>;

// Counts that are nothing are left out, as runc does.
void write_counts(json::Writer& writer, std::initializer_list<Count> counts) {
  for (const auto& [key, value] : counts)
    if (value != 0) writer.key(key).number(value);
}

void write_numbers(json::Writer& writer, const char* key, const auto& numbers) {
  if (numbers.empty()) return;
  writer.key(key).begin_array();
  for (const auto n : numbers) writer.number(std::uint64_t{n});
  writer.end_array();
}

void write_pressure(json::Writer& writer, const std::optional<cgroup::Pressure>& pressure) {
  if (!pressure) return;
  writer.key("psi").begin_object();
  for (const auto& [key, line] : {std::pair{"some", &pressure->some}, std::pair{"full", &pressure->full}}) {
    writer.key(key).begin_object();
    writer.key("avg10").raw(line->avg10).key("avg60").raw(line->avg60).key("avg300").raw(line->avg300);
    writer.key("total").number(line->total).end_object();
  }
  writer.end_object();
}

void write_cpu(json::Writer& writer, const cgroup::CpuUsage& cpu) {
  writer.key("cpu").begin_object().key("usage").begin_object();
  write_counts(writer, {{"total", cpu.total}});
  write_numbers(writer, "percpu", cpu.percpu);
  write_numbers(writer, "percpu_kernel", cpu.percpu_kernel);
  write_numbers(writer, "percpu_user", cpu.percpu_user);
  writer.key("kernel").number(cpu.kernel).key("user").number(cpu.user).end_object();
  writer.key("throttling").begin_object();
  write_counts(
      writer,
      {{"periods", cpu.periods}, {"throttledPeriods", cpu.throttled_periods}, {"throttledTime", cpu.throttled_time}});
  writer.end_object();
  write_pressure(writer, cpu.pressure);
  writer.end_object();
}

void write_cpuset(json::Writer& writer, const cgroup::CpusetUsage& set) {
  writer.key("cpuset").begin_object();
  write_numbers(writer, "cpus", set.cpus);
  writer.key("cpu_exclusive").number(set.cpu_exclusive);
  write_numbers(writer, "mems", set.mems);
  writer.key("mem_hardwall").number(set.mem_hardwall).key("mem_exclusive").number(set.mem_exclusive);
  writer.key("memory_migrate").number(set.memory_migrate).key("memory_spread_page").number(set.memory_spread_page);
  writer.key("memory_spread_slab").number(set.memory_spread_slab);
  writer.key("memory_pressure").number(set.memory_pressure);
  writer.key("sched_load_balance").number(set.sched_load_balance);
  writer.key("sched_relax_domain_level").number(set.sched_relax_domain_level).end_object();
}

void write_entry(json::Writer& writer, const char* key, const cgroup::MemoryEntry& entry) {
  writer.key(key).begin_object().key("limit").number(entry.limit);
  write_counts(writer, {{"usage", entry.usage}, {"max", entry.max}});
  writer.key("failcnt").number(entry.failcnt).end_object();
}

void write_memory(json::Writer& writer, const cgroup::MemoryUsage& memory) {
  writer.key("memory").begin_object();
  write_counts(writer, {{"cache", memory.cache}});
  write_entry(writer, "usage", memory.usage);
  write_entry(writer, "swap", memory.swap);
  write_entry(writer, "kernel", memory.kernel);
  write_entry(writer, "kernelTCP", memory.kernel_tcp);
  if (!memory.raw.empty()) {
    writer.key("raw").begin_object();
    for (const auto& [key, value] : memory.raw) writer.key(key).number(value);
    writer.end_object();
  }
  write_pressure(writer, memory.pressure);
  writer.end_object();
}

void write_block_entries(json::Writer& writer, const char* key, const std::vector<cgroup::BlockEntry>& entries) {
  if (entries.empty()) return;
  writer.key(key).begin_array();
  for (const auto& entry : entries) {
    writer.begin_object();
    write_counts(writer, {{"major", entry.major}, {"minor", entry.minor}});
    writer.key("op").string(entry.operation);
    write_counts(writer, {{"value", entry.value}});
    writer.end_object();
  }
  writer.end_array();
}

void write_network(json::Writer& writer, const std::vector<runtime::NetworkCounts>& network) {
  writer.key("network_interfaces");
  if (network.empty()) {
    writer.null();
    return;
  }
  writer.begin_array();
  for (const auto& n : network) {
    writer.begin_object().key("Name").string(n.name);
    writer.key("RxBytes").number(n.rx_bytes).key("RxPackets").number(n.rx_packets);
    writer.key("RxErrors").number(n.rx_errors).key("RxDropped").number(n.rx_dropped);
    writer.key("TxBytes").number(n.tx_bytes).key("TxPackets").number(n.tx_packets);
    writer.key("TxErrors").number(n.tx_errors).key("TxDropped").number(n.tx_dropped).end_object();
  }
  writer.end_array();
}

void write_usage(json::Writer& writer, const runtime::Event& event) {
  const cgroup::Usage& usage = event.usage;
  writer.key("data").begin_object();
  write_cpu(writer, usage.cpu);
  write_cpuset(writer, usage.cpuset);
  write_memory(writer, usage.memory);
  writer.key("pids").begin_object();
  write_counts(writer, {{"current", usage.pids_current}, {"limit", usage.pids_limit}});
  writer.end_object().key("blkio").begin_object();
  write_block_entries(writer, "ioServiceBytesRecursive", usage.block_io.bytes);
  write_block_entries(writer, "ioServicedRecursive", usage.block_io.operations);
  write_pressure(writer, usage.block_io.pressure);
  writer.end_object().key("hugetlb").begin_object();
  for (const auto& page : usage.hugepages) {
    writer.key(page.size).begin_object();
    write_counts(writer, {{"usage", page.usage}, {"max", page.max}});
    writer.key("failcnt").number(page.failcnt).end_object();
  }
  writer.end_object().key("intel_rdt").begin_object().end_object();
  write_network(writer, event.network);
  writer.end_object();
}

}  // namespace

constexpr Command kEvents = {"events",
                             "CONTAINER",
                             "tell what a container uses, and when it ran out of memory",
                             "A line of JSON for each event, until the container ends.",
                             kOptions,
                             Order::anywhere,
                             1,
                             1};

// Not std::from_chars of a double: it brings two global constructors along.
std::chrono::milliseconds parse_duration(std::string_view text, std::string_view option) {
  const auto wrong = [&] {
    return Error(ErrorKind::usage, cat("--", option, ": ", quoted(text), " is no time like 5s, 500ms or 1m30s"));
  };
  struct Unit {
    std::string_view name;
    std::uint64_t nanoseconds;
  };
  constexpr Unit kUnits[] = {{"ns", 1},
                             {"us", 1'000},
                             {"ms", 1'000'000},
                             {"s", 1'000'000'000},
                             {"m", 60'000'000'000},
                             {"h", 3'600'000'000'000}};
  constexpr std::uint64_t kMost = 24 * 365 * 3'600'000'000'000;  // a year, so that nothing overflows
  constexpr std::string_view kDigits = "0123456789";
  std::uint64_t sum = 0;
  std::string_view rest = text == "0" ? "0s" : text;
  do {
    const std::string_view number = rest.substr(0, std::min(rest.find_first_not_of("0123456789."), rest.size()));
    rest.remove_prefix(number.size());
    const std::string_view name = rest.substr(0, std::min(rest.find_first_of("0123456789."), rest.size()));
    rest.remove_prefix(name.size());
    const std::size_t point = std::min(number.find('.'), number.size());
    const std::string_view whole = number.substr(0, point), part = number.substr(std::min(point + 1, number.size()));
    if ((whole.empty() && part.empty()) || part.find_first_not_of(kDigits) != part.npos) throw wrong();
    const Unit* unit = nullptr;
    for (const Unit& u : kUnits)
      if (u.name == name) unit = &u;
    const auto count = whole.empty() ? std::optional<std::uint64_t>(0) : parse_number<std::uint64_t>(whole);
    if (unit == nullptr || !count || *count > kMost / unit->nanoseconds) throw wrong();
    sum += *count * unit->nanoseconds;
    std::uint64_t digit = unit->nanoseconds;
    for (const char c : part) sum += static_cast<std::uint64_t>(c - '0') * (digit /= 10);
    if (sum > kMost) throw wrong();
  } while (!rest.empty());
  if (sum == 0) throw Error(ErrorKind::usage, cat("--", option, ": duration interval must be greater than 0"));
  return std::chrono::milliseconds(std::max<std::uint64_t>(1, sum / 1'000'000));
}

std::string event_json(std::string_view id, const runtime::Event& event) {
  json::Writer writer;
  writer.begin_object().key("type").string(event.oom ? "oom" : "stats").key("id").string(id);
  if (!event.oom) write_usage(writer, event);
  writer.end_object();
  return writer.take();
}

int do_events(const Session& session, const Parsed& parsed) {
  const std::string& id = parsed.words.at(0);
  const auto interval = parse_duration(parsed.last(Opt::interval, "5s"), "interval");
  runtime::events(session.context, id, parsed.on(Opt::stats), interval,
                  [&](const runtime::Event& event) { print(cat(event_json(id, event), "\n")); });
  return 0;
}

}  // namespace tare::cli
