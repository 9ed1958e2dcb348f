// Where one verdict ends and the next begins.
#include <gtest/gtest.h>

#include "exact.hpp"
#include "lab/stats/analysis.hpp"
#include "lab/stats/grid.hpp"

namespace tare::lab {
namespace {

constexpr int kLaunches = 14;  // 2^-13 is below 5 % / 2 cells / 2 many times: the family's interval is narrow enough
const std::vector<double> kBare(kLaunches, 0.0);

struct Judged {
  Table table;
  Cell aa, x;
};
// A/A and one subject, whose launches' values are these.
Judged judged(const std::vector<double>& aa, const std::vector<double>& x, double margin = 0) {
  Dataset data = exact({kBare, aa, x});
  data.experiment.margin = margin;
  const Analysis a = analyse(data);
  return {a.tables[0], a.tables[0].cells[0], a.tables[0].cells[1]};
}
const std::vector<double> kQuiet = spread(0, 0.001, kLaunches);

TEST(Judge, TheBoundIsTheAAIntervalsOuterEndOnEitherSide) {
  const Judged up = judged(spread(0.004, 0.002, kLaunches), kQuiet);
  EXPECT_NEAR(up.table.aa_bound, up.aa.log_ratio.high, 1e-12);
  EXPECT_TRUE(up.table.control_differs);
  const Judged down = judged(spread(-0.004, 0.002, kLaunches), kQuiet);
  EXPECT_NEAR(down.table.aa_bound, -down.aa.log_ratio.low, 1e-12);
  EXPECT_TRUE(down.table.control_differs);
  const Judged still = judged(spread(0.0001, 0.002, kLaunches), kQuiet);
  EXPECT_FALSE(still.table.control_differs);
  EXPECT_NEAR(still.table.aa_bound, still.aa.log_ratio.high, 1e-12);
}

TEST(Judge, TheWidestOfSeveralControlsBounds) {
  Dataset data = exact({kBare, spread(0, 0.01, kLaunches), spread(0, 0.002, kLaunches), kQuiet});
  data.experiment.places[2].role = Role::control;
  const Table table = analyse(data).tables[0];
  EXPECT_EQ(table.cells[0].place, 1);
  EXPECT_EQ(table.cells[1].place, 2);
  EXPECT_NEAR(table.aa_bound, table.cells[0].log_ratio.high, 1e-12);
}

TEST(Judge, ADifferenceNeedsBothTheIntervalAndTheBound) {
  // Clear of zero, beyond the bound.
  EXPECT_EQ(judged(kQuiet, spread(0.03, 0.005, kLaunches)).x.verdict, Verdict::costs);
  EXPECT_EQ(judged(kQuiet, spread(-0.03, 0.005, kLaunches)).x.verdict, Verdict::saves);
  // Clear of zero, within what A/A shows.
  const std::vector<double> odd = spread(0.03, 0.02, kLaunches);
  EXPECT_NE(judged(odd, spread(0.03, 0.005, kLaunches)).x.verdict, Verdict::costs);
  EXPECT_NE(judged(odd, spread(-0.03, 0.005, kLaunches)).x.verdict, Verdict::saves);
  // Beyond the bound, but not clear of zero.
  EXPECT_EQ(judged(kQuiet, spread(0.03, 0.08, kLaunches)).x.verdict, Verdict::not_settled);
  EXPECT_EQ(judged(kQuiet, spread(-0.03, 0.08, kLaunches)).x.verdict, Verdict::not_settled);
}

TEST(Judge, TheIntervalOfTheFamilyDecidesNotThatOfTheCell) {
  // Clear of zero at 95 %, and not at 97.5 %, which two cells together ask for.
  std::vector<double> values = spread(0.03, 0.04, kLaunches);
  Judged j = judged(kQuiet, values);
  for (int i = 0; i < 400 && !(j.x.log_ratio.low > 0 && j.x.family.low <= 0); ++i) {
    for (double& v : values) v -= 0.0001;
    j = judged(kQuiet, values);
  }
  ASSERT_GT(j.x.log_ratio.low, 0);
  ASSERT_LE(j.x.family.low, 0);
  EXPECT_EQ(j.x.verdict, Verdict::not_settled);
}

TEST(Judge, EquivalenceLiesWithinTheMarginOnBothSides) {
  for (const double sign : {1.0, -1.0}) {
    EXPECT_EQ(judged(kQuiet, spread(sign * 0.001, 0.012, kLaunches), 0.02).x.verdict, Verdict::no_cost);
    EXPECT_EQ(judged(kQuiet, spread(sign * 0.012, 0.04, kLaunches), 0.02).x.verdict, Verdict::not_settled);
  }
  // The A/A cell is held to the margin itself, and to nothing else.
  const Judged wide = judged(spread(0, 0.05, kLaunches), kQuiet, 0.01);
  EXPECT_EQ(wide.aa.margin, 0.01);
  EXPECT_EQ(wide.aa.verdict, Verdict::not_settled);
  EXPECT_GT(wide.x.margin, 0.01);
  EXPECT_EQ(wide.x.margin, wide.table.aa_bound);
  EXPECT_EQ(judged(spread(0.004, 0.001, kLaunches), kQuiet, 0.01).aa.verdict, Verdict::costs);
  EXPECT_EQ(judged(spread(-0.004, 0.001, kLaunches), kQuiet, 0.01).aa.verdict, Verdict::saves);
  EXPECT_EQ(judged(kQuiet, kQuiet, 0.01).x.margin, 0.01);
  EXPECT_EQ(judged(kQuiet, kQuiet).x.margin, kDefaultMargin);
}

TEST(Judge, LevelsAreSharedOutOverTheFamily) {
  const std::vector<double> x = spread(0.01, 0.02, kLaunches);
  Dataset data = exact({kBare, kQuiet, x, x, x});
  const Analysis a = analyse(data);
  EXPECT_EQ(a.family, 4);
  const SignedRank ranks(present(a.tables[0].cells[1].launch_values));
  EXPECT_EQ(a.tables[0].cells[1].family.coverage, ranks.at(1 - 0.05 / 4).coverage);
  EXPECT_EQ(a.tables[0].cells[1].family.low, ranks.at(1 - 0.05 / 4).low);
  EXPECT_EQ(a.tables[0].cells[1].equivalence.coverage, ranks.at(1 - 2 * 0.05 / 4).coverage);
  EXPECT_NE(a.tables[0].cells[1].equivalence.coverage, a.tables[0].cells[1].family.coverage);
}

TEST(Judge, ACellWithoutDataIsNoneOfTheFamily) {
  Dataset data = exact({kBare, kQuiet, kQuiet, kQuiet});
  std::erase_if(data.samples, [](const Sample& s) { return s.place == 3; });
  EXPECT_EQ(analyse(data).family, 2);
}

TEST(Judge, TimeToSettleIsTheShorterOfTheTwoWays) {
  // 14 launches took 14 s. Far from the margin's edge: by equivalence. Beyond the margin: by difference.
  Judged j = judged(kQuiet, spread(0.002, 0.06, kLaunches), 0.02);
  ASSERT_EQ(j.x.verdict, Verdict::not_settled);
  double ratio = j.x.equivalence.half_width() / (0.02 - std::fabs(j.x.family.value));
  EXPECT_NEAR(j.x.settled_in_ns, 14e9 * (ratio * ratio - 1), 1e3);
  j = judged(kQuiet, spread(-0.03, 0.08, kLaunches), 0.02);
  ASSERT_EQ(j.x.verdict, Verdict::not_settled);
  ratio = j.x.family.half_width() / std::fabs(j.x.family.value);
  EXPECT_NEAR(j.x.settled_in_ns, 14e9 * (ratio * ratio - 1), 1e3);
  // One launch at least, though the width is nearly there.
  double half = 0.02;
  do {
    half += 0.0001;
    j = judged(kQuiet, spread(0.0, half, kLaunches), 0.02);
  } while (half < 0.1 && j.x.verdict != Verdict::not_settled);
  ASSERT_EQ(j.x.verdict, Verdict::not_settled);
  EXPECT_NEAR(j.x.settled_in_ns, 1e9, 1);
}

TEST(Judge, TooFewLaunchesSayHowManyMore) {
  // Two cells: 2 x 2^-n is to be at most 2.5 %, so seven launches; a second each.
  for (const int n : {2, 4, 6}) {
    Dataset data = exact({std::vector<double>(n, 0.0), spread(0, 0.01, n), spread(0.1, 0.01, n)});
    const Cell x = analyse(data).tables[0].cells[1];
    EXPECT_EQ(x.verdict, Verdict::no_interval) << n;
    EXPECT_NEAR(x.settled_in_ns, (7 - n) * 1e9, 1) << n;
  }
  const Dataset seven = exact({std::vector<double>(7, 0.0), spread(0, 0.01, 7), spread(0.1, 0.01, 7)});
  EXPECT_EQ(analyse(seven).tables[0].cells[1].verdict, Verdict::costs);
}

TEST(Judge, WithoutASampleNobodyKnowsHowLong) {
  Dataset data = exact({{0, 0, 0}, {0, 0, 0}, {0, 0, 0}});
  const std::vector<Sample> samples = std::move(data.samples);
  data.samples.clear();
  EXPECT_TRUE(std::isinf(analyse(data).tables[0].cells[1].settled_in_ns));
  data.samples = samples;
  data.launches = 0;
  EXPECT_TRUE(std::isinf(analyse(data).tables[0].cells[1].settled_in_ns));
}

TEST(Judge, AtTheEdgeOfTheMarginNoTimeIsEnough) {
  // Within what A/A shows, so no difference is claimed, and a hair from the margin, which is the same.
  const std::vector<double> aa = spread(0.0, 0.06, kLaunches);
  const double edge = judged(aa, kQuiet).table.aa_bound;
  ASSERT_GT(edge, 0.02);
  const Judged j = judged(aa, spread(edge - 1e-5, 0.002, kLaunches));
  ASSERT_EQ(j.x.verdict, Verdict::not_settled);
  EXPECT_GT(j.x.settled_in_ns, 7200e9);
}

TEST(Judge, OnlyTheFamilysIntervalAboveALimitIsAboveIt) {
  Dataset data =
      exact({kBare, spread(0.2, 0.001, kLaunches), spread(0.06, 0.03, kLaunches), spread(0.09, 0.01, kLaunches)});
  Analysis a = analyse(data);
  const Cell& x = a.tables[0].cells[1];
  ASSERT_LT(x.family.low, x.log_ratio.low);
  const double between = (x.family.low + x.log_ratio.low) / 2;
  ASSERT_EQ(above(a, between).size(), 1u);  // not the cell that only its own interval puts there, never the A/A
  EXPECT_EQ(above(a, between)[0].place, 3);
  EXPECT_EQ(above(a, x.family.low).size(), 1u);  // at the limit is not above it
  EXPECT_EQ(above(a, std::nextafter(x.family.low, 0)).size(), 2u);
  EXPECT_TRUE(above(a, 0.2).empty());
  data.absences.push_back({3, 0, "gone"});
  EXPECT_TRUE(above(analyse(data), between).empty());
  // Without an interval nothing is.
  EXPECT_TRUE(above(analyse(exact({{0, 0, 0}, {0, 0, 0}, {1, 1, 1}})), 0.1).empty());
}

}  // namespace
}  // namespace tare::lab
