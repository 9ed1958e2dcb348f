// Updates in a tree of plain files: what a failure takes back; and what is counted on cgroup2.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cgroup/cgroup.hpp"
#include "cgroup/files.hpp"
#include "cgroup/usage.hpp"

namespace tare::cgroup {
namespace {

class UpdateTest : public testing::Test {
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
  void add(const std::string& name, const std::vector<std::pair<std::string, std::string>>& files) {
    Entry& entry = location_.entries.emplace_back();
    entry.mount_point = cat(top_, '/', name);
    entry.path = "c";
    entry.v2 = name == "unified";
    if (!entry.v2) entry.controllers.push_back(name);
    ::mkdir(entry.mount_point.c_str(), 0755);
    ::mkdir(entry.directory().c_str(), 0755);
    if (entry.v2) put(name, "cgroup.controllers", "");
    for (const auto& [file, text] : files) put(name, file, text);
  }
  void put(const std::string& name, const std::string& file, std::string_view text) {
    sys::write_all(sys::open(cat(top_, '/', name, "/c/", file), O_WRONLY | O_CREAT | O_TRUNC, 0644), text);
  }
  std::string get(const std::string& name, const std::string& file) { return read(cat(top_, '/', name, "/c/", file)); }

  std::string top_;
  Location location_;
};

// Plain files keep what a shorter write leaves behind, so all texts here are of one length.
TEST_F(UpdateTest, KeptOrTakenBack) {
  add("unified", {{"pids.max", "50"}, {"memory.max", "100"}, {"cpu.weight", "59"}});
  oci::Resources r;
  r.pids_limit = 20;
  r.memory.emplace();
  r.memory->limit = 200;
  {
    Update update(location_, r);
    EXPECT_EQ(get("unified", "pids.max"), "20");
  }
  EXPECT_EQ(get("unified", "pids.max"), "50");
  EXPECT_EQ(get("unified", "memory.max"), "100");
  {
    Update update(location_, r);
    update.keep();
  }
  EXPECT_EQ(get("unified", "pids.max"), "20");
  EXPECT_EQ(get("unified", "memory.max"), "200");
}

TEST_F(UpdateTest, TheFirstFailureIsToldAndAllIsAsBefore) {
  add("unified", {{"pids.max", "50"}, {"memory.max", "100"}});
  oci::Resources r;
  r.pids_limit = 20;
  r.memory.emplace();
  r.memory->limit = 200;
  r.unified["io.none"] = "1";
  try {
    Update update(location_, r);
    FAIL() << "there is no such file";
  } catch (const Error& error) {
    EXPECT_TRUE(error.text().starts_with("linux.resources.unified.io.none: ")) << error.text();
  }
  EXPECT_EQ(get("unified", "pids.max"), "50");
  EXPECT_EQ(get("unified", "memory.max"), "100");
}

TEST_F(UpdateTest, PinnedMeansTheDirectoryAndNotThePath) {
  add("unified", {{"pids.max", "50"}});
  Location pinned = location_;
  const sys::DirFd directory = sys::open_dir(location_.entries[0].directory());
  pinned.entries[0].pinned = directory.get();
  ASSERT_EQ(::rename(cat(top_, "/unified/c").c_str(), cat(top_, "/unified/d").c_str()), 0);
  ::mkdir(cat(top_, "/unified/c").c_str(), 0755);
  put("unified", "pids.max", "77");
  oci::Resources r;
  r.pids_limit = 20;
  Update(pinned, r).keep();
  EXPECT_EQ(get("unified", "pids.max"), "77");
  EXPECT_EQ(read(cat(top_, "/unified/d/pids.max")), "20");
}

TEST_F(UpdateTest, AProcessElsewhereIsNoneOfThese) {
  add("unified", {});
  EXPECT_THROW(Pinned(location_, ::getpid()), Error);
}

TEST_F(UpdateTest, UsageOnCgroup2) {
  add("unified",
      {{"cpu.stat", "usage_usec 12\nuser_usec 7\nsystem_usec 5\nnr_periods 3\nnr_throttled 2\nthrottled_usec 9\n"},
       {"memory.current", "1000"},
       {"memory.peak", "2000"},
       {"memory.max", "4000"},
       {"memory.swap.max", "500"},
       {"memory.swap.current", "50"},
       {"memory.events", "low 0\nhigh 0\nmax 4\noom 1\n"},
       {"memory.stat", "anon 300\nfile 200\nkernel 100\nsock 8\n"},
       {"pids.current", "5"},
       {"pids.max", "max"},
       {"cpuset.cpus.effective", "0-2,5"},
       {"io.stat", "8:0 rbytes=1 wbytes=2 rios=3 wios=4 dbytes=0 dios=0\n"},
       {"memory.pressure", "some avg10=1.50 avg60=0.00 avg300=0.00 total=77\nfull avg10=0.00 total=x\n"},
       {"hugetlb.2MB.max", "max"},
       {"hugetlb.2MB.current", "4"},
       {"hugetlb.2MB.events", "max 6\n"}});
  const Usage u = usage(location_);
  EXPECT_EQ(u.cpu.total, 12000U);
  EXPECT_EQ(u.cpu.kernel, 5000U);
  EXPECT_EQ(u.cpu.throttled_time, 9000U);
  EXPECT_EQ(u.cpu.periods, 3U);
  EXPECT_FALSE(u.cpu.pressure);
  EXPECT_EQ(u.memory.usage.max, 2000U);
  EXPECT_EQ(u.memory.usage.failcnt, 4U);
  EXPECT_EQ(u.memory.swap.limit, 4500U);
  EXPECT_EQ(u.memory.swap.usage, 1050U);
  EXPECT_EQ(u.memory.cache, 200U);
  EXPECT_EQ(u.memory.raw.size(), 4U);
  EXPECT_EQ(u.memory.pressure->some.avg10, "1.50");
  EXPECT_EQ(u.memory.pressure->some.total, 77U);
  EXPECT_EQ(u.memory.pressure->full.total, 0U);
  EXPECT_EQ(u.pids_current, 5U);
  EXPECT_EQ(u.pids_limit, 0U);
  EXPECT_EQ(u.cpuset.cpus, (std::vector<std::uint32_t>{0, 1, 2, 5}));
  ASSERT_EQ(u.block_io.bytes.size(), 3U);
  EXPECT_EQ(u.block_io.bytes[1].operation, "Write");
  EXPECT_EQ(u.block_io.bytes[1].value, 2U);
  ASSERT_EQ(u.hugepages.size(), 1U);
  EXPECT_EQ(u.hugepages[0].size, "2MB");
  EXPECT_EQ(u.hugepages[0].failcnt, 6U);
}

TEST_F(UpdateTest, UsageOfNothing) {
  add("unified", {});
  const Usage u = usage(location_);
  EXPECT_EQ(u.memory.usage.usage, 0U);
  EXPECT_TRUE(u.cpuset.cpus.empty());
}

TEST(Usage, Lists) {
  EXPECT_EQ(parse_list("0"), std::vector<std::uint32_t>{0});
  EXPECT_EQ(parse_list("1-1,3"), (std::vector<std::uint32_t>{1, 3}));
  for (const char* wrong : {"", "3-1", "x", "1-", "-", "0-4294967295", "1,,2"})
    EXPECT_TRUE(parse_list(wrong).empty()) << wrong;
}

TEST(Usage, PressureThatIsNone) {
  EXPECT_FALSE(parse_pressure(""));
  EXPECT_FALSE(parse_pressure("what avg10=1\n"));
  EXPECT_EQ(parse_pressure("some avg10=1.2.3 avg60=.5 avg300=1e9 total=1\n")->some.avg10, "0");
}

}  // namespace
}  // namespace tare::cgroup
