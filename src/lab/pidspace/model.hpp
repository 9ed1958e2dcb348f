// `tare weigh pidspace`: the designs of src/pidspace on one base, in one run.
//
// A scene is a namespace so many levels deep with so many live pids in it. A launch is a process of its own, which
// builds each scene in each design and times each operation in turns; what a claim rests on is the launch, as in
// docs/METHOD.md. Units: nanoseconds an operation; natural logarithms of ratios.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lab/stats/interval.hpp"

namespace tare::lab {

struct Scene {
  int level = 0;
  int live = 500;
  auto operator<=>(const Scene&) const = default;
};
std::vector<Scene> pidspace_scenes();

// In the order of the tables: none first, which all are held against.
const std::vector<std::string>& pidspace_designs();

// "alloc", "find" ..., and what each is in words.
struct Operation {
  const char* name;
  const char* describes;
};
const std::vector<Operation>& pidspace_operations();

// A unit of the real work: the system calls that concern pids, as traced by tests/lab/pidspace-trace, and by what each
// does to pids (kernel/fork.c, exit.c, pid.c, fs/proc/base.c) the operations that they come to.
struct Call {
  const char* name;
  int times;
};
struct Mix {
  const char* name;
  const char* unit;
  std::vector<Call> calls;
  int allocate = 0, number = 0, find = 0,
      step = 0;  // operations a unit; allocate goes with attaching, detaching, freeing
};
const std::vector<Mix>& pidspace_mixes();

struct PidspaceSample {
  int launch = 0;
  Scene scene;
  std::string design, operation;
  std::vector<double> ns;  // by round
};

struct PidspaceData {
  std::uint64_t seed = 0;
  std::string version, started, machine = "{}";
  int launches = 0;  // that came to their end
  std::vector<PidspaceSample> samples;
  std::map<std::string, std::vector<double>> real;  // ns of a unit of the real work, by launch
};

// One launch, which takes some seconds; its records go to `write`, a line each. In a process of its own.
void pidspace_launch(int launch, std::uint64_t seed, bool small, void (*write)(const std::string& line));

std::string pidspace_head(std::uint64_t seed, std::string_view version, std::string_view started,
                          std::string_view machine);
// Throws invalid_spec with the line.
PidspaceData parse_pidspace(std::string_view text);
// The tables and what they say of the claims of 2007. Pure.
std::string pidspace_page(const PidspaceData& data);
std::string pidspace_json(const PidspaceData& data);

}  // namespace tare::lab
