// The rules for the object linux: namespaces and all that needs one of its own, devices, paths.
#include <algorithm>
#include <iterator>

#include "oci/names.hpp"
#include "oci/refuse.hpp"

namespace tare::oci {
namespace {

void validate_namespaces(const Spec& spec) {
  const auto& all = spec.linux_.namespaces;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto same = [&](const Namespace& other) { return other.type == all[i].type; };
    if (std::any_of(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(i), same)) {
      refuse(element("linux.namespaces", i, "type"), cat(quoted(namespace_name(all[i].type)), " is there twice"));
    }
    if (!all[i].path.empty() && !all[i].path.starts_with('/')) {
      refuse(element("linux.namespaces", i, "path"), cat(quoted(all[i].path), " is not absolute"));
    }
  }
}

bool maps(const std::vector<IdMapping>& mappings, std::uint32_t id) {
  return std::ranges::any_of(mappings,
                             [&](const IdMapping& m) { return id >= m.container_id && id - m.container_id < m.size; });
}

void validate_user_namespace(const Spec& spec) {
  const auto& uids = spec.linux_.uid_mappings;
  const auto& gids = spec.linux_.gid_mappings;
  const Namespace* user = spec.find_namespace(NamespaceType::user);
  if (!user) {
    if (!uids.empty()) refuse("linux.uidMappings", "needs a user namespace in linux.namespaces");
    if (!gids.empty()) refuse("linux.gidMappings", "needs a user namespace in linux.namespaces");
    return;
  }
  validate_mappings(uids, "linux.uidMappings");
  validate_mappings(gids, "linux.gidMappings");
  if (!user->path.empty()) return;  // whether they are that namespace's own, only the kernel knows
  if (uids.empty()) refuse("linux.uidMappings", "missing, a new user namespace needs them");
  if (gids.empty()) refuse("linux.gidMappings", "missing, a new user namespace needs them");
  if (!spec.process) return;
  const User& as = spec.process->user;
  if (!maps(uids, as.uid)) refuse("process.user.uid", cat(as.uid, " is not in linux.uidMappings"));
  if (!maps(gids, as.gid)) refuse("process.user.gid", cat(as.gid, " is not in linux.gidMappings"));
  for (std::size_t i = 0; i < as.additional_gids.size(); ++i) {
    if (maps(gids, as.additional_gids[i])) continue;
    refuse(element("process.user.additionalGids", i), cat(as.additional_gids[i], " is not in linux.gidMappings"));
  }
}

void validate_time_namespace(const Spec& spec) {
  if (!spec.linux_.monotonic_offset && !spec.linux_.boottime_offset) return;
  const Namespace* time = spec.find_namespace(NamespaceType::time);
  if (!time) refuse("linux.timeOffsets", "needs a time namespace in linux.namespaces");
  if (!time->path.empty()) refuse("linux.timeOffsets", "can't be set in a time namespace that is joined by its path");
}

// What changes mounts would change the host's.
void validate_mount_namespace(const Spec& spec) {
  if (spec.find_namespace(NamespaceType::mount)) return;
  const auto needs = [](std::string_view field) { refuse(field, "needs a mount namespace in linux.namespaces"); };
  if (clean_path(spec.root.path) != "/" || !spec.root.path.starts_with('/')) needs("root.path");
  if (spec.root.readonly) needs("root.readonly");
  if (!spec.mounts.empty()) needs("mounts");
  if (!spec.linux_.masked_paths.empty()) needs("linux.maskedPaths");
  if (!spec.linux_.readonly_paths.empty()) needs("linux.readonlyPaths");
  if (!spec.linux_.rootfs_propagation.empty()) needs("linux.rootfsPropagation");
}

void validate_sysctl(const Spec& spec) {
  constexpr std::string_view kIpc[] = {"kernel/msgmax", "kernel/msgmnb", "kernel/msgmni", "kernel/sem",
                                       "kernel/shmall", "kernel/shmmax", "kernel/shmmni", "kernel/shm_rmid_forced"};
  for (const auto& [key, value] : spec.linux_.sysctl) {
    const std::string field = cat("linux.sysctl.", key);
    const std::string path = sysctl_path(key);
    const auto need = [&](NamespaceType type) {
      if (!spec.find_namespace(type))
        refuse(field, cat("needs ", quoted(namespace_name(type)), " in linux.namespaces"));
    };
    if (std::ranges::find(kIpc, path) != std::end(kIpc) || path.starts_with("fs/mqueue/")) {
      need(NamespaceType::ipc);
    } else if (path.starts_with("net/")) {
      need(NamespaceType::network);
    } else if (path.starts_with("user/")) {
      need(NamespaceType::user);
    } else if (path == "kernel/domainname") {
      need(NamespaceType::uts);
    } else if (path == "kernel/hostname") {
      refuse(field, "use the property hostname");
    } else {
      refuse(field, "belongs to the whole host, no namespace has its own");
    }
  }
}

void validate_devices(const std::vector<Device>& devices) {
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const Device& device = devices[i];
    const auto field = [&](std::string_view member) { return element("linux.devices", i, member); };
    if (!device.path.starts_with('/')) refuse(field("path"), cat(quoted(device.path), " is not absolute"));
    if (clean_path(device.path) == "/") refuse(field("path"), "is the root");
    for (std::size_t k = 0; k < i; ++k) {
      if (devices[k].path == device.path && devices[k] != device) {
        refuse(field("path"), cat(quoted(device.path), " is there twice, as different devices"));
      }
    }
  }
}

void validate_net_devices(const Spec& spec) {
  const auto& devices = spec.linux_.net_devices;
  if (!devices.empty() && !spec.has_new_namespace(NamespaceType::network)) {
    refuse("linux.netDevices", "needs a new network namespace in linux.namespaces");
  }
  // dev_valid_name() of the kernel: 1 to 15 bytes, without '/', ':' and blanks.
  const auto good = [](std::string_view name) {
    return !name.empty() && name.size() < 16 && name != "." && name != ".." &&
           name.find_first_of("/: \t\n\v\f\r") == std::string_view::npos;
  };
  for (const auto& [outside, inside] : devices) {
    if (!good(outside)) refuse("linux.netDevices", cat(quoted(outside), " is no name of a network device"));
    if (!good(inside)) {
      refuse(cat("linux.netDevices.", outside, ".name"), cat(quoted(inside), " is no name of a network device"));
    }
    const auto same = std::ranges::count_if(devices, [&](const auto& other) { return other.second == inside; });
    if (same > 1 && inside.find('%') == std::string::npos) {
      refuse(cat("linux.netDevices.", outside, ".name"), cat(quoted(inside), " is there twice"));
    }
  }
}

void validate_paths(const Linux& spec) {
  const auto absolute = [](const std::vector<std::string>& paths, std::string_view field) {
    for (std::size_t i = 0; i < paths.size(); ++i) {
      if (!paths[i].starts_with('/')) refuse(element(field, i), cat(quoted(paths[i]), " is not absolute"));
    }
  };
  absolute(spec.masked_paths, "linux.maskedPaths");
  absolute(spec.readonly_paths, "linux.readonlyPaths");

  constexpr std::string_view kPropagations[] = {"",        "shared", "slave",    "private",    "unbindable",
                                                "rshared", "rslave", "rprivate", "runbindable"};
  if (std::ranges::find(kPropagations, spec.rootfs_propagation) == std::end(kPropagations)) {
    refuse("linux.rootfsPropagation",
           cat(quoted(spec.rootfs_propagation), " is not one of shared, slave, private, unbindable"));
  }
  for (const auto part : split(spec.cgroups_path, '/')) {
    if (part == "..") refuse("linux.cgroupsPath", cat(quoted(spec.cgroups_path), " leaves its place by \"..\""));
  }
}

void validate_memory_policy(const MemoryPolicy& policy) {
  const bool alone = policy.mode == "MPOL_DEFAULT" || policy.mode == "MPOL_LOCAL";
  const bool needs = policy.mode == "MPOL_BIND" || policy.mode == "MPOL_INTERLEAVE" ||
                     policy.mode == "MPOL_WEIGHTED_INTERLEAVE" || policy.mode == "MPOL_PREFERRED_MANY";
  const auto field = "linux.memoryPolicy.nodes";
  if (alone && !policy.nodes.empty()) refuse(field, cat(policy.mode, " takes none"));
  if (needs && policy.nodes.empty()) refuse(field, cat("missing, ", policy.mode, " needs at least one"));
  if (!policy.nodes.empty() && !is_number_list(policy.nodes)) {
    refuse(field, cat(quoted(policy.nodes), " is no list like 0-3,7"));
  }
}

void validate_intel_rdt(const IntelRdt& rdt) {
  const auto& id = rdt.clos_id;
  if (id == "." || id == ".." || (id != "/" && id.find_first_of("/\n") != std::string::npos)) {
    refuse("linux.intelRdt.closID", cat(quoted(id), " is no name of a folder"));
  }
  const auto one_line = [](std::string_view field, const std::string& text) {
    if (text.find('\n') != std::string::npos) refuse(field, "must be one line");
  };
  one_line("linux.intelRdt.memBwSchema", rdt.mem_bw_schema);
  for (std::size_t i = 0; i < rdt.schemata.size(); ++i)
    one_line(element("linux.intelRdt.schemata", i), rdt.schemata[i]);
  if (!rdt.mem_bw_schema.empty() && !rdt.mem_bw_schema.starts_with("MB:")) {
    refuse("linux.intelRdt.memBwSchema", "must begin with MB:");
  }
}

}  // namespace

void validate_mappings(const std::vector<IdMapping>& mappings, std::string_view field) {
  constexpr std::size_t kMost = 340;          // user_namespaces(7)
  constexpr std::uint64_t kEnd = 4294967295;  // one past the largest id
  if (mappings.size() > kMost) refuse(field, cat(mappings.size(), " lines are more than the kernel's ", kMost));
  for (std::size_t i = 0; i < mappings.size(); ++i) {
    const auto& m = mappings[i];
    if (m.size == 0) refuse(element(field, i, "size"), "must be above 0");
    if (std::uint64_t{m.container_id} + m.size > kEnd || std::uint64_t{m.host_id} + m.size > kEnd) {
      refuse(element(field, i, "size"), "goes past the largest id");
    }
    const auto meet = [&](std::uint64_t a, std::uint64_t a_size, std::uint64_t b) { return b < a + a_size; };
    for (std::size_t k = 0; k < i; ++k) {
      const auto& other = mappings[k];
      const auto overlap = [&](std::uint32_t a, std::uint32_t b) {
        return a <= b ? meet(a, m.size, b) : meet(b, other.size, a);
      };
      if (overlap(m.container_id, other.container_id))
        refuse(element(field, i, "containerID"), "overlaps another line");
      if (overlap(m.host_id, other.host_id)) refuse(element(field, i, "hostID"), "overlaps another line");
    }
  }
}

std::string sysctl_path(std::string_view key) {
  // As sysctl(8) reads keys: the first separator, '.' or '/', is the one, and the other stands for
  // itself ("net/ipv4/conf/eth0.1/forwarding").
  std::string path(key);
  const auto first = path.find_first_of("./");
  if (first != std::string::npos && path[first] == '.') {
    for (char& c : path) c = c == '.' ? '/' : c == '/' ? '.' : c;
  }
  for (const auto part : split(path, '/')) {
    if (part.empty() || part == "." || part == "..") refuse(cat("linux.sysctl.", key), "is no name of a sysctl");
  }
  return path;
}

void validate_linux(const Spec& spec) {
  validate_namespaces(spec);
  validate_user_namespace(spec);
  validate_time_namespace(spec);
  validate_mount_namespace(spec);
  validate_sysctl(spec);
  validate_devices(spec.linux_.devices);
  validate_net_devices(spec);
  validate_paths(spec.linux_);
  if (spec.linux_.resources) {
    validate_resources(*spec.linux_.resources);
    const auto& memory = spec.linux_.resources->memory;
    if (memory && memory->swap.value_or(0) > 0 && memory->limit.value_or(0) == 0) {
      refuse("linux.resources.memory.swap", "needs a limit of memory, of which it is the sum with swap");
    }
  }
  if (spec.linux_.memory_policy) validate_memory_policy(*spec.linux_.memory_policy);
  if (spec.linux_.intel_rdt) validate_intel_rdt(*spec.linux_.intel_rdt);
  if (spec.linux_.seccomp) validate_seccomp(*spec.linux_.seccomp);
}

}  // namespace tare::oci
