// Where the container's cgroups go.
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cgroup/cgroup.hpp"

namespace tare::cgroup {
namespace {

using facts::CgroupLayout;

facts::Hierarchy v1(std::vector<std::string> controllers, const std::string& own = "/") {
  return {"/cg/" + controllers[0], std::move(controllers), false, "", own};
}

facts::Cgroups hybrid(const std::string& own = "/") {
  facts::Cgroups cgroups;
  cgroups.layout = CgroupLayout::hybrid;
  cgroups.hierarchies = {
      v1({"memory"}, own),  v1({"cpu", "cpuacct"}, own), v1({"cpuset"}, own), v1({"blkio"}, own),
      v1({"net_cls"}, own), v1({"name=systemd"}, own),   v1({"name=other"}),  {"/cg/unified", {}, true, "", own}};
  return cgroups;
}

facts::Cgroups pure_v2(const std::string& own = "/") {
  facts::Cgroups cgroups;
  cgroups.layout = CgroupLayout::v2;
  cgroups.hierarchies = {{"/cg", {}, true, "", own}};
  return cgroups;
}

std::string path_of(const facts::Cgroups& cgroups, std::string_view path) {
  const Location location = locate(cgroups, path, "web", nullptr);
  for (const Entry& entry : location.entries) EXPECT_EQ(entry.path, location.entries[0].path);
  return location.entries.empty() ? "-" : location.entries[0].path;
}

std::vector<std::string> mount_points(const Location& location) {
  std::vector<std::string> out;
  for (const Entry& entry : location.entries) out.push_back(entry.mount_point);
  return out;
}

TEST(Locate, Paths) {
  EXPECT_EQ(path_of(hybrid(), ""), "web");
  EXPECT_EQ(path_of(hybrid(), "/a/b"), "a/b");
  EXPECT_EQ(path_of(hybrid(), "//a///b/./"), "a/b");
  EXPECT_EQ(path_of(hybrid("/own"), "/a"), "a");
  EXPECT_EQ(path_of(hybrid("/own"), ""), "web");
  EXPECT_EQ(path_of(hybrid(), "a/b"), "a/b");
  EXPECT_EQ(path_of(hybrid(), std::string(255, 'x')), std::string(255, 'x'));
  EXPECT_EQ(path_of(hybrid(), "a..b/..."), "a..b/...");
}

TEST(Locate, RelativePathsAreBelowThisProcessOnV1AndBesideItOnCgroup2) {
  const Location location = locate(hybrid("/x/y"), "a", "web", nullptr);
  EXPECT_EQ(location.find("memory")->path, "x/y/a");
  EXPECT_EQ(location.v2()->path, "x/a");
  EXPECT_EQ(locate(pure_v2("/x"), "a", "web", nullptr).v2()->path, "a");
  EXPECT_EQ(locate(pure_v2("/"), "a", "web", nullptr).v2()->path, "a");
}

TEST(Locate, TheSameValueIsAlwaysTheSamePlace) { EXPECT_EQ(path_of(hybrid(), "/a/b/"), path_of(hybrid(), "/a//b")); }

TEST(Locate, RefusesWhatLeavesItsPlace) {
  const std::string with_nul("/a\0b", 4);
  for (const std::string& path :
       {std::string("/.."), std::string("a/../b"), std::string("/a/.."), std::string("/"), std::string("."),
        std::string("///"), with_nul, std::string("/a\nb"), "/" + std::string(256, 'x')}) {
    try {
      locate(hybrid(), path, "web", nullptr);
      ADD_FAILURE() << quoted(path) << " was taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::invalid_spec);
      EXPECT_TRUE(error.text().starts_with("linux.cgroupsPath: ")) << error.what();
    }
  }
}

TEST(Locate, UsesOtherHierarchiesOnlyWhereAFieldAsks) {
  using Points = std::vector<std::string>;
  EXPECT_EQ(mount_points(locate(hybrid(), "", "web", nullptr)),
            (Points{"/cg/memory", "/cg/cpu", "/cg/blkio", "/cg/name=systemd", "/cg/unified"}));
  oci::Resources r;
  r.cpu.emplace();
  r.cpu->cpus = "0";
  r.network.emplace();
  r.network->class_id = 1;
  EXPECT_EQ(mount_points(locate(hybrid(), "", "web", &r)), (Points{"/cg/memory", "/cg/cpu", "/cg/cpuset", "/cg/blkio",
                                                                   "/cg/net_cls", "/cg/name=systemd", "/cg/unified"}));
}

TEST(Locate, Cgroup2GetsTheControllersThatV1LeavesToIt) {
  oci::Resources r;
  r.memory.emplace();
  r.memory->limit = 1;
  r.cpu.emplace();
  r.cpu->shares = 2;
  r.pids_limit = 3;
  r.block_io.emplace();
  r.hugepage_limits.push_back({"2MB", 1});
  r.unified["misc.max"] = "1";
  r.unified["cgroup.max.depth"] = "1";
  using Names = std::vector<std::string>;
  EXPECT_EQ(locate(pure_v2(), "", "web", &r).v2()->controllers,
            (Names{"memory", "cpu", "pids", "io", "hugetlb", "misc"}));
  EXPECT_EQ(locate(hybrid(), "", "web", &r).v2()->controllers, (Names{"pids", "hugetlb", "misc"}));
  oci::Resources empty;
  empty.memory.emplace();
  empty.cpu.emplace();
  EXPECT_TRUE(locate(pure_v2(), "", "web", &empty).v2()->controllers.empty());
}

TEST(Locate, FindPrefersV1) {
  const Location location = locate(hybrid(), "", "web", nullptr);
  EXPECT_EQ(location.find("cpuacct")->mount_point, "/cg/cpu");
  EXPECT_EQ(location.find("hugetlb")->mount_point, "/cg/unified");
  EXPECT_EQ(Location{}.find("cpu"), nullptr);
}

TEST(Locate, KeepsTheRootOfAPartialMount) {
  facts::Cgroups cgroups;
  cgroups.layout = CgroupLayout::v1;
  cgroups.hierarchies = {{"/cg/memory", {"memory"}, false, "/docker/abc", "/"}};
  const Location location = locate(cgroups, "/web", "web", nullptr);
  EXPECT_EQ(location.entries[0].root, "/docker/abc");
  EXPECT_EQ(location.entries[0].directory(), "/cg/memory/web");
}

}  // namespace
}  // namespace tare::cgroup
