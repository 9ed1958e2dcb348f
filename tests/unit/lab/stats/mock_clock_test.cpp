// The schedule on a clock of the test's own: a machine that becomes slower and slower, with no noise at all. The
// order in which the places take turns must take the drift out; an order that doesn't is shown to be deceived.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "lab/design/schedule.hpp"
#include "lab/stats/analysis.hpp"

namespace tare::lab {
namespace {

constexpr double kEffect = 0.03;  // of the place "x", log units

Experiment experiment() {
  Experiment e;
  e.seed = 11;
  e.rounds = 4;
  e.places = {{"bare", Role::reference, PlaceKind::bare, {}, 0}, {"A/A", Role::control, PlaceKind::bare, {}, 0}};
  for (int i = 0; i < 5; ++i) e.places.push_back({"other" + std::to_string(i), Role::subject, PlaceKind::bare, {}, 0});
  e.places.push_back({"x", Role::subject, PlaceKind::bare, {}, 0});
  e.workloads = {{"one", "", {}, 1000}, {"two", "", {}, 1000}};
  return e;
}

// Each slot takes its batch's time on the clock, and the machine's speed follows the clock.
template <class Order>
Dataset worked(double drift_a_second, Order order) {
  Dataset data;
  data.experiment = experiment();
  double now = 0;  // seconds
  for (int launch = 0; launch < 24; ++launch) {
    for (const Slot& slot : order(data.experiment, launch)) {
      const bool x = data.experiment.places[static_cast<std::size_t>(slot.place)].name == "x";
      const double batch = 0.01 * std::exp(drift_a_second * now + (x ? kEffect : 0.0));
      now += batch;
      if (!slot.counted) continue;
      Sample s;
      s.launch = launch;
      s.round = slot.round;
      s.place = slot.place;
      s.workload = slot.workload;
      s.count = 1000;
      s.wall_ns = s.cpu_ns = std::llround(batch * 1e9);
      s.at_ns = std::llround(now * 1e9);
      data.samples.push_back(s);
    }
    data.launches = launch + 1;
  }
  return data;
}

double estimate(const Analysis& analysis, std::size_t table, const Dataset& data, const char* place) {
  for (const Cell& cell : analysis.tables[table].cells) {
    if (data.experiment.places[static_cast<std::size_t>(cell.place)].name == place) return cell.log_ratio.value;
  }
  return std::nan("");
}

TEST(MockClock, TheScheduleTakesAnEvenDriftOut) {
  // A hundredth a second: over a round of both workloads some 0.2 %.
  const Dataset data = worked(0.01, [](const Experiment& e, int launch) { return schedule(e, launch).slots; });
  const Analysis analysis = analyse(data);
  for (std::size_t table = 0; table < 2; ++table) {
    EXPECT_NEAR(estimate(analysis, table, data, "A/A"), 0, 2e-5);
    EXPECT_NEAR(estimate(analysis, table, data, "x"), kEffect, 2e-5);
  }
}

TEST(MockClock, OneAfterTheOtherIsDeceivedByTheSameDrift) {
  // The places in a fixed order, each with all its rounds: as most benchmarks do it.
  const auto in_a_row = [](const Experiment& e, int) {
    std::vector<Slot> slots;
    for (int place = 0; place < static_cast<int>(e.places.size()); ++place) {
      for (int workload = 0; workload < 2; ++workload) {
        for (int round = 0; round < e.rounds; ++round) slots.push_back({round, workload, place, true});
      }
    }
    return slots;
  };
  const Dataset data = worked(0.01, in_a_row);
  const Analysis analysis = analyse(data);
  EXPECT_GT(std::fabs(estimate(analysis, 0, data, "A/A")), 5e-4);
  EXPECT_GT(estimate(analysis, 0, data, "x") - kEffect, 5e-3);
}

TEST(MockClock, ASpeedThatFallsAndRisesLeavesNoMoreThanItsCurve) {
  // A drift that turns within the run: what the mirror doesn't take out is of second order.
  Dataset data = worked(0.0, [](const Experiment& e, int launch) { return schedule(e, launch).slots; });
  const double length = static_cast<double>(data.samples.back().at_ns);
  for (Sample& s : data.samples) {
    const double phase = static_cast<double>(s.at_ns) / length;
    s.wall_ns = std::llround(static_cast<double>(s.wall_ns) * (1 + 0.2 * phase * (1 - phase)));
  }
  const Analysis analysis = analyse(data);
  EXPECT_NEAR(estimate(analysis, 1, data, "A/A"), 0, 1e-4);
  EXPECT_NEAR(estimate(analysis, 1, data, "x"), kEffect, 1e-4);
}

}  // namespace
}  // namespace tare::lab
