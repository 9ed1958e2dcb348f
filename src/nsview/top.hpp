// What each container uses, from its cgroups: found by walking the hierarchies, so frozen and hidden ones are there,
// too.
//
// Units: bytes, tasks, bytes a second, 100 % being one processor. What a layout does not count is absent.
// Sources: cgroup-v1/*.rst, cgroup-v2.rst, accounting/psi.rst.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cgroup/usage.hpp"
#include "facts/facts.hpp"
#include "nsview/container.hpp"

namespace tare::nsview {

struct Place {
  ContainerKey key;
  cgroup::Location location;
};

// The containers whose cgroups are there, by engine and id. `known` are those that only their records tell.
std::vector<Place> places(const facts::Cgroups& cgroups, const std::vector<Known>& known);

struct Counts {
  std::uint64_t at = 0;   // nanoseconds of the monotonic clock
  std::uint64_t cpu = 0;  // nanoseconds
  std::uint64_t memory = 0, tasks = 0;
  std::uint64_t read = 0, written = 0;                                    // bytes
  std::optional<std::string> cpu_pressure, memory_pressure, io_pressure;  // "some", over 10 s, in percent: "1.25"
};
Counts counts(const Place& place);

struct Load {
  double cpu = 0;  // percent
  std::uint64_t memory = 0, tasks = 0;
  double read = 0, written = 0;  // bytes a second
};
// Between two counts of one place. A counter that fell (another cgroup of that name by now) counts as nothing.
Load load(const Counts& before, const Counts& after);

}  // namespace tare::nsview
