// What is written into which file, in a tree of plain files: also where this kernel lacks a controller.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cgroup/cgroup.hpp"
#include "cgroup/files.hpp"
#include "cgroup/stats.hpp"

namespace tare::cgroup {
namespace {

class FakeTree : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/tare-fake-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    top_ = name;
  }
  void TearDown() override {
    ASSERT_TRUE(top_.starts_with("/tmp/tare-fake-"));
    EXPECT_EQ(std::system(cat("rm -rf ", top_).c_str()), 0);
  }

  // Adds a hierarchy with the container's directory "c" and these files in it.
  void add(const std::string& name, const std::vector<std::string>& files) {
    Entry& entry = location_.entries.emplace_back();
    entry.mount_point = cat(top_, '/', name);
    entry.path = "c";
    entry.v2 = name == "unified";
    if (!entry.v2)
      for (const std::string_view controller : split(name, ',')) entry.controllers.emplace_back(controller);
    ::mkdir(entry.mount_point.c_str(), 0755);
    ::mkdir(entry.directory().c_str(), 0755);
    for (const std::string& file : files) put(name, file, "");
    if (entry.v2) put(name, "cgroup.controllers", "");
    location_.layout = entry.v2 ? facts::CgroupLayout::v2 : facts::CgroupLayout::v1;
  }
  void put(const std::string& name, const std::string& file, std::string_view text) {
    const sys::Fd fd = sys::open(cat(top_, '/', name, "/c/", file), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    sys::write_all(fd, text);
  }
  std::string get(const std::string& name, const std::string& file) { return read(cat(top_, '/', name, "/c/", file)); }
  Error error_of(const oci::Resources& resources) {
    try {
      apply(location_, resources);
    } catch (const Error& error) {
      return error;
    }
    ADD_FAILURE() << "taken, though it should be refused";
    return Error(ErrorKind::bug, "");
  }

  std::string top_;
  Location location_;
};

TEST_F(FakeTree, DefaultDevicesOnV1) {
  add("devices", {"devices.allow", "devices.deny"});
  apply(location_, oci::Resources{});
  EXPECT_EQ(get("devices", "devices.deny"), "a");
  EXPECT_TRUE(get("devices", "devices.allow").starts_with("c *:* m\nb *:* m\nc 1:3 rwm\n"));
}

TEST_F(FakeTree, BlockIoOnV1) {
  add("blkio", {"blkio.weight", "blkio.leaf_weight", "blkio.weight_device", "blkio.leaf_weight_device",
                "blkio.throttle.read_bps_device", "blkio.throttle.write_iops_device"});
  oci::Resources r;
  r.block_io.emplace();
  r.block_io->weight = 500;
  r.block_io->leaf_weight = 300;
  r.block_io->weight_device.push_back({8, 0, 400, 200});
  r.block_io->throttle_read_bps.push_back({8, 0, 1048576});
  r.block_io->throttle_write_iops.push_back({8, 16, 100});
  apply(location_, r);
  EXPECT_EQ(get("blkio", "blkio.weight"), "500");
  EXPECT_EQ(get("blkio", "blkio.leaf_weight"), "300");
  EXPECT_EQ(get("blkio", "blkio.weight_device"), "8:0 400");
  EXPECT_EQ(get("blkio", "blkio.leaf_weight_device"), "8:0 200");
  EXPECT_EQ(get("blkio", "blkio.throttle.read_bps_device"), "8:0 1048576");
  EXPECT_EQ(get("blkio", "blkio.throttle.write_iops_device"), "8:16 100");
}

TEST_F(FakeTree, BfqWhereThePlainFilesAreGone) {
  add("blkio", {"blkio.bfq.weight", "blkio.bfq.weight_device"});
  oci::Resources r;
  r.block_io.emplace();
  r.block_io->weight = 500;
  apply(location_, r);
  EXPECT_EQ(get("blkio", "blkio.bfq.weight"), "500");
  r.block_io->leaf_weight = 10;
  const Error error = error_of(r);
  EXPECT_EQ(error.kind(), ErrorKind::unsupported);
  EXPECT_TRUE(error.text().starts_with("linux.resources.blockIO.leafWeight: ")) << error.what();
}

TEST_F(FakeTree, HugepagesNetworkAndRdmaOnV1) {
  add("hugetlb", {"hugetlb.2MB.limit_in_bytes", "hugetlb.2MB.rsvd.limit_in_bytes", "hugetlb.1GB.limit_in_bytes"});
  add("net_cls,net_prio", {"net_cls.classid", "net_prio.ifpriomap"});
  add("rdma", {"rdma.max"});
  oci::Resources r;
  r.hugepage_limits = {{"2MB", 4194304}, {"1GB", 0}};
  r.network.emplace();
  r.network->class_id = 1048577;
  r.network->priorities = {{"eth0", 5}};
  r.rdma["mlx5_1"] = {3, 10000};
  apply(location_, r);
  EXPECT_EQ(get("hugetlb", "hugetlb.2MB.limit_in_bytes"), "4194304");
  EXPECT_EQ(get("hugetlb", "hugetlb.2MB.rsvd.limit_in_bytes"), "4194304");
  EXPECT_EQ(get("hugetlb", "hugetlb.1GB.limit_in_bytes"), "0");
  EXPECT_EQ(get("net_cls,net_prio", "net_cls.classid"), "1048577");
  EXPECT_EQ(get("net_cls,net_prio", "net_prio.ifpriomap"), "eth0 5");
  EXPECT_EQ(get("rdma", "rdma.max"), "mlx5_1 hca_handle=3 hca_object=10000");
  r.hugepage_limits = {{"../x", 1}};
  EXPECT_TRUE(error_of(r).text().starts_with("linux.resources.hugepageLimits[0].pageSize: "));
}

TEST_F(FakeTree, KernelMemoryAndOomOnV1) {
  add("memory", {"memory.kmem.limit_in_bytes", "memory.kmem.tcp.limit_in_bytes", "memory.swappiness",
                 "memory.oom_control", "memory.use_hierarchy"});
  oci::Resources r;
  r.memory.emplace();
  r.memory->kernel = 100;
  r.memory->kernel_tcp = 200;
  r.memory->swappiness = 0;
  r.memory->disable_oom_killer = true;
  r.memory->use_hierarchy = true;
  apply(location_, r);
  EXPECT_EQ(get("memory", "memory.kmem.limit_in_bytes"), "100");
  EXPECT_EQ(get("memory", "memory.kmem.tcp.limit_in_bytes"), "200");
  EXPECT_EQ(get("memory", "memory.swappiness"), "0");
  EXPECT_EQ(get("memory", "memory.oom_control"), "1");
  EXPECT_EQ(get("memory", "memory.use_hierarchy"), "1");
  r.memory->swappiness = 101;
  EXPECT_EQ(error_of(r).kind(), ErrorKind::invalid_spec);
}

TEST_F(FakeTree, SwapWithoutAccountingIsRefusedUnlessItIsNoLimit) {
  add("memory", {"memory.limit_in_bytes"});
  oci::Resources r;
  r.memory.emplace();
  r.memory->limit = 1000;
  r.memory->swap = -1;
  apply(location_, r);
  EXPECT_EQ(get("memory", "memory.limit_in_bytes"), "1000");
  r.memory->swap = 2000;
  EXPECT_TRUE(error_of(r).text().starts_with("linux.resources.memory.swap: "));
}

TEST_F(FakeTree, RealtimeAndSharesOnV1) {
  add("cpu,cpuacct", {"cpu.rt_runtime_us", "cpu.rt_period_us", "cpu.shares"});
  oci::Resources r;
  r.cpu.emplace();
  r.cpu->realtime_period = 1000000;
  r.cpu->realtime_runtime = 5000;
  r.cpu->shares = 1024;
  apply(location_, r);
  EXPECT_EQ(get("cpu,cpuacct", "cpu.rt_period_us"), "1000000");
  EXPECT_EQ(get("cpu,cpuacct", "cpu.rt_runtime_us"), "5000");
  EXPECT_EQ(get("cpu,cpuacct", "cpu.shares"), "1024");
  r.cpu->shares = 300000;
  EXPECT_TRUE(error_of(r).text().starts_with("linux.resources.cpu.shares: "));
}

// Only cgroup2, and no device filter: those go through bpf(2), which the kernel tests cover. Seen
// through update, which leaves devices alone.
class FakeCgroup2 : public FakeTree {
 protected:
  Error update_error(const oci::Resources& resources) {
    try {
      apply(location_, resources, true);
    } catch (const Error& error) {
      return error;
    }
    ADD_FAILURE() << "taken, though it should be refused";
    return Error(ErrorKind::bug, "");
  }
};

TEST_F(FakeCgroup2, BlockIo) {
  add("unified", {"io.weight", "io.max"});
  oci::Resources r;
  r.block_io.emplace();
  r.block_io->weight = 1000;
  r.block_io->throttle_read_bps.push_back({8, 0, 1048576});
  apply(location_, r, true);
  EXPECT_EQ(get("unified", "io.weight"), "10000");
  EXPECT_EQ(get("unified", "io.max"), "8:0 rbps=1048576");
  put("unified", "io.max", "");
  r.block_io->throttle_read_bps.clear();
  r.block_io->throttle_write_iops.push_back({8, 0, 0});
  apply(location_, r, true);
  EXPECT_EQ(get("unified", "io.max"), "8:0 wiops=max");
  put("unified", "io.bfq.weight", "");
  apply(location_, r, true);
  EXPECT_EQ(get("unified", "io.bfq.weight"), "1000");
  r.block_io->leaf_weight = 10;
  EXPECT_EQ(update_error(r).kind(), ErrorKind::unsupported);
}

TEST_F(FakeCgroup2, HugepagesAndRdma) {
  add("unified", {"hugetlb.2MB.max", "hugetlb.2MB.rsvd.max", "rdma.max"});
  oci::Resources r;
  r.hugepage_limits = {{"2MB", 4194304}};
  r.rdma["mlx5_1"] = {{}, 7};
  apply(location_, r, true);
  EXPECT_EQ(get("unified", "hugetlb.2MB.max"), "4194304");
  EXPECT_EQ(get("unified", "hugetlb.2MB.rsvd.max"), "4194304");
  EXPECT_EQ(get("unified", "rdma.max"), "mlx5_1 hca_object=7");
}

TEST_F(FakeCgroup2, RefusesEachFieldThatIsV1sAlone) {
  add("unified", {});
  const auto refused = [&](const oci::Resources& r, std::string_view field) {
    const Error error = update_error(r);
    EXPECT_EQ(error.kind(), ErrorKind::unsupported) << error.what();
    EXPECT_TRUE(error.text().starts_with(cat(field, ": "))) << error.what();
  };
  oci::Resources r;
  r.memory.emplace();
  r.memory->kernel = 1;
  refused(r, "linux.resources.memory.kernel");
  r.memory = oci::MemoryResources{};
  r.memory->kernel_tcp = 1;
  refused(r, "linux.resources.memory.kernelTCP");
  r.memory = oci::MemoryResources{};
  r.memory->disable_oom_killer = true;
  refused(r, "linux.resources.memory.disableOOMKiller");
  r.memory = oci::MemoryResources{};
  r.memory->use_hierarchy = false;
  refused(r, "linux.resources.memory.useHierarchy");
  r = {};
  r.cpu.emplace();
  r.cpu->realtime_runtime = 1;
  refused(r, "linux.resources.cpu.realtimeRuntime");
  r = {};
  r.network.emplace();
  r.network->priorities = {{"eth0", 1}};
  refused(r, "linux.resources.network.priorities");
  r = {};
  r.pids_limit = 5;  // the controller is not enabled: there is no such file
  refused(r, "linux.resources.pids.limit");
}

TEST_F(FakeCgroup2, SwapWithoutAccountingIsFineWhereNothingIsAsked) {
  add("unified", {"memory.max"});
  oci::Resources r;
  r.memory.emplace();
  r.memory->limit = 1000;
  r.memory->swap = 1000;
  apply(location_, r, true);
  EXPECT_EQ(get("unified", "memory.max"), "1000");
  r.memory->swap = 3000;
  EXPECT_TRUE(update_error(r).text().starts_with("linux.resources.memory.swap: "));
}

TEST_F(FakeCgroup2, CpuMaxKeepsWhatIsNotGiven) {
  add("unified", {"cpu.max"});
  oci::Resources r;
  r.cpu.emplace();
  r.cpu->period = 50000;
  put("unified", "cpu.max", "20000 100000\n");
  apply(location_, r, true);
  EXPECT_TRUE(get("unified", "cpu.max").starts_with("20000 50000"));
  r.cpu->period.reset();
  r.cpu->quota = -1;
  put("unified", "cpu.max", "");
  apply(location_, r, true);
  EXPECT_EQ(get("unified", "cpu.max"), "max");
}

TEST_F(FakeCgroup2, UnifiedIsWrittenAsItStands) {
  add("unified", {"io.max", "some.new_file"});
  oci::Resources r;
  r.unified["some.new_file"] = "any text";
  apply(location_, r, true);
  EXPECT_EQ(get("unified", "some.new_file"), "any text");
  for (const char* key : {"a/b", "..", ""}) {
    oci::Resources bad;
    bad.unified[key] = "1";
    EXPECT_EQ(update_error(bad).kind(), ErrorKind::invalid_spec) << key;
  }
}

TEST_F(FakeTree, UnifiedIsRefusedWithoutCgroup2) {
  add("memory", {});
  oci::Resources r;
  r.unified["memory.max"] = "1";
  EXPECT_EQ(error_of(r).kind(), ErrorKind::unsupported);
}

TEST_F(FakeTree, NoCgroupForAField) {
  oci::Resources r;
  r.memory.emplace();
  r.memory->limit = 1;
  const Error error = error_of(r);
  EXPECT_EQ(error.kind(), ErrorKind::unsupported);
  EXPECT_TRUE(error.text().starts_with("linux.resources.memory: ")) << error.what();
}

TEST_F(FakeTree, StatsOfV1) {
  add("cpuacct", {});
  add("memory", {});
  put("cpuacct", "cpuacct.usage", "123456789\n");
  put("cpuacct", "cpuacct.usage_user", "100\n");
  put("cpuacct", "cpuacct.usage_sys", "200\n");
  put("memory", "memory.limit_in_bytes", "9223372036854771712\n");
  put("memory", "memory.usage_in_bytes", "4096\n");
  put("memory", "memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n");
  put("memory", "memory.stat", "cache 5\nrss 6\ntotal_cache 50\ntotal_rss 60\ntotal_pgfault 7\n");
  const Stats s = stats(location_);
  EXPECT_EQ(s.cpu_usage_ns, 123456789U);
  EXPECT_EQ(s.cpu_user_ns, 100U);
  EXPECT_EQ(s.memory_usage, 4096U);
  EXPECT_FALSE(s.memory_limit.has_value());
  EXPECT_EQ(s.oom_kills, 3U);
  EXPECT_EQ(s.memory_anon, 60U);
  EXPECT_EQ(s.page_faults, 7U);
  EXPECT_FALSE(s.pids_current.has_value());
}

TEST_F(FakeTree, StatsOfCgroup2) {
  add("unified", {});
  put("unified", "cpu.stat", "usage_usec 1000\nuser_usec 600\nsystem_usec 400\nnr_throttled 2\nthrottled_usec 9\n");
  put("unified", "memory.max", "max\n");
  put("unified", "memory.events", "low 0\nhigh 0\nmax 0\noom 1\noom_kill 2\n");
  put("unified", "pids.current", "4\n");
  put("unified", "pids.max", "10\n");
  const Stats s = stats(location_);
  EXPECT_EQ(s.cpu_usage_ns, 1000000U);
  EXPECT_EQ(s.cpu_system_ns, 400000U);
  EXPECT_EQ(s.throttled_ns, 9000U);
  EXPECT_FALSE(s.memory_limit.has_value());
  EXPECT_EQ(s.oom_kills, 2U);
  EXPECT_EQ(s.pids_current, 4U);
  EXPECT_EQ(s.pids_limit, 10U);
}

TEST_F(FakeTree, NothingIsEverTheRootCgroup) {
  add("memory", {"cgroup.procs"});
  location_.entries[0].path = "";
  EXPECT_THROW(kill_all(location_), Error);
  location_.entries[0].path = "a/../..";
  EXPECT_THROW(processes(location_), Error);
}

}  // namespace
}  // namespace tare::cgroup
