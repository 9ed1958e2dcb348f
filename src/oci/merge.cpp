#include "oci/merge.hpp"

#include <algorithm>

namespace tare::oci {
namespace {

template <class T>
void drop_zero(std::optional<T>& value) {
  if (value == T{0}) value.reset();
}

template <class T>
void drop_empty(std::optional<T>& part) {
  if (part == T{}) part.reset();
}

template <class T>
void put(std::optional<T>& old, const std::optional<T>& change) {
  if (change) old = change;
}

void put(std::string& old, const std::string& change) {
  if (!change.empty()) old = change;
}

template <class T, class Same>
void put_each(std::vector<T>& old, const std::vector<T>& changes, Same&& same) {
  for (const T& change : changes) {
    const auto at = std::find_if(old.begin(), old.end(), [&](const T& other) { return same(other, change); });
    at == old.end() ? old.push_back(change) : void(*at = change);
  }
}

void merge(MemoryResources& old, const MemoryResources& change) {
  put(old.limit, change.limit);
  put(old.reservation, change.reservation);
  put(old.swap, change.swap);
  put(old.kernel, change.kernel);
  put(old.kernel_tcp, change.kernel_tcp);
  put(old.swappiness, change.swappiness);
  put(old.disable_oom_killer, change.disable_oom_killer);
  put(old.use_hierarchy, change.use_hierarchy);
  put(old.check_before_update, change.check_before_update);
}

void merge(CpuResources& old, const CpuResources& change) {
  put(old.shares, change.shares);
  put(old.quota, change.quota);
  put(old.burst, change.burst);
  put(old.period, change.period);
  put(old.realtime_runtime, change.realtime_runtime);
  put(old.realtime_period, change.realtime_period);
  put(old.cpus, change.cpus);
  put(old.mems, change.mems);
  put(old.idle, change.idle);
}

void merge(BlockIoResources& old, const BlockIoResources& change) {
  const auto same = [](const auto& a, const auto& b) { return a.major == b.major && a.minor == b.minor; };
  put(old.weight, change.weight);
  put(old.leaf_weight, change.leaf_weight);
  put_each(old.weight_device, change.weight_device, same);
  put_each(old.throttle_read_bps, change.throttle_read_bps, same);
  put_each(old.throttle_write_bps, change.throttle_write_bps, same);
  put_each(old.throttle_read_iops, change.throttle_read_iops, same);
  put_each(old.throttle_write_iops, change.throttle_write_iops, same);
}

void merge(NetworkResources& old, const NetworkResources& change) {
  put(old.class_id, change.class_id);
  put_each(old.priorities, change.priorities, [](const auto& a, const auto& b) { return a.name == b.name; });
}

template <class T>
void merge_part(std::optional<T>& old, const std::optional<T>& change) {
  if (!change) return;
  if (!old) old.emplace();
  merge(*old, *change);
}

}  // namespace

Resources given(Resources change) {
  if (change.memory) {
    MemoryResources& m = *change.memory;
    for (auto* limit : {&m.limit, &m.reservation, &m.swap, &m.kernel, &m.kernel_tcp}) drop_zero(*limit);
  }
  if (change.cpu) {
    drop_zero(change.cpu->shares);
    drop_zero(change.cpu->quota);
    drop_zero(change.cpu->period);
    drop_zero(change.cpu->realtime_runtime);
    drop_zero(change.cpu->realtime_period);
  }
  if (change.block_io) {
    drop_zero(change.block_io->weight);
    drop_zero(change.block_io->leaf_weight);
  }
  drop_empty(change.memory);
  drop_empty(change.cpu);
  drop_empty(change.block_io);
  drop_empty(change.network);
  return change;
}

Resources completed(Resources change, const Resources& before) {
  if (!change.memory) return change;
  MemoryResources& m = *change.memory;
  const MemoryResources old = before.memory.value_or(MemoryResources{});
  if (m.limit.value_or(0) < 0 && !m.swap) m.swap = -1;
  if (m.limit.value_or(0) > 0 && !m.swap && old.swap.value_or(0) > 0) m.swap = old.swap;
  if (m.swap.value_or(0) > 0 && !m.limit && old.limit.value_or(0) > 0) m.limit = old.limit;
  if (!m.check_before_update) m.check_before_update = old.check_before_update;
  return change;
}

Resources merged(Resources before, const Resources& change) {
  if (!change.devices.empty()) before.devices = change.devices;
  merge_part(before.memory, change.memory);
  merge_part(before.cpu, change.cpu);
  put(before.pids_limit, change.pids_limit);
  merge_part(before.block_io, change.block_io);
  put_each(before.hugepage_limits, change.hugepage_limits,
           [](const auto& a, const auto& b) { return a.page_size == b.page_size; });
  merge_part(before.network, change.network);
  for (const auto& [device, limit] : change.rdma) before.rdma[device] = limit;
  for (const auto& [file, value] : change.unified) before.unified[file] = value;
  return before;
}

}  // namespace tare::oci
