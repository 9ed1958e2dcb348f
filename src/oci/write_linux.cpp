// The object linux, but for resources.
#include "oci/names.hpp"
#include "oci/write_detail.hpp"

namespace tare::oci {
namespace {

void write_time_offsets(json::Writer& out, const Linux& spec) {
  if (!spec.monotonic_offset && !spec.boottime_offset) return;
  const auto write_offset = [&](std::string_view key, const std::optional<TimeOffset>& offset) {
    if (!offset) return;
    out.key(key).begin_object();
    number(out, "secs", offset->secs);
    number(out, "nanosecs", offset->nanosecs);
    out.end_object();
  };
  out.key("timeOffsets").begin_object();
  write_offset("monotonic", spec.monotonic_offset);
  write_offset("boottime", spec.boottime_offset);
  out.end_object();
}

void write_value(json::Writer& out, const Device& device) {
  out.begin_object();
  out.key("type").string(std::string_view(&device.type, 1));
  out.key("path").string(device.path);
  if (device.type != 'p') {
    number(out, "major", device.major);
    number(out, "minor", device.minor);
  }
  write(out, "fileMode", device.file_mode);
  write(out, "uid", device.uid);
  write(out, "gid", device.gid);
  out.end_object();
}

void write_intel_rdt(json::Writer& out, const IntelRdt& rdt) {
  out.key("intelRdt").begin_object();
  write(out, "closID", rdt.clos_id);
  write(out, "schemata", rdt.schemata);
  write(out, "l3CacheSchema", rdt.l3_cache_schema);
  write(out, "memBwSchema", rdt.mem_bw_schema);
  if (rdt.enable_monitoring) out.key("enableMonitoring").boolean(true);
  out.end_object();
}

void write_memory_policy(json::Writer& out, const MemoryPolicy& policy) {
  out.key("memoryPolicy").begin_object();
  out.key("mode").string(policy.mode);
  write(out, "nodes", policy.nodes);
  write(out, "flags", policy.flags);
  out.end_object();
}

}  // namespace

void write_value(json::Writer& out, const Seccomp& seccomp) {
  out.begin_object();
  out.key("defaultAction").string(seccomp.default_action);
  write(out, "defaultErrnoRet", seccomp.default_errno_ret);
  write(out, "architectures", seccomp.architectures);
  write(out, "flags", seccomp.flags);
  write(out, "listenerPath", seccomp.listener_path);
  write(out, "listenerMetadata", seccomp.listener_metadata);
  write_each(out, "syscalls", seccomp.syscalls, [&](const SeccompRule& rule) {
    out.begin_object();
    out.key("names").strings(rule.names);
    out.key("action").string(rule.action);
    write(out, "errnoRet", rule.errno_ret);
    write_each(out, "args", rule.args, [&](const SeccompArg& arg) {
      out.begin_object();
      number(out, "index", arg.index);
      number(out, "value", arg.value);
      if (arg.value_two != 0) number(out, "valueTwo", arg.value_two);
      out.key("op").string(arg.op);
      out.end_object();
    });
    out.end_object();
  });
  out.end_object();
}

void write_value(json::Writer& out, const Linux& spec) {
  out.begin_object();
  const auto mapping = [&](const IdMapping& entry) { oci::write_value(out, entry); };
  write_each(out, "uidMappings", spec.uid_mappings, mapping);
  write_each(out, "gidMappings", spec.gid_mappings, mapping);
  write(out, "sysctl", spec.sysctl);
  if (spec.resources) {
    out.key("resources");
    write_value(out, *spec.resources);
  }
  write(out, "cgroupsPath", spec.cgroups_path);
  write_each(out, "namespaces", spec.namespaces, [&](const Namespace& entry) {
    out.begin_object();
    out.key("type").string(namespace_name(entry.type));
    write(out, "path", entry.path);
    out.end_object();
  });
  write_time_offsets(out, spec);
  write_each(out, "devices", spec.devices, [&](const Device& device) { write_value(out, device); });
  if (!spec.net_devices.empty()) {
    out.key("netDevices").begin_object();
    for (const auto& [outside, inside] : spec.net_devices) {
      out.key(outside).begin_object();
      if (inside != outside) out.key("name").string(inside);
      out.end_object();
    }
    out.end_object();
  }
  if (spec.seccomp) {
    out.key("seccomp");
    write_value(out, *spec.seccomp);
  }
  write(out, "rootfsPropagation", spec.rootfs_propagation);
  write(out, "maskedPaths", spec.masked_paths);
  write(out, "readonlyPaths", spec.readonly_paths);
  write(out, "mountLabel", spec.mount_label);
  if (spec.personality) {
    out.key("personality").begin_object();
    out.key("domain").string(personality_domain_name(spec.personality->domain));
    out.end_object();
  }
  if (spec.intel_rdt) write_intel_rdt(out, *spec.intel_rdt);
  if (spec.memory_policy) write_memory_policy(out, *spec.memory_policy);
  out.end_object();
}

}  // namespace tare::oci
