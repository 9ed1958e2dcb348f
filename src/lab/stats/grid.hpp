// The samples of one workload by place, launch and round. Inside lab/stats only.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "lab/model/model.hpp"

namespace tare::lab {

inline constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// log(nanoseconds per operation) by [place][launch][round]; NaN where there is no sample.
class Grid {
 public:
  Grid(const Dataset& data, int workload, bool cpu)
      : launches_(static_cast<std::size_t>(data.launches)),
        rounds_(static_cast<std::size_t>(data.experiment.rounds)),
        values_(data.experiment.places.size() * launches_ * rounds_, kNone) {
    for (const Sample& s : data.samples) {
      if (s.workload != workload || s.launch < 0 || s.launch >= data.launches) continue;
      if (s.round < 0 || s.round >= data.experiment.rounds) continue;
      const std::int64_t ns = cpu ? s.cpu_ns : s.wall_ns;
      if (ns <= 0) continue;
      values_[at(s.place, s.launch, s.round)] = std::log(static_cast<double>(ns) / static_cast<double>(s.count));
    }
  }
  double value(int place, int launch, int round) const { return values_[at(place, launch, round)]; }
  int launches() const { return static_cast<int>(launches_); }
  int rounds() const { return static_cast<int>(rounds_); }

 private:
  std::size_t at(int place, int launch, int round) const {
    return (static_cast<std::size_t>(place) * launches_ + static_cast<std::size_t>(launch)) * rounds_ +
           static_cast<std::size_t>(round);
  }
  std::size_t launches_, rounds_;
  std::vector<double> values_;
};

std::vector<int> places_with(const Experiment& experiment, Role role);
// What a place is divided by: the place it names, else the references.
std::vector<int> divisors(const Experiment& experiment, int place);
// Of the divisors, their mean; NaN where one is missing.
double reference_value(const Grid& grid, const std::vector<int>& references, int launch, int round);
// The paired log-ratios of a launch's rounds, without those that are missing.
std::vector<double> round_values(const Grid& grid, const std::vector<int>& references, int place, int launch);
// One value a launch: their median.
std::vector<double> launch_values(const Grid& grid, const std::vector<int>& references, int place);
std::vector<double> present(const std::vector<double>& values);
const Absence* absence_of(const Dataset& data, int place, int workload);

// judge.cpp: the verdicts of all cells together.
struct Analysis;
void judge(const Dataset& data, Analysis& analysis);

}  // namespace tare::lab
