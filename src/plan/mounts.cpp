#include "plan/mounts.hpp"

#include <sys/mount.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "oci/mount_options.hpp"
#include "oci/validate.hpp"

namespace tare::plan {
namespace {

bool is_bind(const oci::MountOptions& options) { return options.bind; }

std::string bind_source(const oci::Mount& mount, const Options& options) {
  if (!mount.source.empty() && mount.source.front() == '/') return mount.source;
  return cat(options.bundle, "/", mount.source);  // config.md: relative to the bundle
}

// mount(2) takes the attributes of a new mount as flags.
std::uint32_t as_mount_flags(std::uint64_t attributes) {
  std::uint32_t flags = 0;
  if (attributes & MOUNT_ATTR_RDONLY) flags |= MS_RDONLY;
  if (attributes & MOUNT_ATTR_NOSUID) flags |= MS_NOSUID;
  if (attributes & MOUNT_ATTR_NODEV) flags |= MS_NODEV;
  if (attributes & MOUNT_ATTR_NOEXEC) flags |= MS_NOEXEC;
  if (attributes & MOUNT_ATTR_NODIRATIME) flags |= MS_NODIRATIME;
  if (attributes & MOUNT_ATTR_NOSYMFOLLOW) flags |= 256;  // MS_NOSYMFOLLOW, Linux 5.10
  const auto atime = attributes & MOUNT_ATTR__ATIME;
  if (atime == MOUNT_ATTR_NOATIME) flags |= MS_NOATIME;
  if (atime == MOUNT_ATTR_STRICTATIME) flags |= MS_STRICTATIME;
  return flags;
}

std::uint32_t superblock_flags(const oci::MountOptions& options) {
  std::uint32_t flags = 0;
  for (const auto& name : options.sb_flags) {
    if (name == "ro") flags |= MS_RDONLY;
    if (name == "sync") flags |= MS_SYNCHRONOUS;
    if (name == "dirsync") flags |= MS_DIRSYNC;
    if (name == "lazytime") flags |= MS_LAZYTIME;
    if (name == "mand") flags |= MS_MANDLOCK;
  }
  for (const auto& name : options.legacy_flags) {
    if (name == "silent") flags |= MS_SILENT;
    if (name == "iversion") flags |= MS_I_VERSION;
    if (name == "acl") flags |= MS_POSIXACL;
  }
  return flags;
}

bool has_mode(const oci::MountOptions& options) {
  for (const auto& datum : options.data)
    if (datum.starts_with("mode=")) return true;
  return false;
}

// What must be writable while the container is set up, though the config wants it read-only.
bool late_read_only(const oci::Mount& mount, const oci::MountOptions& options) {
  return (options.attr_set & MOUNT_ATTR_RDONLY) != 0 && !options.bind &&
         (oci::clean_path(mount.destination) == "/dev" || options.tmpcopyup);
}

void fill_common(Plan& plan, MountOp& op, const oci::Mount& mount, const oci::MountOptions& options) {
  op.dest = plan.keep(oci::clean_path(mount.destination));
  op.attr_set = options.attr_set;
  op.attr_clr = options.attr_clr;
  op.rec_attr_set = options.rec_attr_set;
  op.rec_attr_clr = options.rec_attr_clr;
  std::vector<std::uint32_t> propagation;
  for (const unsigned long flags : options.propagation) propagation.push_back(static_cast<std::uint32_t>(flags));
  op.n_propagation = static_cast<std::uint32_t>(propagation.size());
  op.propagation = plan.keep(propagation);
  op.slot = -1;
}

void push_file_system(Plan& plan, const oci::Mount& mount, const oci::MountOptions& options, std::string_view type) {
  Op op{};
  op.code = Code::mount_fs;
  MountOp& m = op.mount;
  fill_common(plan, m, mount, options);
  m.type = plan.keep(type);
  m.source = plan.keep(mount.source.empty() ? std::string_view(type) : std::string_view(mount.source));
  m.data = plan.keep(join(options.data, ","));
  std::vector<Param> params;
  for (const auto& datum : options.data) {
    const auto equals = datum.find('=');
    if (equals == std::string::npos)
      params.push_back({plan.keep(datum), nullptr});
    else
      params.push_back({plan.keep(datum.substr(0, equals)), plan.keep(datum.substr(equals + 1))});
  }
  m.n_params = static_cast<std::uint32_t>(params.size());
  m.params = plan.keep(params);
  m.sb_flags = superblock_flags(options) | as_mount_flags(options.attr_set);
  if (late_read_only(mount, options)) m.sb_flags &= ~static_cast<std::uint32_t>(MS_RDONLY);
  // CVE-2019-19921: a link in an image's /proc or /sys would put them elsewhere.
  m.no_symlinks = type == "proc" || type == "sysfs";
  m.inherit_mode = type == "tmpfs" && !has_mode(options);
  m.copy_up = options.tmpcopyup;
  plan.ops.push_back(op);
}

void push_cgroup_v1(Plan& plan, const oci::Spec& spec, const oci::Mount& mount, const oci::MountOptions& options,
                    const Options& given) {
  Op op{};
  op.code = Code::mount_cgroup_v1;
  CgroupMountOp& m = op.cgroup_mount;
  m.dest = plan.keep(oci::clean_path(mount.destination));
  m.read_only = (options.attr_set & MOUNT_ATTR_RDONLY) != 0;
  // With a cgroup namespace a fresh mount shows the container's own cgroup as its root; without one
  // the container's directory is bound, so that nothing above it is in sight.
  m.bind = !spec.has_new_namespace(oci::NamespaceType::cgroup);
  std::vector<Param> hierarchies;
  std::vector<Param> links;
  for (const auto& hierarchy : given.cgroup_mounts) {
    const char* name = plan.keep(hierarchy.name);
    hierarchies.push_back({name, m.bind ? plan.keep(hierarchy.host_path) : plan.keep(hierarchy.data)});
    if (hierarchy.v2) hierarchies.back().value = m.bind ? hierarchies.back().value : nullptr;
    if (hierarchy.name.find(',') == std::string::npos) continue;
    for (const auto part : split(hierarchy.name, ',')) links.push_back({plan.keep(part), name});
  }
  m.n = static_cast<std::uint32_t>(hierarchies.size());
  m.hierarchies = plan.keep(hierarchies);
  m.n_links = static_cast<std::uint32_t>(links.size());
  m.links = plan.keep(links);
  plan.ops.push_back(op);
}

void push_cgroup(Plan& plan, const oci::Spec& spec, const facts::Facts& facts, const oci::Mount& mount,
                 const oci::MountOptions& options, const Options& given) {
  if (facts.cgroups.layout != facts::CgroupLayout::v2) return push_cgroup_v1(plan, spec, mount, options, given);
  if (spec.has_new_namespace(oci::NamespaceType::cgroup)) return push_file_system(plan, mount, options, "cgroup2");
  Op op{};
  op.code = Code::mount_bind;
  fill_common(plan, op.mount, mount, options);
  op.mount.type = plan.keep("cgroup2");
  op.mount.source =
      plan.keep(given.cgroup_mounts.empty() ? std::string("/sys/fs/cgroup") : given.cgroup_mounts.front().host_path);
  plan.ops.push_back(op);
}

void refuse_what_cannot_be(const oci::Mount& mount, const oci::MountOptions& options, std::size_t index) {
  const auto field = cat("mounts[", index, "]");
  if (options.idmap != oci::MountOptions::Idmap::none || !mount.uid_mappings.empty())
    throw Error(ErrorKind::unsupported, cat(field, ": mounts with id mappings of their own are not supported yet"));
  if (options.remount) throw Error(ErrorKind::invalid_spec, cat(field, ".options: remount has nothing to act on"));
  if (!options.bind && oci::clean_path(mount.destination) == "/")
    throw Error(ErrorKind::unsupported, cat(field, ".destination: only a bind can be mounted on \"/\""));
}

}  // namespace

MountSlots open_sources(Plan& plan, const oci::Spec& spec, const Options& options) {
  MountSlots slots;
  for (const auto& mount : spec.mounts) {
    const auto parsed = oci::parse_mount_options(mount.options);
    if (!is_bind(parsed)) {
      slots.of_mount.push_back(-1);
      continue;
    }
    Op op{};
    op.code = Code::open_source;
    op.mount.source = plan.keep(bind_source(mount, options));
    op.mount.recursive = parsed.recursive;
    op.mount.slot = plan.n_slots;
    slots.of_mount.push_back(plan.n_slots++);
    plan.ops.push_back(op);
  }
  return slots;
}

void push_mounts(Plan& plan, const oci::Spec& spec, const facts::Facts& facts, const Options& options,
                 const MountSlots& slots) {
  for (std::size_t i = 0; i < spec.mounts.size(); ++i) {
    const auto& mount = spec.mounts[i];
    const auto parsed = oci::parse_mount_options(mount.options);
    refuse_what_cannot_be(mount, parsed, i);
    if (is_bind(parsed)) {
      Op op{};
      op.code = Code::mount_bind;
      fill_common(plan, op.mount, mount, parsed);
      op.mount.source = plan.keep(bind_source(mount, options));
      op.mount.recursive = parsed.recursive;
      if (i < slots.of_mount.size()) op.mount.slot = slots.of_mount[i];
      plan.ops.push_back(op);
    } else if (mount.type == "cgroup") {
      push_cgroup(plan, spec, facts, mount, parsed, options);
    } else {
      push_file_system(plan, mount, parsed, mount.type);
    }
  }
}

void push_late_read_only(Plan& plan, const oci::Spec& spec) {
  for (const auto& mount : spec.mounts) {
    const auto options = oci::parse_mount_options(mount.options);
    if (!late_read_only(mount, options)) continue;
    Op op{};
    op.code = Code::set_root_attributes;
    op.mount.dest = plan.keep(oci::clean_path(mount.destination));
    op.mount.attr_set = MOUNT_ATTR_RDONLY;
    plan.ops.push_back(op);
  }
}

}  // namespace tare::plan
