// Values of config.json, written for v1, as cgroup2 wants them. Pure.
//
// Sources: runtime-spec config-linux.md; cgroup-v2.rst; the formulas are those that runc and crun use.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "oci/spec.hpp"

namespace tare::cgroup {

// -1 (any negative) is "max".
std::string limit_text(std::int64_t limit);

// cpu.shares (2 to 262144, usually 1024) as cpu.weight (1 to 10000, usually 100): a curve through
// (2, 1), (1024, 100) and (262144, 10000), so that the usual value stays the usual one.
std::uint64_t weight_of_shares(std::uint64_t shares);

// blkio.weight (10 to 1000) as io.weight (1 to 10000), linear.
std::uint64_t io_weight_of_weight(std::uint64_t weight);

// memory.swap.max: v1 counts memory and swap together, cgroup2 swap alone. Nothing to write: nullopt.
// Throws invalid_spec for a swap below the memory limit or without one.
std::optional<std::string> swap_max(const oci::MemoryResources& memory);

}  // namespace tare::cgroup
