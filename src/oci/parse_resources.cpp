// The object linux.resources, which `update` reads by itself, too.
#include "oci/parse_detail.hpp"
#include "oci/read.hpp"

namespace tare::oci {
namespace {

// Absent and -1 both mean all.
std::optional<std::int64_t> device_number(const json::Field& field) {
  if (!field) return std::nullopt;
  const auto number = field.int64(-1, UINT32_MAX);
  return number < 0 ? std::nullopt : std::optional(number);
}

DeviceRule device_rule_from(const json::Field& object) {
  DeviceRule rule;
  rule.allow = object.member("allow").boolean();
  if (const auto type = object.member("type")) {
    const auto name = type.string_view();
    if (name != "a" && name != "b" && name != "c" && !name.empty()) {
      type.fail(cat("unknown device type ", quoted(name), ", known are a, b and c"));
    }
    if (!name.empty()) rule.type = name.front();
  }
  rule.major = device_number(object.member("major"));
  rule.minor = device_number(object.member("minor"));
  if (const auto access = object.member("access")) {
    rule.access = access.string();
    if (rule.access.find_first_not_of("rwm") != std::string::npos) access.fail("may hold only r, w and m");
  }
  return rule;
}

MemoryResources memory_from(const json::Field& object) {
  MemoryResources memory;
  read_limit(object, "limit", memory.limit);
  read_limit(object, "reservation", memory.reservation);
  read_limit(object, "swap", memory.swap);
  read_limit(object, "kernel", memory.kernel);
  read_limit(object, "kernelTCP", memory.kernel_tcp);
  read(object, "swappiness", memory.swappiness);
  read(object, "disableOOMKiller", memory.disable_oom_killer);
  read(object, "useHierarchy", memory.use_hierarchy);
  read(object, "checkBeforeUpdate", memory.check_before_update);
  return memory;
}

CpuResources cpu_from(const json::Field& object) {
  CpuResources cpu;
  read(object, "shares", cpu.shares);
  read_limit(object, "quota", cpu.quota);
  read(object, "burst", cpu.burst);
  read(object, "period", cpu.period);
  read_limit(object, "realtimeRuntime", cpu.realtime_runtime);
  read(object, "realtimePeriod", cpu.realtime_period);
  read(object, "cpus", cpu.cpus);
  read(object, "mems", cpu.mems);
  read(object, "idle", cpu.idle);
  return cpu;
}

std::vector<ThrottleDevice> throttles_from(const json::Field& object, std::string_view key) {
  std::vector<ThrottleDevice> throttles;
  each(object, key, [&](const json::Field& entry) {
    throttles.push_back({entry.member("major").int64(0, UINT32_MAX), entry.member("minor").int64(0, UINT32_MAX),
                         entry.member("rate").uint64()});
  });
  return throttles;
}

BlockIoResources block_io_from(const json::Field& object) {
  BlockIoResources io;
  read(object, "weight", io.weight);
  read(object, "leafWeight", io.leaf_weight);
  each(object, "weightDevice", [&](const json::Field& entry) {
    WeightDevice& device = io.weight_device.emplace_back();
    device.major = entry.member("major").int64(0, UINT32_MAX);
    device.minor = entry.member("minor").int64(0, UINT32_MAX);
    read(entry, "weight", device.weight);
    read(entry, "leafWeight", device.leaf_weight);
  });
  io.throttle_read_bps = throttles_from(object, "throttleReadBpsDevice");
  io.throttle_write_bps = throttles_from(object, "throttleWriteBpsDevice");
  io.throttle_read_iops = throttles_from(object, "throttleReadIOPSDevice");
  io.throttle_write_iops = throttles_from(object, "throttleWriteIOPSDevice");
  return io;
}

NetworkResources network_from(const json::Field& object) {
  NetworkResources network;
  read(object, "classID", network.class_id);
  each(object, "priorities", [&](const json::Field& entry) {
    network.priorities.push_back({entry.member("name").string(), integer<std::uint32_t>(entry.member("priority"))});
  });
  return network;
}

}  // namespace

Resources resources_from(const json::Field& object) {
  Resources out;
  each(object, "devices", [&](const json::Field& entry) { out.devices.push_back(device_rule_from(entry)); });
  if (const auto memory = object.member("memory")) out.memory = memory_from(memory);
  if (const auto cpu = object.member("cpu")) out.cpu = cpu_from(cpu);
  if (const auto pids = object.member("pids")) read_limit(pids, "limit", out.pids_limit);
  if (const auto io = object.member("blockIO")) out.block_io = block_io_from(io);
  each(object, "hugepageLimits", [&](const json::Field& entry) {
    out.hugepage_limits.push_back({entry.member("pageSize").string(), entry.member("limit").uint64()});
  });
  if (const auto network = object.member("network")) out.network = network_from(network);
  each_member(object, "rdma", [&](const json::Field& entry) {
    RdmaLimit& limit = out.rdma[std::string(entry.key())];
    limit = {};
    read(entry, "hcaHandles", limit.hca_handles);
    read(entry, "hcaObjects", limit.hca_objects);
  });
  read(object, "unified", out.unified);
  return out;
}

}  // namespace tare::oci
