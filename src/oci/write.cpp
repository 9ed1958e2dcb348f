// The top of config.json, in the order in which the specification and other tools write it.
#include "oci/write.hpp"

#include "oci/names.hpp"
#include "oci/write_detail.hpp"

namespace tare::oci {

void write_value(json::Writer& out, const IdMapping& mapping) {
  out.begin_object();
  number(out, "containerID", mapping.container_id);
  number(out, "hostID", mapping.host_id);
  number(out, "size", mapping.size);
  out.end_object();
}

namespace {

void write_value(json::Writer& out, const Mount& mount) {
  out.begin_object();
  out.key("destination").string(mount.destination);
  write(out, "type", mount.type);
  write(out, "source", mount.source);
  write(out, "options", mount.options);
  const auto mapping = [&](const IdMapping& entry) { oci::write_value(out, entry); };
  write_each(out, "uidMappings", mount.uid_mappings, mapping);
  write_each(out, "gidMappings", mount.gid_mappings, mapping);
  out.end_object();
}

void write_hooks(json::Writer& out, std::string_view key, const std::vector<Hook>& hooks) {
  write_each(out, key, hooks, [&](const Hook& hook) {
    out.begin_object();
    out.key("path").string(hook.path);
    write(out, "args", hook.args);
    write(out, "env", hook.env);
    write(out, "timeout", hook.timeout);
    out.end_object();
  });
}

void write_hooks(json::Writer& out, const Hooks& hooks) {
  if (hooks == Hooks{}) return;
  out.key("hooks").begin_object();
  write_hooks(out, "prestart", hooks.prestart);
  write_hooks(out, "createRuntime", hooks.create_runtime);
  write_hooks(out, "createContainer", hooks.create_container);
  write_hooks(out, "startContainer", hooks.start_container);
  write_hooks(out, "poststart", hooks.poststart);
  write_hooks(out, "poststop", hooks.poststop);
  out.end_object();
}

}  // namespace

std::string write_spec(const Spec& spec, int indent) {
  json::Writer out(indent);
  out.begin_object();
  out.key("ociVersion").string(spec.oci_version);
  if (spec.process) {
    out.key("process");
    write_value(out, *spec.process);
  }
  if (spec.root != Root{}) {
    out.key("root").begin_object();
    out.key("path").string(spec.root.path);
    out.key("readonly").boolean(spec.root.readonly);
    out.end_object();
  }
  write(out, "hostname", spec.hostname);
  write(out, "domainname", spec.domainname);
  write_each(out, "mounts", spec.mounts, [&](const Mount& mount) { write_value(out, mount); });
  write_hooks(out, spec.hooks);
  write(out, "annotations", spec.annotations);
  if (spec.linux_ != Linux{}) {
    out.key("linux");
    write_value(out, spec.linux_);
  }
  out.end_object();
  return out.take();
}

std::string write_process(const Process& process, int indent) {
  json::Writer out(indent);
  write_value(out, process);
  return out.take();
}

}  // namespace tare::oci
