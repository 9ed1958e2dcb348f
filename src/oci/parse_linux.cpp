// The object linux of config.json, but for its resources and its seccomp filter.
#include <sys/stat.h>

#include "oci/names.hpp"
#include "oci/parse_detail.hpp"
#include "oci/read.hpp"

namespace tare::oci {
namespace {

Namespace namespace_from(const json::Field& object) {
  Namespace entry;
  const auto type = object.member("type");
  entry.type = word(type, namespace_type, "namespace type");
  read(object, "path", entry.path);
  return entry;
}

std::optional<TimeOffset> time_offset_from(const json::Field& object) {
  if (!object) return std::nullopt;
  TimeOffset offset;
  read(object, "secs", offset.secs);
  if (const auto nanosecs = object.member("nanosecs")) {
    offset.nanosecs = static_cast<std::uint32_t>(nanosecs.uint64(999999999));
  }
  return offset;
}

Device device_from(const json::Field& object) {
  Device device;
  const auto type = object.member("type");
  const auto name = type.string_view();
  if (name.size() != 1 || std::string_view("cbup").find(name) == std::string_view::npos) {
    type.fail(cat("unknown device type ", quoted(name), ", known are c, b, u and p"));
  }
  device.type = name.front();
  device.path = object.member("path").string();
  while (device.path.size() > 1 && device.path.ends_with('/')) device.path.pop_back();
  if (device.type != 'p') {
    // The widths of the kernel's dev_t.
    device.major = object.member("major").int64(0, (1 << 12) - 1);
    device.minor = object.member("minor").int64(0, (1 << 20) - 1);
  }
  if (const auto mode = object.member("fileMode")) {
    // Some write the file's type along (stat's st_mode); the type is said by `type`.
    device.file_mode = static_cast<std::uint32_t>(mode.uint64(S_IFMT | 07777)) & 07777U;
  }
  read_id(object, "uid", device.uid);
  read_id(object, "gid", device.gid);
  return device;
}

void read_time_offsets(const json::Field& object, Linux& out, Warnings& warnings) {
  const auto offsets = object.member("timeOffsets");
  if (!offsets) return;
  const auto monotonic = offsets.member("monotonic");
  const auto boottime = offsets.member("boottime");
  out.monotonic_offset = time_offset_from(monotonic);
  out.boottime_offset = time_offset_from(boottime);
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    const auto key = offsets.member_at(i).key();
    if (key != "monotonic" && key != "boottime") {
      warnings.push_back(cat(offsets.path(), ": unknown clock ", quoted(key), " left out"));
    }
  }
}

Personality personality_from(const json::Field& object) {
  Personality personality;
  const auto domain = object.member("domain");
  personality.domain = word(domain, personality_domain, "execution domain");
  if (const auto flags = object.member("flags"); flags && !flags.strings().empty()) {
    flags.fail("no flags are supported");
  }
  return personality;
}

IntelRdt intel_rdt_from(const json::Field& object) {
  IntelRdt rdt;
  read(object, "closID", rdt.clos_id);
  read(object, "schemata", rdt.schemata);
  read(object, "l3CacheSchema", rdt.l3_cache_schema);
  read(object, "memBwSchema", rdt.mem_bw_schema);
  read(object, "enableMonitoring", rdt.enable_monitoring);
  return rdt;
}

MemoryPolicy memory_policy_from(const json::Field& object) {
  MemoryPolicy policy;
  const auto mode = object.member("mode");
  word(mode, memory_policy_mode, "memory policy");
  policy.mode = mode.string();
  read(object, "nodes", policy.nodes);
  each(object, "flags", [&](const json::Field& entry) {
    word(entry, memory_policy_flag, "flag");
    policy.flags.emplace_back(entry.string_view());
  });
  return policy;
}

}  // namespace

Linux linux_from(const json::Field& object, Warnings& warnings) {
  Linux out;
  each(object, "namespaces", [&](const json::Field& entry) { out.namespaces.push_back(namespace_from(entry)); });
  each(object, "uidMappings", [&](const json::Field& entry) { out.uid_mappings.push_back(id_mapping_from(entry)); });
  each(object, "gidMappings", [&](const json::Field& entry) { out.gid_mappings.push_back(id_mapping_from(entry)); });
  read_time_offsets(object, out, warnings);
  each(object, "devices", [&](const json::Field& entry) { out.devices.push_back(device_from(entry)); });
  each_member(object, "netDevices", [&](const json::Field& entry) {
    std::string inside(entry.key());
    read(entry, "name", inside);
    out.net_devices[std::string(entry.key())] = inside;
  });
  read(object, "cgroupsPath", out.cgroups_path);
  if (const auto resources = object.member("resources")) out.resources = resources_from(resources);
  if (const auto rdt = object.member("intelRdt")) out.intel_rdt = intel_rdt_from(rdt);
  if (const auto policy = object.member("memoryPolicy")) out.memory_policy = memory_policy_from(policy);
  read(object, "sysctl", out.sysctl);
  if (const auto seccomp = object.member("seccomp")) out.seccomp = seccomp_from(seccomp);
  read(object, "rootfsPropagation", out.rootfs_propagation);
  read(object, "maskedPaths", out.masked_paths);
  read(object, "readonlyPaths", out.readonly_paths);
  read(object, "mountLabel", out.mount_label);
  if (const auto personality = object.member("personality")) out.personality = personality_from(personality);
  return out;
}

}  // namespace tare::oci
