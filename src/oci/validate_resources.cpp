// The rules for resources that hold on every cgroup layout.
#include <algorithm>

#include "oci/refuse.hpp"

namespace tare::oci {
namespace {

void validate_memory(const MemoryResources& memory) {
  const auto limit = memory.limit.value_or(0);
  const auto swap = memory.swap.value_or(0);
  if (limit > 0 && swap > 0 && swap < limit) {
    refuse("linux.resources.memory.swap",
           cat(swap, " is below the limit of memory, ", limit, ", of which it is the sum with swap"));
  }
  if (memory.swappiness && *memory.swappiness > 100) {
    refuse("linux.resources.memory.swappiness", cat(*memory.swappiness, " is not from 0 to 100"));
  }
}

void validate_cpu(const CpuResources& cpu) {
  if (cpu.idle && *cpu.idle != 0 && *cpu.idle != 1) {
    refuse("linux.resources.cpu.idle", cat(*cpu.idle, " is not 0 or 1"));
  }
  if (cpu.burst && cpu.quota && *cpu.quota > 0 && *cpu.burst > static_cast<std::uint64_t>(*cpu.quota)) {
    refuse("linux.resources.cpu.burst", cat(*cpu.burst, " is above the quota of ", *cpu.quota));
  }
}

void validate_weight(const std::optional<std::uint16_t>& weight, std::string_view field) {
  // 0: engines write it for "not set".
  if (weight && *weight != 0 && (*weight < 10 || *weight > 1000)) {
    refuse(field, cat(*weight, " is not from 10 to 1000"));
  }
}

void validate_block_io(const BlockIoResources& io) {
  validate_weight(io.weight, "linux.resources.blockIO.weight");
  validate_weight(io.leaf_weight, "linux.resources.blockIO.leafWeight");
  for (std::size_t i = 0; i < io.weight_device.size(); ++i) {
    const auto& device = io.weight_device[i];
    const auto field = [&](std::string_view member) {
      return element("linux.resources.blockIO.weightDevice", i, member);
    };
    if (!device.weight && !device.leaf_weight) refuse(field("weight"), "missing, as is leafWeight");
    validate_weight(device.weight, field("weight"));
    validate_weight(device.leaf_weight, field("leafWeight"));
  }
}

// ^[1-9][0-9]*[KMG]B$
bool is_page_size(std::string_view text) {
  if (text.size() < 3 || !text.ends_with('B') || text.front() < '1' || text.front() > '9') return false;
  const char unit = text[text.size() - 2];
  if (unit != 'K' && unit != 'M' && unit != 'G') return false;
  const auto digits = text.substr(0, text.size() - 2);
  return std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

void validate_resources(const Resources& resources) {
  if (resources.memory) validate_memory(*resources.memory);
  if (resources.cpu) validate_cpu(*resources.cpu);
  if (resources.block_io) validate_block_io(*resources.block_io);
  for (std::size_t i = 0; i < resources.hugepage_limits.size(); ++i) {
    const auto& size = resources.hugepage_limits[i].page_size;
    if (is_page_size(size)) continue;
    refuse(element("linux.resources.hugepageLimits", i, "pageSize"), cat(quoted(size), " is no size like 2MB"));
  }
  for (const auto& [device, limit] : resources.rdma) {
    if (!limit.hca_handles && !limit.hca_objects) {
      refuse(cat("linux.resources.rdma.", device), "needs hcaHandles or hcaObjects");
    }
  }
  for (const auto& [file, value] : resources.unified) {
    // It becomes the name of a file in the cgroup's folder.
    if (file.empty() || file.find('/') != std::string::npos || file == "." || file == "..") {
      refuse("linux.resources.unified", cat(quoted(file), " is no name of a cgroup file"));
    }
  }
}

}  // namespace tare::oci
