// What is derived from the cells: the bootstrap, means, slopes and bills, on data given value by value.
#include <gtest/gtest.h>

#include "exact.hpp"
#include "lab/stats/analysis.hpp"
#include "lab/stats/bill.hpp"
#include "synthetic.hpp"

namespace tare::lab {
namespace {

TEST(Means, NeedSomethingMeasured) {
  EXPECT_TRUE(analyse(synthetic({}, 19, 0, 4, 1)).common_workloads.empty());
  Dataset data = exact({{0, 0, 0, 0, 0, 0}, {0.1, 0.1, 0.1, 0.1, 0.1, 0.1}});  // the control alone
  const Analysis a = analyse(data);
  EXPECT_EQ(a.common_workloads, std::vector<int>{0});
  EXPECT_NEAR(a.overall[1].value, 0.1, 1e-8);
}

TEST(Bootstrap, IsAsWideAsStudentsWhereOneRoundIsAll) {
  // The expansion is made for that: the normal case, with n - 1 degrees of freedom.
  for (const int n : {8, 20, 40}) {
    Noise noise(static_cast<std::uint64_t>(n));
    std::vector<std::vector<double>> rounds;
    std::vector<double> values;
    for (int i = 0; i < n; ++i) {
      values.push_back(noise.normal());
      rounds.push_back({values.back()});
    }
    const Estimate e = hierarchical_bootstrap(rounds, 7, 0.95, 40'000), s = student(values);
    EXPECT_NEAR(e.value, s.value, 1e-12);
    EXPECT_NEAR(e.half_width() / s.half_width(), 1, 0.08) << n;
    EXPECT_EQ(e.n, n);
    EXPECT_EQ(e.coverage, 0.95);
    const Estimate other = hierarchical_bootstrap(rounds, 8, 0.95, 200);
    EXPECT_NE(other.low, hierarchical_bootstrap(rounds, 7, 0.95, 200).low);
    EXPECT_LT(hierarchical_bootstrap(rounds, 7, 0.5).half_width(), e.half_width() / 2);
  }
  EXPECT_FALSE(hierarchical_bootstrap({{1, 2, 3}}, 1).has_interval());
  EXPECT_EQ(hierarchical_bootstrap({{1, 2, 4}}, 1).value, 2);
  EXPECT_TRUE(hierarchical_bootstrap({{1}, {2}}, 1).has_interval());
  EXPECT_TRUE(std::isnan(hierarchical_bootstrap({}, 1).value));
}

TEST(Bootstrap, DrawsTheRoundsToo) {
  // All launches alike, so that only their rounds vary.
  const std::vector<std::vector<double>> rounds(10, {0.0, 1.0});
  const Estimate e = hierarchical_bootstrap(rounds, 3, 0.95, 20'000);
  EXPECT_EQ(e.value, 0.5);
  // A median of two drawn ones is 0, 0.5 or 1: its variance is 1/8, of the mean of ten 1/80.
  EXPECT_NEAR(e.half_width(), 2.262 * std::sqrt(1.0 / 80) * std::sqrt(10.0 / 9), 0.03);
}

TEST(Bootstrap, CellsHaveStreamsOfTheirOwn) {
  Dataset data = synthetic({}, 24, 12, 4);
  Cell same = analyse(data).tables[0].cells[1];
  const Estimate one = bootstrap(data, same);
  data.experiment.workloads.push_back({"two", "", {}, 1});
  const std::vector<Sample> first = data.samples;
  for (Sample s : first) {
    s.workload = 1;
    data.samples.push_back(s);
  }
  same.workload = 1;  // the same values
  EXPECT_EQ(bootstrap(data, same).value, one.value);
  EXPECT_NE(bootstrap(data, same).low, one.low);
  for (Sample& s : data.samples) {
    if (s.place == 3 || s.place == 2) s.place = 5 - s.place;
  }
  same.workload = 0;
  same.place = 3;
  EXPECT_EQ(bootstrap(data, same).value, one.value);
  EXPECT_NE(bootstrap(data, same).low, one.low);
}

TEST(Slopes, AreOfEachAxisByItselfAndNeedTwoAmounts) {
  const std::vector<double> zero(8, 0.0);
  Dataset data = exact({zero, zero, std::vector<double>(8, 0.1), std::vector<double>(8, 0.4),
                        std::vector<double>(8, 0.2), std::vector<double>(8, 0.7)});
  std::vector<Place>& p = data.experiment.places;
  p[2].axis = p[3].axis = p[5].axis = "depth";
  p[2].amount = 1;
  p[3].amount = 4;
  p[5].amount = 6;
  p[4].axis = "rules";
  p[4].amount = 20;
  Analysis a = analyse(data);
  ASSERT_EQ(a.slopes.size(), 1u);  // one point is no line
  EXPECT_EQ(a.slopes[0].axis, "depth");
  EXPECT_EQ(a.slopes[0].points, 3);
  EXPECT_EQ(a.slopes[0].workload, 0);
  // Least squares of (1, 0.1), (4, 0.4), (6, 0.7): 1.5 / (38/3).
  EXPECT_NEAR(a.slopes[0].per_unit.value, 1.5 / (38.0 / 3), 1e-8);
  EXPECT_EQ(a.slopes[0].per_unit.n, 8);
  // A launch without one of them has no line; a place that is absent takes no part.
  std::erase_if(data.samples, [](const Sample& s) { return s.place == 2 && s.launch == 0; });
  EXPECT_EQ(analyse(data).slopes[0].per_unit.n, 7);
  data.absences.push_back({5, -1, "gone"});
  a = analyse(data);
  EXPECT_EQ(a.slopes[0].points, 2);
  EXPECT_NEAR(a.slopes[0].per_unit.value, 0.1, 1e-8);
  p[3].amount = 1;  // twice the same amount
  EXPECT_TRUE(analyse(data).slopes.empty());
}

TEST(Bill, ACostIsTheReferencesTimeOfThatLaunchTimesItsRatio) {
  // Two rounds, of which bare's second is 20 % slower; 12 launches, each slower than the one before; one that had no
  // bare.
  std::vector<double> bare, item, whole;
  for (int i = 0; i < 12; ++i) {
    bare.push_back(0.01 * i);
    item.push_back(0.01 * i + 0.1);
    whole.push_back(0.01 * i + 0.3);
  }
  Dataset data = exact({bare, bare, item, whole});
  data.experiment.places[2].bill = true;
  data.experiment.places[3].kind = PlaceKind::container;
  for (Sample& s : data.samples) {
    if (s.round == 1) s.wall_ns = std::llround(static_cast<double>(s.wall_ns) * std::exp(0.2));
  }
  std::erase_if(data.samples, [](const Sample& s) { return s.place == 0 && s.launch == 11; });
  const Bill bill = make_bills(data)[0];
  const double middle = 1e6 * std::exp(0.05 + 0.1);  // the launches' middle, and between the two rounds
  EXPECT_NEAR(bill.items[0].ns.value, middle * std::expm1(0.1), 0.003 * middle);
  EXPECT_NEAR(bill.whole.value, middle * std::expm1(0.3), 0.003 * middle);
  EXPECT_NEAR(bill.unexplained.value, middle * (std::exp(0.3) - std::exp(0.1)), 0.003 * middle);
  EXPECT_NEAR(bill.bare_ns, middle, 0.003 * middle);
  for (const Estimate& e : {bill.items[0].ns, bill.sum, bill.whole, bill.unexplained}) EXPECT_EQ(e.n, 11);
  // The first launch counts like the others.
  data.launches = 1;
  EXPECT_EQ(make_bills(data)[0].unexplained.n, 1);
  EXPECT_NEAR(make_bills(data)[0].sum.value, 1e6 * std::exp(0.1) * std::expm1(0.1), 1);
}

TEST(Bill, IsMadeOfItemsAndOneContainer) {
  Dataset data = exact({{0, 0}, {0, 0}, {0.1, 0.1}, {0.3, 0.3}});
  data.experiment.places[2].bill = true;
  EXPECT_TRUE(make_bills(data).empty());  // no container
  data.experiment.places[3].kind = PlaceKind::container;
  data.experiment.places[3].bill = true;  // is the whole, and no item of itself
  ASSERT_EQ(make_bills(data).size(), 1u);
  EXPECT_EQ(make_bills(data)[0].items.size(), 1u);
  data.experiment.places[3].role = Role::control;  // no subject: not what is asked about
  EXPECT_TRUE(make_bills(data).empty());
  data.experiment.places[3].role = Role::subject;
  data.experiment.places[2].bill = false;  // no items
  EXPECT_TRUE(make_bills(data).empty());
}

}  // namespace
}  // namespace tare::lab
