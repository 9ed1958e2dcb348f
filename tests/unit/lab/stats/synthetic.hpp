// Data whose truth is known, for the proof of the method.
#pragma once

#include <cmath>
#include <numbers>

#include "lab/design/random.hpp"
#include "lab/design/schedule.hpp"
#include "lab/model/model.hpp"

namespace tare::lab {

class Noise {
 public:
  explicit Noise(std::uint64_t seed) : random_(seed, 0x5eed) {}
  double uniform() { return random_.uniform(); }
  double normal() {  // Box and Muller
    const double u = 1 - random_.uniform(), v = random_.uniform();
    return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
  }

 private:
  Random random_;
};

struct World {
  double effect = 0;           // log units, of the subject "x"
  double launch_sd = 0.03;     // of each worker of each launch
  double round_sd = 0.02;      // of each batch
  double common_sd = 0.05;     // of each launch, alike for all of it
  double drift = 0;            // log units from slot to slot, all through the run
  double autocorrelation = 0;  // of the batches' noise, in the order of the schedule
  double outliers = 0;         // share of batches that take up to twice as long
  double launch_outliers = 0;  // share of workers that are 30 % slower
};

inline Experiment synthetic_experiment(std::uint64_t seed, int rounds, int others = 4) {
  Experiment e;
  e.seed = seed;
  e.rounds = rounds;
  e.places = {{"bare", Role::reference, PlaceKind::bare, {}, 0},
              {"A/A", Role::control, PlaceKind::bare, {}, 0},
              {"x", Role::subject, PlaceKind::bare, {}, 0}};
  for (int i = 0; i < others; ++i)
    e.places.push_back({"other" + std::to_string(i), Role::subject, PlaceKind::bare, {}, 0});
  e.workloads = {{"spawn", "", {}, 1000}};
  return e;
}

inline void add_launch(Dataset& data, const World& world, Noise& noise, double& clock, double& carried) {
  const Experiment& e = data.experiment;
  const int number = data.launches;
  const double common = world.common_sd * noise.normal();
  std::vector<double> worker;
  for (std::size_t i = 0; i < e.places.size(); ++i) {
    worker.push_back(world.launch_sd * noise.normal() + (noise.uniform() < world.launch_outliers ? 0.3 : 0.0));
  }
  for (const Slot& slot : schedule(e, number).slots) {
    clock += world.drift;
    const double fresh = std::sqrt(1 - world.autocorrelation * world.autocorrelation) * noise.normal();
    carried = world.autocorrelation * carried + fresh;
    double t = std::log(1e5) + common + clock + worker[static_cast<std::size_t>(slot.place)] + world.round_sd * carried;
    if (!slot.counted) continue;
    if (noise.uniform() < world.outliers) t += std::log1p(noise.uniform());
    if (e.places[static_cast<std::size_t>(slot.place)].name == "x") t += world.effect;
    Sample s;
    s.launch = number;
    s.round = slot.round;
    s.place = slot.place;
    s.workload = slot.workload;
    s.count = 1000;
    s.wall_ns = static_cast<std::int64_t>(1000 * std::exp(t));
    s.cpu_ns = s.wall_ns;
    data.samples.push_back(s);
  }
  ++data.launches;
}

inline Dataset synthetic(const World& world, std::uint64_t seed, int launches, int rounds, int others = 4) {
  Dataset data;
  data.experiment = synthetic_experiment(seed, rounds, others);
  Noise noise(seed);
  double clock = 0, carried = noise.normal();
  for (int i = 0; i < launches; ++i) add_launch(data, world, noise, clock, carried);
  return data;
}

}  // namespace tare::lab
