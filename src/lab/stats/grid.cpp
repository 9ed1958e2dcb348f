#include "lab/stats/grid.hpp"

#include <algorithm>
#include <iterator>

#include "lab/stats/interval.hpp"

namespace tare::lab {

std::vector<int> places_with(const Experiment& experiment, Role role) {
  std::vector<int> out;
  for (std::size_t i = 0; i < experiment.places.size(); ++i) {
    if (experiment.places[i].role == role) out.push_back(static_cast<int>(i));
  }
  return out;
}

std::vector<int> divisors(const Experiment& experiment, int place) {
  const std::string& against = experiment.places[static_cast<std::size_t>(place)].against;
  for (std::size_t i = 0; !against.empty() && i < experiment.places.size(); ++i) {
    if (experiment.places[i].name == against) return {static_cast<int>(i)};
  }
  return places_with(experiment, Role::reference);
}

double reference_value(const Grid& grid, const std::vector<int>& references, int launch, int round) {
  double sum = 0;
  for (const int place : references) sum += grid.value(place, launch, round);  // NaN stays NaN
  return sum / static_cast<double>(references.size());
}

std::vector<double> round_values(const Grid& grid, const std::vector<int>& references, int place, int launch) {
  std::vector<double> out;
  for (int round = 0; round < grid.rounds(); ++round) {
    const double d = grid.value(place, launch, round) - reference_value(grid, references, launch, round);
    if (!std::isnan(d)) out.push_back(d);
  }
  return out;
}

std::vector<double> launch_values(const Grid& grid, const std::vector<int>& references, int place) {
  std::vector<double> out;
  for (int launch = 0; launch < grid.launches(); ++launch) {
    out.push_back(median_of(round_values(grid, references, place, launch)));
  }
  return out;
}

std::vector<double> present(const std::vector<double>& values) {
  std::vector<double> out;
  std::copy_if(values.begin(), values.end(), std::back_inserter(out), [](double x) { return !std::isnan(x); });
  return out;
}

const Absence* absence_of(const Dataset& data, int place, int workload) {
  for (const Absence& a : data.absences) {
    if (a.place == place && (a.workload < 0 || a.workload == workload)) return &a;
  }
  return nullptr;
}

}  // namespace tare::lab
