#include "lab/design/allocation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "lab/design/random.hpp"

namespace tare::lab {
namespace {

TEST(WarmUp, EndsWhereTheTimesAreSteady) {
  std::vector<double> times{30, 20, 12};
  for (int i = 0; i < 21; ++i) times.push_back(10 + 0.1 * (i % 3));
  EXPECT_EQ(warm_up_batches(times), 3);
}

TEST(WarmUp, NothingIsTakenForItWhereThereIsNone) {
  std::vector<double> times;
  for (int i = 0; i < 24; ++i) times.push_back(10 + 0.1 * (i % 3));
  EXPECT_EQ(warm_up_batches(times), 0);
}

TEST(WarmUp, OneFastBatchIsNotTheEnd) {
  std::vector<double> times{30, 10, 29, 28, 27};
  for (int i = 0; i < 19; ++i) times.push_back(10 + 0.1 * (i % 3));
  EXPECT_EQ(warm_up_batches(times), 5);
}

TEST(WarmUp, WhatIsNeverSteadyGivesHalf) {
  std::vector<double> times;
  for (int i = 0; i < 12; ++i) times.push_back(100 - i);
  for (int i = 0; i < 12; ++i) times.push_back(10 + 0.1 * (i % 3));
  EXPECT_EQ(warm_up_batches(times), 12);
  EXPECT_EQ(warm_up_batches({1, 2}), 0);
}

TEST(Allocation, SharesGoByTheVariance) {
  Allocation allocation(3);
  const std::vector<double> widths{0.02, 0.02 * std::sqrt(0.75), 0.001};
  std::vector<int> parts(3);
  for (int i = 0; i < 400; ++i) {
    const auto active = allocation.next(widths);
    for (std::size_t w = 0; w < 3; ++w) parts[w] += active[w] ? 1 : 0;
  }
  EXPECT_EQ(parts[0], 400);
  EXPECT_NEAR(parts[1], 300, 1);
  EXPECT_NEAR(parts[2], 200, 1);
}

TEST(Allocation, AllTakePartWhileNothingIsKnown) {
  Allocation allocation(2);
  const double none = std::numeric_limits<double>::quiet_NaN();
  for (int i = 0; i < 10; ++i) EXPECT_EQ(allocation.next({none, none}), (std::vector<bool>{true, true}));
  EXPECT_EQ(allocation.next({none, 0.01}), (std::vector<bool>{true, true}));
}

}  // namespace
}  // namespace tare::lab
