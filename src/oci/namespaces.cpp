// Namespaces, from namespaces(7) and linux/sched.h.
#include "base/error.hpp"
#include "oci/names.hpp"

namespace tare::oci {
namespace {

struct NamespaceNames {
  NamespaceType type;
  std::string_view name;       // in config.json
  std::string_view proc_name;  // in /proc/PID/ns
  std::uint64_t clone_flag;
};

constexpr NamespaceNames kNamespaces[] = {
    {NamespaceType::pid, "pid", "pid", 0x20000000},           // CLONE_NEWPID
    {NamespaceType::network, "network", "net", 0x40000000},   // CLONE_NEWNET
    {NamespaceType::mount, "mount", "mnt", 0x00020000},       // CLONE_NEWNS
    {NamespaceType::ipc, "ipc", "ipc", 0x08000000},           // CLONE_NEWIPC
    {NamespaceType::uts, "uts", "uts", 0x04000000},           // CLONE_NEWUTS
    {NamespaceType::user, "user", "user", 0x10000000},        // CLONE_NEWUSER
    {NamespaceType::cgroup, "cgroup", "cgroup", 0x02000000},  // CLONE_NEWCGROUP
    {NamespaceType::time, "time", "time", 0x00000080},        // CLONE_NEWTIME: unshare(2) and clone3(2) only
};

const NamespaceNames& names_of(NamespaceType type) {
  for (const auto& entry : kNamespaces) {
    if (entry.type == type) return entry;
  }
  throw Error(ErrorKind::bug, "a namespace type without a name");
}

}  // namespace

std::optional<NamespaceType> namespace_type(std::string_view name) {
  for (const auto& entry : kNamespaces) {
    if (entry.name == name) return entry.type;
  }
  return std::nullopt;
}

std::string_view namespace_name(NamespaceType type) { return names_of(type).name; }
std::string_view namespace_proc_name(NamespaceType type) { return names_of(type).proc_name; }
std::uint64_t namespace_clone_flag(NamespaceType type) { return names_of(type).clone_flag; }

const Namespace* Spec::find_namespace(NamespaceType type) const {
  for (const auto& entry : linux_.namespaces) {
    if (entry.type == type) return &entry;
  }
  return nullptr;
}

bool Spec::has_new_namespace(NamespaceType type) const {
  const auto* entry = find_namespace(type);
  return entry && entry->path.empty();
}

}  // namespace tare::oci
