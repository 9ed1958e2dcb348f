// Create, join, look, freeze, kill and remove, on whatever layout this machine has.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/text.hpp"
#include "fixture.hpp"

namespace tare::cgroup {
namespace {

TEST_F(CgroupTest, CreatesInEveryHierarchyAndRemovesWhatItMade) {
  Location location = make();
  ASSERT_FALSE(location.entries.empty());
  for (const Entry& entry : location.entries) {
    EXPECT_EQ(entry.made, 2) << entry.mount_point;
    EXPECT_TRUE(exists(entry.directory())) << entry.directory();
  }
  remove(location);
  for (const Entry& entry : location.entries) EXPECT_FALSE(exists(cat(entry.mount_point, '/', top_)));
  remove(location);  // gone is fine
}

TEST_F(CgroupTest, KeepsWhatWasThereBefore) {
  Location first = make(nullptr, "a");
  Location again = locate(cgroups_, cat('/', top_, "/a"), "id", nullptr);
  create(again);
  for (const Entry& entry : again.entries) EXPECT_EQ(entry.made, 0);
  remove(again);
  EXPECT_TRUE(exists(first.entries[0].directory()));

  Location second = make(nullptr, "b");
  for (const Entry& entry : second.entries) EXPECT_EQ(entry.made, 1);
  remove(first);  // its parent, which it made, is in use by the second
  EXPECT_TRUE(exists(second.entries[0].directory()));
  remove(second);
  for (const Entry& entry : first.entries) ::rmdir(cat(entry.mount_point, '/', top_).c_str());
}

TEST_F(CgroupTest, RefusesAUsedCgroup) {
  Location location = make();
  TestChild child(location, sleep_forever);
  Location again = locate(cgroups_, cat('/', top_, "/c"), "id", nullptr);
  try {
    create(again);
    FAIL() << "a cgroup with a process in it was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::conflict) << error.what();
    EXPECT_NE(error.text().find(cat("process ", child.pid())), std::string::npos) << error.what();
  }
  EXPECT_TRUE(exists(location.entries[0].directory()));
}

// "/user.slice" has no process of its own, and yet is everyone's.
TEST_F(CgroupTest, RefusesACgroupThatIsUsedFurtherDown) {
  Location location = make();
  TestChild child(location, sleep_forever);
  Location above = locate(cgroups_, cat('/', top_), "id", nullptr);
  EXPECT_THROW(create(above), Error);
  for (const Entry& entry : location.entries) EXPECT_TRUE(exists(entry.directory()));
}

TEST_F(CgroupTest, JoinedIsVerified) {
  const Location location = make();
  TestChild child(location, sleep_forever);
  verify(location, child.pid());
  EXPECT_EQ(processes(location), std::vector<pid_t>{child.pid()});
  EXPECT_THROW(verify(location, ::getpid()), Error);
}

TEST_F(CgroupTest, AttachMovesAProcess) {
  const Location from = make(nullptr, "a");
  const Location to = make(nullptr, "b");
  TestChild child(from, sleep_forever);
  attach(to, child.pid());
  verify(to, child.pid());
  EXPECT_TRUE(processes(from).empty());
}

TEST_F(CgroupTest, SubCgroups) {
  const Location location = make();
  for (const Entry& entry : location.entries) ASSERT_EQ(::mkdir((entry.directory() + "/sub").c_str(), 0755), 0);
  TestChild child(location, sleep_forever);
  attach(location, child.pid(), "sub");
  verify(location, child.pid());
  EXPECT_EQ(processes(location), std::vector<pid_t>{child.pid()});
  EXPECT_THROW(attach(location, child.pid(), "../x"), Error);
  EXPECT_THROW(join_files(location, "a/../.."), Error);
  kill_all(location);
  EXPECT_EQ(child.wait(), 128 + SIGKILL);
  remove(location);
  EXPECT_FALSE(exists(location.entries[0].directory()));
}

TEST_F(CgroupTest, JoinsWhereTheFirstProcessWasMoved) {
  const Location location = make();
  TestChild child(location, sleep_forever);
  EXPECT_EQ(sub_of(location, child.pid()), "");
  EXPECT_EQ(sub_of(location, ::getpid()), "");
  if (location.v2() == nullptr) return;  // v1 alone: any cgroup takes processes
  for (const Entry& entry : location.entries) ASSERT_EQ(::mkdir((entry.directory() + "/sub").c_str(), 0755), 0);
  attach(location, child.pid(), "sub");
  EXPECT_EQ(sub_of(location, child.pid()), "sub");
  // As systemd in a container does; it needs a controller on this cgroup2.
  const std::string directory = location.v2()->directory();
  if (!pure_v2()) return;
  write_field("", directory + "/cgroup.subtree_control", "+memory");
  EXPECT_EQ(try_write(directory + "/cgroup.procs", cat(child.pid())), EBUSY);
  const std::string sub = sub_of(location, child.pid());
  attach(location, child.pid(), sub);
  EXPECT_TRUE(open_v2(location, sub).valid());
}

TEST_F(CgroupTest, DelegatesOnCgroup2Only) {
  const Location location = make();
  delegate(location, 12345);
  for (const Entry& entry : location.entries) {
    struct stat st{};
    ASSERT_EQ(::stat((entry.directory() + "/cgroup.procs").c_str(), &st), 0);
    EXPECT_EQ(st.st_uid, pure_v2() ? 12345U : 0U) << entry.directory();
    ASSERT_EQ(::stat(entry.directory().c_str(), &st), 0);
    EXPECT_EQ(st.st_uid, pure_v2() ? 12345U : 0U) << entry.directory();
    if (!pure_v2()) continue;
    ASSERT_EQ(::stat((entry.directory() + "/cgroup.freeze").c_str(), &st), 0);
    EXPECT_EQ(st.st_uid, 0U) << "only what the kernel lists may change its owner";
  }
}

// A user who may make no cgroups gets a container without, unless it asks for a limit.
TEST_F(CgroupTest, WithoutRightsOnlyWhatIsAskedForFails) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    if (::setresgid(65534, 65534, 65534) != 0 || ::setresuid(65534, 65534, 65534) != 0) ::_exit(1);
    Location location = locate(cgroups_, cat('/', top_, "/c"), "id", nullptr);
    try {
      create(location, true);
    } catch (const Error&) {
      ::_exit(2);
    }
    if (!location.entries.empty()) ::_exit(3);
    try {
      apply(location, oci::Resources{});
    } catch (const Error&) {
      ::_exit(4);
    }
    oci::Resources r;
    r.pids_limit = 5;
    try {
      apply(location, r);
      ::_exit(5);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::unsupported || !error.text().starts_with("linux.resources.pids.limit: "))
        ::_exit(6);
    }
    Location strict = locate(cgroups_, cat('/', top_, "/c"), "id", nullptr);
    try {
      create(strict);
      ::_exit(7);
    } catch (const Error& error) {
      ::_exit(error.errno_value() == EACCES ? 0 : 8);
    }
  }
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0) << "step " << WEXITSTATUS(status);
}

// A cgroup that holds processes can't give controllers to one below it: the message says what to do.
TEST_F(CgroupTest, NamesWhatKeepsAControllerAway) {
  if (!pure_v2()) return;  // on v1 there is nothing to enable
  const Location parent = make(nullptr, "parent");
  TestChild child(parent, sleep_forever);
  oci::Resources r;
  r.memory.emplace();
  r.memory->limit = 1 << 26;
  Location below = locate(cgroups_, cat('/', top_, "/parent/c"), "id", &r);
  try {
    create(below);
    FAIL() << "no controller can be enabled there";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unsupported) << error.what();
    EXPECT_NE(error.text().find("enable the memory controller below "), std::string::npos) << error.what();
    EXPECT_NE(error.hint().find("move them into a cgroup below"), std::string::npos) << error.hint();
  }
  EXPECT_FALSE(exists(below.v2() != nullptr ? below.v2()->directory() : cat("/sys/fs/cgroup/", top_, "/parent/c")));

  // Nothing asked for: what can't be enabled is done without.
  Location modest = locate(cgroups_, cat('/', top_, "/parent/d"), "id", nullptr);
  create(modest);
  remove(modest);
}

TEST_F(CgroupTest, BelowAThreadedCgroup) {
  if (!pure_v2()) return;  // v1 knows no threaded cgroups
  const Location parent = make(nullptr, "parent");
  const std::string threaded = parent.v2()->directory() + "/t";
  ASSERT_EQ(::mkdir(threaded.c_str(), 0755), 0);
  write_field("", threaded + "/cgroup.type", "threaded");
  oci::Resources r;
  r.memory.emplace();
  r.memory->limit = 1 << 26;
  Location below = locate(cgroups_, cat('/', top_, "/parent/t/c"), "id", &r);
  try {
    create(below);
    ADD_FAILURE() << "memory is not to be had there";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unsupported) << error.what();
  }
  EXPECT_FALSE(exists(threaded + "/c"));
}

TEST_F(CgroupTest, FreezesAndThaws) {
  const Location location = make();
  int ticks[2];
  ASSERT_EQ(::pipe2(ticks, O_CLOEXEC | O_NONBLOCK), 0);
  TestChild child(location, [&] {
    while (true) {
      ::usleep(1000);
      if (::write(ticks[1], "t", 1) != 1) ::usleep(1000);
    }
    return 0;
  });
  const auto drain = [&] {
    char buffer[65536];
    ssize_t all = 0;
    for (ssize_t n; (n = ::read(ticks[0], buffer, sizeof buffer)) > 0;) all += n;
    return all;
  };
  EXPECT_FALSE(frozen(location));
  freeze(location);
  EXPECT_TRUE(frozen(location));
  drain();
  ::usleep(50'000);
  EXPECT_EQ(drain(), 0) << "a frozen process ran";
  thaw(location);
  EXPECT_FALSE(frozen(location));
  ::usleep(50'000);
  EXPECT_GT(drain(), 0) << "a thawed process does not run";
}

TEST_F(CgroupTest, KillsFrozenProcesses) {
  const Location location = make();
  TestChild child(location, sleep_forever);
  freeze(location);
  kill_all(location);
  EXPECT_EQ(child.wait(), 128 + SIGKILL);
  EXPECT_TRUE(processes(location).empty());
  EXPECT_FALSE(frozen(location) && pure_v2() == false && location.v2() == nullptr);
}

// Each process forks and ends, for ever: a list of pids is stale before it is read.
TEST_F(CgroupTest, KillsThoseThatForkMeanwhile) {
  const Location location = make();
  TestChild child(location, [] {
    ::signal(SIGCHLD, SIG_IGN);
    while (true) {
      const pid_t next = ::fork();
      if (next > 0) ::_exit(0);
    }
    return 0;
  });
  EXPECT_EQ(child.wait(), 0);
  kill_all(location);
  ::usleep(20'000);
  EXPECT_TRUE(processes(location).empty());
}

// The v1 way by itself, without cgroup.kill.
TEST_F(CgroupTest, KillsWithoutCgroup2) {
  if (pure_v2()) return;  // the layout has no v1 part: nothing of this way exists
  Location location = make();
  Location v1 = location;
  std::erase_if(v1.entries, [](const Entry& entry) { return entry.v2; });
  TestChild child(location, [] {
    ::signal(SIGCHLD, SIG_IGN);
    while (true) {
      const pid_t next = ::fork();
      if (next > 0) ::_exit(0);
    }
    return 0;
  });
  EXPECT_EQ(child.wait(), 0);
  kill_all(v1);
  ::usleep(20'000);
  EXPECT_TRUE(processes(location).empty());
  EXPECT_FALSE(frozen(v1));
}

TEST_F(CgroupTest, FreezesWithTheV1FreezerAlone) {
  if (pure_v2()) return;  // the layout has no v1 freezer
  Location location = make();
  Location v1 = location;
  std::erase_if(v1.entries, [](const Entry& entry) { return entry.v2; });
  TestChild child(location, sleep_forever);
  freeze(v1);
  EXPECT_EQ(file(v1, "freezer", "freezer.state"), "FROZEN");
  EXPECT_TRUE(frozen(location));
  thaw(location);
  EXPECT_EQ(file(v1, "freezer", "freezer.state"), "THAWED");
}

TEST_F(CgroupTest, RemoveNamesTheProcessesInTheWay) {
  // Not worth ten seconds of waiting in full: a child that ends meanwhile is enough to see it retry.
  Location location = make();
  TestChild child(location, [] {
    ::usleep(100'000);
    return 0;
  });
  remove(location);
  EXPECT_FALSE(exists(location.entries[0].directory()));
  EXPECT_EQ(child.wait(), 0);
}

TEST_F(CgroupTest, DestroyEndsAll) {
  const Location empty = make(nullptr, "a");
  destroy(empty);
  for (const Entry& entry : empty.entries) EXPECT_FALSE(exists(cat(entry.mount_point, '/', top_)));

  const Location location = make(nullptr, "b");
  for (const Entry& entry : location.entries) ASSERT_EQ(::mkdir((entry.directory() + "/sub").c_str(), 0755), 0);
  TestChild one(location, sleep_forever);
  TestChild two(location, sleep_forever);
  attach(location, two.pid(), "sub");
  destroy(location);
  EXPECT_EQ(one.wait(), 128 + SIGKILL);
  EXPECT_EQ(two.wait(), 128 + SIGKILL);
  for (const Entry& entry : location.entries) EXPECT_FALSE(exists(cat(entry.mount_point, '/', top_)));
  destroy(location);  // gone is fine
}

// What was there before loses its processes, but stays.
TEST_F(CgroupTest, DestroyKeepsWhatWasThereBefore) {
  const Location first = make();
  Location again = locate(cgroups_, cat('/', top_, "/c"), "id", nullptr);
  create(again);
  TestChild child(again, sleep_forever);
  destroy(again);
  EXPECT_EQ(child.wait(), 128 + SIGKILL);
  for (const Entry& entry : first.entries) EXPECT_TRUE(exists(entry.directory()));
}

TEST_F(CgroupTest, RollsBackWhatItMade) {
  Location location = locate(cgroups_, cat('/', top_, "/c"), "id", nullptr);
  Entry& last = location.entries.back();
  last.mount_point = "/proc/tare-no-such-place";
  EXPECT_THROW(create(location), Error);
  for (const facts::Hierarchy& hierarchy : cgroups_.hierarchies)
    EXPECT_FALSE(exists(cat(hierarchy.mount_point, '/', top_))) << hierarchy.mount_point;
}

}  // namespace
}  // namespace tare::cgroup
