// What the cgroups count while a child works.
#include "cgroup/stats.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.hpp"
#include "fixture.hpp"

namespace tare::cgroup {
namespace {

TEST_F(CgroupTest, StatsCountCpuMemoryAndPids) {
  oci::Resources r;
  r.memory.emplace();
  r.memory->limit = 256 << 20;
  r.pids_limit = 20;
  const Location location = make(&r);
  apply(location, r);
  int ready[2];
  ASSERT_EQ(::pipe2(ready, O_CLOEXEC), 0);
  TestChild child(location, [&] {
    const std::size_t size = 48 << 20;
    char* p = static_cast<char*>(::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (p == MAP_FAILED) return 3;
    for (std::size_t i = 0; i < size; i += 4096) p[i] = 1;
    rusage used{};
    do ::getrusage(RUSAGE_SELF, &used);
    while (used.ru_utime.tv_sec * 1000 + used.ru_utime.tv_usec / 1000 + used.ru_stime.tv_sec * 1000 +
               used.ru_stime.tv_usec / 1000 <
           150);
    if (::fork() == 0) sleep_forever();
    if (::write(ready[1], "r", 1) != 1) return 4;
    return sleep_forever();
  });
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  const Stats s = stats(location);
  ASSERT_TRUE(s.cpu_usage_ns && s.cpu_user_ns && s.cpu_system_ns);
  EXPECT_GE(*s.cpu_usage_ns, 130'000'000U);
  EXPECT_LE(*s.cpu_usage_ns, 5'000'000'000U);
  EXPECT_GT(*s.cpu_user_ns + *s.cpu_system_ns, 100'000'000U);
  ASSERT_TRUE(s.memory_usage && s.memory_anon);
  EXPECT_GE(*s.memory_usage, 48U << 20);
  EXPECT_LE(*s.memory_usage, 100U << 20);
  EXPECT_GE(*s.memory_anon, 48U << 20);
  EXPECT_GE(s.memory_peak.value_or(UINT64_MAX), *s.memory_anon);
  EXPECT_EQ(s.memory_limit, std::uint64_t{256 << 20});
  EXPECT_GE(s.page_faults.value_or(0), 40U);
  EXPECT_EQ(s.oom_kills, 0U);
  EXPECT_EQ(s.pids_current, 2U);
  EXPECT_EQ(s.pids_limit, 20U);
}

TEST_F(CgroupTest, StatsCountOomKills) {
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
  EXPECT_EQ(stats(location).oom_kills, 1U);
}

TEST_F(CgroupTest, StatsOfNoLimitAndOfNothing) {
  Location location = make();
  apply(location, oci::Resources{});
  const Stats s = stats(location);
  EXPECT_FALSE(s.memory_limit.has_value());
  EXPECT_FALSE(s.pids_limit.has_value());
  EXPECT_TRUE(s.cpu_usage_ns.has_value());
  EXPECT_EQ(s.pids_current, 0U);
  remove(location);
  EXPECT_FALSE(stats(location).cpu_usage_ns.has_value());
}

}  // namespace
}  // namespace tare::cgroup
