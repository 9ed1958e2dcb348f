// Values of v1 as cgroup2 takes them.
#include "cgroup/convert.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "cgroup/files.hpp"

namespace tare::cgroup {
namespace {

TEST(Convert, SharesToWeight) {
  // The ends, the usual value, and what runc 1.3 and crun 1.23 give for others.
  const std::pair<std::uint64_t, std::uint64_t> table[] = {
      {0, 1},          {1, 1},         {2, 1},    {1024, 100}, {262144, 10000},
      {262145, 10000}, {~0ULL, 10000}, {512, 59}, {256, 35},   {2048, 174},
  };
  for (const auto& [shares, weight] : table) EXPECT_EQ(weight_of_shares(shares), weight) << shares;
  std::uint64_t last = 0;
  for (std::uint64_t shares = 2; shares <= 262144; ++shares) {
    const std::uint64_t weight = weight_of_shares(shares);
    ASSERT_GE(weight, last) << shares;
    ASSERT_GE(weight, 1U);
    ASSERT_LE(weight, 10000U);
    last = weight;
  }
}

TEST(Convert, IoWeight) {
  EXPECT_EQ(io_weight_of_weight(10), 1U);
  EXPECT_EQ(io_weight_of_weight(1000), 10000U);
  EXPECT_EQ(io_weight_of_weight(500), 1U + 490U * 9999U / 990U);
}

TEST(Convert, Limits) {
  EXPECT_EQ(limit_text(-1), "max");
  EXPECT_EQ(limit_text(0), "0");
  EXPECT_EQ(limit_text(123), "123");
}

std::optional<std::string> swap(std::optional<std::int64_t> limit, std::optional<std::int64_t> swap) {
  oci::MemoryResources memory;
  memory.limit = limit;
  memory.swap = swap;
  return swap_max(memory);
}

TEST(Convert, SwapIsCountedAlone) {
  EXPECT_EQ(swap(100, 250), "150");
  EXPECT_EQ(swap(100, 100), "0");
  EXPECT_EQ(swap(100, -1), "max");
  EXPECT_EQ(swap({}, -1), "max");
  EXPECT_EQ(swap(-1, -1), "max");
  EXPECT_EQ(swap(-1, 0), "max");
  EXPECT_EQ(swap(-1, {}), "max");
  EXPECT_EQ(swap(100, {}), std::nullopt);
  EXPECT_EQ(swap(100, 0), std::nullopt);
  EXPECT_EQ(swap({}, {}), std::nullopt);
}

TEST(Convert, SwapThatMakesNoSense) {
  for (const auto& [limit, both] : {std::pair<std::int64_t, std::int64_t>{0, 100}, {100, 99}, {-1, 100}}) {
    try {
      swap(limit, both);
      ADD_FAILURE() << limit << ' ' << both;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::invalid_spec);
      EXPECT_TRUE(error.text().starts_with("linux.resources.memory.swap: ")) << error.what();
    }
  }
}

TEST(KeyedNumber, TakesWholeKeysAtTheStartOfALine) {
  const char* text = "usage_usec 12\nuser_usec 3\nx 4 5\nnr_periods 0";
  EXPECT_EQ(keyed_number(text, "usage_usec"), 12U);
  EXPECT_EQ(keyed_number(text, "nr_periods"), 0U);
  EXPECT_EQ(keyed_number(text, "usec"), std::nullopt);
  EXPECT_EQ(keyed_number(text, "usage"), std::nullopt);
  EXPECT_EQ(keyed_number(text, "x"), std::nullopt);
  EXPECT_EQ(keyed_number("", "x"), std::nullopt);
}

}  // namespace
}  // namespace tare::cgroup
