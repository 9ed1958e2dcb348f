// Data given value by value, for tests that ask for exact results.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "lab/model/model.hpp"

namespace tare::lab {

// Places "bare", "A/A" and then as many subjects as needed; one workload, "w"; values[place][launch] is the log of an
// operation's time in units of a millisecond, alike in each of the rounds.
inline Dataset exact(const std::vector<std::vector<double>>& values, int rounds = 2) {
  Dataset data;
  Experiment& e = data.experiment;
  e.rounds = rounds;
  e.seed = 1;
  for (std::size_t i = 0; i < values.size(); ++i) {
    e.places.push_back({i == 0   ? "bare"
                        : i == 1 ? "A/A"
                                 : "p" + std::to_string(i),
                        i == 0   ? Role::reference
                        : i == 1 ? Role::control
                                 : Role::subject,
                        PlaceKind::bare,
                        {},
                        0});
  }
  e.workloads = {{"w", "", {}, 1000}};
  data.launches = static_cast<int>(values[0].size());
  for (int launch = 0; launch < data.launches; ++launch) {
    for (int round = 0; round < rounds; ++round) {
      for (std::size_t place = 0; place < values.size(); ++place) {
        Sample s;
        s.launch = launch;
        s.round = round;
        s.place = static_cast<int>(place);
        s.count = 1000;
        s.wall_ns = std::llround(1e9 * std::exp(values[place][static_cast<std::size_t>(launch)]));
        s.cpu_ns = s.wall_ns;
        s.at_ns = (launch + 1) * 1'000'000'000LL;
        data.samples.push_back(s);
      }
    }
  }
  return data;
}

// n values spread evenly and symmetrically about `middle`, from middle - half to middle + half.
inline std::vector<double> spread(double middle, double half, int n) {
  std::vector<double> out;
  for (int i = 0; i < n; ++i) out.push_back(middle + half * (2.0 * i / (n - 1) - 1));
  return out;
}

}  // namespace tare::lab
