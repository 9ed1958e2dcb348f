#include "lab/stats/bill.hpp"

#include <gtest/gtest.h>

#include "synthetic.hpp"

namespace tare::lab {
namespace {

// bare 100 us; two items of 10 % and 5 %, a whole of 20 %.
Dataset dataset() {
  Dataset data = synthetic({.launch_sd = 0.0005, .round_sd = 0.0005, .common_sd = 0}, 31, 16, 4, 2);
  std::vector<Place>& places = data.experiment.places;
  places[2].bill = places[3].bill = true;
  places[4].kind = PlaceKind::container;
  for (Sample& s : data.samples) {
    const double factor = s.place == 2 ? 1.10 : s.place == 3 ? 1.05 : s.place == 4 ? 1.20 : 1.0;
    s.wall_ns = std::llround(static_cast<double>(s.wall_ns) * factor);
  }
  return data;
}

TEST(Bill, ItemsSumAndWhatIsLeft) {
  const auto bills = make_bills(dataset());
  ASSERT_EQ(bills.size(), 1u);
  const Bill& bill = bills[0];
  EXPECT_NEAR(bill.bare_ns, 100'000, 100);
  ASSERT_EQ(bill.items.size(), 2u);
  EXPECT_EQ(bill.items[0].place, 2);
  EXPECT_NEAR(bill.items[0].ns.value, 10'000, 100);
  EXPECT_NEAR(bill.items[1].ns.value, 5'000, 100);
  EXPECT_NEAR(bill.sum.value, 15'000, 150);
  EXPECT_NEAR(bill.whole.value, 20'000, 150);
  EXPECT_NEAR(bill.unexplained.value, 5'000, 200);
  EXPECT_TRUE(bill.unexplained.has_interval());
  EXPECT_LT(bill.unexplained.low, 5'000);
  EXPECT_GT(bill.unexplained.high, 5'000);
}

TEST(Bill, AnItemAgainstAnotherPlaceIsWhatItAddsToThat) {
  Dataset data = dataset();
  data.experiment.places[3].against = "x";
  for (Sample& s : data.samples) {
    if (s.place == 3) s.wall_ns = s.wall_ns * 112 / 105;
  }
  EXPECT_NEAR(make_bills(data)[0].items[1].ns.value, 2'000, 150);
}

TEST(Bill, WhatALaunchHasInCommonCancelsInTheRest) {
  Dataset data = dataset();
  for (Sample& s : data.samples) {  // every other launch is half as fast again
    if (s.launch % 2 == 0) s.wall_ns = s.wall_ns * 3 / 2;
  }
  const Bill bill = make_bills(data)[0];
  EXPECT_NEAR(bill.unexplained.value / bill.whole.value, 0.25, 0.02);
}

TEST(Bill, EachLaunchIsCountedByItsOwnTime) {
  Dataset data;
  data.experiment = synthetic_experiment(1, 2, 1);
  data.experiment.places[2].bill = true;
  data.experiment.places[3].kind = PlaceKind::container;
  for (int launch = 0; launch < 7; ++launch) {
    for (int round = 0; round < 2; ++round) {
      for (int place = 0; place < 4; ++place) {
        Sample s;
        s.launch = launch;
        s.round = round;
        s.place = place;
        s.count = 1000;
        s.wall_ns = (launch + 1) * 100'000'000L * (place == 2 ? 11 : place == 3 ? 13 : 10) / 10;
        data.samples.push_back(s);
      }
    }
  }
  data.launches = 7;
  const Bill bill = make_bills(data)[0];
  // A tenth of 100 .. 700 us, three tenths for the whole: the middle launch has 400.
  EXPECT_NEAR(bill.bare_ns, 400e3, 1);
  EXPECT_NEAR(bill.items[0].ns.value, 40e3, 1);
  EXPECT_NEAR(bill.items[0].ns.low, 15e3, 5e3);
  EXPECT_NEAR(bill.whole.value, 120e3, 1);
  EXPECT_NEAR(bill.unexplained.value, 80e3, 1);
  EXPECT_EQ(bill.unexplained.n, 7);
}

TEST(Bill, AnAbsentItemIsNamedAndAnAbsentWholeGivesNone) {
  Dataset data = dataset();
  data.absences.push_back({3, 0, "no"});
  EXPECT_EQ(make_bills(data)[0].missing, std::vector<int>{3});
  EXPECT_NEAR(make_bills(data)[0].sum.value, 10'000, 150);
  data.absences.push_back({4, -1, "no"});
  EXPECT_TRUE(make_bills(data).empty());
  EXPECT_TRUE(make_bills(synthetic({}, 1, 8, 4)).empty());
}

}  // namespace
}  // namespace tare::lab
