// Each option of the specification by itself, then lists: order, pairs, access time, data.
#include "oci/mount_options.hpp"

#include <gtest/gtest.h>
#include <linux/mount.h>

#include <algorithm>
#include <map>
#include <random>

namespace tare::oci {
namespace {

using Strings = std::vector<std::string>;
constexpr std::uint64_t kAtime = MOUNT_ATTR__ATIME;

struct Attr {
  const char* option;
  std::uint64_t set, clr;
};

// The table of the specification, with what mount_setattr(2) is to get.
const Attr kAttrs[] = {
    {"ro", MOUNT_ATTR_RDONLY, 0},
    {"rw", 0, MOUNT_ATTR_RDONLY},
    {"nosuid", MOUNT_ATTR_NOSUID, 0},
    {"suid", 0, MOUNT_ATTR_NOSUID},
    {"nodev", MOUNT_ATTR_NODEV, 0},
    {"dev", 0, MOUNT_ATTR_NODEV},
    {"noexec", MOUNT_ATTR_NOEXEC, 0},
    {"exec", 0, MOUNT_ATTR_NOEXEC},
    {"nodiratime", MOUNT_ATTR_NODIRATIME, 0},
    {"diratime", 0, MOUNT_ATTR_NODIRATIME},
    {"nosymfollow", MOUNT_ATTR_NOSYMFOLLOW, 0},
    {"symfollow", 0, MOUNT_ATTR_NOSYMFOLLOW},
    {"noatime", MOUNT_ATTR_NOATIME, kAtime},
    {"atime", 0, kAtime},
    {"relatime", 0, kAtime},
    {"norelatime", 0, kAtime},
    {"strictatime", MOUNT_ATTR_STRICTATIME, kAtime},
    {"nostrictatime", 0, kAtime},
};

TEST(MountOptions, Attributes) {
  for (const auto& row : kAttrs) {
    const auto parsed = parse_mount_options({row.option});
    EXPECT_EQ(parsed.attr_set, row.set) << row.option;
    EXPECT_EQ(parsed.attr_clr, row.clr) << row.option;
    EXPECT_EQ(parsed.rec_attr_set | parsed.rec_attr_clr, 0U) << row.option;
    EXPECT_TRUE(parsed.data.empty()) << row.option;
  }
}

TEST(MountOptions, RecursiveAttributes) {
  for (const auto& row : kAttrs) {
    const std::string option = std::string("r") + row.option;
    const auto parsed = parse_mount_options({option});
    EXPECT_EQ(parsed.rec_attr_set, row.set) << option;
    EXPECT_EQ(parsed.rec_attr_clr, row.clr) << option;
    EXPECT_EQ(parsed.attr_set | parsed.attr_clr, 0U) << option;
    EXPECT_TRUE(parsed.sb_flags.empty()) << option;
    EXPECT_TRUE(parsed.data.empty()) << option;
  }
}

TEST(MountOptions, TheLastWordWins) {
  for (const auto& a : kAttrs) {
    for (const auto& b : kAttrs) {
      const auto both = parse_mount_options({a.option, b.option});
      EXPECT_EQ(both.attr_set & b.set, b.set) << a.option << "," << b.option;
      if (!(b.clr & kAtime)) {
        EXPECT_EQ(both.attr_clr & b.clr, b.clr) << a.option << "," << b.option;
      }
      // No bit is both set and cleared, but for the access time's, which must be.
      EXPECT_EQ(both.attr_set & both.attr_clr & ~kAtime, 0U) << a.option << "," << b.option;
    }
  }
  EXPECT_EQ(parse_mount_options({"ro", "rw"}).attr_set, 0U);
  EXPECT_EQ(parse_mount_options({"rw", "ro"}).attr_clr, 0U);
  EXPECT_EQ(parse_mount_options({"ro", "rw"}).sb_flags, Strings{"rw"});
  EXPECT_EQ(parse_mount_options({"rw", "ro"}).sb_flags, Strings{"ro"});
}

TEST(MountOptions, AccessTimeIsOneOfThree) {
  EXPECT_EQ(parse_mount_options({"noatime", "strictatime"}).attr_set, MOUNT_ATTR_STRICTATIME);
  EXPECT_EQ(parse_mount_options({"strictatime", "noatime"}).attr_set, MOUNT_ATTR_NOATIME);
  EXPECT_EQ(parse_mount_options({"noatime", "relatime"}).attr_set, 0U);
  EXPECT_EQ(parse_mount_options({"noatime", "atime"}).attr_set, 0U);
  EXPECT_EQ(parse_mount_options({"strictatime", "nostrictatime"}).attr_set, 0U);
  // To take back what was not said changes nothing.
  EXPECT_EQ(parse_mount_options({"noatime", "nostrictatime"}).attr_set, MOUNT_ATTR_NOATIME);
  EXPECT_EQ(parse_mount_options({"strictatime", "atime"}).attr_set, MOUNT_ATTR_STRICTATIME);
  EXPECT_EQ(parse_mount_options({"noatime", "norelatime"}).attr_set, MOUNT_ATTR_NOATIME);
  EXPECT_EQ(parse_mount_options({"nodiratime", "noatime"}).attr_set, MOUNT_ATTR_NOATIME | MOUNT_ATTR_NODIRATIME);
}

// mount_setattr(2) answers EINVAL where an access time bit is set but not all are cleared.
TEST(MountOptions, AnyListSatisfiesTheKernel) {
  std::mt19937 random(7);
  const auto names = known_mount_options();
  for (int round = 0; round < 20000; ++round) {
    Strings list;
    for (unsigned i = random() % 6; i-- > 0;) list.emplace_back(names[random() % names.size()]);
    const auto parsed = parse_mount_options(list);
    for (const auto& [set, clr] :
         {std::pair{parsed.attr_set, parsed.attr_clr}, std::pair{parsed.rec_attr_set, parsed.rec_attr_clr}}) {
      if (set & kAtime) {
        ASSERT_EQ(clr & kAtime, kAtime);
      }
      ASSERT_TRUE((clr & kAtime) == 0 || (clr & kAtime) == kAtime);
      ASSERT_EQ(set & clr & ~kAtime, 0U);
      ASSERT_NE(set & kAtime, kAtime & (MOUNT_ATTR_NOATIME | MOUNT_ATTR_STRICTATIME));
    }
    ASSERT_TRUE(parsed.data.empty());
  }
}

TEST(MountOptions, BindOfABindKeepsWhatIsNotNamed) {
  const auto parsed = parse_mount_options({"rbind", "rw", "exec", "dev"});
  EXPECT_TRUE(parsed.bind);
  EXPECT_TRUE(parsed.recursive);
  EXPECT_EQ(parsed.attr_set, 0U);
  EXPECT_EQ(parsed.attr_clr, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOEXEC | MOUNT_ATTR_NODEV);
  const auto bare = parse_mount_options({"bind", "defaults"});
  EXPECT_TRUE(bare.bind);
  EXPECT_FALSE(bare.recursive);
  EXPECT_EQ(bare.attr_set | bare.attr_clr, 0U);
}

TEST(MountOptions, Propagation) {
  constexpr unsigned long kRec = 16384, kUnbindable = 1UL << 17, kPrivate = 1UL << 18, kSlave = 1UL << 19,
                          kShared = 1UL << 20;
  const auto parsed =
      parse_mount_options({"shared", "rslave", "private", "runbindable", "rshared", "slave", "rprivate", "unbindable"});
  EXPECT_EQ(parsed.propagation, (std::vector<unsigned long>{kShared, kSlave | kRec, kPrivate, kUnbindable | kRec,
                                                            kShared | kRec, kSlave, kPrivate | kRec, kUnbindable}));
  EXPECT_EQ(parsed.attr_set | parsed.attr_clr, 0U);
}

TEST(MountOptions, SuperblockFlagsComeInPairs) {
  EXPECT_EQ(parse_mount_options({"sync", "dirsync", "lazytime", "mand"}).sb_flags,
            (Strings{"sync", "dirsync", "lazytime", "mand"}));
  EXPECT_EQ(parse_mount_options({"sync", "lazytime", "async", "nolazytime", "mand", "nomand"}).sb_flags,
            (Strings{"async", "nolazytime", "nomand"}));
  EXPECT_EQ(parse_mount_options({"silent", "loud", "iversion", "noiversion", "acl", "noacl"}).legacy_flags,
            (Strings{"loud", "noiversion", "noacl"}));
  EXPECT_EQ(parse_mount_options({"loud", "silent"}).legacy_flags, (Strings{"silent"}));
}

TEST(MountOptions, Data) {
  EXPECT_EQ(parse_mount_options({"size=65536k", "ro", "mode=755", "newinstance"}).data,
            (Strings{"size=65536k", "mode=755", "newinstance"}));
  EXPECT_EQ(parse_mount_options({"size=1m,mode=700", "nr_inodes=5,"}).data,
            (Strings{"size=1m", "mode=700", "nr_inodes=5"}));
  EXPECT_EQ(parse_mount_options({R"(lowerdir=/a\,b:/c,upperdir=/u)"}).data,
            (Strings{R"(lowerdir=/a\,b:/c)", "upperdir=/u"}));
  EXPECT_EQ(parse_mount_options({R"(context="system_u:object_r:t:s0:c1,c2",size=1)"}).data,
            (Strings{R"(context="system_u:object_r:t:s0:c1,c2")", "size=1"}));
  EXPECT_EQ(parse_mount_options({""}).data, Strings{});
  EXPECT_EQ(parse_mount_options({"RO", "ro "}).data, (Strings{"RO", "ro "}));
}

TEST(MountOptions, TheRest) {
  EXPECT_TRUE(parse_mount_options({"tmpcopyup"}).tmpcopyup);
  EXPECT_TRUE(parse_mount_options({"remount"}).remount);
  EXPECT_EQ(parse_mount_options({"idmap"}).idmap, MountOptions::Idmap::idmap);
  EXPECT_EQ(parse_mount_options({"idmap", "ridmap"}).idmap, MountOptions::Idmap::ridmap);
  const auto fstab = parse_mount_options({"auto", "noauto", "nofail", "_netdev", "nouser", "x-systemd.automount"});
  EXPECT_TRUE(fstab.data.empty());
  EXPECT_EQ(fstab.attr_set | fstab.attr_clr, 0U);
}

// The MUST and SHOULD rows of the specification.
TEST(MountOptions, TheSpecificationsOptionsAreKnown) {
  const auto names = known_mount_options();
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  for (const char* name :
       {"async",       "atime",        "bind",        "defaults",    "dev",           "diratime",     "dirsync",
        "exec",        "iversion",     "lazytime",    "loud",        "noatime",       "nodev",        "nodiratime",
        "noexec",      "noiversion",   "nolazytime",  "norelatime",  "nostrictatime", "nosuid",       "private",
        "rbind",       "relatime",     "remount",     "ro",          "rprivate",      "rshared",      "rslave",
        "runbindable", "rw",           "shared",      "silent",      "slave",         "strictatime",  "suid",
        "sync",        "unbindable",   "nosymfollow", "symfollow",   "ratime",        "rdev",         "rdiratime",
        "rexec",       "rnoatime",     "rnodev",      "rnodiratime", "rnoexec",       "rnorelatime",  "rnostrictatime",
        "rnosuid",     "rnosymfollow", "rrelatime",   "rro",         "rrw",           "rstrictatime", "rsuid",
        "rsymfollow",  "idmap",        "ridmap",      "mand",        "nomand",        "tmpcopyup"}) {
    EXPECT_TRUE(std::binary_search(names.begin(), names.end(), std::string_view(name))) << name;
  }
}

}  // namespace
}  // namespace tare::oci
