#include "lab/run/sink.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/error.hpp"

namespace tare::lab {
namespace {

class SinkTest : public testing::Test {
 protected:
  SinkTest() {
    char pattern[] = "/tmp/tare-sink.XXXXXX";
    folder_ = mkdtemp(pattern);
  }
  ~SinkTest() override {
    unlink((folder_ + "/a/b/samples").c_str());
    rmdir((folder_ + "/a/b").c_str());
    rmdir((folder_ + "/a").c_str());
    rmdir(folder_.c_str());
  }
  std::string folder_;
};

TEST_F(SinkTest, WritesAtOnceAndMakesTheFoldersOnTheWay) {
  Sink sink(folder_ + "/a/b/samples");
  sink.append("one\n");
  EXPECT_EQ(sys::read_file(sink.path()), "one\n");
  sink.append("two\n");
  EXPECT_EQ(sys::read_file(sink.path()), "one\ntwo\n");
}

TEST_F(SinkTest, AnExistingFileIsLeftAlone) {
  const std::string path = folder_ + "/a/b/samples";
  {
    Sink(path).append("old\n");
  }
  EXPECT_THROW(Sink{path}, Error);
  EXPECT_EQ(sys::read_file(path), "old\n");
}

TEST_F(SinkTest, GoesOnAfterTheLastWholeRecord) {
  const std::string path = folder_ + "/a/b/samples";
  Sink(path).append("one\ntw");
  Sink::gone_on(path).append("three\n");
  EXPECT_EQ(sys::read_file(path), "one\nthree\n");
  EXPECT_THROW(Sink::gone_on(path + "x"), Error);
}

TEST_F(SinkTest, AFileThatNothingWasWrittenToGoesAgain) {
  const std::string path = folder_ + "/a/b/samples";
  {
    const Sink sink(path);
    EXPECT_EQ(access(path.c_str(), F_OK), 0);
  }
  EXPECT_NE(access(path.c_str(), F_OK), 0);
}

TEST_F(SinkTest, AFullDiskIsToldAndLosesNothing) {
  // /dev/full can't be created afresh, so the limit on the size of files stands in for it.
  const auto fill = [&] {
    signal(SIGXFSZ, SIG_IGN);
    rlimit limit{};
    limit.rlim_cur = limit.rlim_max = 4;
    setrlimit(RLIMIT_FSIZE, &limit);
    Sink sink(folder_ + "/a/b/samples");
    sink.append("one\n");
    try {
      sink.append("two\n");
    } catch (const Error& error) {
      _exit(error.errno_value() == EFBIG && sys::read_file(sink.path()) == "one\n" ? 42 : 1);
    }
    _exit(2);
  };
  EXPECT_EXIT(fill(), testing::ExitedWithCode(42), "");
}

TEST(SamplePath, FollowsTheStateHome) {
  setenv("XDG_STATE_HOME", "/var/x", 1);
  const std::string path = default_sample_path(12);
  EXPECT_TRUE(path.starts_with("/var/x/tare/weigh/2")) << path;
  EXPECT_TRUE(path.ends_with("Z-12.jsonl")) << path;
  setenv("XDG_STATE_HOME", "relative", 1);  // the XDG specification: to be ignored
  setenv("HOME", "/home/x", 1);
  EXPECT_TRUE(default_sample_path(12).starts_with("/home/x/.local/state/tare/weigh/"));
  unsetenv("XDG_STATE_HOME");
  unsetenv("HOME");
  EXPECT_TRUE(default_sample_path(12).starts_with("/var/lib/tare/weigh/"));
}

}  // namespace
}  // namespace tare::lab
