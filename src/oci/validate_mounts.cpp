// The rules for mounts.
#include <algorithm>
#include <iterator>

#include "oci/mount_options.hpp"
#include "oci/refuse.hpp"

namespace tare::oci {
namespace {

// What may be covered below /proc: files that lxcfs and engines replace by ones that tell of the
// container, and the mount point of binfmt_misc. All else there is the kernel's word that later
// steps rely on (masks, attr files, sysctls): whoever fakes it can turn them off (CVE-2019-16884,
// CVE-2019-19921).
constexpr std::string_view kMayBeCovered[] = {
    "/proc/cpuinfo",
    "/proc/diskstats",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/swaps",
    "/proc/uptime",
    "/proc/loadavg",
    "/proc/slabinfo",
    "/proc/net/dev",
    "/proc/sys/kernel/ns_last_pid",
    "/proc/sys/fs/binfmt_misc",
};

void validate_place(const Mount& mount, const MountOptions& options, const std::string& field) {
  const std::string place = clean_path(mount.destination);
  if (place == "/proc") {
    const bool of_proc = options.bind ? clean_path(mount.source) == "/proc" : mount.type == "proc";
    if (!of_proc && !options.remount) refuse(field, cat(quoted(place), " may be covered only by a proc file system"));
  } else if (place.starts_with("/proc/") && std::ranges::find(kMayBeCovered, place) == std::end(kMayBeCovered)) {
    refuse(field, cat(quoted(place), " may not be covered, it is inside of /proc"));
  }
}

void validate_mount(const Spec& spec, std::size_t index, Warnings& warnings) {
  const Mount& mount = spec.mounts[index];
  const auto field = [&](std::string_view member) { return element("mounts", index, member); };
  if (mount.destination.empty()) refuse(field("destination"), "missing");
  if (!mount.destination.starts_with('/')) {
    warnings.push_back(cat(field("destination"), ": ", quoted(mount.destination), " is not absolute, taken from /"));
  }
  const MountOptions options = parse_mount_options(mount.options);
  validate_place(mount, options, field("destination"));

  if (options.bind) {
    if (mount.source.empty() && !options.remount) refuse(field("source"), "missing, a bind mount needs one");
    // They are the superblock's, which the host shares.
    if (!options.data.empty()) {
      refuse(field("options"), cat(quoted(options.data.front()), " is of a file system, a bind mount cannot have it"));
    }
    for (const auto& flag : options.sb_flags) {
      if (flag == "ro" || flag == "rw") continue;
      warnings.push_back(cat(field("options"), ": ", flag, " has no effect on a bind mount"));
    }
  } else if (mount.type == "bind") {
    refuse(field("type"), "\"bind\" without the option bind or rbind");
  } else if (mount.type.empty() && !options.remount && options.propagation.empty()) {
    refuse(field("type"), "missing");
  }

  if (mount.uid_mappings.empty() != mount.gid_mappings.empty()) {
    refuse(field(mount.uid_mappings.empty() ? "uidMappings" : "gidMappings"),
           "missing, a mount has both mappings or neither");
  }
  validate_mappings(mount.uid_mappings, field("uidMappings"));
  validate_mappings(mount.gid_mappings, field("gidMappings"));
  if (options.idmap != MountOptions::Idmap::none && mount.uid_mappings.empty() &&
      !spec.find_namespace(NamespaceType::user)) {
    refuse(field("options"), "idmap needs mappings of the mount's own or a user namespace");
  }
}

}  // namespace

void validate_mounts(const Spec& spec, Warnings& warnings) {
  for (std::size_t i = 0; i < spec.mounts.size(); ++i) validate_mount(spec, i, warnings);
}

}  // namespace tare::oci
