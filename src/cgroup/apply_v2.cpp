#include <cerrno>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cgroup/apply.hpp"
#include "cgroup/convert.hpp"

namespace tare::cgroup {
namespace {

void refuse_what_v2_lacks(const Fields& fields, const oci::MemoryResources& memory) {
  // "No limit" (-1) and "not given" (0) are what cgroup2 does anyway.
  if (memory.kernel.value_or(0) > 0) fields.refuse("kernel", "cgroup2 has no limit for kernel memory alone");
  if (memory.kernel_tcp.value_or(0) > 0) fields.refuse("kernelTCP", "cgroup2 has no limit for TCP buffers alone");
  if (memory.swappiness) fields.refuse("swappiness", "cgroup2 has none");
  if (memory.disable_oom_killer.value_or(false)) fields.refuse("disableOOMKiller", "cgroup2 can't turn it off");
  if (!memory.use_hierarchy.value_or(true)) fields.refuse("useHierarchy", "cgroup2 is always hierarchical");
}

// A limit below what is in use kills; checkBeforeUpdate asks to be refused instead.
void check_usage(const Fields& fields, const oci::MemoryResources& memory, const std::optional<std::string>& swap) {
  if (memory.limit.value_or(0) > 0) {
    const std::uint64_t used = try_read_number(fields.path("memory.current")).value_or(0);
    if (used > static_cast<std::uint64_t>(*memory.limit))
      fields.invalid("limit", cat("limit ", *memory.limit, " is below what is in use, ", used, " bytes"));
  }
  if (swap && *swap != "max") {
    const std::uint64_t used = try_read_number(fields.path("memory.swap.current")).value_or(0);
    if (used > parse_number<std::uint64_t>(*swap).value_or(0))
      fields.invalid("swap", cat("limit ", *swap, " is below the swap in use, ", used, " bytes"));
  }
}

// "QUOTA PERIOD"; what is not given stays as it is.
std::string cpu_max(const Fields& fields, const oci::CpuResources& cpu) {
  const std::int64_t quota = cpu.quota.value_or(0);
  const std::uint64_t period = cpu.period.value_or(0);
  std::string text = quota < 0 ? "max" : cat(quota);
  if (quota == 0) {
    const std::string now = try_read(fields.path("cpu.max")).value_or("max");
    text = now.substr(0, now.find(' '));
  }
  return period == 0 ? text : cat(text, ' ', period);
}

void write_throttles(const Fields& fields, std::string_view name, std::string_view key,
                     const std::vector<oci::ThrottleDevice>& devices) {
  // On v1 a rate of 0 means none.
  for (const oci::ThrottleDevice& device : devices)
    fields.write(name, "io.max",
                 cat(device.major, ':', device.minor, ' ', key, '=', device.rate == 0 ? "max" : cat(device.rate)));
}

}  // namespace

void apply_memory_v2(const Entry& entry, const oci::MemoryResources& memory, bool update) {
  const Fields fields("linux.resources.memory.", entry);
  refuse_what_v2_lacks(fields, memory);
  const std::optional<std::string> swap = swap_max(memory);
  if (update && memory.check_before_update.value_or(false)) check_usage(fields, memory, swap);
  if (swap) {
    const int why = fields.try_to_write("memory.swap.max", *swap);
    // Without swap in the kernel there is no such file, and none is used: as good as "max" and "0".
    if (why != 0 && (why != ENOENT || (*swap != "max" && *swap != "0")))
      fields.fail("swap", "memory.swap.max", *swap, why);
  }
  if (memory.limit.value_or(0) != 0) fields.write("limit", "memory.max", limit_text(*memory.limit));
  if (memory.reservation.value_or(0) != 0) fields.write("reservation", "memory.low", limit_text(*memory.reservation));
}

void apply_cpu_v2(const Entry& entry, const oci::CpuResources& cpu) {
  const Fields fields("linux.resources.cpu.", entry);
  if (cpu.realtime_runtime.value_or(0) != 0) fields.refuse("realtimeRuntime", "cgroup2 has none");
  if (cpu.realtime_period.value_or(0) != 0) fields.refuse("realtimePeriod", "cgroup2 has none");
  // The weight can't be written while the cgroup is idle.
  if (cpu.idle && *cpu.idle == 0 && fields.has_file("cpu.idle")) fields.write("idle", "cpu.idle", "0");
  if (const std::uint64_t shares = cpu.shares.value_or(0); shares != 0)
    fields.write("shares", "cpu.weight", cat(weight_of_shares(shares)));

  // burst <= quota at every moment: it goes before the quota if that works, else after.
  bool burst_left = cpu.burst.has_value();
  if (burst_left) {
    const int why = fields.try_to_write("cpu.max.burst", cat(*cpu.burst));
    if (why != 0 && why != EINVAL) fields.fail("burst", "cpu.max.burst", cat(*cpu.burst), why);
    burst_left = why != 0;
  }
  if (cpu.quota.value_or(0) != 0 || cpu.period.value_or(0) != 0)
    fields.write(cpu.quota.value_or(0) != 0 ? "quota" : "period", "cpu.max", cpu_max(fields, cpu));
  if (burst_left) fields.write("burst", "cpu.max.burst", cat(*cpu.burst));
  if (cpu.idle && *cpu.idle != 0) fields.write("idle", "cpu.idle", cat(*cpu.idle));
}

void apply_block_io_v2(const Entry& entry, const oci::BlockIoResources& io) {
  const Fields fields("linux.resources.blockIO.", entry);
  if (io.leaf_weight) fields.refuse("leafWeight", "cgroup2 has none");
  const bool bfq = fields.has_file("io.bfq.weight");
  const char* file = bfq ? "io.bfq.weight" : "io.weight";
  const auto weight = [&](std::uint16_t w) { return cat(bfq ? std::uint64_t{w} : io_weight_of_weight(w)); };
  if (io.weight) fields.write("weight", file, weight(*io.weight));
  for (const oci::WeightDevice& device : io.weight_device) {
    if (device.leaf_weight) fields.refuse("weightDevice", "cgroup2 has no leafWeight");
    if (device.weight)
      fields.write("weightDevice", file, cat(device.major, ':', device.minor, ' ', weight(*device.weight)));
  }
  write_throttles(fields, "throttleReadBpsDevice", "rbps", io.throttle_read_bps);
  write_throttles(fields, "throttleWriteBpsDevice", "wbps", io.throttle_write_bps);
  write_throttles(fields, "throttleReadIOPSDevice", "riops", io.throttle_read_iops);
  write_throttles(fields, "throttleWriteIOPSDevice", "wiops", io.throttle_write_iops);
}

void apply_unified(const Location& location, const oci::Resources& resources) {
  const Entry& entry = *location.v2();
  const Fields fields("linux.resources.unified.", entry);
  for (const auto& [file, value] : resources.unified) {
    if (file.empty() || file.find('/') != file.npos || file.find('\0') != file.npos || file == "." || file == "..")
      fields.invalid(quoted(file), "is not the name of a cgroup file");
    // Files with a line for each device take one line a write.
    for (const std::string_view line : split(value, '\n'))
      if (!line.empty() || value.empty()) fields.write(file, file, line);
  }
}

}  // namespace tare::cgroup
