// What two counts make.
#include "nsview/top.hpp"

#include <gtest/gtest.h>

namespace tare::nsview {
namespace {

TEST(Load, IsWhatWasUsedInBetween) {
  Counts a, b;
  a.at = 1'000'000'000;
  b.at = 3'000'000'000;
  a.cpu = 500'000'000;
  b.cpu = 3'500'000'000;
  b.read = 4096;
  b.memory = 7;
  const Load l = load(a, b);
  EXPECT_DOUBLE_EQ(l.cpu, 150);
  EXPECT_DOUBLE_EQ(l.read, 2048);
  EXPECT_EQ(l.memory, 7U);
  EXPECT_DOUBLE_EQ(load(b, a).cpu, 0);
  b.cpu = 1;  // another cgroup of that name
  EXPECT_DOUBLE_EQ(load(a, b).cpu, 0);
}

}  // namespace
}  // namespace tare::nsview
