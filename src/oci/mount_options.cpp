// One table says what each option does; reading a list is looking each word up in it.
#include "oci/mount_options.hpp"

#include <linux/mount.h>

#include <algorithm>
#include <optional>

namespace tare::oci {
namespace {

// mount(2); sys/mount.h cannot be included beside linux/mount.h.
constexpr unsigned long kMsRec = 16384;
constexpr unsigned long kMsUnbindable = 1UL << 17;
constexpr unsigned long kMsPrivate = 1UL << 18;
constexpr unsigned long kMsSlave = 1UL << 19;
constexpr unsigned long kMsShared = 1UL << 20;

#ifndef MOUNT_ATTR_NOSYMFOLLOW
#define MOUNT_ATTR_NOSYMFOLLOW 0x00200000
#endif

enum class Does {
  nothing,    // understood, without effect here
  set,        // an attribute of the mount on
  clear,      // and off
  set_all,    // of it and all below on
  clear_all,  // and off
  atime,      // the access time's mode becomes value
  atime_all,
  unset_atime,  // and back to the kernel's default (relatime), if it was value
  unset_atime_all,
  super,   // a flag of the superblock; value is its pair, of which one stays
  legacy,  // the same, of those that only mount(2) takes
  propagation,
  bind,
  rbind,
  remount,
  tmpcopyup,
  idmap,
  ridmap,
};

struct Option {
  std::string_view name;
  Does does;
  std::uint64_t value = 0;
};

// Pairs of superblock flags.
enum : std::uint64_t {
  kPairRo,
  kPairSync,
  kPairDirsync,
  kPairLazytime,
  kPairMand,
  kPairSilent,
  kPairVersion,
  kPairAcl
};

// Sorted by name, in the order of bytes.
constexpr Option kOptions[] = {
    {"acl", Does::legacy, kPairAcl},
    {"async", Does::super, kPairSync},
    {"atime", Does::unset_atime, MOUNT_ATTR_NOATIME},
    {"bind", Does::bind},
    {"defaults", Does::nothing},
    {"dev", Does::clear, MOUNT_ATTR_NODEV},
    {"diratime", Does::clear, MOUNT_ATTR_NODIRATIME},
    {"dirsync", Does::super, kPairDirsync},
    {"exec", Does::clear, MOUNT_ATTR_NOEXEC},
    {"idmap", Does::idmap},
    {"iversion", Does::legacy, kPairVersion},
    {"lazytime", Does::super, kPairLazytime},
    {"loud", Does::legacy, kPairSilent},
    {"mand", Does::super, kPairMand},
    {"noacl", Does::legacy, kPairAcl},
    {"noatime", Does::atime, MOUNT_ATTR_NOATIME},
    {"nodev", Does::set, MOUNT_ATTR_NODEV},
    {"nodiratime", Does::set, MOUNT_ATTR_NODIRATIME},
    {"noexec", Does::set, MOUNT_ATTR_NOEXEC},
    {"noiversion", Does::legacy, kPairVersion},
    {"nolazytime", Does::super, kPairLazytime},
    {"nomand", Does::super, kPairMand},
    {"norelatime", Does::unset_atime, MOUNT_ATTR_RELATIME},
    {"nostrictatime", Does::unset_atime, MOUNT_ATTR_STRICTATIME},
    {"nosuid", Does::set, MOUNT_ATTR_NOSUID},
    {"nosymfollow", Does::set, MOUNT_ATTR_NOSYMFOLLOW},
    {"private", Does::propagation, kMsPrivate},
    {"ratime", Does::unset_atime_all, MOUNT_ATTR_NOATIME},
    {"rbind", Does::rbind},
    {"rdev", Does::clear_all, MOUNT_ATTR_NODEV},
    {"rdiratime", Does::clear_all, MOUNT_ATTR_NODIRATIME},
    {"relatime", Does::atime, MOUNT_ATTR_RELATIME},
    {"remount", Does::remount},
    {"rexec", Does::clear_all, MOUNT_ATTR_NOEXEC},
    {"ridmap", Does::ridmap},
    {"rnoatime", Does::atime_all, MOUNT_ATTR_NOATIME},
    {"rnodev", Does::set_all, MOUNT_ATTR_NODEV},
    {"rnodiratime", Does::set_all, MOUNT_ATTR_NODIRATIME},
    {"rnoexec", Does::set_all, MOUNT_ATTR_NOEXEC},
    {"rnorelatime", Does::unset_atime_all, MOUNT_ATTR_RELATIME},
    {"rnostrictatime", Does::unset_atime_all, MOUNT_ATTR_STRICTATIME},
    {"rnosuid", Does::set_all, MOUNT_ATTR_NOSUID},
    {"rnosymfollow", Does::set_all, MOUNT_ATTR_NOSYMFOLLOW},
    {"ro", Does::set, MOUNT_ATTR_RDONLY},
    {"rprivate", Does::propagation, kMsPrivate | kMsRec},
    {"rrelatime", Does::atime_all, MOUNT_ATTR_RELATIME},
    {"rro", Does::set_all, MOUNT_ATTR_RDONLY},
    {"rrw", Does::clear_all, MOUNT_ATTR_RDONLY},
    {"rshared", Does::propagation, kMsShared | kMsRec},
    {"rslave", Does::propagation, kMsSlave | kMsRec},
    {"rstrictatime", Does::atime_all, MOUNT_ATTR_STRICTATIME},
    {"rsuid", Does::clear_all, MOUNT_ATTR_NOSUID},
    {"rsymfollow", Does::clear_all, MOUNT_ATTR_NOSYMFOLLOW},
    {"runbindable", Does::propagation, kMsUnbindable | kMsRec},
    {"rw", Does::clear, MOUNT_ATTR_RDONLY},
    {"shared", Does::propagation, kMsShared},
    {"silent", Does::legacy, kPairSilent},
    {"slave", Does::propagation, kMsSlave},
    {"strictatime", Does::atime, MOUNT_ATTR_STRICTATIME},
    {"suid", Does::clear, MOUNT_ATTR_NOSUID},
    {"symfollow", Does::clear, MOUNT_ATTR_NOSYMFOLLOW},
    {"sync", Does::super, kPairSync},
    {"tmpcopyup", Does::tmpcopyup},
    {"unbindable", Does::propagation, kMsUnbindable},
};
static_assert(std::is_sorted(std::begin(kOptions), std::end(kOptions),
                             [](const Option& a, const Option& b) { return a.name < b.name; }));

// Words for mount(8) and fstab(5), which tell nothing about the mount itself.
constexpr std::string_view kForMountCommand[] = {"auto", "noauto", "nofail", "_netdev", "nouser"};

const Option* find_option(std::string_view name) {
  const auto* found = std::lower_bound(std::begin(kOptions), std::end(kOptions), name,
                                       [](const Option& o, std::string_view n) { return o.name < n; });
  return found != std::end(kOptions) && found->name == name ? found : nullptr;
}

void set_bits(std::uint64_t& set, std::uint64_t& clr, std::uint64_t bits) {
  set |= bits;
  clr &= ~bits;
}

void clear_bits(std::uint64_t& set, std::uint64_t& clr, std::uint64_t bits) {
  set &= ~bits;
  clr |= bits;
}

// The access time's mode is a number of three bits, not a set of flags: the call wants all of them
// cleared before any is set (mount_setattr(2), EINVAL).
void set_atime(std::uint64_t& set, std::uint64_t& clr, std::uint64_t mode) {
  set = (set & ~std::uint64_t{MOUNT_ATTR__ATIME}) | mode;
  clr |= MOUNT_ATTR__ATIME;
}

void unset_atime(std::uint64_t& set, std::uint64_t& clr, std::uint64_t mode) {
  const std::uint64_t is = set & MOUNT_ATTR__ATIME;
  set_atime(set, clr, is == mode ? std::uint64_t{MOUNT_ATTR_RELATIME} : is);
}

// Replaces the flag of the same pair, if there is one.
void set_flag(std::vector<std::string>& flags, std::string_view name, std::uint64_t pair) {
  std::erase_if(flags, [&](const std::string& other) {
    if (other == "ro" || other == "rw") return pair == kPairRo;
    return find_option(other)->value == pair;
  });
  flags.emplace_back(name);
}

// A word of the file system's own. One string may hold several, divided by commas, as the data of
// mount(2) does; a comma after a backslash or between double quotes belongs to the value.
void add_data(std::vector<std::string>& data, std::string_view text) {
  bool in_quotes = false;
  std::size_t start = 0;
  const auto push = [&](std::size_t end) {
    if (end > start) data.emplace_back(text.substr(start, end - start));
    start = end + 1;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      in_quotes = !in_quotes;
    } else if (text[i] == ',' && !in_quotes) {
      push(i);
    }
  }
  push(text.size());
}

bool for_mount_command(std::string_view name) {
  return std::ranges::find(kForMountCommand, name) != std::end(kForMountCommand) || name.starts_with("x-") ||
         name.starts_with("comment=");
}

void apply(MountOptions& out, const Option& option) {
  const std::uint64_t value = option.value;
  switch (option.does) {
    case Does::nothing:
      break;
    case Does::set:
      set_bits(out.attr_set, out.attr_clr, value);
      break;
    case Does::clear:
      clear_bits(out.attr_set, out.attr_clr, value);
      break;
    case Does::set_all:
      set_bits(out.rec_attr_set, out.rec_attr_clr, value);
      break;
    case Does::clear_all:
      clear_bits(out.rec_attr_set, out.rec_attr_clr, value);
      break;
    case Does::atime:
      set_atime(out.attr_set, out.attr_clr, value);
      break;
    case Does::atime_all:
      set_atime(out.rec_attr_set, out.rec_attr_clr, value);
      break;
    case Does::unset_atime:
      unset_atime(out.attr_set, out.attr_clr, value);
      break;
    case Does::unset_atime_all:
      unset_atime(out.rec_attr_set, out.rec_attr_clr, value);
      break;
    case Does::super:
      set_flag(out.sb_flags, option.name, value);
      break;
    case Does::legacy:
      set_flag(out.legacy_flags, option.name, value);
      break;
    case Does::propagation:
      out.propagation.push_back(value);
      break;
    case Does::bind:
      out.bind = true;
      out.recursive = false;
      break;
    case Does::rbind:
      out.bind = true;
      out.recursive = true;
      break;
    case Does::remount:
      out.remount = true;
      break;
    case Does::tmpcopyup:
      out.tmpcopyup = true;
      break;
    case Does::idmap:
      out.idmap = MountOptions::Idmap::idmap;
      break;
    case Does::ridmap:
      out.idmap = MountOptions::Idmap::ridmap;
      break;
  }
  // A new mount is read-only in both places, as mount(2) has it.
  if (option.name == "ro" || option.name == "rw") set_flag(out.sb_flags, option.name, kPairRo);
}

}  // namespace

MountOptions parse_mount_options(const std::vector<std::string>& options) {
  MountOptions out;
  for (const auto& name : options) {
    if (const Option* option = find_option(name)) {
      apply(out, *option);
    } else if (!for_mount_command(name)) {
      add_data(out.data, name);
    }
  }
  return out;
}

std::vector<std::string_view> known_mount_options() {
  std::vector<std::string_view> names;
  names.reserve(std::size(kOptions));
  for (const auto& option : kOptions) names.push_back(option.name);
  return names;
}

}  // namespace tare::oci
