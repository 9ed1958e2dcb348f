#include "lab/stats/interval.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "lab/stats/distributions.hpp"

namespace tare::lab {
namespace {

TEST(Distributions, KnowTheTables) {
  EXPECT_NEAR(normal_quantile(0.975), 1.959964, 1e-6);
  EXPECT_NEAR(student_quantile(0.975, 15), 2.131450, 1e-6);
  EXPECT_NEAR(student_quantile(0.975, 5), 2.570582, 1e-6);
  EXPECT_NEAR(binomial_cdf(3, 10, 0.5), 176.0 / 1024, 1e-12);
  EXPECT_EQ(binomial_cdf(-1, 10, 0.5), 0);
  EXPECT_EQ(binomial_cdf(10, 10, 0.5), 1);
}

// By listing all 2^n sign patterns.
double signed_rank_by_enumeration(int t, int n) {
  int hits = 0;
  for (int mask = 0; mask < (1 << n); ++mask) {
    int sum = 0;
    for (int i = 0; i < n; ++i) {
      if (mask >> i & 1) sum += i + 1;
    }
    hits += sum <= t;
  }
  return static_cast<double>(hits) / (1 << n);
}

TEST(SignedRank, DistributionIsExact) {
  for (int n = 1; n <= 12; ++n) {
    for (int t = -1; t <= n * (n + 1) / 2; ++t) {
      EXPECT_NEAR(signed_rank_cdf(t, n), t < 0 ? 0 : signed_rank_by_enumeration(t, n), 1e-12) << n << " " << t;
    }
  }
}

TEST(SignedRank, BeyondTheGreatestSumIsAll) {
  EXPECT_EQ(signed_rank_cdf(6, 3), 1);
  EXPECT_EQ(signed_rank_cdf(1000, 3), 1);
  EXPECT_EQ(signed_rank_cdf(0, 0), 1);
}

TEST(SignedRank, CriticalValuesAreThoseOfTheTables) {
  // Wilcoxon's table, two-sided 5 %: the largest T with 2 P(T) <= 0.05.
  const int table[][2] = {{6, 0}, {7, 2}, {8, 3}, {9, 5}, {10, 8}, {12, 13}, {16, 29}, {20, 52}, {25, 89}};
  for (const auto& [n, t] : table) {
    EXPECT_LE(2 * signed_rank_cdf(t, n), 0.05) << n;
    EXPECT_GT(2 * signed_rank_cdf(t + 1, n), 0.05) << n;
  }
}

TEST(SignedRank, IntervalOfAKnownExample) {
  // n = 6: only the outermost Walsh averages reach 95 %: from the least to the greatest value.
  const Estimate six = signed_rank({3, 1, 2, 6, 5, 4});
  EXPECT_DOUBLE_EQ(six.low, 1);
  EXPECT_DOUBLE_EQ(six.high, 6);
  EXPECT_DOUBLE_EQ(six.value, 3.5);
  EXPECT_DOUBLE_EQ(six.coverage, 1 - 2.0 / 64);
  // n = 7: critical value 2, so the third from either end.
  const Estimate seven = signed_rank({0, 1, 2, 4, 8, 16, 32});
  // Walsh averages upwards: 0, 0.5, 1, ...; downwards: 32, 24, 20, ...
  EXPECT_DOUBLE_EQ(seven.low, 1);
  EXPECT_DOUBLE_EQ(seven.high, 20);
  EXPECT_DOUBLE_EQ(seven.coverage, 1 - 6.0 / 128);
}

TEST(SignedRank, NoIntervalBelowSix) {
  for (int n = 0; n < 6; ++n) {
    const Estimate e = signed_rank(std::vector<double>(static_cast<std::size_t>(n), 1.0));
    EXPECT_FALSE(e.has_interval()) << n;
    EXPECT_EQ(e.n, n);
  }
  EXPECT_TRUE(signed_rank(std::vector<double>(6, 1.0)).has_interval());
  EXPECT_TRUE(std::isnan(signed_rank({}).value));
}

TEST(SignedRank, MovesWithTheDataAndFlipsWithTheSign) {
  const std::vector<double> x{0.3, -1.2, 0.7, 2.2, -0.4, 0.1, 0.9, -3, 0.05, 1.1};
  std::vector<double> moved, flipped;
  for (const double v : x) {
    moved.push_back(v + 10);
    flipped.push_back(-v);
  }
  const Estimate e = signed_rank(x), m = signed_rank(moved), f = signed_rank(flipped);
  EXPECT_NEAR(m.value, e.value + 10, 1e-12);
  EXPECT_NEAR(m.low, e.low + 10, 1e-12);
  EXPECT_NEAR(m.high, e.high + 10, 1e-12);
  EXPECT_NEAR(f.value, -e.value, 1e-12);
  EXPECT_NEAR(f.low, -e.high, 1e-12);
  EXPECT_NEAR(f.high, -e.low, 1e-12);
}

TEST(SignedRank, OneWildValueHardlyMoves) {
  std::vector<double> x{1.0, 1.1, 0.9, 1.05, 0.95, 1.02, 0.98, 1.03, 0.97, 1.01, 0.99, 1.0};
  const Estimate calm = signed_rank(x);
  x[0] = 1e9;
  const Estimate wild = signed_rank(x);
  EXPECT_NEAR(wild.value, calm.value, 0.03);
  EXPECT_LT(wild.high, 1.2);
}

TEST(OrderStatistic, IsExact) {
  // n = 16: from the 4th to the 13th, 1 - 2 P(Bin(16, 1/2) <= 3) = 0.9787.
  std::vector<double> x;
  for (int i = 16; i >= 1; --i) x.push_back(i);
  const Estimate e = order_statistic(x);
  EXPECT_DOUBLE_EQ(e.value, 8.5);
  EXPECT_DOUBLE_EQ(e.low, 4);
  EXPECT_DOUBLE_EQ(e.high, 13);
  EXPECT_NEAR(e.coverage, 1 - 2.0 * (1 + 16 + 120 + 560) / 65536, 1e-12);
  EXPECT_FALSE(order_statistic({1, 2, 3, 4, 5}).has_interval());
  const Estimate six = order_statistic({1, 2, 3, 4, 5, 6});
  EXPECT_DOUBLE_EQ(six.low, 1);
  EXPECT_DOUBLE_EQ(six.high, 6);
}

TEST(Student, IsTheTextbooks) {
  const Estimate e = student({1, 2, 3, 4, 5});
  EXPECT_DOUBLE_EQ(e.value, 3);
  EXPECT_NEAR(e.half_width(), 2.776445 * std::sqrt(2.5 / 5), 1e-6);
}

TEST(Median, OfOddEvenAndNothing) {
  EXPECT_DOUBLE_EQ(median_of({3, 1, 2}), 2);
  EXPECT_DOUBLE_EQ(median_of({4, 1, 3, 2}), 2.5);
  EXPECT_TRUE(std::isnan(median_of({})));
}

}  // namespace
}  // namespace tare::lab
