// The proof of the verdicts as they are given: for all cells together, with the margin, the bound by A/A and the
// stopping rule, on data whose truth is known. 2,000 runs each, as in coverage_test.cpp.
#include <gtest/gtest.h>

#include <cstdio>

#include "lab/design/allocation.hpp"
#include "lab/stats/analysis.hpp"
#include "lab/stats/bill.hpp"
#include "lab/stats/distributions.hpp"
#include "lab/stats/grid.hpp"
#include "synthetic.hpp"

namespace tare::lab {
namespace {

constexpr int kRuns = 2000;
constexpr double kMost = 0.065;

bool covers(const Estimate& e, double truth) { return e.low <= truth && e.high >= truth; }
bool claimed(const Cell& c) { return c.verdict == Verdict::costs || c.verdict == Verdict::saves; }

// Twelve cells that cost nothing: how many runs claim anything of any of them, and in how many do all the intervals
// hold?
TEST(Family, OneWrongClaimInAllCellsTogetherIsRare) {
  int wrong = 0, all_hold = 0, one_misses = 0, aa_claims = 0;
  for (int i = 0; i < kRuns; ++i) {
    const Analysis a = analyse(synthetic({}, static_cast<std::uint64_t>(i) + 1, 16, 2, 10));
    bool any = false, hold = true, alone = true;
    for (const Cell& c : a.tables[0].cells) {
      ASSERT_TRUE(c.family.has_interval());
      any = any || (!c.control && claimed(c));
      aa_claims += c.control && claimed(c);
      hold = hold && covers(c.family, 0);
      alone = alone && covers(c.log_ratio, 0);
    }
    wrong += any;
    all_hold += hold;
    one_misses += !alone;
  }
  std::printf(
      "12 cells, 16 launches: a wrong claim in %.1f %% of runs, all intervals hold in %.1f %%, A/A claims %.2f %%; "
      "of the intervals by themselves one misses in %.1f %%\n",
      100.0 * wrong / kRuns, 100.0 * all_hold / kRuns, 100.0 * aa_claims / kRuns, 100.0 * one_misses / kRuns);
  EXPECT_LE(wrong, kMost * kRuns);
  EXPECT_LE(aa_claims, kMost * kRuns);
  EXPECT_GE(all_hold, 0.935 * kRuns);
  EXPECT_GT(one_misses, 0.2 * kRuns);  // so the correction was needed
}

// With the truth just at the margin: the two tests at the family's level, and the verdict that is given in the end.
// That one is rarer still, since a difference is looked for first.
TEST(Family, NoCostIsRarelySaidOfWhatLiesAtTheMargin) {
  const World quiet{.effect = 0.0198, .launch_sd = 0.006, .round_sd = 0.006};
  World drifting = quiet, odd = quiet, correlated = quiet, minus = quiet, slow = quiet;
  drifting.drift = 0.0005;
  odd.outliers = 0.05;
  correlated.autocorrelation = 0.7;
  minus.effect = -quiet.effect;
  slow.launch_outliers = 0.03;
  for (const auto& [name, world] : {std::pair{"quiet", quiet},
                                    {"drift", drifting},
                                    {"outliers", odd},
                                    {"correlated", correlated},
                                    {"saves as much", minus},
                                    {"slow workers", slow}}) {
    int within = 0, said = 0, opposite = 0;
    for (int i = 0; i < kRuns; ++i) {
      Dataset data = synthetic(world, static_cast<std::uint64_t>(i) + 1, 24, 4, 0);
      data.experiment.margin = quiet.effect;
      const Cell x = analyse(data).tables[0].cells[1];
      within += x.equivalence.low > -quiet.effect && x.equivalence.high < quiet.effect;
      said += x.verdict == Verdict::no_cost && x.margin <= quiet.effect;
      opposite += x.verdict == (world.effect > 0 ? Verdict::saves : Verdict::costs);
    }
    std::printf("truth at the margin, %-14s found within it in %.1f %%, \"no cost above it\" said in %.1f %%\n", name,
                100.0 * within / kRuns, 100.0 * said / kRuns);
    EXPECT_LE(within, kMost * kRuns) << name;
    EXPECT_GT(within, 0.005 * kRuns) << name;  // half of 5 %, for one of two cells: the rule was put to the test
    EXPECT_LE(said, kMost * kRuns) << name;
    EXPECT_EQ(opposite, 0) << name;
  }
}

// A margin that A/A has widened is a random one; what is said is wrong where the truth lies beyond it all the same.
TEST(Family, AMarginWidenedByTheControlIsNoLicence) {
  const World world{.effect = 0.03, .launch_sd = 0.02, .round_sd = 0.01};
  int said = 0, wrong = 0, widened = 0;
  for (int i = 0; i < kRuns; ++i) {
    Dataset data = synthetic(world, static_cast<std::uint64_t>(i) + 1, 24, 2, 0);
    data.experiment.margin = 0.001;
    const Cell x = analyse(data).tables[0].cells[1];
    widened += x.margin > 0.001;
    said += x.verdict == Verdict::no_cost;
    wrong += x.verdict == Verdict::no_cost && x.margin <= world.effect;
  }
  std::printf("margin by A/A: no cost above it said in %.1f %%, wrongly in %.1f %%\n", 100.0 * said / kRuns,
              100.0 * wrong / kRuns);
  EXPECT_EQ(widened, kRuns);
  EXPECT_LE(wrong, kMost * kRuns);
}

// And it has to be said where it is true, or the rule would keep its error rate by saying nothing.
TEST(Family, MostCellsThatCostNothingAreSaidTo) {
  int aa = 0, x = 0, wrong = 0;
  constexpr int kFew = 300;
  for (int i = 0; i < kFew; ++i) {
    const Analysis a = analyse(synthetic({}, static_cast<std::uint64_t>(i) + 1, 100, 2, 0));
    aa += a.tables[0].cells[0].verdict == Verdict::no_cost;
    x += a.tables[0].cells[1].verdict == Verdict::no_cost;
    wrong += claimed(a.tables[0].cells[0]) || claimed(a.tables[0].cells[1]);
  }
  std::printf("100 launches: A/A reads no cost in %.0f %%, another without cost in %.0f %%\n", 100.0 * aa / kFew,
              100.0 * x / kFew);
  EXPECT_GE(aa, kFew / 2);
  EXPECT_GE(x, kFew / 2);
  EXPECT_LE(wrong, kMost * kFew);
}

struct Sequence {
  double covers = 0, aa_claims = 0, claims = 0, launches = 0, stopped = 0;
};

// A run with --precision: the rule is looked at after each launch.
Sequence sequence(const World& world, double precision, int most) {
  Sequence out;
  for (int i = 0; i < kRuns; ++i) {
    Dataset data;
    data.experiment = synthetic_experiment(static_cast<std::uint64_t>(i) + 1, 2, 0);
    Noise noise(static_cast<std::uint64_t>(i) + 77'777);
    double clock = 0, carried = noise.normal();
    bool stop = false;
    for (int n = 0; n < most && !stop; ++n) {
      add_launch(data, world, noise, clock, carried);
      if (data.launches >= kFirstLook) stop = precise_enough(half_widths(data), data.launches, precision);
    }
    const Table t = analyse(data).tables[0];
    out.covers += covers(t.cells[1].log_ratio, world.effect);
    out.aa_claims += t.control_differs;
    out.claims += claimed(t.cells[1]);
    out.launches += data.launches;
    out.stopped += stop;
  }
  for (double* x : {&out.covers, &out.aa_claims, &out.claims, &out.launches, &out.stopped}) *x /= kRuns;
  return out;
}

TEST(Stopping, ByWidthKeepsTheErrorRateWhateverTheNoise) {
  const World plain{}, odd{.outliers = 0.05}, slow{.launch_outliers = 0.03}, correlated{.autocorrelation = 0.7},
      drifting{.effect = 0.0198, .drift = 0.0005};
  for (const auto& [name, world, precision] : {std::tuple{"plain", plain, 0.024},
                                               {"outliers", odd, 0.03},
                                               {"slow workers", slow, 0.03},
                                               {"correlated", correlated, 0.024},
                                               {"drift, effect 2 %", drifting, 0.024}}) {
    const Sequence s = sequence(world, precision, 40);
    std::printf("stopping, %-18s covers %.1f %%, A/A differs %.1f %%, claims %.1f %%, %.1f launches, stopped %.0f %%\n",
                name, 100 * s.covers, 100 * s.aa_claims, 100 * s.claims, s.launches, 100 * s.stopped);
    EXPECT_GE(s.covers, 0.935) << name;
    EXPECT_LE(s.covers, 0.975) << name;
    EXPECT_LE(s.aa_claims, kMost) << name;
    if (world.effect == 0) {
      EXPECT_LE(s.claims, kMost) << name;
    }
    EXPECT_GT(s.stopped, 0.2) << name;  // neither never nor at once
    EXPECT_GT(s.launches, 13) << name;
  }
}

TEST(Stopping, TheRule) {
  EXPECT_TRUE(precise_enough({0.01, 0.009}, 12, 0.01));
  EXPECT_FALSE(precise_enough({0.01, 0.0101}, 12, 0.01));
  EXPECT_FALSE(precise_enough({0.01}, 11, 0.01));
  EXPECT_FALSE(precise_enough({0.01}, 12, 0));
  EXPECT_FALSE(precise_enough({0.01, std::nan("")}, 12, 0.01));
}

TEST(Stopping, WhatNoPlaceCanDoIsNotWaitedFor) {
  Dataset data = synthetic({}, 3, 16, 2, 0);
  data.experiment.workloads.push_back({"ps", "", {}, 1});
  EXPECT_TRUE(std::isnan(half_widths(data)[1]));
  for (int place = 0; place < 3; ++place) data.absences.push_back({place, 1, "not installed"});
  EXPECT_EQ(half_widths(data)[1], 0);
  EXPECT_TRUE(precise_enough(half_widths(data), 16, 1));
  EXPECT_FALSE(precise_enough(half_widths(data), 16, half_widths(data)[0] * 0.99));
}

// A workload whose interval is narrow is left out of launches by the widths alone; its own figures must not suffer.
TEST(Stopping, LeavingAWorkloadOutKeepsTheErrorRate) {
  int hold[2] = {}, differ[2] = {}, launches[2] = {};
  for (int i = 0; i < kRuns; ++i) {
    Dataset data[2];
    Noise noise(static_cast<std::uint64_t>(i) + 5'555);
    const World worlds[2] = {{}, {.launch_sd = 0.012, .round_sd = 0.02}};
    double clock = 0, carried = noise.normal();
    for (Dataset& d : data) d.experiment = synthetic_experiment(static_cast<std::uint64_t>(i) + 1, 2, 0);
    Allocation allocation(2);
    std::vector<bool> active(2, true);
    for (int n = 0; n < 24; ++n) {
      if (n >= kFirstLook) active = allocation.next({half_widths(data[0])[0], half_widths(data[1])[0]});
      for (std::size_t w = 0; w < 2; ++w) {
        if (active[w]) add_launch(data[w], worlds[w], noise, clock, carried);
      }
    }
    for (int w = 0; w < 2; ++w) {
      const Table t = analyse(data[w]).tables[0];
      hold[w] += covers(t.cells[1].log_ratio, 0);
      differ[w] += t.control_differs;
      launches[w] += data[w].launches;
    }
  }
  for (int w = 0; w < 2; ++w) {
    std::printf("allocation, workload %d: covers %.1f %%, A/A differs %.1f %%, %.1f launches\n", w,
                100.0 * hold[w] / kRuns, 100.0 * differ[w] / kRuns, 1.0 * launches[w] / kRuns);
    EXPECT_GE(hold[w], 0.935 * kRuns);
    EXPECT_LE(hold[w], 0.975 * kRuns);
    EXPECT_LE(differ[w], kMost * kRuns);
  }
  EXPECT_LT(launches[1], launches[0]);
}

// The bootstrap's interval is about the mean, so data with outliers on one side have another truth for it; on all
// others it has to hold like the rest.
TEST(Bootstrap, CoversToo) {
  for (const auto& [name, world, launches] : {std::tuple{"plain", World{}, 8},
                                              {"plain", World{}, 12},
                                              {"plain", World{}, 30},
                                              {"drift", World{.effect = 0.0488, .drift = 0.0005}, 16},
                                              {"correlated", World{.autocorrelation = 0.7}, 16},
                                              {"slow workers", World{.launch_outliers = 0.05}, 16}}) {
    int hold = 0;
    double width = 0;
    for (int i = 0; i < kRuns; ++i) {
      const Dataset data = synthetic(world, static_cast<std::uint64_t>(i) + 1, launches, 4, 0);
      const Grid grid(data, 0, false);
      std::vector<std::vector<double>> rounds;
      for (int launch = 0; launch < launches; ++launch) rounds.push_back(round_values(grid, {0}, 2, launch));
      const Estimate e = hierarchical_bootstrap(rounds, static_cast<std::uint64_t>(i), 0.95, 300);
      hold += covers(e, world.effect);
      width += (e.high - e.low) / kRuns;
    }
    std::printf("bootstrap, %-12s %2d launches: covers %.1f %%, mean width %.2f %%\n", name, launches,
                100.0 * hold / kRuns, 100 * width);
    EXPECT_GE(hold, 0.935 * kRuns) << name << launches;
    EXPECT_LE(hold, 0.975 * kRuns) << name << launches;
  }
}

// The bill's last line, whose parts share the launch and the reference.
TEST(Bill, WhatIsLeftUnexplainedIsCovered) {
  int hold = 0, sum_holds = 0;
  double width = 0, apart = 0;
  for (int i = 0; i < kRuns; ++i) {
    Dataset data = synthetic({}, static_cast<std::uint64_t>(i) + 1, 16, 2, 2);
    for (std::size_t p : {2, 3}) data.experiment.places[p].bill = true;
    data.experiment.places[4].kind = PlaceKind::container;
    const Bill b = make_bills(data)[0];
    hold += covers(b.unexplained, 0);
    sum_holds += covers(b.sum, 0);
    width += b.unexplained.high - b.unexplained.low;
    apart += (b.sum.high - b.sum.low) + (b.whole.high - b.whole.low);
  }
  std::printf("bill: the remainder's interval covers in %.1f %%, the sum's in %.1f %%\n", 100.0 * hold / kRuns,
              100.0 * sum_holds / kRuns);
  EXPECT_GE(hold, 0.935 * kRuns);
  EXPECT_LE(hold, 0.975 * kRuns);
  EXPECT_GE(sum_holds, 0.935 * kRuns);
  EXPECT_LE(sum_holds, 0.975 * kRuns);
  EXPECT_LT(width, apart);  // narrower than the ends of the two put together
}

}  // namespace
}  // namespace tare::lab
