#include "lab/stats/analysis.hpp"

#include <gtest/gtest.h>

#include "synthetic.hpp"

namespace tare::lab {
namespace {

const World kStill{.launch_sd = 0.001, .round_sd = 0.001, .common_sd = 0.2};

const Cell& cell(const Analysis& a, const Dataset& data, const std::string& name) {
  for (const Cell& c : a.tables[0].cells) {
    if (data.experiment.places[static_cast<std::size_t>(c.place)].name == name) return c;
  }
  throw std::runtime_error("no cell " + name);
}

TEST(Analysis, PairsWithinTheRound) {
  // What a whole launch has in common, 20 % of it, falls out.
  World world = kStill;
  world.effect = 0.1;
  const Dataset data = synthetic(world, 1, 12, 4);
  const Analysis a = analyse(data);
  const Cell& x = cell(a, data, "x");
  EXPECT_NEAR(x.log_ratio.value, 0.1, 0.002);
  EXPECT_LT(x.log_ratio.half_width(), 0.004);
  EXPECT_EQ(x.verdict, Verdict::costs);
  EXPECT_NEAR(x.percent(), 10.5, 0.3);
  EXPECT_TRUE(a.tables[0].cells[0].control);
  EXPECT_EQ(a.tables[0].cells[0].verdict, Verdict::no_cost);
  EXPECT_EQ(x.launch_values.size(), 12u);
}

TEST(Analysis, FasterIsSaid) {
  World world = kStill;
  world.effect = -0.05;
  const Dataset data = synthetic(world, 2, 12, 4);
  EXPECT_EQ(cell(analyse(data), data, "x").verdict, Verdict::saves);
}

TEST(Analysis, NothingSmallerThanTheControlIsClaimed) {
  World world = kStill;
  world.effect = 0.01;
  Dataset data = synthetic(world, 3, 12, 4);
  EXPECT_EQ(cell(analyse(data), data, "x").verdict, Verdict::costs);
  // Now the control itself is off by 2 %: no more claim of 1 %, and the run says that it's odd.
  for (Sample& s : data.samples) {
    if (s.place == 1) s.wall_ns = s.wall_ns * 102 / 100;
  }
  const Analysis a = analyse(data);
  EXPECT_NE(cell(a, data, "x").verdict, Verdict::costs);
  EXPECT_TRUE(a.tables[0].control_differs);
  EXPECT_GT(a.tables[0].aa_bound, 0.015);
  // And what counts as no cost is no longer the margin asked for.
  data.experiment.margin = 0.012;
  EXPECT_EQ(cell(analyse(data), data, "x").margin, analyse(data).tables[0].aa_bound);
}

TEST(Analysis, WhatIsSmallerThanTheMarginIsCalledSo) {
  World world = kStill;
  world.effect = 0.01;
  Dataset data = synthetic(world, 3, 16, 4);
  for (Sample& s : data.samples) {  // away from zero, but not surely: the verdict must not be "costs"
    if (s.place == 2 && s.launch % 2 == 0) s.wall_ns = s.wall_ns * 98 / 100;
  }
  const Cell x = cell(analyse(data), data, "x");
  EXPECT_EQ(x.verdict, Verdict::no_cost);
  EXPECT_EQ(x.margin, kDefaultMargin);
  data.experiment.margin = 0.002;
  data.samples.back().at_ns = 60'000'000'000;
  const Cell strict = cell(analyse(data), data, "x");
  EXPECT_EQ(strict.verdict, Verdict::not_settled);
  EXPECT_GT(strict.settled_in_ns, 0);
}

TEST(Analysis, AClaimOfEquivalenceNeedsBothSides) {
  // 1.8 % with an interval that ends beyond 2 %, on either side.
  for (const double effect : {0.019, -0.019}) {
    const Dataset data = synthetic({.effect = effect, .launch_sd = 0.004, .round_sd = 0.004, .common_sd = 0}, 5, 16, 4);
    EXPECT_NE(cell(analyse(data), data, "x").verdict, Verdict::no_cost) << effect;
  }
}

TEST(Analysis, TheFamilyCountsEveryCellThatIsClaimedAbout) {
  Dataset data = synthetic(kStill, 9, 16, 4, 4);
  EXPECT_EQ(analyse(data).family, 6);  // A/A, x, four others
  data.absences.push_back({3, -1, "gone"});
  const Analysis a = analyse(data);
  EXPECT_EQ(a.family, 5);
  const Cell& x = cell(a, data, "x");
  EXPECT_LE(1 - x.family.coverage, 0.05 / 5);
  EXPECT_LE(1 - x.equivalence.coverage, 0.1 / 5);
  EXPECT_LE(x.family.low, x.equivalence.low);
  EXPECT_LE(x.equivalence.low, x.log_ratio.low);
  EXPECT_GE(x.family.high, x.equivalence.high);
}

TEST(Analysis, TheTimeToSettleGoesByTheSquareOfTheWidth) {
  const World world{.effect = 0.005, .launch_sd = 0.05, .round_sd = 0.001, .common_sd = 0};
  Dataset data = synthetic(world, 13, 16, 4, 0);
  data.samples.back().at_ns = 60'000'000'000;
  const Cell x = cell(analyse(data), data, "x");
  ASSERT_EQ(x.verdict, Verdict::not_settled);
  const double bound = analyse(data).tables[0].aa_bound, value = std::fabs(x.family.value);
  double ratio = x.equivalence.half_width() / (x.margin - value);
  if (value > bound) ratio = std::min(ratio, x.family.half_width() / value);
  EXPECT_NEAR(x.settled_in_ns, std::max(60e9 * (ratio * ratio - 1), 60e9 / 16), 1);
}

TEST(Analysis, APlaceIsComparedToTheOneItNames) {
  Dataset data = synthetic(kStill, 7, 12, 4);
  data.experiment.places[3].against = "x";
  for (Sample& s : data.samples) {
    if (s.place == 2) s.wall_ns = s.wall_ns * 110 / 100;
    if (s.place == 3) s.wall_ns = s.wall_ns * 121 / 100;
  }
  EXPECT_NEAR(cell(analyse(data), data, "other0").percent(), 10, 0.3);
}

TEST(Analysis, ALineIsFittedThroughAnAxis) {
  Dataset data = synthetic(kStill, 17, 12, 4, 4);
  for (std::size_t i = 3; i < 7; ++i) {
    data.experiment.places[i].axis = "depth";
    data.experiment.places[i].amount = static_cast<std::int64_t>(1) << (i - 3);
  }
  for (Sample& s : data.samples) {
    if (s.place < 3) continue;
    s.wall_ns = std::llround(static_cast<double>(s.wall_ns) * std::exp(0.01 * (1 << (s.place - 3)) + 0.05));
  }
  const Analysis a = analyse(data);
  ASSERT_EQ(a.slopes.size(), 1u);
  EXPECT_EQ(a.slopes[0].points, 4);
  EXPECT_NEAR(a.slopes[0].per_unit.value, 0.01, 0.0005);
  EXPECT_LE(a.slopes[0].per_unit.low, 0.01);
  EXPECT_GE(a.slopes[0].per_unit.high, 0.01);
}

TEST(Analysis, OutliersAreNamedAndKept) {
  Dataset data = synthetic(kStill, 18, 12, 4);
  const Estimate before = cell(analyse(data), data, "x").log_ratio;
  for (Sample& s : data.samples) {
    if (s.place == 2 && s.launch == 5 && s.round == 2) s.wall_ns *= 3;
  }
  const Analysis a = analyse(data);
  ASSERT_FALSE(a.outliers.empty());
  EXPECT_EQ(a.outliers[0].launch, 5);
  EXPECT_EQ(a.outliers[0].round, 2);
  EXPECT_EQ(a.outliers[0].place, 2);
  EXPECT_NEAR(a.outliers[0].log_ratio, std::log(3), 0.01);
  EXPECT_EQ(cell(a, data, "x").log_ratio.n, before.n);
}

TEST(Analysis, MeansAreTakenOverTheCommonWorkloadsOnly) {
  Dataset data = synthetic(kStill, 19, 8, 4, 1);
  data.experiment.workloads.push_back({"two", "", {}, 1000});
  data.experiment.workloads.push_back({"three", "", {}, 1000});
  const std::vector<Sample> first = data.samples;
  for (Sample s : first) {
    s.workload = 1;
    if (s.place == 2) s.wall_ns *= 2;
    data.samples.push_back(s);
    s.workload = 2;
    if (s.place != 3) data.samples.push_back(s);
  }
  data.absences.push_back({3, 2, "no"});
  const Analysis a = analyse(data);
  EXPECT_EQ(a.common_workloads, (std::vector<int>{0, 1}));
  EXPECT_NEAR(a.overall[2].value, std::log(2) / 2, 0.002);
  EXPECT_LT(a.overall[2].low, std::log(2) / 2);
  EXPECT_GT(a.overall[2].high, std::log(2) / 2);
  EXPECT_EQ(a.overall[2].n, 8);
  EXPECT_EQ(a.overall[0].n, 0);  // the reference itself
  // A place that never started takes nothing from the others.
  data.absences.push_back({3, -1, "no"});
  EXPECT_EQ(analyse(data).common_workloads, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(analyse(data).overall[3].n, 0);
}

TEST(Analysis, WhatLiesAboveALimitIsFound) {
  World world = kStill;
  world.effect = 0.1;
  const Dataset data = synthetic(world, 20, 12, 4);
  const Analysis a = analyse(data);
  ASSERT_EQ(above(a, 0.05).size(), 1u);
  EXPECT_EQ(above(a, 0.05)[0].place, 2);
  EXPECT_TRUE(above(a, 0.1).empty());  // the estimate alone is not enough
}

TEST(Analysis, WidthsAreThoseOfTheWidestCell) {
  const Dataset data = synthetic({}, 21, 12, 4);
  double widest = 0;
  const Analysis analysis = analyse(data);
  for (const Cell& c : analysis.tables[0].cells) widest = std::max(widest, c.log_ratio.half_width());
  ASSERT_EQ(half_widths(data).size(), 1u);
  EXPECT_EQ(half_widths(data)[0], widest);
  EXPECT_TRUE(std::isnan(half_widths(synthetic({}, 21, 5, 4))[0]));
}

TEST(Analysis, ALaunchThatLeftAWorkloadOutIsNoMissingValue) {
  Dataset data = synthetic(kStill, 22, 16, 4);
  std::erase_if(data.samples, [](const Sample& s) { return s.launch % 4 != 0; });
  const Cell x = cell(analyse(data), data, "x");
  EXPECT_EQ(x.log_ratio.n, 4);
  EXPECT_EQ(x.verdict, Verdict::no_interval);
}

TEST(Analysis, SecondaryFiguresAreThoseOfAnOperation) {
  Dataset data = synthetic(kStill, 23, 8, 4);
  for (Sample& s : data.samples) {
    s.faults = 5000;
    s.cgroup_cpu_ns = 3'000'000;
    s.voluntary = 2000;
    s.involuntary = 1000;
    s.peak_bytes = 4096 + s.launch;
  }
  data.samples.back().instructions = 7;
  const PerOperation p = cell(analyse(data), data, "x").per_operation;
  EXPECT_DOUBLE_EQ(p.faults, 5);
  EXPECT_DOUBLE_EQ(p.cgroup_cpu_ns, 3000);
  EXPECT_DOUBLE_EQ(p.switches, 3);
  EXPECT_DOUBLE_EQ(p.peak_bytes, 4103);
  EXPECT_TRUE(std::isnan(p.instructions));
}

// Exact data: nothing random, so that each figure is known to the last digit.
Dataset exact(int launches = 8) {
  Dataset data;
  data.experiment = synthetic_experiment(1, 4, 1);
  for (int launch = 0; launch < launches; ++launch) {
    for (int round = 0; round < 4; ++round) {
      for (int place = 0; place < 4; ++place) {
        Sample s;
        s.launch = launch;
        s.round = round;
        s.place = place;
        s.count = 1000;
        s.wall_ns = s.cpu_ns = 100'000'000 * (launch + 1) + 1'000'000 * round;
        data.samples.push_back(s);
      }
    }
  }
  data.launches = launches;
  return data;
}

TEST(Exact, TheReferenceIsTheMedianOfAllItsBatches) {
  const Analysis a = analyse(exact(3));
  // 100 .. 103, 200 .. 203, 300 .. 303 us: the middle of twelve lies between 201 and 202.
  EXPECT_NEAR(a.tables[0].reference_ns, std::sqrt(201e3 * 202e3), 1);
  ASSERT_EQ(a.tables[0].reference_series.size(), 3u);
  EXPECT_NEAR(std::exp(a.tables[0].reference_series[0]), std::sqrt(101e3 * 102e3), 1);
  EXPECT_NEAR(std::exp(a.tables[0].reference_series[2]), std::sqrt(301e3 * 302e3), 1);
}

TEST(Exact, TheControlDiffersOnlyWhereItsIntervalLeavesOutZero) {
  EXPECT_FALSE(analyse(exact()).tables[0].control_differs);
  for (const int percent : {98, 102}) {
    Dataset data = exact();
    for (Sample& s : data.samples) {
      if (s.place == 1) s.wall_ns = s.wall_ns * percent / 100;
    }
    EXPECT_TRUE(analyse(data).tables[0].control_differs) << percent;
    EXPECT_NEAR(analyse(data).tables[0].aa_bound, std::fabs(std::log(percent / 100.0)), 1e-6) << percent;
  }
}

TEST(Exact, OfTwoControlsTheWiderOneBinds) {
  Dataset data = exact();
  data.experiment.places[3].role = Role::control;
  for (Sample& s : data.samples) {
    if (s.place == 1) s.wall_ns = s.wall_ns * 101 / 100;
    if (s.place == 3) s.wall_ns = s.wall_ns * 103 / 100;
  }
  EXPECT_NEAR(analyse(data).tables[0].aa_bound, std::log(1.03), 1e-6);
}

TEST(Exact, AnAbsenceIsOfItsWorkloadAlone) {
  Dataset data = exact();
  data.experiment.workloads.push_back({"two", "", {}, 1000});
  const std::vector<Sample> first = data.samples;
  for (Sample s : first) {
    s.workload = 1;
    data.samples.push_back(s);
  }
  data.absences.push_back({3, 0, "no"});
  const Analysis a = analyse(data);
  EXPECT_EQ(a.tables[0].cells[2].verdict, Verdict::absent);
  EXPECT_NE(a.tables[1].cells[2].verdict, Verdict::absent);
  EXPECT_EQ(a.common_workloads, std::vector<int>{1});
}

TEST(Exact, AWorkloadWithoutDataIsNotCommon) {
  Dataset data = exact();
  data.experiment.workloads.push_back({"two", "", {}, 1000});
  EXPECT_EQ(analyse(data).common_workloads, std::vector<int>{0});
  EXPECT_EQ(analyse(data).tables[1].cells[0].verdict, Verdict::no_interval);
}

TEST(Exact, APlaceThatNamesOneThatIsNotThereIsComparedToTheReference) {
  Dataset data = exact();
  data.experiment.places[3].against = "nowhere";
  for (Sample& s : data.samples) {
    if (s.place == 3) s.wall_ns = s.wall_ns * 2;
  }
  EXPECT_NEAR(analyse(data).tables[0].cells[2].log_ratio.value, std::log(2), 1e-9);
}

TEST(Exact, ALineNeedsTwoAmounts) {
  Dataset data = exact();
  data.experiment.places[2].axis = data.experiment.places[3].axis = "depth";
  data.experiment.places[2].amount = data.experiment.places[3].amount = 4;
  EXPECT_TRUE(analyse(data).slopes.empty());
  data.experiment.places[3].amount = 8;
  for (Sample& s : data.samples) {
    if (s.place == 3) s.wall_ns = s.wall_ns * 3;
  }
  const Analysis a = analyse(data);
  ASSERT_EQ(a.slopes.size(), 1u);
  EXPECT_EQ(a.slopes[0].points, 2);
  EXPECT_NEAR(a.slopes[0].per_unit.value, std::log(3) / 4, 1e-9);
  EXPECT_EQ(a.slopes[0].per_unit.n, 8);
}

TEST(Exact, TheFurthestOutlierComesFirst) {
  Dataset data = exact(12);
  int n = 0;
  for (Sample& s : data.samples) {  // a little noise, without which anything is out of the ordinary
    s.wall_ns += 10'000 * (n++ % 7);
    if (s.place == 2 && s.launch == 1 && s.round == 0) s.wall_ns = s.wall_ns * 3 / 2;
    if (s.place == 2 && s.launch == 0 && s.round == 3) s.wall_ns /= 4;
  }
  const Analysis a = analyse(data);
  ASSERT_GE(a.outliers.size(), 2u);
  EXPECT_EQ(a.outliers[0].launch, 0);
  EXPECT_EQ(a.outliers[0].round, 3);
  EXPECT_LT(a.outliers[0].log_ratio, 0);
  EXPECT_EQ(a.outliers[1].launch, 1);
  EXPECT_EQ(a.outliers[1].round, 0);
  for (std::size_t i = 1; i < a.outliers.size(); ++i) {
    EXPECT_GE(std::fabs(a.outliers[i - 1].log_ratio), std::fabs(a.outliers[i].log_ratio));
  }
}

TEST(Exact, DriftIsOfTheOuterThirds) {
  Dataset data = exact(9);
  EXPECT_NEAR(analyse(data).tables[0].drift, std::log(801.5 / 201.5), 0.001);
  data.launches = 5;
  EXPECT_EQ(analyse(data).tables[0].drift, 0);
}

TEST(Exact, UnknownIsNotNothing) {
  const Cell x = analyse(exact()).tables[0].cells[1];
  EXPECT_TRUE(std::isnan(x.per_operation.peak_bytes));
  EXPECT_TRUE(std::isnan(x.per_operation.cgroup_cpu_ns));
  EXPECT_DOUBLE_EQ(x.per_operation.faults, 0);
  // Of 8 launches of 4 batches, those of the launches that came to their end.
  Dataset data = exact();
  data.launches = 1;
  EXPECT_DOUBLE_EQ(analyse(data).tables[0].cells[1].per_operation.cpu_ns, 101'500);
}

TEST(Exact, CpuTimeIsComparedLikeTime) {
  Dataset data = exact();
  for (Sample& s : data.samples) {
    if (s.place == 2) s.cpu_ns *= 2;
  }
  const Cell x = analyse(data).tables[0].cells[1];
  EXPECT_NEAR(x.cpu_log_ratio, std::log(2), 1e-9);
  EXPECT_NEAR(x.log_ratio.value, 0, 1e-9);
}

TEST(Bootstrap, EachCellDrawsByItself) {
  World world = kStill;
  Dataset data = synthetic(world, 25, 12, 4);
  std::vector<Sample> copies;
  for (Sample s : data.samples) {
    if (s.place == 2) {
      s.place = 3;
      copies.push_back(s);
    }
  }
  std::erase_if(data.samples, [](const Sample& s) { return s.place == 3; });
  data.samples.insert(data.samples.end(), copies.begin(), copies.end());
  const Analysis a = analyse(data);
  const Estimate one = bootstrap(data, cell(a, data, "x")), two = bootstrap(data, cell(a, data, "other0"));
  EXPECT_EQ(one.value, two.value);
  EXPECT_TRUE(one.low != two.low || one.high != two.high);
}

TEST(Bootstrap, TakesTheMeanOfTheLaunchesMedians) {
  const Estimate e = hierarchical_bootstrap({{1, 2, 9}, {4, 4, 4}}, 1);
  EXPECT_DOUBLE_EQ(e.value, 3);
  EXPECT_EQ(e.n, 2);
  EXPECT_GE(e.low, 1);
  EXPECT_LE(e.high, 9);
  EXPECT_LT(e.low, e.high);
  EXPECT_FALSE(hierarchical_bootstrap({{1, 2}}, 1).has_interval());
  EXPECT_TRUE(std::isnan(hierarchical_bootstrap({}, 1).value));
  const Estimate wide = hierarchical_bootstrap({{1}, {2}, {3}, {4}, {5}, {6}}, 1, 0.95);
  const Estimate narrow = hierarchical_bootstrap({{1}, {2}, {3}, {4}, {5}, {6}}, 1, 0.5);
  EXPECT_LT(wide.low, narrow.low);
  EXPECT_GT(wide.high, narrow.high);
  EXPECT_NEAR(wide.half_width(), 2.571 * 1.8708 / std::sqrt(6), 0.25);
}

TEST(Bootstrap, AgreesWithTheOthersAndIsTheSameEachTime) {
  World world = kStill;
  world.effect = 0.1;
  const Dataset data = synthetic(world, 24, 30, 4);
  const Cell x = cell(analyse(data), data, "x");
  const Estimate one = bootstrap(data, x), two = bootstrap(data, x);
  EXPECT_EQ(one.low, two.low);
  EXPECT_NEAR(one.value, x.log_ratio.value, 0.0005);
  EXPECT_LT(one.low, 0.1);
  EXPECT_GT(one.high, 0.1);
  EXPECT_NEAR(one.half_width() / x.log_ratio.half_width(), 1, 0.35);
}

TEST(Entered, OneKindThatSawItIsEnough) {
  std::vector<Evidence> seen{{0, "pid", "tracepoints", 0, true, ""}, {0, "pid", "system calls", 12, true, ""}};
  EXPECT_EQ(entered(seen, 0, "pid"), Entry::yes);
  EXPECT_EQ(entered(seen, 1, "pid"), Entry::unknown);
  EXPECT_EQ(entered(seen, 0, "uts"), Entry::unknown);
}

TEST(Entered, NothingSeenIsNoOnlyWhereItWouldHaveBeen) {
  std::vector<Evidence> seen{{0, "uts", "call chains", 0, false, ""}};
  EXPECT_EQ(entered(seen, 0, "uts"), Entry::unknown);
  seen.push_back({0, "uts", "system calls", 0, true, ""});
  EXPECT_EQ(entered(seen, 0, "uts"), Entry::no);
}

TEST(Entered, LayersAreCalledByTheirPlaces) {
  EXPECT_EQ(layer_of({"uts", Role::subject, PlaceKind::namespaces, {"uts"}, 0}), "uts");
  EXPECT_EQ(layer_of({"both", Role::subject, PlaceKind::namespaces, {"uts", "pid"}, 0}), "");
  EXPECT_EQ(layer_of({"seccomp-20", Role::subject, PlaceKind::layer, {}, 0}), "seccomp-20");
  EXPECT_EQ(layer_of({"container", Role::subject, PlaceKind::container, {}, 0}), "");
}

TEST(Analysis, AnUnfinishedLaunchDoesntCount) {
  World world = kStill;
  world.effect = 0.1;
  Dataset data = synthetic(world, 4, 8, 4);
  data.launches = 7;
  for (Sample& s : data.samples) {
    if (s.launch == 7) s.wall_ns *= 5;
  }
  const Analysis a = analyse(data);
  const Cell& x = cell(a, data, "x");
  EXPECT_EQ(x.log_ratio.n, 7);
  EXPECT_NEAR(x.log_ratio.value, 0.1, 0.003);
}

TEST(Analysis, MissingRoundsAndAbsentPlaces) {
  Dataset data = synthetic(kStill, 5, 8, 4);
  std::erase_if(data.samples, [](const Sample& s) { return s.place == 2 && s.launch == 3; });
  std::erase_if(data.samples, [](const Sample& s) { return s.place == 3; });
  data.absences.push_back({3, -1, "clone3: operation not permitted"});
  const Analysis a = analyse(data);
  EXPECT_EQ(cell(a, data, "x").log_ratio.n, 7);
  EXPECT_EQ(cell(a, data, "other0").verdict, Verdict::absent);
  EXPECT_EQ(cell(a, data, "other0").reason, "clone3: operation not permitted");
}

TEST(Analysis, TooFewLaunchesGiveNoVerdict) {
  const Dataset data = synthetic({.effect = 0.5}, 6, 5, 4);
  const Analysis a = analyse(data);
  EXPECT_EQ(cell(a, data, "x").verdict, Verdict::no_interval);
  const Dataset none = synthetic({}, 6, 0, 4);
  EXPECT_EQ(cell(analyse(none), none, "x").verdict, Verdict::no_interval);
  EXPECT_TRUE(std::isinf(cell(analyse(none), none, "x").settled_in_ns));
}

TEST(Analysis, SeveralReferencesAreAveraged) {
  Dataset data = synthetic(kStill, 7, 8, 4);
  data.experiment.places[3].role = Role::reference;
  for (Sample& s : data.samples) {
    if (s.place == 3) s.wall_ns = static_cast<std::int64_t>(static_cast<double>(s.wall_ns) * std::exp(0.2));
  }
  EXPECT_NEAR(cell(analyse(data), data, "x").log_ratio.value, -0.1, 0.003);
}

TEST(Analysis, DriftIsShown) {
  World world = kStill;
  world.common_sd = 0;
  world.drift = 0.001;
  const Dataset data = synthetic(world, 8, 12, 4);
  // 28 slots and 4 lead-ins a launch; the middles of the outer thirds are 8 launches apart.
  EXPECT_NEAR(analyse(data).tables[0].drift, 32 * 8 * 0.001, 0.01);
}

}  // namespace
}  // namespace tare::lab
