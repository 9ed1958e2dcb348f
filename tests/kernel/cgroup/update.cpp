// Limits that change while processes run, signals to all, the watch for a lack of memory.
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cgroup/oom.hpp"
#include "cgroup/usage.hpp"
#include "fixture.hpp"

namespace tare::cgroup {
namespace {

oci::Resources limits(std::int64_t memory, std::int64_t pids) {
  oci::Resources r;
  r.memory.emplace();
  r.memory->limit = memory;
  r.pids_limit = pids;
  return r;
}

std::string memory_limit(const Location& location, bool v2) {
  const Entry& entry = *location.find("memory");
  return read(entry.directory() + (v2 ? "/memory.max" : "/memory.limit_in_bytes"));
}

TEST_F(CgroupTest, UpdateIsKeptOrTakenBack) {
  const oci::Resources before = limits(64 << 20, 20);
  const Location location = make(&before);
  apply(location, before);
  const TestChild child(location, [] { return sleep_forever(); });
  const Pinned pinned(location, child.pid());
  pinned.use([&](const Location& held) {
    const Update update(held, limits(32 << 20, 10));
    EXPECT_EQ(memory_limit(location, pure_v2()), "33554432");
  });
  EXPECT_EQ(memory_limit(location, pure_v2()), "67108864");
  EXPECT_EQ(file(location, "pids", "pids.max"), "20");
  pinned.use([&](const Location& held) { Update(held, limits(32 << 20, 10)).keep(); });
  EXPECT_EQ(memory_limit(location, pure_v2()), "33554432");
  EXPECT_EQ(file(location, "pids", "pids.max"), "10");
}

TEST_F(CgroupTest, UpdateThatFailsNamesTheRealFileAndChangesNothing) {
  const oci::Resources before = limits(64 << 20, 20);
  const Location location = make(&before);
  apply(location, before);
  const TestChild child(location, [] { return sleep_forever(); });
  const Pinned pinned(location, child.pid());
  oci::Resources wrong = limits(32 << 20, 10);
  wrong.cpu.emplace();
  wrong.cpu->period = 1;  // below the least, 1000
  try {
    pinned.use([&](const Location& held) { Update(held, wrong).keep(); });
    ADD_FAILURE() << "taken, though the kernel refuses it";
  } catch (const Error& error) {
    EXPECT_NE(error.text().find("linux.resources.cpu.period"), std::string::npos) << error.text();
    EXPECT_NE(error.text().find(location.find("cpu")->directory()), std::string::npos) << error.text();
    EXPECT_EQ(error.text().find("/proc/self"), std::string::npos) << error.text();
  }
  EXPECT_EQ(memory_limit(location, pure_v2()), "67108864");
  EXPECT_EQ(file(location, "pids", "pids.max"), "20");
}

TEST_F(CgroupTest, PinnedOfAProcessOutside) {
  const Location location = make();
  try {
    const Pinned pinned(location, ::getpid());
    ADD_FAILURE() << "this process is not in there";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::conflict);
  }
}

TEST_F(CgroupTest, CpusetJoinedLater) {
  oci::Resources change;
  change.cpu.emplace();
  change.cpu->cpus = "0";
  const Location location = make();
  const TestChild child(location, [] {
    if (::fork() == 0) return sleep_forever();
    return sleep_forever();
  });
  const std::string before = read(cat("/proc/", child.pid(), "/cgroup"));
  Location extra = extension(location, cgroups_, change);
  if (pure_v2()) {
    EXPECT_TRUE(extra.entries.empty());
    return;
  }
  ASSERT_EQ(extra.entries.size(), 1U);
  const std::vector<std::string> homes = homes_of(extra, child.pid());
  adopt(extra, location, child.pid());
  EXPECT_EQ(processes(extra), processes(location));
  Location all = location;
  all.entries.push_back(extra.entries[0]);
  Update(all, change).keep();
  EXPECT_EQ(file(all, "cpuset", "cpuset.cpus"), "0");
  give_back(extra, homes);
  EXPECT_EQ(read(cat("/proc/", child.pid(), "/cgroup")), before);
  EXPECT_FALSE(exists(extra.entries[0].directory()));
}

TEST_F(CgroupTest, SignalToAll) {
  const Location location = make();
  const auto blocked = [] {
    sigset_t usr1;
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    sigprocmask(SIG_BLOCK, &usr1, nullptr);
    if (::fork() == 0) return sleep_forever();
    int got = 0;
    sigwait(&usr1, &got);
    return got;
  };
  TestChild child(location, blocked);
  while (processes(location).size() < 2) ::usleep(1000);
  signal_all(location, SIGUSR1);
  EXPECT_FALSE(frozen(location));
  EXPECT_EQ(child.wait(), SIGUSR1);
  freeze(location);
  signal_all(location, SIGUSR1);
  EXPECT_TRUE(frozen(location));
  signal_all(location, SIGKILL);
  EXPECT_FALSE(frozen(location));
  for (Patience patience(kPatience); !processes(location).empty() && patience.pause();) continue;
  EXPECT_TRUE(processes(location).empty());
}

TEST_F(CgroupTest, OutOfMemoryIsSeenOnceAndNotBefore) {
  const oci::Resources r = limits(16 << 20, 20);
  const Location location = make(&r);
  apply(location, r);
  OomWatch watch(location);
  ASSERT_GE(watch.fd(), 0);
  EXPECT_FALSE(watch.happened());
  TestChild child(location, [] {
    constexpr std::size_t kSize = 64 << 20;
    auto* memory =
        static_cast<char*>(::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    for (std::size_t i = 0; i < kSize; i += 4096) memory[i] = 1;
    return 0;
  });
  // cgroup2 also wakes for allocations that waited for the limit, before anything is killed.
  pollfd wait{watch.fd(), watch.poll_events(), 0};
  bool told = false;
  for (Patience patience(kPatience); !told && patience.pause();) told = ::poll(&wait, 1, 1000) > 0 && watch.happened();
  EXPECT_TRUE(told);
  EXPECT_EQ(child.wait(), 128 + SIGKILL);
  while (watch.happened()) continue;
  EXPECT_FALSE(watch.happened());
  OomWatch later(location);
  EXPECT_FALSE(later.happened());
}

TEST_F(CgroupTest, UsageOfAProcess) {
  const oci::Resources r = limits(64 << 20, 20);
  const Location location = make(&r);
  apply(location, r);
  TestChild child(location, [] {
    for (volatile const bool go_on = true; go_on;) continue;
    return 0;
  });
  Patience patience(kPatience);
  while (usage(location).cpu.total < 5'000'000 && patience.pause()) continue;
  const Usage u = usage(location);
  EXPECT_GE(u.cpu.total, 5'000'000U);
  EXPECT_EQ(u.memory.usage.limit, 64U << 20);
  EXPECT_GT(u.memory.usage.usage, 0U);
  EXPECT_FALSE(u.memory.raw.empty());
  EXPECT_EQ(u.pids_current, 1U);
  EXPECT_EQ(u.pids_limit, 20U);
  if (u.cpu.percpu.empty()) return;
  std::uint64_t sum = 0;
  for (const auto n : u.cpu.percpu) sum += n;
  EXPECT_GE(sum, 5'000'000U);
}

}  // namespace
}  // namespace tare::cgroup
