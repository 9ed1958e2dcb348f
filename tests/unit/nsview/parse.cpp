// The texts of /proc as they are, and as a hostile process makes them.
#include "nsview/parse.hpp"

#include <gtest/gtest.h>

#include "nsview/procfs.hpp"

namespace tare::nsview {
namespace {

TEST(ParseStat, TheNameEndsAtTheLastParenthesis) {
  const auto stat =
      parse_stat("77 (a) R 1 (b)\n) S 5 6 7 34817 8 4194560 100 0 0 0 11 22 0 0 20 0 3 0 4242 1048576 250 1844 1 1\n");
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->name, "a) R 1 (b)\n");
  EXPECT_EQ(stat->pid, 77);
  EXPECT_EQ(stat->state, 'S');
  EXPECT_EQ(stat->ppid, 5);
  EXPECT_EQ(stat->session, 7);
  EXPECT_EQ(stat->tty, 34817);
  EXPECT_EQ(stat->user_ticks, 11U);
  EXPECT_EQ(stat->system_ticks, 22U);
  EXPECT_EQ(stat->threads, 3U);
  EXPECT_EQ(stat->start, 4242U);
  EXPECT_EQ(stat->virtual_bytes, 1048576U);
}

TEST(ParseStat, WhatIsCutShortIsNone) {
  for (const char* text : {"", "77", "77 (a", "77 (a) ", "77 (a) S 5 6", "x (a) S 1 2 3"})
    EXPECT_FALSE(parse_stat(text)) << text;
}

TEST(ParseStatus, NumbersOfAllLevels) {
  const auto status = parse_status(
      "Name:\tNSpid:\\n1\nUmask:\t0022\nState:\tS (sleeping)\nTgid:\t7464\nUid:\t1\t1000\t3\t4\nNStgid:\t9\t9\n"
      "NSpid:\t7464\t3\t2\t1\nVmRSS:\t    1780 kB\n");
  ASSERT_TRUE(status);
  EXPECT_EQ(status->numbers, (std::vector<pid_t>{7464, 3, 2, 1}));
  EXPECT_EQ(status->uid, 1000U);
  EXPECT_EQ(status->group_leader, 7464);
  EXPECT_EQ(status->resident, 1780U * 1024);
  EXPECT_FALSE(parse_status("Name:\tx\n"));
}

TEST(ParseNamespace, OnlyTheKindsThatThereAre) {
  const auto name = parse_namespace("pid:[4026531836]");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->kind, Kind::pid);
  EXPECT_EQ(name->inode, 4026531836U);
  for (const char* text :
       {"", "pid:[", "pid:[]", "pid:[x]", "socket:[12]", "/tmp/pid:[12]", "pid_for_children:[12]", "pid:[1]x"})
    EXPECT_FALSE(parse_namespace(text)) << text;
}

TEST(NamespaceMounts, AreToldByTheirType) {
  const auto mounts = namespace_mounts(
      "36 35 98:0 / / rw - ext4 /dev/sda rw\n"
      "37 36 0:4 net:[4026532179] /run/netns/a\\040b rw shared:1 master:2 - nsfs nsfs rw\n"
      "38 36 0:9 /net:[5] /mnt rw - tmpfs nsfs rw\n"
      "39 36 0:4 mnt:[7] /x rw - nsfs nsfs rw");
  ASSERT_EQ(mounts.size(), 2U);
  EXPECT_EQ(mounts[0].point, "/run/netns/a b");
  EXPECT_EQ(mounts[0].name.kind, Kind::net);
  EXPECT_EQ(mounts[1].name.inode, 7U);
}

TEST(HiddenBy, TheLastMountAtProcCounts) {
  EXPECT_EQ(hidden_by("1 2 0:3 / /proc rw - proc proc rw,hidepid=invisible\n"), "hidepid=invisible");
  EXPECT_EQ(hidden_by("1 2 0:3 / /proc rw - proc proc rw,hidepid=2\n2 1 0:3 / /proc rw - proc proc rw\n"), "");
  EXPECT_EQ(hidden_by("1 2 0:3 / /other/proc rw - proc proc rw,hidepid=2\n"), "");
}

}  // namespace
}  // namespace tare::nsview
