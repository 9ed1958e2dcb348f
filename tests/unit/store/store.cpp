// A container's state folder: what is written comes back, what was cut short is seen as such.
#include "store/store.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.hpp"
#include "sys/child.hpp"

namespace tare::store {
namespace {

class Store : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/tare-store-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    root_ = name;
  }
  void TearDown() override { EXPECT_EQ(::rmdir(root_.c_str()), 0) << "something was left in " << root_; }

  static Record record() {
    Record r;
    r.oci_version = "1.2.0";
    r.id = "web1";
    r.bundle = "/a \"b\"\n";
    r.rootfs = "/a/rootfs";
    r.created = "2026-01-02T03:04:05.000000006Z";
    r.owner = 1000;
    r.annotations = {{"k", "v"}, {"", ""}};
    r.cgroups.layout = facts::CgroupLayout::hybrid;
    r.cgroups.entries = {{"/sys/fs/cgroup/memory", "web1", {"memory"}, false, "", 1},
                         {"/sys/fs/cgroup/unified", "a/web1", {}, true, "/x", 2}};
    return r;
  }
  std::string root_;
};

TEST_F(Store, ARecordAndItsConfigurationComeBack) {
  {
    auto slot = Slot::reserve(root_, "web1");
    slot.write_record(record(), "{\n  \"ociVersion\": \"1.2.0\"\n}\n");
    slot.write_init({::getpid(), sys::start_time(::getpid())});
    slot.keep();
  }
  auto slot = Slot::open(root_, "web1", true);
  const auto r = slot.read_record();
  ASSERT_TRUE(r);
  EXPECT_EQ(r->bundle, "/a \"b\"\n");
  EXPECT_EQ(r->owner, 1000U);
  EXPECT_EQ(r->annotations, record().annotations);
  ASSERT_EQ(r->cgroups.entries.size(), 2U);
  EXPECT_EQ(r->cgroups.layout, facts::CgroupLayout::hybrid);
  EXPECT_EQ(r->cgroups.entries[1].made, 2);
  EXPECT_EQ(r->cgroups.entries[1].root, "/x");
  EXPECT_TRUE(r->cgroups.entries[1].v2);
  EXPECT_EQ(slot.read_config(), "{\n  \"ociVersion\": \"1.2.0\"\n}\n");
  const auto init = slot.read_init();
  ASSERT_TRUE(init);
  EXPECT_TRUE(init->alive());
  EXPECT_FALSE((Init{init->pid, init->start_time + 1}.alive())) << "a later process with that pid";
  slot.remove();
}

TEST_F(Store, AnIdIsTakenOnce) {
  auto slot = Slot::reserve(root_, "a");
  try {
    Slot::reserve(root_, "a");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::conflict);
  }
  // The loser takes nothing away.
  EXPECT_EQ(::access((root_ + "/a").c_str(), F_OK), 0);
}

TEST_F(Store, AReservationThatIsNotKeptGoes) {
  {
    auto slot = Slot::reserve(root_, "a");
  }
  EXPECT_THROW(Slot::open(root_, "a", false), Error);
}

TEST_F(Store, WhatWasCutShortCountsAsNone) {
  auto slot = Slot::reserve(root_, "a");
  EXPECT_FALSE(slot.read_record());
  EXPECT_FALSE(slot.read_init());
  sys::write_all(sys::open(root_ + "/a/state.json", O_WRONLY | O_CREAT, 0600), "{\"version\":1,\"id\":\"a");
  EXPECT_FALSE(slot.read_record());
}

TEST_F(Store, ANewerStateIsRefused) {
  auto slot = Slot::reserve(root_, "a");
  auto r = record();
  r.version = kVersion + 1;
  slot.write_record(r, "{}");
  try {
    slot.read_record();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unsupported);
  }
}

TEST_F(Store, TheLockIsBoundedAndNamesItsHolder) {
  auto slot = Slot::reserve(root_, "a");
  slot.keep();
  const pid_t child = ::fork();
  if (child == 0) {
    int status = 1;
    try {
      Slot::open(root_, "a", true);
    } catch (const Error& error) {
      const auto holder = "process " + std::to_string(::getppid());
      status = error.kind() == ErrorKind::conflict && error.text().find(holder) != std::string::npos ? 0 : 2;
    }
    ::_exit(status);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  slot.remove();
}

TEST_F(Store, FifosTellHowFarItCame) {
  auto slot = Slot::reserve(root_, "a");
  const auto fifos = slot.make_fifos();
  EXPECT_TRUE(slot.being_created());
  EXPECT_FALSE(slot.waits_for_start());
  slot.commit_fifos();
  EXPECT_FALSE(slot.being_created());
  EXPECT_TRUE(slot.waits_for_start());
  slot.remove_fifos();
  EXPECT_FALSE(slot.waits_for_start());
}

TEST_F(Store, IdsAreSortedAndHiddenFoldersAreNone) {
  for (const char* name : {"b", "a", ".seccomp"}) ASSERT_EQ(::mkdir((root_ + "/" + name).c_str(), 0700), 0);
  EXPECT_EQ(ids(root_), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(ids(root_ + "/absent").empty());
  for (const char* name : {"b", "a", ".seccomp"}) ::rmdir((root_ + "/" + name).c_str());
}

}  // namespace
}  // namespace tare::store
