#include <cerrno>

#include "base/text.hpp"
#include "cgroup/apply.hpp"

namespace tare::cgroup {
namespace {

// EBUSY: more is in use than the new limit, and it can't be reclaimed.
void write_limit(const Fields& fields, std::string_view name, std::string_view file, std::int64_t value) {
  const std::string text = cat(value < 0 ? std::int64_t{-1} : value);
  const int why = fields.try_to_write(file, text);
  if (why == EBUSY) {
    const auto usage = try_read_number(fields.path("memory.usage_in_bytes"));
    const auto peak = try_read_number(fields.path("memory.max_usage_in_bytes"));
    fields.invalid(name, cat("limit ", value, " is below what is in use, ", usage.value_or(0), " bytes (peak ",
                             peak.value_or(0), ")"));
  }
  if (why != 0) fields.fail(name, file, text, why);
}

// The kernel keeps "memory and swap" at or above "memory" at every moment: whoever grows goes first.
void apply_limits(const Fields& fields, const oci::MemoryResources& memory, bool update) {
  constexpr const char* kLimit = "memory.limit_in_bytes";
  constexpr const char* kSwap = "memory.memsw.limit_in_bytes";
  const std::int64_t limit = memory.limit.value_or(0);  // 0: not given
  std::int64_t swap = memory.swap.value_or(0);
  bool may_be_missing = false;
  if (limit < 0 && swap == 0) {
    swap = -1;  // no limit for memory: then none for both either
    may_be_missing = true;
  }
  if (swap == 0) {
    if (limit != 0) write_limit(fields, "limit", kLimit, limit);
    return;
  }
  if (!fields.has_file(kSwap)) {
    if (swap > 0 && !may_be_missing) fields.refuse("swap", "this kernel does not account swap");
    if (limit != 0) write_limit(fields, "limit", kLimit, limit);
    return;
  }
  bool swap_first = false;
  if (update && limit != 0) {
    const auto now = try_read_number(fields.path(kSwap));
    swap_first = swap < 0 || (now && static_cast<std::uint64_t>(swap) > *now);
  }
  if (swap_first) write_limit(fields, "swap", kSwap, swap);
  if (limit != 0) write_limit(fields, "limit", kLimit, limit);
  if (!swap_first) write_limit(fields, "swap", kSwap, swap);
}

void write_period_and_quota(const Fields& fields, std::int64_t period, std::int64_t quota) {
  constexpr const char* kPeriod = "cpu.cfs_period_us";
  constexpr const char* kQuota = "cpu.cfs_quota_us";
  bool period_left = period != 0;
  if (period_left) {
    // With the old quota the new period may exceed what the parent has: then the quota goes first.
    const int why = fields.try_to_write(kPeriod, cat(period));
    if (why != 0 && (why != EINVAL || quota == 0)) fields.fail("period", kPeriod, cat(period), why);
    period_left = why != 0;
  }
  if (quota != 0) fields.write("quota", kQuota, cat(quota));
  if (period_left) fields.write("period", kPeriod, cat(period));
}

void write_throttles(const Fields& fields, std::string_view name, std::string_view file,
                     const std::vector<oci::ThrottleDevice>& devices) {
  for (const oci::ThrottleDevice& device : devices)
    fields.write(name, file, cat(device.major, ':', device.minor, ' ', device.rate));
}

}  // namespace

void apply_memory_v1(const Entry& entry, const oci::MemoryResources& memory, bool update) {
  const Fields fields("linux.resources.memory.", entry);
  if (memory.use_hierarchy) fields.write("useHierarchy", "memory.use_hierarchy", *memory.use_hierarchy ? "1" : "0");
  // checkBeforeUpdate needs nothing: the kernel refuses a limit below what is in use.
  apply_limits(fields, memory, update);
  if (memory.reservation.value_or(0) != 0)
    write_limit(fields, "reservation", "memory.soft_limit_in_bytes", *memory.reservation);
  if (memory.kernel.value_or(0) != 0) write_limit(fields, "kernel", "memory.kmem.limit_in_bytes", *memory.kernel);
  if (memory.kernel_tcp.value_or(0) != 0)
    write_limit(fields, "kernelTCP", "memory.kmem.tcp.limit_in_bytes", *memory.kernel_tcp);
  if (memory.swappiness) {
    if (*memory.swappiness > 100) fields.invalid("swappiness", cat(*memory.swappiness, " is not within 0 to 100"));
    fields.write("swappiness", "memory.swappiness", cat(*memory.swappiness));
  }
  // "false" is how every new cgroup starts.
  if (memory.disable_oom_killer && (*memory.disable_oom_killer || update))
    fields.write("disableOOMKiller", "memory.oom_control", *memory.disable_oom_killer ? "1" : "0");
}

void apply_cpu_v1(const Entry& entry, const oci::CpuResources& cpu) {
  const Fields fields("linux.resources.cpu.", entry);
  // Shares can't be written while the cgroup is idle.
  if (cpu.idle && *cpu.idle == 0 && fields.has_file("cpu.idle")) fields.write("idle", "cpu.idle", "0");
  if (const std::uint64_t shares = cpu.shares.value_or(0); shares != 0) {  // 0: not given
    // The kernel would silently take the nearest value that it allows.
    if (shares < 2 || shares > 262144) fields.invalid("shares", cat(shares, " is not within 2 to 262144"));
    fields.write("shares", "cpu.shares", cat(shares));
  }
  // Real-time first: a period below the runtime is refused, so the runtime may have to shrink before.
  const std::uint64_t rt_period = cpu.realtime_period.value_or(0);
  const std::int64_t rt_runtime = cpu.realtime_runtime.value_or(0);
  if (rt_period != 0) fields.write("realtimePeriod", "cpu.rt_period_us", cat(rt_period));
  if (rt_runtime != 0) fields.write("realtimeRuntime", "cpu.rt_runtime_us", cat(rt_runtime));

  // burst <= quota at every moment: it goes before the quota if that works, else after.
  constexpr const char* kBurst = "cpu.cfs_burst_us";
  bool burst_left = cpu.burst.has_value();
  if (burst_left) {
    const int why = fields.try_to_write(kBurst, cat(*cpu.burst));
    if (why != 0 && why != EINVAL) fields.fail("burst", kBurst, cat(*cpu.burst), why);
    burst_left = why != 0;
  }
  const std::uint64_t period = cpu.period.value_or(0);
  if (period > 1'000'000) fields.invalid("period", cat(period, " is above 1000000 microseconds"));
  write_period_and_quota(fields, static_cast<std::int64_t>(period), cpu.quota.value_or(0));
  if (burst_left) fields.write("burst", kBurst, cat(*cpu.burst));
  if (cpu.idle && *cpu.idle != 0) fields.write("idle", "cpu.idle", cat(*cpu.idle));
}

void apply_block_io_v1(const Entry& entry, const oci::BlockIoResources& io) {
  const Fields fields("linux.resources.blockIO.", entry);
  // The CFQ scheduler's files went with it; BFQ has its own.
  const bool plain = fields.has_file("blkio.weight");
  if (io.weight) fields.write("weight", plain ? "blkio.weight" : "blkio.bfq.weight", cat(*io.weight));
  if (io.leaf_weight) fields.write("leafWeight", "blkio.leaf_weight", cat(*io.leaf_weight));
  for (const oci::WeightDevice& device : io.weight_device) {
    const std::string number = cat(device.major, ':', device.minor, ' ');
    if (device.weight)
      fields.write("weightDevice", plain ? "blkio.weight_device" : "blkio.bfq.weight_device",
                   number + cat(*device.weight));
    if (device.leaf_weight) fields.write("weightDevice", "blkio.leaf_weight_device", number + cat(*device.leaf_weight));
  }
  write_throttles(fields, "throttleReadBpsDevice", "blkio.throttle.read_bps_device", io.throttle_read_bps);
  write_throttles(fields, "throttleWriteBpsDevice", "blkio.throttle.write_bps_device", io.throttle_write_bps);
  write_throttles(fields, "throttleReadIOPSDevice", "blkio.throttle.read_iops_device", io.throttle_read_iops);
  write_throttles(fields, "throttleWriteIOPSDevice", "blkio.throttle.write_iops_device", io.throttle_write_iops);
}

void apply_network_v1(const Location& location, const oci::NetworkResources& network) {
  const auto entry_for = [&](std::string_view controller, std::string_view field) -> const Entry& {
    const Entry* entry = location.find(controller);
    if (entry == nullptr || entry->v2)
      Fields("linux.resources.network.", Entry{}).refuse(field, cat("there is no v1 ", controller, " cgroup"));
    return *entry;
  };
  if (network.class_id) {
    const Fields fields("linux.resources.network.", entry_for("net_cls", "classID"));
    fields.write("classID", "net_cls.classid", cat(*network.class_id));
  }
  if (network.priorities.empty()) return;
  const Fields fields("linux.resources.network.", entry_for("net_prio", "priorities"));
  for (const oci::NetworkPriority& priority : network.priorities)
    fields.write("priorities", "net_prio.ifpriomap", cat(priority.name, ' ', priority.priority));
}

}  // namespace tare::cgroup
