#include "lab/stats/pool.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "synthetic.hpp"

namespace tare::lab {
namespace {

const World kStill{.effect = 0.05, .launch_sd = 0.001, .round_sd = 0.001, .common_sd = 0};

Dataset file(std::uint64_t seed, const char* kernel, int launches = 8) {
  Dataset data = synthetic(kStill, seed, launches, 4, 1);
  data.machine = std::string(R"({"kernel":")") + kernel + R"(","cpu":{"model":"A CPU"}})";
  data.version = "1";
  return data;
}

TEST(Group, FilesOfOneMachineAreOneRun) {
  const auto groups = group({file(1, "6.1"), file(2, "6.1", 9)});
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].name, "Linux 6.1 on A CPU, tare 1");
  EXPECT_EQ(groups[0].data.launches, 17);
  EXPECT_EQ(groups[0].analysis.tables[0].cells[1].log_ratio.n, 17);
  EXPECT_NEAR(groups[0].analysis.tables[0].cells[1].log_ratio.value, 0.05, 0.001);
}

TEST(Group, AnUnfinishedLaunchOfAFileIsNotTakenForTheNextOnesFirst) {
  Dataset cut = file(1, "6.1");
  cut.launches = 7;
  const auto groups = group({cut, file(2, "6.1")});
  EXPECT_EQ(groups[0].data.launches, 15);
  const auto n = std::count_if(groups[0].data.samples.begin(), groups[0].data.samples.end(),
                               [](const Sample& s) { return s.launch == 7 && s.place == 0; });
  EXPECT_EQ(n, 4);
}

TEST(Group, OtherKernelsStandByThemselves) {
  auto groups = group({file(1, "6.1"), file(2, "6.18"), file(3, "6.1")});
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].data.launches, 16);
  EXPECT_EQ(groups[1].data.launches, 8);
  Dataset other = file(2, "6.1");
  other.machine = R"({"kernel":"6.1","command_line":"mitigations=off","cpu":{"model":"A CPU"}})";
  groups = group({file(1, "6.1"), other});
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].name, "Linux 6.1 on A CPU, tare 1 (1)");
  EXPECT_EQ(groups[1].name, "Linux 6.1 on A CPU, tare 1 (2)");
  for (const char* key : {"kernel_build", "mitigations"}) {
    other.machine = std::string(R"({"kernel":"6.1","cpu":{"model":"A CPU"},")") + key + R"(":{"x":"y"}})";
    EXPECT_EQ(group({file(1, "6.1"), other}).size(), 2u) << key;
  }
  other.machine = R"({"kernel":"6.1","cpu":{"model":"Another"}})";
  EXPECT_EQ(group({file(1, "6.1"), other}).size(), 2u);
  other = file(2, "6.1");
  other.version = "2";
  EXPECT_EQ(group({file(1, "6.1"), other}).size(), 2u);
}

TEST(Group, DifferentExperimentsOfOneMachineAreRefused) {
  Dataset other = file(2, "6.1");
  other.experiment.places[2].name = "y";
  EXPECT_THROW(group({file(1, "6.1"), other}), Error);
}

TEST(Group, WhatDiffersInAnyOtherWayIsRefusedToo) {
  const auto refuses = [](auto change) {
    Dataset other = file(2, "6.1");
    change(other.experiment);
    EXPECT_THROW(group({file(1, "6.1"), other}), Error);
  };
  refuses([](Experiment& e) { e.rounds = 6; });
  refuses([](Experiment& e) { e.directory = "/tmp"; });
  refuses([](Experiment& e) { e.workloads[0].name = "exec"; });
  refuses([](Experiment& e) { e.workloads[0].command = {"true"}; });
}

TEST(Group, LaunchesTimesWarningsAndAbsencesAreAppended) {
  Dataset one = file(1, "6.1"), two = file(2, "6.1");
  one.warnings = {"a", "b"};
  two.warnings = {"b", "c"};
  one.absences = {{3, -1, "first"}};
  two.absences = {{3, 0, "second"}, {2, 0, "third"}};
  two.evidence = {{0, "x", "tracepoints", 1, true, ""}};
  for (Dataset* d : {&one, &two}) {
    for (std::size_t i = 0; i < d->samples.size(); ++i) d->samples[i].at_ns = 10 * static_cast<std::int64_t>(i + 1);
  }
  const Dataset all = group({one, two})[0].data;
  EXPECT_EQ(all.samples.size(), one.samples.size() + two.samples.size());
  EXPECT_EQ(all.samples[one.samples.size()].launch, 8);
  EXPECT_EQ(all.samples[one.samples.size()].at_ns, one.samples.back().at_ns + 10);
  EXPECT_EQ(all.warnings, (std::vector<std::string>{"a", "b", "c"}));
  ASSERT_EQ(all.absences.size(), 2u);
  EXPECT_EQ(all.absences[0].reason, "first");
  EXPECT_EQ(all.absences[1].reason, "third");
  ASSERT_EQ(all.evidence.size(), 1u);
  // What the first knows is not told twice.
  one.evidence = {{0, "y", "tracepoints", 1, true, ""}};
  EXPECT_EQ(group({one, two})[0].data.evidence.size(), 1u);
  EXPECT_EQ(group({one, two})[0].data.evidence[0].layer, "y");
  // An empty file adds nothing.
  Dataset none = file(3, "6.1", 0);
  EXPECT_EQ(group({none, one})[0].data.launches, 8);
  EXPECT_EQ(group({none, one})[0].data.samples[0].at_ns, 10);
}

TEST(Group, TheSameFileTwiceIsRefused) { EXPECT_THROW(group({file(1, "6.1"), file(1, "6.1")}), Error); }

TEST(Across, IsTheShiftOfEachOperation) {
  Dataset slower = file(2, "6.18");
  for (Sample& s : slower.samples) s.wall_ns = s.wall_ns * 12 / 10;
  const auto across = compare_across(group({file(1, "6.1"), slower}));
  ASSERT_EQ(across.size(), 3u);  // bare, x, other0; not the control
  EXPECT_EQ(across[0].place, "bare");
  ASSERT_EQ(across[0].shifts.size(), 1u);
  EXPECT_NEAR(across[0].shifts[0].value, std::log(1.2), 0.002);
  EXPECT_TRUE(across[0].shifts[0].has_interval());
  EXPECT_TRUE(compare_across(group({file(1, "6.1")})).empty());
}

TEST(Across, WhatTheOtherDoesNotHaveIsSaid) {
  Dataset other = file(2, "6.18");
  other.experiment.places[2].name = "y";
  const auto across = compare_across(group({file(1, "6.1"), other}));
  EXPECT_EQ(across[1].place, "x");
  EXPECT_EQ(across[1].shifts[0].n, 0);
}

TEST(RankSum, IntervalIsThatOfTheTables) {
  // n = m = 5: the table's critical value of U at 5 % two-sided is 2, so the interval runs from the third
  // smallest to the third largest difference, with 1 - 2 x 4/252.
  const Estimate e = rank_sum({0, 0, 0, 0, 0}, {1, 2, 3, 4, 5});
  EXPECT_NEAR(e.coverage, 1 - 2 * 4.0 / 252, 1e-12);
  EXPECT_EQ(e.value, 3);
  const Estimate f = rank_sum({10, 20, 30, 40, 50}, {1, 2, 3, 4, 5});
  std::vector<double> d;
  for (const double y : {1, 2, 3, 4, 5}) {
    for (const double x : {10, 20, 30, 40, 50}) d.push_back(y - x);
  }
  std::sort(d.begin(), d.end());
  EXPECT_EQ(f.low, d[2]);
  EXPECT_EQ(f.high, d[22]);
  EXPECT_EQ(f.n, 10);
}

TEST(RankSum, DistributionIsExact) {
  // Of all ways to choose which 5 of 11 ranks are the first sample's, by enumeration.
  std::vector<double> x, y;
  std::vector<int> hits(31, 0);
  int all = 0;
  for (int mask = 0; mask < 1 << 11; ++mask) {
    if (__builtin_popcount(static_cast<unsigned>(mask)) != 5) continue;
    int u = 0;
    for (int i = 0; i < 11; ++i) {
      for (int k = 0; k < i; ++k) u += (mask >> i & 1) != 0 && (mask >> k & 1) == 0;
    }
    ++hits[static_cast<std::size_t>(u)];
    ++all;
  }
  for (int i = 0; i < 5; ++i) x.push_back(1.7 * i * i);
  for (int i = 0; i < 6; ++i) y.push_back(0.9 * i + 3);
  std::vector<double> d;
  for (const double b : y) {
    for (const double a : x) d.push_back(b - a);
  }
  std::sort(d.begin(), d.end());
  for (const double level : {0.3, 0.5, 0.8, 0.9, 0.95, 0.99}) {
    double below = 0;
    std::size_t k = 0;
    while (2 * (below + 1.0 * hits[k] / all) <= 1 - level) below += 1.0 * hits[k++] / all;
    const Estimate e = rank_sum(x, y, level);
    EXPECT_NEAR(e.coverage, 1 - 2 * below, 1e-12) << level;
    EXPECT_EQ(e.low, d[k - 1]) << level;
    EXPECT_EQ(e.high, d[d.size() - k]) << level;
  }
}

TEST(RankSum, TooFewGiveNoInterval) {
  EXPECT_FALSE(rank_sum({1, 2, 3}, {4, 5, 6}).has_interval());  // 2 x 1/20 is above 5 %
  EXPECT_TRUE(rank_sum({1, 2, 3, 4}, {5, 6, 7, 8}).has_interval());
  EXPECT_FALSE(rank_sum({}, {1}).has_interval());
}

TEST(RankSum, CoversInNineteenOfTwenty) {
  int covers = 0;
  constexpr int kRuns = 2000;
  Noise noise(3);
  double width = 0;
  for (int i = 0; i < kRuns; ++i) {
    std::vector<double> x, y;
    for (int k = 0; k < 15; ++k) x.push_back(noise.normal());
    for (int k = 0; k < 20; ++k) y.push_back(0.7 + noise.normal());
    const Estimate e = rank_sum(x, y);
    covers += e.low <= 0.7 && e.high >= 0.7;
    width += e.high - e.low;
  }
  EXPECT_GE(covers, 0.935 * kRuns);
  EXPECT_LE(covers, 0.975 * kRuns);
  EXPECT_LE(width / kRuns, 1.25 * 2 * 1.96 * std::sqrt(1.0 / 15 + 1.0 / 20));
}

}  // namespace
}  // namespace tare::lab
