#include "lab/design/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace tare::lab {
namespace {

TEST(Random, GivesThePublishedNumbers) {
  // splitmix64 from 1234567, as in many published test vectors.
  Random random(1234567);
  EXPECT_EQ(random.next(), 6457827717110365317u);
  EXPECT_EQ(random.next(), 3203168211198807973u);
  EXPECT_EQ(random.next(), 9817491932198370423u);
  EXPECT_EQ(random.next(), 4593380528125082431u);
  EXPECT_EQ(random.next(), 16408922859458223821u);
}

TEST(Random, BelowStaysBelowAndIsEven) {
  Random random(1);
  std::map<std::uint64_t, int> seen;
  for (int i = 0; i < 70'000; ++i) ++seen[random.below(7)];
  ASSERT_EQ(seen.size(), 7u);
  for (const auto& [value, count] : seen) {
    EXPECT_LT(value, 7u);
    EXPECT_NEAR(count, 10'000, 450);  // 4.9 standard deviations
  }
}

TEST(Random, StreamsOfOneSeedDiffer) {
  EXPECT_NE(Random(5, 0).next(), Random(5, 1).next());
  EXPECT_NE(Random(5, 1).next(), Random(6, 1).next());
  EXPECT_EQ(Random(5, 1).next(), Random(5, 1).next());
}

TEST(Random, ShuffleReachesEveryOrderEquallyOften) {
  std::map<std::vector<int>, int> seen;
  for (std::uint64_t seed = 0; seed < 24'000; ++seed) {
    std::vector<int> items{0, 1, 2, 3};
    Random random(seed, 3);
    random.shuffle(items);
    ++seen[items];
  }
  ASSERT_EQ(seen.size(), 24u);
  for (const auto& [order, count] : seen) EXPECT_NEAR(count, 1000, 160);  // 5 standard deviations
}

}  // namespace
}  // namespace tare::lab
