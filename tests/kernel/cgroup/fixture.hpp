// Cgroups below a top of the test's own, removed again whatever happens, and children to put there.
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <functional>
#include <string>

#include "cgroup/cgroup.hpp"
#include "cgroup/files.hpp"
#include "host/host.hpp"

namespace tare::cgroup {

// A child that runs f after joining `location` as a container's process does; killed and reaped at the end.
class TestChild {
 public:
  TestChild(const Location& location, const std::function<int()>& f);
  TestChild(const TestChild&) = delete;
  TestChild& operator=(const TestChild&) = delete;
  ~TestChild();
  pid_t pid() const { return pid_; }
  // Waits; the exit status, or 128 + signal.
  int wait();

 private:
  pid_t pid_ = -1;
};

int sleep_forever();

class CgroupTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  // A created location "/tare-test-PID/NAME"; the top goes with it.
  Location make(const oci::Resources* resources = nullptr, const std::string& name = "c");
  bool pure_v2() const { return cgroups_.layout == facts::CgroupLayout::v2; }
  // The text of a file of the controller's directory.
  static std::string file(const Location& location, std::string_view controller, std::string_view name);

  facts::Cgroups cgroups_;
  std::string top_;
  std::vector<Location> made_;
};

}  // namespace tare::cgroup
