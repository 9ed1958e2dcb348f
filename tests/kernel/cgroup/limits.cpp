// Every field of linux.resources that this layout can hold, written and read back.
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "fixture.hpp"

namespace tare::cgroup {
namespace {

// What apply() throws for these resources; fails the test if it does not.
Error error_of(const Location& location, const oci::Resources& resources) {
  try {
    apply(location, resources);
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "apply took what it should refuse";
  return Error(ErrorKind::bug, "");
}

TEST_F(CgroupTest, Pids) {
  oci::Resources r;
  r.pids_limit = 3;
  const Location location = make(&r);
  apply(location, r);
  EXPECT_EQ(file(location, "pids", "pids.max"), "3");
  TestChild child(location, [] {
    int forked = 0;
    while (forked < 10) {
      const pid_t pid = ::fork();
      if (pid < 0) break;
      if (pid == 0) sleep_forever();
      ++forked;
    }
    return forked;
  });
  EXPECT_EQ(child.wait(), 2);
  r.pids_limit = -1;
  apply(location, r, true);
  EXPECT_EQ(file(location, "pids", "pids.max"), "max");
  r.pids_limit = 0;
  apply(location, r, true);
  EXPECT_EQ(file(location, "pids", "pids.max"), pure_v2() ? "1" : "0");
}

TEST_F(CgroupTest, Memory) {
  oci::Resources r;
  r.memory.emplace();
  r.memory->limit = 64 << 20;
  r.memory->reservation = 32 << 20;
  r.memory->swap = 96 << 20;
  const Location location = make(&r);
  apply(location, r);
  if (pure_v2()) {
    EXPECT_EQ(file(location, "memory", "memory.max"), "67108864");
    EXPECT_EQ(file(location, "memory", "memory.low"), "33554432");
    EXPECT_EQ(file(location, "memory", "memory.swap.max"), "33554432");
  } else {
    EXPECT_EQ(file(location, "memory", "memory.limit_in_bytes"), "67108864");
    EXPECT_EQ(file(location, "memory", "memory.soft_limit_in_bytes"), "33554432");
    EXPECT_EQ(file(location, "memory", "memory.memsw.limit_in_bytes"), "100663296");
  }
  // Up beyond the old "memory and swap", then down again: each needs its own order on v1.
  for (const std::int64_t limit : {256 << 20, 32 << 20}) {
    r.memory->limit = limit;
    r.memory->swap = 2 * limit;
    r.memory->reservation.reset();
    apply(location, r, true);
    EXPECT_EQ(file(location, "memory", pure_v2() ? "memory.max" : "memory.limit_in_bytes"), cat(limit));
  }
  r.memory->limit = -1;
  r.memory->swap.reset();
  apply(location, r, true);
  if (pure_v2()) {
    EXPECT_EQ(file(location, "memory", "memory.max"), "max");
    EXPECT_EQ(file(location, "memory", "memory.swap.max"), "max");
  } else {
    EXPECT_GT(file(location, "memory", "memory.memsw.limit_in_bytes").size(), 15U);
  }
}

TEST_F(CgroupTest, MemoryLimitKills) {
  oci::Resources r;
  r.memory.emplace();
  r.memory->limit = 16 << 20;
  r.memory->swap = 16 << 20;
  const Location location = make(&r);
  apply(location, r);
  TestChild child(location, [] {
    const std::size_t size = 64 << 20;
    char* p = static_cast<char*>(::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (p == MAP_FAILED) return 3;
    for (std::size_t i = 0; i < size; i += 4096) p[i] = 1;
    return 0;
  });
  EXPECT_EQ(child.wait(), 128 + SIGKILL);
}

TEST_F(CgroupTest, MemoryLimitBelowUsageIsRefused) {
  oci::Resources r;
  r.memory.emplace();
  r.memory->limit = 128 << 20;
  r.memory->swap = 128 << 20;
  const Location location = make(&r);
  apply(location, r);
  int filled[2];
  ASSERT_EQ(::pipe2(filled, O_CLOEXEC), 0);
  TestChild child(location, [&] {
    const std::size_t size = 64 << 20;
    char* p = static_cast<char*>(::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (p == MAP_FAILED) return 3;
    for (std::size_t i = 0; i < size; i += 4096) p[i] = 1;
    if (::write(filled[1], "f", 1) != 1) return 4;
    return sleep_forever();
  });
  char byte = 0;
  ASSERT_EQ(::read(filled[0], &byte, 1), 1);
  r.memory->limit = 8 << 20;
  r.memory->swap = pure_v2() ? 8 << 20 : 128 << 20;
  r.memory->check_before_update = true;
  try {
    apply(location, r, true);
    FAIL() << "a limit below what is in use was taken";
  } catch (const Error& error) {
    EXPECT_NE(error.text().find("linux.resources.memory.limit: "), std::string::npos) << error.what();
    EXPECT_NE(error.text().find("in use"), std::string::npos) << error.what();
  }
}

TEST_F(CgroupTest, Cpu) {
  oci::Resources r;
  r.cpu.emplace();
  r.cpu->shares = 512;
  r.cpu->quota = 20000;
  r.cpu->period = 50000;
  r.cpu->burst = 10000;
  const Location location = make(&r);
  apply(location, r);
  if (pure_v2()) {
    EXPECT_EQ(file(location, "cpu", "cpu.weight"), "59");
    EXPECT_EQ(file(location, "cpu", "cpu.max"), "20000 50000");
  } else {
    EXPECT_EQ(file(location, "cpu", "cpu.shares"), "512");
    EXPECT_EQ(file(location, "cpu", "cpu.cfs_quota_us"), "20000");
    EXPECT_EQ(file(location, "cpu", "cpu.cfs_period_us"), "50000");
    EXPECT_EQ(file(location, "cpu", "cpu.cfs_burst_us"), "10000");
  }
  // A lower quota with a lower burst, and higher ones again.
  for (const auto& [quota, burst] : {std::pair{5000, 2000}, std::pair{40000, 30000}}) {
    r.cpu->quota = quota;
    r.cpu->burst = static_cast<std::uint64_t>(burst);
    apply(location, r, true);
    if (pure_v2()) {
      EXPECT_EQ(file(location, "cpu", "cpu.max"), cat(quota, " 50000"));
      EXPECT_EQ(file(location, "cpu", "cpu.max.burst"), cat(burst));
    } else {
      EXPECT_EQ(file(location, "cpu", "cpu.cfs_quota_us"), cat(quota));
      EXPECT_EQ(file(location, "cpu", "cpu.cfs_burst_us"), cat(burst));
    }
  }
  oci::Resources none;
  none.cpu.emplace();
  none.cpu->quota = -1;
  apply(location, none, true);
  EXPECT_EQ(file(location, "cpu", pure_v2() ? "cpu.max" : "cpu.cfs_quota_us"), pure_v2() ? "max 50000" : "-1");
}

TEST_F(CgroupTest, CpuIdle) {
  oci::Resources r;
  r.cpu.emplace();
  r.cpu->shares = 100;
  r.cpu->idle = 1;
  const Location location = make(&r);
  apply(location, r);
  EXPECT_EQ(file(location, "cpu", "cpu.idle"), "1");
  r.cpu->idle = 0;
  r.cpu->shares = 200;
  apply(location, r, true);
  EXPECT_EQ(file(location, "cpu", "cpu.idle"), "0");
}

TEST_F(CgroupTest, Cpuset) {
  oci::Resources r;
  r.cpu.emplace();
  r.cpu->cpus = "0";
  r.cpu->mems = "0";
  const Location location = make(&r);
  apply(location, r);
  EXPECT_EQ(file(location, "cpuset", "cpuset.cpus"), "0");
  EXPECT_EQ(file(location, "cpuset", "cpuset.mems"), "0");
  TestChild child(location, [] {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (::sched_getaffinity(0, sizeof set, &set) != 0) return 9;
    return CPU_COUNT(&set);
  });
  EXPECT_EQ(child.wait(), 1);
}

TEST_F(CgroupTest, ErrorsNameFieldFileAndValue) {
  oci::Resources r;
  r.cpu.emplace();
  r.cpu->quota = 5;  // the kernel wants 1000 at least
  const Location location = make(&r);
  const Error error = error_of(location, r);
  EXPECT_EQ(error.errno_value(), EINVAL);
  EXPECT_NE(error.text().find("linux.resources.cpu.quota: write \"5\" to "), std::string::npos) << error.what();
  EXPECT_NE(error.text().find(pure_v2() ? "cpu.max: invalid argument" : "cpu.cfs_quota_us: invalid argument"),
            std::string::npos)
      << error.what();
}

TEST_F(CgroupTest, RefusesWhatTheLayoutLacks) {
  oci::Resources r;
  if (pure_v2()) {
    r.memory.emplace();
    r.memory->swappiness = 10;
    const Location location = make(&r);
    EXPECT_EQ(error_of(location, r).text(), "linux.resources.memory.swappiness: cgroup2 has none");
  } else {
    const Location location = make(nullptr);
    r.unified["memory.max"] = "1000000";
    EXPECT_EQ(error_of(location, r).kind(), ErrorKind::unsupported);
  }
  const Location location = make(nullptr, "d");
  oci::Resources net;
  net.network.emplace();
  net.network->class_id = 7;
  EXPECT_EQ(error_of(location, net).kind(), ErrorKind::unsupported);
  EXPECT_NE(error_of(location, net).text().find("linux.resources.network.classID: "), std::string::npos);
}

TEST_F(CgroupTest, Unified) {
  if (!pure_v2()) return;  // refused: see RefusesWhatTheLayoutLacks
  oci::Resources r;
  r.unified["memory.high"] = "50331648";
  r.unified["pids.max"] = "17";
  const Location location = make(&r);
  apply(location, r);
  EXPECT_EQ(file(location, "memory", "memory.high"), "50331648");
  EXPECT_EQ(file(location, "pids", "pids.max"), "17");
  oci::Resources bad;
  bad.unified["../cgroup.procs"] = "1";
  EXPECT_EQ(error_of(location, bad).kind(), ErrorKind::invalid_spec);
  oci::Resources unknown;
  unknown.unified["memory.nonsense"] = "1";
  EXPECT_EQ(error_of(location, unknown).kind(), ErrorKind::unsupported);
}

// Opens (or makes) device nodes in a child that has joined: 0 if it may, else the errno.
int try_device(const Location& location, mode_t type, unsigned major, unsigned minor, int flags) {
  const std::string node = cat("/dev/tare-test-", ::getpid());
  ::unlink(node.c_str());
  if (::mknod(node.c_str(), type | 0600, makedev(major, minor)) != 0) return 1000 + errno;
  TestChild child(location, [&] {
    const int fd = ::open(node.c_str(), flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    // ENXIO: there is no such device here, but the cgroup let the question through.
    return fd >= 0 || errno == ENXIO ? 0 : errno;
  });
  const int result = child.wait();
  ::unlink(node.c_str());
  return result;
}

TEST_F(CgroupTest, DevicesByDefault) {
  const Location location = make();
  apply(location, oci::Resources{});
  EXPECT_EQ(try_device(location, S_IFCHR, 1, 3, O_RDWR), 0) << "null";
  EXPECT_EQ(try_device(location, S_IFCHR, 1, 9, O_RDONLY), 0) << "urandom";
  EXPECT_EQ(try_device(location, S_IFCHR, 5, 2, O_RDWR), 0) << "ptmx";
  EXPECT_EQ(try_device(location, S_IFCHR, 1, 1, O_RDONLY), EPERM) << "mem";
  EXPECT_EQ(try_device(location, S_IFCHR, 1, 11, O_WRONLY), EPERM) << "kmsg";
  EXPECT_EQ(try_device(location, S_IFBLK, 7, 0, O_RDONLY), EPERM) << "loop0";
  // Any node may be made, though not used.
  TestChild child(location, [] {
    const char* node = "/dev/tare-test-made";
    if (::mknod(node, S_IFCHR | 0600, makedev(1, 1)) != 0) return errno;
    ::unlink(node);
    return 0;
  });
  EXPECT_EQ(child.wait(), 0);
}

TEST_F(CgroupTest, DeviceRulesInOrder) {
  oci::Resources r;
  r.devices.push_back({.allow = true, .type = 'a', .major = {}, .minor = {}, .access = {}});
  r.devices.push_back({.allow = false, .type = 'a', .major = {}, .minor = {}, .access = "rwm"});
  r.devices.push_back({.allow = true, .type = 'c', .major = 1, .minor = 11, .access = "r"});
  const Location location = make(&r);
  apply(location, r);
  EXPECT_EQ(try_device(location, S_IFCHR, 1, 11, O_RDONLY), 0);
  EXPECT_EQ(try_device(location, S_IFCHR, 1, 11, O_WRONLY), EPERM);
  EXPECT_EQ(try_device(location, S_IFCHR, 1, 11, O_RDWR), EPERM);
  EXPECT_EQ(try_device(location, S_IFCHR, 1, 1, O_RDONLY), EPERM);

  // An update replaces all of it.
  r.devices.pop_back();
  r.devices.push_back({.allow = true, .type = 'c', .major = 1, .minor = 1, .access = "r"});
  apply(location, r, true);
  EXPECT_EQ(try_device(location, S_IFCHR, 1, 11, O_RDONLY), EPERM);
  EXPECT_EQ(try_device(location, S_IFCHR, 1, 1, O_RDONLY), 0);
  EXPECT_EQ(try_device(location, S_IFCHR, 1, 3, O_RDWR), 0);

  // Another field's update leaves them alone.
  oci::Resources pids;
  pids.pids_limit = 50;
  apply(location, pids, true);
  EXPECT_EQ(try_device(location, S_IFCHR, 1, 1, O_RDONLY), 0);
}

TEST_F(CgroupTest, AllDevices) {
  oci::Resources r;
  r.devices.push_back({.allow = true, .type = 'a', .major = {}, .minor = {}, .access = {}});
  r.devices.push_back({.allow = false, .type = 'c', .major = 1, .minor = 11, .access = {}});
  const Location location = make(&r);
  apply(location, r);
  EXPECT_EQ(try_device(location, S_IFCHR, 1, 1, O_RDONLY), 0);
  EXPECT_EQ(try_device(location, S_IFCHR, 1, 11, O_RDONLY), EPERM);
}

TEST_F(CgroupTest, AHoleInAWiderRule) {
  oci::Resources r;
  r.devices.push_back({.allow = true, .type = 'c', .major = 1, .minor = {}, .access = {}});
  r.devices.push_back({.allow = false, .type = 'c', .major = 1, .minor = 11, .access = {}});
  const Location location = make(&r);
  if (!pure_v2()) {
    const Error error = error_of(location, r);
    EXPECT_EQ(error.kind(), ErrorKind::unsupported);
    EXPECT_NE(error.text().find("linux.resources.devices[1]"), std::string::npos) << error.what();
    return;
  }
  apply(location, r);
  EXPECT_EQ(try_device(location, S_IFCHR, 1, 1, O_RDONLY), 0);
  EXPECT_EQ(try_device(location, S_IFCHR, 1, 11, O_RDONLY), EPERM);
}

}  // namespace
}  // namespace tare::cgroup
