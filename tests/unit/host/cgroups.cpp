// What host::parse_cgroups makes of mountinfo and cgroup files as they are on real machines.
#include <gtest/gtest.h>

#include "base/text.hpp"
#include "host/host.hpp"

namespace tare::host {
namespace {

using facts::CgroupLayout;

// "MOUNT_POINT ROOT OWN CONTROLLERS" a hierarchy, so that a difference is read at once.
std::vector<std::string> shown(const facts::Cgroups& cgroups) {
  std::vector<std::string> lines;
  for (const facts::Hierarchy& h : cgroups.hierarchies)
    lines.push_back(cat(h.mount_point, " [", h.root, "] ", h.own_path, " ", h.v2 ? "v2" : join(h.controllers, ",")));
  return lines;
}

using Lines = std::vector<std::string>;

TEST(ParseCgroups, SystemdHostWithCgroup2) {
  const auto found = parse_cgroups(
      "22 28 0:21 / /sys rw,nosuid,nodev,noexec,relatime shared:7 - sysfs sysfs rw\n"
      "25 28 0:23 / /run rw,nosuid,nodev,noexec,relatime shared:12 - tmpfs tmpfs rw,size=400000k,mode=755\n"
      "28 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw,errors=remount-ro\n"
      "30 22 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:9 - cgroup2 cgroup2 "
      "rw,nsdelegate,memory_recursiveprot\n",
      "0::/user.slice/user-1000.slice/session-2.scope\n");
  EXPECT_EQ(found.layout, CgroupLayout::v2);
  EXPECT_EQ(shown(found), Lines{"/sys/fs/cgroup [] /user.slice/user-1000.slice/session-2.scope v2"});
}

TEST(ParseCgroups, SystemdHostWithV1HasPairsOfControllersAndAnEmptyUnified) {
  const auto found = parse_cgroups(
      "32 22 0:28 / /sys/fs/cgroup ro,nosuid,nodev,noexec shared:9 - tmpfs tmpfs ro,mode=755\n"
      "33 32 0:29 / /sys/fs/cgroup/unified rw,nosuid,nodev,noexec,relatime shared:10 - cgroup2 cgroup2 rw\n"
      "34 32 0:30 / /sys/fs/cgroup/systemd rw,nosuid,nodev,noexec,relatime shared:11 - cgroup cgroup "
      "rw,xattr,name=systemd\n"
      "38 32 0:34 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid,nodev,noexec,relatime shared:15 - cgroup cgroup "
      "rw,cpu,cpuacct\n"
      "39 32 0:35 / /sys/fs/cgroup/memory rw,nosuid,nodev,noexec,relatime shared:16 - cgroup cgroup rw,memory\n",
      "7:cpu,cpuacct:/user.slice\n5:memory:/user.slice\n3:misc:/\n1:name=systemd:/user.slice/a.scope\n"
      "0::/user.slice/a.scope\n");
  EXPECT_EQ(found.layout, CgroupLayout::hybrid);
  EXPECT_EQ(shown(found), (Lines{"/sys/fs/cgroup/cpu,cpuacct [] /user.slice cpu,cpuacct",
                                 "/sys/fs/cgroup/memory [] /user.slice memory",
                                 "/sys/fs/cgroup/systemd [] /user.slice/a.scope name=systemd",
                                 "/sys/fs/cgroup/unified [] /user.slice/a.scope v2"}));
}

TEST(ParseCgroups, V1Alone) {
  const auto found = parse_cgroups("40 32 0:36 / /cg/pids rw - cgroup none rw,pids\n", "8:pids:/\n0::/\n");
  EXPECT_EQ(found.layout, CgroupLayout::v1);
  EXPECT_EQ(shown(found), Lines{"/cg/pids [] / pids"});
}

TEST(ParseCgroups, None) {
  const auto found = parse_cgroups("28 1 8:1 / / rw - ext4 /dev/sda1 rw\n", "4:memory:/x\n0::/\n");
  EXPECT_EQ(found.layout, CgroupLayout::none);
  EXPECT_TRUE(found.hierarchies.empty());
  EXPECT_EQ(parse_cgroups("", "").layout, CgroupLayout::none);
}

// docker without a cgroup namespace: /proc/self/cgroup shows the host's path, the mount only the part below.
TEST(ParseCgroups, ContainerThatSeesAPartOfV1) {
  const auto found = parse_cgroups(
      "600 599 0:30 /docker/abc /sys/fs/cgroup/memory ro,nosuid - cgroup cgroup rw,memory\n"
      "601 599 0:31 /docker/abc /sys/fs/cgroup/cpu,cpuacct ro,nosuid master:14 - cgroup cgroup rw,cpu,cpuacct\n",
      "5:memory:/docker/abc/inner\n7:cpu,cpuacct:/docker/abc\n");
  EXPECT_EQ(shown(found), (Lines{"/sys/fs/cgroup/memory [/docker/abc] /inner memory",
                                 "/sys/fs/cgroup/cpu,cpuacct [/docker/abc] / cpu,cpuacct"}));
}

// In a cgroup namespace both files are relative to its top.
TEST(ParseCgroups, ContainerWithACgroupNamespace) {
  const auto found = parse_cgroups("700 650 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup rw,nsdelegate\n", "0::/\n");
  EXPECT_EQ(shown(found), Lines{"/sys/fs/cgroup [] / v2"});
}

// The host's hierarchy bound in: its top lies above the namespace's.
TEST(ParseCgroups, MountWhoseTopIsOutsideOfTheNamespace) {
  const auto found = parse_cgroups("700 650 0:26 /../.. /host/cgroup rw - cgroup2 cgroup rw\n", "0::/\n");
  ASSERT_EQ(found.hierarchies.size(), 1U);
  EXPECT_EQ(found.hierarchies[0].own_path, "/");
  const auto both = parse_cgroups(
      "700 650 0:26 /../.. /host/cgroup rw - cgroup2 cgroup rw\n701 650 0:26 / /sys/fs/cgroup rw - cgroup2 c rw\n",
      "0::/a\n");
  EXPECT_EQ(shown(both), Lines{"/sys/fs/cgroup [] /a v2"});
}

TEST(ParseCgroups, OfSeveralMountsTheFirstThatHoldsThisProcess) {
  const std::string cgroup = "0::/pods/one\n";
  EXPECT_EQ(shown(parse_cgroups("1 0 0:26 /other /a rw - cgroup2 c rw\n2 0 0:26 /pods /b rw - cgroup2 c rw\n"
                                "3 0 0:26 / /c rw - cgroup2 c rw\n",
                                cgroup)),
            Lines{"/b [/pods] /one v2"});
  // A name that only begins alike is another cgroup.
  EXPECT_EQ(shown(parse_cgroups("1 0 0:26 /pod /a rw - cgroup2 c rw\n3 0 0:26 / /c rw - cgroup2 c rw\n", cgroup)),
            Lines{"/c [] /pods/one v2"});
}

TEST(ParseCgroups, WhatIsMountedOverIsNotSeen) {
  EXPECT_EQ(shown(parse_cgroups("1 0 0:26 / /sys/fs/cgroup rw - cgroup2 c rw\n"
                                "2 1 0:40 / /sys/fs/cgroup rw - tmpfs t rw\n"
                                "3 2 0:26 / /sys/fs/cgroup/unified rw - cgroup2 c rw\n",
                                "0::/\n")),
            Lines{"/sys/fs/cgroup/unified [] / v2"});
  EXPECT_EQ(
      parse_cgroups("1 0 0:26 / /sys/fs/cgroup rw - cgroup2 c rw\n2 1 0:40 / /sys rw - tmpfs t rw\n", "0::/\n").layout,
      CgroupLayout::none);
  // Not hidden by a neighbour whose name begins alike.
  EXPECT_EQ(
      parse_cgroups("1 0 0:26 / /sys/fs/cgroup rw - cgroup2 c rw\n2 1 0:40 / /sys/fs/cg rw - tmpfs t rw\n", "0::/\n")
          .layout,
      CgroupLayout::v2);
}

TEST(ParseCgroups, EscapesAndOptionalFields) {
  const auto found = parse_cgroups(
      "1 0 0:26 /a\\040b /my\\040cgroups\\011x\\134y rw shared:1 master:2 propagate_from:3 unbindable - cgroup2 c rw\n",
      "0::/a b/c\n");
  EXPECT_EQ(shown(found), Lines{"/my cgroups\tx\\y [/a b] /c v2"});
}

TEST(ParseCgroups, LinesThatAreNone) {
  EXPECT_EQ(parse_cgroups("\n1 2\n1 0 0:26 / /x rw\n- - - -\n\\\\\\", "::\n:\n0:\n\n").layout, CgroupLayout::none);
  // Without a newline at the end.
  EXPECT_EQ(parse_cgroups("1 0 0:26 / /x rw - cgroup2 c rw", "0::/").layout, CgroupLayout::v2);
}

TEST(HostFacts, AreThisMachine) {
  facts::Facts facts = host::facts();
  facts.kernel = host::kernel_version();
  EXPECT_TRUE(facts.kernel.at_least(5, 0)) << facts.kernel.major << '.' << facts.kernel.minor;
  EXPECT_GE(facts.last_capability, 40);
  EXPECT_EQ(facts.cgroups.hierarchies.size(), host::cgroups().hierarchies.size());
}

}  // namespace
}  // namespace tare::host
