#include "lab/observe/machine.hpp"

#include <errno.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/text.hpp"
#include "sys/fd.hpp"

namespace tare::lab {

using json = nlohmann::ordered_json;

namespace {

std::string dump(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

// The file's text without blanks around it; "" where it can't be read.
std::string text_of(const std::string& path) {
  try {
    return std::string(trim(sys::read_file(path)));
  } catch (const Error&) {
    return {};
  }
}

void put(json& out, const char* key, const std::string& text) {
  if (!text.empty()) out[key] = text;
}

// The value of the first line "key : value" of a proc file.
std::string field_of(std::string_view text, std::string_view key) {
  for (const std::string_view line : split(text, '\n')) {
    const auto colon = line.find(':');
    if (colon != std::string_view::npos && trim(line.substr(0, colon)) == key) {
      return std::string(trim(line.substr(colon + 1)));
    }
  }
  return {};
}

json mitigations() {
  json out = json::object();
  const std::string folder = "/sys/devices/system/cpu/vulnerabilities";
  try {
    for (const std::string& name : sys::list_dir(sys::open_dir(folder))) {
      put(out, name.c_str(), text_of(cat(folder, "/", name)));
    }
  } catch (const Error&) {
  }
  return out;
}

std::int64_t live_processes() {
  try {
    std::int64_t out = 0;
    const auto names = sys::list_dir(sys::open_dir("/proc"));
    for (const std::string& name : names) out += parse_number<std::int64_t>(name).has_value() ? 1 : 0;
    return out;
  } catch (const Error&) {
    return -1;
  }
}

// "some avg10=0.00 avg60=0.00 avg300=0.00 total=12345"
std::int64_t pressure(const char* of) {
  const std::string text = text_of(cat("/proc/pressure/", of));
  const auto at = text.find("total=");
  if (!text.starts_with("some") || at == std::string::npos) return -1;
  const std::string_view number = std::string_view(text).substr(at + 6);
  return parse_number<std::int64_t>(number.substr(0, number.find('\n'))).value_or(-1);
}

std::int64_t grace_period() {
  timespec before{}, after{};
  clock_gettime(CLOCK_MONOTONIC, &before);
  if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) != 0) return -1;
  clock_gettime(CLOCK_MONOTONIC, &after);
  return static_cast<std::int64_t>(after.tv_sec - before.tv_sec) * 1'000'000'000 + (after.tv_nsec - before.tv_nsec);
}

cpu_set_t affinity(pid_t pid) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(pid, sizeof set, &set) != 0) throw_errno("sched_getaffinity", errno);
  return set;
}

}  // namespace

std::string machine_description() {
  json out;
  utsname names{};
  uname(&names);
  out["kernel"] = names.release;
  out["kernel_build"] = names.version;
  out["machine"] = names.machine;
  put(out, "command_line", text_of("/proc/cmdline"));
  const std::string cpuinfo = text_of("/proc/cpuinfo");
  json cpu;
  put(cpu, "model", field_of(cpuinfo, "model name"));
  put(cpu, "microcode", field_of(cpuinfo, "microcode"));
  put(cpu, "cache", field_of(cpuinfo, "cache size"));
  cpu["online"] = sysconf(_SC_NPROCESSORS_ONLN);
  cpu["allowed"] = allowed_cpus();
  put(cpu, "smt", text_of("/sys/devices/system/cpu/smt/active"));
  put(cpu, "governor", text_of("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"));
  put(cpu, "frequency_driver", text_of("/sys/devices/system/cpu/cpu0/cpufreq/scaling_driver"));
  put(cpu, "boost", text_of("/sys/devices/system/cpu/cpufreq/boost"));
  put(cpu, "no_turbo", text_of("/sys/devices/system/cpu/intel_pstate/no_turbo"));
  out["cpu"] = cpu;
  out["hypervisor"] = cpuinfo.find(" hypervisor") != std::string::npos;
  out["mitigations"] = mitigations();
  put(out, "clock_source", text_of("/sys/devices/system/clocksource/clocksource0/current_clocksource"));
  put(out, "transparent_hugepage", text_of("/sys/kernel/mm/transparent_hugepage/enabled"));
  put(out, "randomize_va_space", text_of("/proc/sys/kernel/randomize_va_space"));
  put(out, "lsm", text_of("/sys/kernel/security/lsm"));
  const std::string memory = text_of("/proc/meminfo");
  put(out, "memory", field_of(memory, "MemTotal"));
  put(out, "swap", field_of(memory, "SwapTotal"));
  put(out, "numa_nodes", text_of("/sys/devices/system/node/online"));
  put(out, "system", text_of("/sys/class/dmi/id/product_name"));
  put(out, "preemption", text_of("/sys/kernel/debug/sched/preempt"));
  out["processes"] = live_processes();
  put(out, "load", text_of("/proc/loadavg"));
  put(out, "own_cgroups", text_of("/proc/self/cgroup"));
  return dump(out);
}

std::string process_description(pid_t pid) {
  const std::string folder = cat("/proc/", pid);
  json out;
  out["pid"] = pid;
  json namespaces = json::object();
  for (const char* name : {"pid", "mnt", "uts", "ipc", "net", "user", "cgroup", "time"}) {
    char link[64];
    const ssize_t n = readlink(cat(folder, "/ns/", name).c_str(), link, sizeof link);
    if (n > 0) namespaces[name] = std::string(link, static_cast<std::size_t>(n));
  }
  out["namespaces"] = namespaces;
  put(out, "cgroups", text_of(folder + "/cgroup"));
  const std::string status = text_of(folder + "/status");
  for (const char* key : {"NSpid", "Seccomp", "Seccomp_filters", "NoNewPrivs", "Speculation_Store_Bypass",
                          "SpeculationIndirectBranch", "CapEff", "CapBnd", "Cpus_allowed_list", "VmRSS"}) {
    put(out, key, field_of(status, key));
  }
  put(out, "limits", text_of(folder + "/limits"));
  put(out, "oom_score_adj", text_of(folder + "/oom_score_adj"));
  try {
    json descriptors = json::object();
    for (const std::string& fd : sys::list_dir(sys::open_dir(folder + "/fd"))) {
      char link[256];
      const ssize_t n = readlink(cat(folder, "/fd/", fd).c_str(), link, sizeof link);
      if (n > 0) descriptors[fd] = std::string(link, static_cast<std::size_t>(n));
    }
    out["descriptors"] = descriptors;
  } catch (const Error&) {
  }
  return dump(out);
}

Conditions conditions(int launch, std::int64_t at_ns) {
  Conditions out{.launch = launch, .at_ns = at_ns};
  out.load = std::strtod(text_of("/proc/loadavg").c_str(), nullptr);
  out.processes = live_processes();
  out.cpu_pressure_us = pressure("cpu");
  out.memory_pressure_us = pressure("memory");
  out.io_pressure_us = pressure("io");
  out.grace_ns = grace_period();
  const std::string stat = text_of("/proc/stat");
  int i = 0;
  for (const std::string_view word : split(std::string_view(stat).substr(0, stat.find('\n')), ' ')) {
    const auto n = parse_number<std::int64_t>(word);
    if (!n) continue;
    out.all_ticks += *n;
    if (i++ == 7) {  // user nice system idle iowait irq softirq steal
      out.stolen_ticks = *n;
      break;
    }
  }
  return out;
}

std::vector<int> allowed_cpus() {
  const cpu_set_t set = affinity(0);
  std::vector<int> out;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(static_cast<std::size_t>(cpu), &set)) out.push_back(cpu);
  }
  return out;
}

void pin(pid_t pid, int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(cpu), &set);
  if (sched_setaffinity(pid, sizeof set, &set) != 0) throw_errno(cat("sched_setaffinity to CPU ", cpu), errno);
}

void pin_away_from(pid_t pid, int cpu) {
  cpu_set_t set = affinity(pid);
  CPU_CLR(static_cast<std::size_t>(cpu), &set);
  if (CPU_COUNT(&set) == 0) return;
  if (sched_setaffinity(pid, sizeof set, &set) != 0) throw_errno("sched_setaffinity", errno);
}

}  // namespace tare::lab
