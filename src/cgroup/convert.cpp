#include "cgroup/convert.hpp"

#include <cmath>

#include "base/error.hpp"
#include "base/text.hpp"

namespace tare::cgroup {

std::string limit_text(std::int64_t limit) { return limit < 0 ? "max" : cat(limit); }

std::uint64_t weight_of_shares(std::uint64_t shares) {
  if (shares <= 2) return 1;
  if (shares >= 262144) return 10000;
  const double l = std::log2(static_cast<double>(shares));
  const double exponent = (l * l + 125.0 * l) / 612.0 - 7.0 / 34.0;
  // Rounding errors must not lift an exact value (1024 -> 100) to the next.
  return static_cast<std::uint64_t>(std::ceil(std::pow(10.0, exponent) - 1e-9));
}

std::uint64_t io_weight_of_weight(std::uint64_t weight) {
  if (weight <= 10) return 1;
  if (weight >= 1000) return 10000;
  return 1 + (weight - 10) * 9999 / 990;
}

std::optional<std::string> swap_max(const oci::MemoryResources& memory) {
  const std::int64_t limit = memory.limit.value_or(0);
  const std::int64_t swap = memory.swap.value_or(0);
  // Without limit for memory and no word about swap, neither is limited, as on v1.
  if (swap == 0) return limit < 0 ? std::optional<std::string>("max") : std::nullopt;
  if (swap < 0) return "max";
  const char* field = "linux.resources.memory.swap: ";
  if (limit == 0) throw Error(ErrorKind::invalid_spec, cat(field, "set without a memory limit"));
  if (limit < 0) throw Error(ErrorKind::invalid_spec, cat(field, "a limit, but memory has none"));
  if (swap < limit)
    throw Error(ErrorKind::invalid_spec, cat(field, swap, " is below the memory limit ", limit, ", which it includes"));
  return cat(swap - limit);
}

}  // namespace tare::cgroup
