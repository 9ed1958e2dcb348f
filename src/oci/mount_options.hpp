// The options of one mount, sorted by what does them.
//
// For: plan, which makes mount steps of it, and validate.
// Not for: doing anything; knowing which options a file system takes.
// The list is read in its order and the last word on a thing wins ("ro", "rw" is writable).
// Source: runtime-spec, config.md "Linux mount options"; mount(8); mount_setattr(2); fsconfig.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tare::oci {

struct MountOptions {
  bool bind = false;       // bind or rbind was given: type is then without meaning
  bool recursive = false;  // rbind
  bool remount = false;
  bool tmpcopyup = false;  // a tmpfs gets a copy of what it covers

  // For mount_setattr: of this mount, and of it with all below (AT_RECURSIVE). MOUNT_ATTR_*; what
  // was not named is in neither, so that a bind keeps it. attr_clr holds MOUNT_ATTR__ATIME whenever
  // an option of the access time was given, as the call demands.
  std::uint64_t attr_set = 0, attr_clr = 0;
  std::uint64_t rec_attr_set = 0, rec_attr_clr = 0;

  // In listed order: MS_SHARED, MS_SLAVE, MS_PRIVATE or MS_UNBINDABLE, each with MS_REC or without.
  std::vector<unsigned long> propagation;

  // Of the superblock, as names for FSCONFIG_SET_FLAG, at most one of each pair: ro rw, sync async,
  // dirsync, lazytime nolazytime, mand nomand. "ro" and "rw" are in attr_set and attr_clr as well.
  std::vector<std::string> sb_flags;
  // Asked for, but only mount(2) had a word for them: silent, iversion, noiversion, acl, noacl.
  std::vector<std::string> legacy_flags;

  // For the file system, in order: "key" (FSCONFIG_SET_FLAG) or "key=value" (FSCONFIG_SET_STRING).
  std::vector<std::string> data;

  enum class Idmap { none, idmap, ridmap };
  Idmap idmap = Idmap::none;
};

MountOptions parse_mount_options(const std::vector<std::string>& options);

// Every option that has a meaning of its own here, sorted: what `features` lists.
std::vector<std::string_view> known_mount_options();

}  // namespace tare::oci
