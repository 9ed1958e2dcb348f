// The top of config.json: version, root, mounts, hooks.
#include "oci/parse.hpp"

#include <utility>

#include "base/json.hpp"
#include "oci/parse_detail.hpp"
#include "oci/read.hpp"
#include "oci/validate.hpp"

namespace tare::oci {

IdMapping id_mapping_from(const json::Field& object) {
  IdMapping mapping;
  mapping.container_id = static_cast<std::uint32_t>(object.member("containerID").uint64(kLargestId));
  mapping.host_id = static_cast<std::uint32_t>(object.member("hostID").uint64(kLargestId));
  mapping.size = integer<std::uint32_t>(object.member("size"));
  return mapping;
}

namespace {

Mount mount_from(const json::Field& object) {
  Mount mount;
  mount.destination = object.member("destination").string();
  read(object, "type", mount.type);
  read(object, "source", mount.source);
  read(object, "options", mount.options);
  each(object, "uidMappings", [&](const json::Field& entry) { mount.uid_mappings.push_back(id_mapping_from(entry)); });
  each(object, "gidMappings", [&](const json::Field& entry) { mount.gid_mappings.push_back(id_mapping_from(entry)); });
  return mount;
}

std::vector<Hook> hooks_from(const json::Field& object, std::string_view key) {
  std::vector<Hook> hooks;
  each(object, key, [&](const json::Field& entry) {
    Hook& hook = hooks.emplace_back();
    hook.path = entry.member("path").string();
    read(entry, "args", hook.args);
    read(entry, "env", hook.env);
    read(entry, "timeout", hook.timeout);
  });
  return hooks;
}

Hooks hooks_from(const json::Field& object) {
  return {hooks_from(object, "prestart"),        hooks_from(object, "createRuntime"),
          hooks_from(object, "createContainer"), hooks_from(object, "startContainer"),
          hooks_from(object, "poststart"),       hooks_from(object, "poststop")};
}

}  // namespace

Spec parse_spec(std::string text, const std::string& file_name, Warnings& warnings) {
  const json::Document document(std::move(text), file_name);
  const json::Field top = document.root();
  Spec spec;
  spec.oci_version = top.member("ociVersion").string();
  if (const auto process = top.member("process")) spec.process = process_from(process, warnings);
  if (const auto root = top.member("root")) {
    spec.root.path = root.member("path").string();
    read(root, "readonly", spec.root.readonly);
  }
  read(top, "hostname", spec.hostname);
  read(top, "domainname", spec.domainname);
  each(top, "mounts", [&](const json::Field& entry) { spec.mounts.push_back(mount_from(entry)); });
  if (const auto hooks = top.member("hooks")) spec.hooks = hooks_from(hooks);
  read(top, "annotations", spec.annotations);
  if (const auto object = top.member("linux")) spec.linux_ = linux_from(object, warnings);
  return spec;
}

Process parse_process(std::string text, const std::string& file_name, Warnings& warnings) {
  const json::Document document(std::move(text), file_name);
  return process_from(document.root(), warnings);
}

Resources parse_resources(std::string text, const std::string& file_name) {
  const json::Document document(std::move(text), file_name);
  return resources_from(document.root());
}

Seccomp parse_seccomp(std::string text, const std::string& file_name) {
  const json::Document document(std::move(text), file_name);
  return seccomp_from(document.root());
}

}  // namespace tare::oci
