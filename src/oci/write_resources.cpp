// The object linux.resources.
#include "oci/write_detail.hpp"

namespace tare::oci {
namespace {

void write_memory(json::Writer& out, const MemoryResources& memory) {
  out.key("memory").begin_object();
  write(out, "limit", memory.limit);
  write(out, "reservation", memory.reservation);
  write(out, "swap", memory.swap);
  write(out, "kernel", memory.kernel);
  write(out, "kernelTCP", memory.kernel_tcp);
  write(out, "swappiness", memory.swappiness);
  write(out, "disableOOMKiller", memory.disable_oom_killer);
  write(out, "useHierarchy", memory.use_hierarchy);
  write(out, "checkBeforeUpdate", memory.check_before_update);
  out.end_object();
}

void write_cpu(json::Writer& out, const CpuResources& cpu) {
  out.key("cpu").begin_object();
  write(out, "shares", cpu.shares);
  write(out, "quota", cpu.quota);
  write(out, "burst", cpu.burst);
  write(out, "period", cpu.period);
  write(out, "realtimeRuntime", cpu.realtime_runtime);
  write(out, "realtimePeriod", cpu.realtime_period);
  write(out, "cpus", cpu.cpus);
  write(out, "mems", cpu.mems);
  write(out, "idle", cpu.idle);
  out.end_object();
}

void write_throttles(json::Writer& out, std::string_view key, const std::vector<ThrottleDevice>& throttles) {
  write_each(out, key, throttles, [&](const ThrottleDevice& device) {
    out.begin_object();
    number(out, "major", device.major);
    number(out, "minor", device.minor);
    number(out, "rate", device.rate);
    out.end_object();
  });
}

void write_block_io(json::Writer& out, const BlockIoResources& io) {
  out.key("blockIO").begin_object();
  write(out, "weight", io.weight);
  write(out, "leafWeight", io.leaf_weight);
  write_each(out, "weightDevice", io.weight_device, [&](const WeightDevice& device) {
    out.begin_object();
    number(out, "major", device.major);
    number(out, "minor", device.minor);
    write(out, "weight", device.weight);
    write(out, "leafWeight", device.leaf_weight);
    out.end_object();
  });
  write_throttles(out, "throttleReadBpsDevice", io.throttle_read_bps);
  write_throttles(out, "throttleWriteBpsDevice", io.throttle_write_bps);
  write_throttles(out, "throttleReadIOPSDevice", io.throttle_read_iops);
  write_throttles(out, "throttleWriteIOPSDevice", io.throttle_write_iops);
  out.end_object();
}

void write_network(json::Writer& out, const NetworkResources& network) {
  out.key("network").begin_object();
  write(out, "classID", network.class_id);
  write_each(out, "priorities", network.priorities, [&](const NetworkPriority& priority) {
    out.begin_object();
    out.key("name").string(priority.name);
    number(out, "priority", priority.priority);
    out.end_object();
  });
  out.end_object();
}

void write_rule(json::Writer& out, const DeviceRule& rule) {
  out.begin_object();
  out.key("allow").boolean(rule.allow);
  if (rule.type != 'a') out.key("type").string(std::string_view(&rule.type, 1));
  write(out, "major", rule.major);
  write(out, "minor", rule.minor);
  write(out, "access", rule.access);
  out.end_object();
}

}  // namespace

void write_value(json::Writer& out, const Resources& resources) {
  out.begin_object();
  write_each(out, "devices", resources.devices, [&](const DeviceRule& rule) { write_rule(out, rule); });
  if (resources.memory) write_memory(out, *resources.memory);
  if (resources.cpu) write_cpu(out, *resources.cpu);
  if (resources.pids_limit) {
    out.key("pids").begin_object();
    number(out, "limit", *resources.pids_limit);
    out.end_object();
  }
  if (resources.block_io) write_block_io(out, *resources.block_io);
  write_each(out, "hugepageLimits", resources.hugepage_limits, [&](const HugepageLimit& limit) {
    out.begin_object();
    out.key("pageSize").string(limit.page_size);
    number(out, "limit", limit.limit);
    out.end_object();
  });
  if (resources.network) write_network(out, *resources.network);
  if (!resources.rdma.empty()) {
    out.key("rdma").begin_object();
    for (const auto& [device, limit] : resources.rdma) {
      out.key(device).begin_object();
      write(out, "hcaHandles", limit.hca_handles);
      write(out, "hcaObjects", limit.hca_objects);
      out.end_object();
    }
    out.end_object();
  }
  write(out, "unified", resources.unified);
  out.end_object();
}

}  // namespace tare::oci
