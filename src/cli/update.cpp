// update.
#include <fcntl.h>

#include <climits>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "oci/parse.hpp"
#include "sys/fd.hpp"

namespace tare::cli {
namespace {

constexpr Option kOptions[] = {
    {Opt::resources, 'r', "resources", "FILE",
     "the object linux.resources of config.json, - for standard input; all other options are then ignored"},
    {Opt::blkio_weight, 0, "blkio-weight", "N", "share of disk time, 10 to 1000"},
    {Opt::cpu_period, 0, "cpu-period", "US", "length of a CPU period, in microseconds"},
    {Opt::cpu_quota, 0, "cpu-quota", "US", "CPU time within a period; -1: no limit"},
    {Opt::cpu_burst, 0, "cpu-burst", "US", "CPU time that may be saved up for later periods"},
    {Opt::cpu_share, 0, "cpu-share", "N", "share of CPU time beside other containers, 2 to 262144 (usually 1024)"},
    {Opt::cpu_rt_period, 0, "cpu-rt-period", "US", "length of a period for real-time processes; on cgroup v1 only"},
    {Opt::cpu_rt_runtime, 0, "cpu-rt-runtime", "US", "their CPU time within it; on cgroup v1 only"},
    {Opt::cpu_idle, 0, "cpu-idle", "0|1", "1: run only where nobody else wants to"},
    {Opt::cpuset_cpus, 0, "cpuset-cpus", "LIST", "the CPUs to run on, 0-3,7"},
    {Opt::cpuset_mems, 0, "cpuset-mems", "LIST", "the memory nodes to take memory from"},
    {Opt::memory, 0, "memory", "BYTES", "limit of memory: 512M, 2G; -1: no limit"},
    {Opt::memory_reservation, 0, "memory-reservation", "BYTES", "memory that is left to it when others need some"},
    {Opt::memory_swap, 0, "memory-swap", "BYTES", "limit of memory and swap together; -1: no limit"},
    {Opt::kernel_memory, 0, "kernel-memory", "BYTES", "on cgroup v1 of old kernels only"},
    {Opt::kernel_memory_tcp, 0, "kernel-memory-tcp", "BYTES", "on cgroup v1 of old kernels only"},
    {Opt::pids_limit, 0, "pids-limit", "N", "how many processes it may have; -1: no limit"},
    {Opt::l3_cache_schema, 0, "l3-cache-schema", "TEXT", "refused: Intel RDT is not supported yet"},
    {Opt::mem_bw_schema, 0, "mem-bw-schema", "TEXT", "refused: Intel RDT is not supported yet"},
};

constexpr std::size_t kMostResources = 16 << 20;

template <class T>
std::optional<T> number(const Parsed& parsed, Opt id, std::string_view name, long long least,
                        long long most = LLONG_MAX) {
  if (!parsed.has(id)) return std::nullopt;
  return static_cast<T>(number_of(parsed, id, name, least, most, 0));
}

std::optional<std::int64_t> bytes(const Parsed& parsed, Opt id, std::string_view name) {
  if (!parsed.has(id)) return std::nullopt;
  return parse_bytes(parsed.last(id), name);
}

oci::Resources read_resources(const std::string& file) {
  if (file != "-") return oci::parse_resources(sys::read_file(file, kMostResources), file);
  const sys::Fd copy = sys::open("/proc/self/fd/0", O_RDONLY | O_NOCTTY);
  return oci::parse_resources(sys::read_all(copy, kMostResources), "standard input");
}

void refuse_rdt(const Parsed& parsed) {
  for (const auto& [id, field] : {std::pair{Opt::l3_cache_schema, "linux.intelRdt.l3CacheSchema"},
                                  std::pair{Opt::mem_bw_schema, "linux.intelRdt.memBwSchema"}}) {
    // Engines give all options, empty ones, too.
    if (!parsed.last(id).empty()) throw Error(ErrorKind::unsupported, cat(field, ": not supported yet"));
  }
}

}  // namespace

constexpr Command kUpdate = {"update",
                             "CONTAINER",
                             "change the limits of a container that runs",
                             "What is not given stays as it is. Where one limit can't be set, all stay.",
                             kOptions,
                             Order::anywhere,
                             1,
                             1};

std::int64_t parse_bytes(std::string_view text, std::string_view option) {
  const auto wrong = [&] { return Error(ErrorKind::usage, cat("--", option, ": ", quoted(text), " is no size")); };
  if (text == "-1") return -1;
  std::string_view rest = text;
  const std::size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
  const auto number = parse_number<std::int64_t>(rest.substr(0, digits));
  if (!number) throw wrong();
  rest.remove_prefix(digits);
  std::string unit;
  for (const char c : rest) unit += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  constexpr std::string_view kUnits = "kmgtp";
  int shift = 0;
  if (!unit.empty() && kUnits.find(unit[0]) != kUnits.npos) {
    shift = 10 * (static_cast<int>(kUnits.find(unit[0])) + 1);
    unit.erase(0, 1);
    if (unit == "ib") unit = "b";
  }
  if ((!unit.empty() && unit != "b") || *number > (INT64_MAX >> shift)) throw wrong();
  return *number << shift;
}

oci::Resources make_update(const Parsed& parsed) {
  oci::Resources out;
  oci::CpuResources cpu;
  cpu.shares = number<std::uint64_t>(parsed, Opt::cpu_share, "cpu-share", 0);
  cpu.quota = number<std::int64_t>(parsed, Opt::cpu_quota, "cpu-quota", LLONG_MIN);
  cpu.period = number<std::uint64_t>(parsed, Opt::cpu_period, "cpu-period", 0);
  cpu.burst = number<std::uint64_t>(parsed, Opt::cpu_burst, "cpu-burst", 0);
  cpu.realtime_runtime = number<std::int64_t>(parsed, Opt::cpu_rt_runtime, "cpu-rt-runtime", LLONG_MIN);
  cpu.realtime_period = number<std::uint64_t>(parsed, Opt::cpu_rt_period, "cpu-rt-period", 0);
  cpu.idle = number<std::int64_t>(parsed, Opt::cpu_idle, "cpu-idle", 0, 1);
  cpu.cpus = parsed.last(Opt::cpuset_cpus);
  cpu.mems = parsed.last(Opt::cpuset_mems);
  if (cpu != oci::CpuResources{}) out.cpu = cpu;
  oci::MemoryResources memory;
  memory.limit = bytes(parsed, Opt::memory, "memory");
  memory.reservation = bytes(parsed, Opt::memory_reservation, "memory-reservation");
  memory.swap = bytes(parsed, Opt::memory_swap, "memory-swap");
  memory.kernel = bytes(parsed, Opt::kernel_memory, "kernel-memory");
  memory.kernel_tcp = bytes(parsed, Opt::kernel_memory_tcp, "kernel-memory-tcp");
  if (memory != oci::MemoryResources{}) out.memory = memory;
  out.pids_limit = number<std::int64_t>(parsed, Opt::pids_limit, "pids-limit", -1);
  if (const auto weight = number<std::uint16_t>(parsed, Opt::blkio_weight, "blkio-weight", 0, 1000))
    out.block_io.emplace().weight = weight;
  return out;
}

int do_update(const Session& session, const Parsed& parsed) {
  refuse_rdt(parsed);
  const std::string file(parsed.last(Opt::resources));
  runtime::update(session.context, parsed.words.at(0), file.empty() ? make_update(parsed) : read_resources(file));
  return 0;
}

}  // namespace tare::cli
