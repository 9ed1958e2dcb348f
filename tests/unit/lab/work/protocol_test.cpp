#include "lab/work/protocol.hpp"

#include <gtest/gtest.h>

#include <string>

namespace tare::lab {
namespace {

TEST(Protocol, RunIsRead) {
  RunRequest r;
  ASSERT_TRUE(parse_run("run spawn 100 500 7000", r));
  EXPECT_EQ(r.workload, "spawn");
  EXPECT_EQ(r.count, 100);
  EXPECT_EQ(r.delay, 500);
  EXPECT_EQ(r.time_ns, 7000);
}

TEST(Protocol, RunThatIsntIsRefused) {
  RunRequest r;
  for (const char* text :
       {"", "run", "run spawn", "run spawn 1", "run spawn 1 2", "run spawn 1 2 3 4", "run spawn 0 0 0",
        "run spawn -1 0 0", "run spawn 1 -1 0", "run spawn 1 0 -1", "run  spawn 1 0 0", "run spawn 1x 0 0",
        "run spawn 1 0x 0", "run spawn 1 0 0x", "ran spawn 1 0 0", " run spawn 1 0 0",
        "run spawn 99999999999999999999 0 0", "run spawn 1 0 0\n", "runspawn 1 0 0"}) {
    EXPECT_FALSE(parse_run(text, r)) << text;
  }
}

TEST(Protocol, HelloTellsTheOwner) {
  std::int64_t owner = 0;
  ASSERT_TRUE(parse_hello("hello 4711", owner));
  EXPECT_EQ(owner, 4711);
  for (const char* text : {"hello", "hello x", "hello -1", "hello 1 2", "hallo 1"}) {
    EXPECT_FALSE(parse_hello(text, owner)) << text;
  }
}

TEST(Protocol, DoneGoesThereAndBack) {
  Message m;
  m.word("done").number(1).number(INT64_MAX).number(0).number(4).number(5).number(6);
  RunResult r;
  ASSERT_TRUE(parse_done(m.text(), r));
  EXPECT_EQ(r, (RunResult{1, INT64_MAX, 0, 4, 5, 6}));
  for (const char* text : {"done 1 2 3 4 5", "done 1 2 3 4 5 6 7", "done 1 2 3 4 5 -6", "done", "fail fork 1 0"}) {
    EXPECT_FALSE(parse_done(text, r)) << text;
  }
}

TEST(Protocol, FailureGoesThereAndBack) {
  Message m;
  m.word("fail").word("fork").number(11).number(0);
  Failure f;
  ASSERT_TRUE(parse_failure(m.text(), f));
  EXPECT_EQ(f.step, "fork");
  EXPECT_EQ(f.errno_value, 11);
  EXPECT_FALSE(parse_failure("fail fork 11", f));
  EXPECT_FALSE(parse_failure("done 1 2 3 4 5 6", f));
}

TEST(Protocol, EveryPrefixOfAMessageIsRefused) {
  const std::string run = "run spawn 100 500 7000", done = "done 11 22 33 44 55 66";
  RunRequest r;
  RunResult d;
  // A prefix that ends within the last number is a message of its own; all shorter ones are none.
  for (std::size_t n = 0; n <= run.rfind(' ') + 1; ++n) EXPECT_FALSE(parse_run(run.substr(0, n), r)) << n;
  for (std::size_t n = 0; n <= done.rfind(' ') + 1; ++n) EXPECT_FALSE(parse_done(done.substr(0, n), d)) << n;
}

TEST(Protocol, AMessageThatIsTooLongIsCutOffNotOverrun) {
  Message m;
  for (int i = 0; i < 1000; ++i) m.word("word");
  EXPECT_EQ(m.text().size(), 512u);
  EXPECT_TRUE(m.text().starts_with("word word"));
}

TEST(Protocol, PairsStandApart) {
  Message m;
  m.word("hello").number(1).pair("pid", 7).pair("uid", -1);
  EXPECT_EQ(m.text(), "hello 1 pid=7 uid=-1");
}

}  // namespace
}  // namespace tare::lab
