#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cgroup/cgroup.hpp"

namespace tare::cgroup {
namespace {

constexpr std::string_view kField = "linux.cgroupsPath";

// The path without empty and "." components and without slashes at its ends.
std::string normalize(std::string_view path) {
  std::string out;
  for (const std::string_view part : split(path, '/')) {
    if (part.empty() || part == ".") continue;
    const char* wrong = part == ".."                                      ? "leaves its place"
                        : part.find('\0') != part.npos                    ? "holds a NUL"
                        : part.find('\n') != part.npos /* cgroup_mkdir */ ? "holds a newline"
                        : part.size() > 255                               ? "has a name of more than 255 bytes"
                                                                          : nullptr;
    if (wrong != nullptr) throw Error(ErrorKind::invalid_spec, cat(kField, ": ", quoted(path), " ", wrong));
    if (!out.empty()) out += '/';
    out += part;
  }
  // The root is everyone's: a container there could not be told from the host, and kill would end both.
  if (out.empty()) throw Error(ErrorKind::invalid_spec, cat(kField, ": ", quoted(path), " is the root cgroup"));
  return out;
}

// "/a/b" -> "a/b/", "/" -> "".
std::string as_prefix(std::string_view own) {
  while (own.starts_with('/')) own.remove_prefix(1);
  while (own.ends_with('/')) own.remove_suffix(1);
  return own.empty() ? std::string() : cat(own, '/');
}

std::string_view parent_of(std::string_view own) {
  const std::size_t slash = own.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : own.substr(0, slash);
}

// The controllers that the fields of `resources` need, by their cgroup2 names.
std::vector<std::string> needed(const oci::Resources* resources) {
  std::vector<std::string> names;
  const auto add = [&](bool wanted, std::string_view name) {
    if (wanted && std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
  };
  if (resources == nullptr) return names;
  const oci::Resources& r = *resources;
  if (r.memory) {
    const oci::MemoryResources& m = *r.memory;
    add(m.limit || m.reservation || m.swap || m.kernel || m.kernel_tcp || m.swappiness || m.disable_oom_killer ||
            m.use_hierarchy,
        "memory");
  }
  if (r.cpu) {
    const oci::CpuResources& c = *r.cpu;
    add(c.shares || c.quota || c.burst || c.period || c.realtime_runtime || c.realtime_period || c.idle, "cpu");
    add(!c.cpus.empty() || !c.mems.empty(), "cpuset");
  }
  add(r.pids_limit.has_value(), "pids");
  add(r.block_io.has_value(), "io");
  add(!r.hugepage_limits.empty(), "hugetlb");
  add(!r.rdma.empty(), "rdma");
  if (r.network) {
    add(r.network->class_id.has_value(), "net_cls");
    add(!r.network->priorities.empty(), "net_prio");
  }
  for (const auto& [key, value] : r.unified) {
    const std::string_view controller = std::string_view(key).substr(0, key.find('.'));
    add(controller != "cgroup", controller);
  }
  return names;
}

// v1 calls io blkio.
std::string_view v1_name(std::string_view controller) { return controller == "io" ? "blkio" : controller; }

bool always_used(const facts::Hierarchy& hierarchy) {
  constexpr std::array<std::string_view, 8> kAlways = {"cpu",     "cpuacct", "memory", "devices",
                                                       "freezer", "blkio",   "pids",   "name=systemd"};
  return std::any_of(hierarchy.controllers.begin(), hierarchy.controllers.end(), [&](const std::string& name) {
    return std::find(kAlways.begin(), kAlways.end(), name) != kAlways.end();
  });
}

bool has(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

const Entry* Location::v2() const {
  for (const Entry& entry : entries)
    if (entry.v2) return &entry;
  return nullptr;
}

const Entry* Location::find(std::string_view controller) const {
  for (const Entry& entry : entries)
    if (!entry.v2 && has(entry.controllers, controller)) return &entry;
  return v2();
}

Location locate(const facts::Cgroups& cgroups, std::string_view cgroups_path, std::string_view id,
                const oci::Resources* resources) {
  Location location;
  location.layout = cgroups.layout;
  const bool absolute = cgroups_path.empty() || cgroups_path.starts_with('/');
  const std::string path = normalize(cgroups_path.empty() ? id : cgroups_path);

  // A cgroup2 controller that a v1 hierarchy has is not to be had on cgroup2.
  std::vector<std::string> on_v2 = needed(resources);
  const std::vector<std::string> all = on_v2;
  for (const facts::Hierarchy& hierarchy : cgroups.hierarchies)
    std::erase_if(on_v2, [&](const std::string& name) { return has(hierarchy.controllers, v1_name(name)); });
  // These are v1's alone: apply() says so.
  std::erase_if(on_v2, [](const std::string& name) { return name.starts_with("net_"); });

  location.entries.reserve(cgroups.hierarchies.size());
  for (const facts::Hierarchy& hierarchy : cgroups.hierarchies) {
    const bool asked = std::any_of(all.begin(), all.end(),
                                   [&](const std::string& name) { return has(hierarchy.controllers, v1_name(name)); });
    if (!hierarchy.v2 && !asked && !always_used(hierarchy)) continue;
    Entry& entry = location.entries.emplace_back();
    entry.mount_point = hierarchy.mount_point;
    entry.controllers = hierarchy.v2 ? on_v2 : hierarchy.controllers;
    entry.v2 = hierarchy.v2;
    entry.root = hierarchy.root;
    const std::string_view own = hierarchy.own_path;
    entry.path = absolute ? path : cat(as_prefix(hierarchy.v2 ? parent_of(own) : own), path);
  }
  return location;
}

}  // namespace tare::cgroup
