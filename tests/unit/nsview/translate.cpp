// The way of older kernels gives what the kernel's calls give.
#include "nsview/translate.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

namespace tare::nsview {
namespace {

TEST(Translate, TheSlowWayAgreesWithTheKernels) {
  const sys::Fd own = pid_namespace_of(getpid());
  for (const pid_t number : {getpid(), getppid(), pid_t{1}, pid_t{4000000}}) {
    EXPECT_EQ(from_namespace(own, number, false), from_namespace(own, number)) << number;
    if (number == 4000000) continue;
    EXPECT_EQ(in_namespace(own, number, false), in_namespace(own, number)) << number;
  }
}

}  // namespace
}  // namespace tare::nsview
