// The rules for the top of config.json, in the order of the specification.
#include "oci/validate.hpp"

#include <algorithm>

#include "oci/refuse.hpp"

namespace tare::oci {
namespace {

bool is_identifiers(std::string_view text) {
  for (const auto part : split(text, '.')) {
    const bool good = std::ranges::all_of(part, [](char c) {
      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
    });
    if (part.empty() || !good) return false;
  }
  return true;
}

// Semantic Versioning 2.0: MAJOR.MINOR.PATCH[-PRERELEASE][+BUILD]. Every 1.x is taken, those to come
// too: a minor version only adds.
void validate_version(const std::string& version) {
  const auto wrong = [&] { refuse("ociVersion", cat(quoted(version), " is no version like 1.2.0")); };
  std::string_view rest = version;
  if (const auto plus = rest.find('+'); plus != std::string_view::npos) {
    if (!is_identifiers(rest.substr(plus + 1))) wrong();
    rest = rest.substr(0, plus);
  }
  if (const auto minus = rest.find('-'); minus != std::string_view::npos) {
    if (!is_identifiers(rest.substr(minus + 1))) wrong();
    rest = rest.substr(0, minus);
  }
  const auto numbers = split(rest, '.');
  if (numbers.size() != 3) wrong();
  for (const auto number : numbers) {
    if (!parse_number<unsigned>(number) || (number.size() > 1 && number.front() == '0')) wrong();
  }
  if (numbers.front() != "1") refuse("ociVersion", cat(quoted(version), " is not supported, 1.x is"));
}

void validate_hooks(const std::vector<Hook>& hooks, std::string_view name) {
  for (std::size_t i = 0; i < hooks.size(); ++i) {
    const auto field = [&](std::string_view member) { return element(cat("hooks.", name), i, member); };
    if (!hooks[i].path.starts_with('/')) refuse(field("path"), cat(quoted(hooks[i].path), " is not absolute"));
    if (hooks[i].timeout && *hooks[i].timeout <= 0) refuse(field("timeout"), "must be above 0");
    for (std::size_t k = 0; k < hooks[i].env.size(); ++k) {
      if (hooks[i].env[k].find('=') == std::string::npos || hooks[i].env[k].front() == '=') {
        refuse(element(field("env"), k), cat(quoted(hooks[i].env[k]), " is not NAME=VALUE"));
      }
    }
  }
}

void validate_hooks(const Hooks& hooks) {
  validate_hooks(hooks.prestart, "prestart");
  validate_hooks(hooks.create_runtime, "createRuntime");
  validate_hooks(hooks.create_container, "createContainer");
  validate_hooks(hooks.start_container, "startContainer");
  validate_hooks(hooks.poststart, "poststart");
  validate_hooks(hooks.poststop, "poststop");
}

// In a shared UTS namespace these would rename the host.
void validate_names(const Spec& spec) {
  constexpr std::size_t kLongest = 64;  // __NEW_UTS_LEN
  const auto check = [&](std::string_view field, const std::string& name) {
    if (name.empty()) return;
    if (!spec.find_namespace(NamespaceType::uts)) refuse(field, "needs a uts namespace in linux.namespaces");
    if (name.size() > kLongest) refuse(field, cat("is longer than ", kLongest, " bytes"));
  };
  check("hostname", spec.hostname);
  check("domainname", spec.domainname);
}

void refuse_unbuilt(const Linux& spec) {
  if (!spec.mount_label.empty()) unbuilt("linux.mountLabel");
  if (!spec.net_devices.empty()) unbuilt("linux.netDevices");
  if (spec.intel_rdt) unbuilt("linux.intelRdt");
  if (spec.memory_policy) unbuilt("linux.memoryPolicy");
}

}  // namespace

void validate(const Spec& spec, Warnings& warnings) {
  validate_version(spec.oci_version);
  if (spec.root.path.empty()) refuse("root.path", "missing");
  if (spec.process) validate_process(*spec.process, warnings);
  validate_names(spec);
  validate_mounts(spec, warnings);
  validate_hooks(spec.hooks);
  if (spec.annotations.contains("")) refuse("annotations", "a key is empty");
  validate_linux(spec);
  refuse_unbuilt(spec.linux_);
}

void check_id(std::string_view id) {
  const auto wrong = [&](std::string_view why) {
    throw Error(ErrorKind::usage, cat("container id ", quoted(id.substr(0, 300)), " ", why));
  };
  if (id.empty()) wrong("is empty");
  if (id.size() > 255) wrong("is longer than 255 bytes");
  const bool good = std::ranges::all_of(id, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view("_+.-").find(c) != std::string_view::npos;
  });
  if (!good) wrong("may hold only letters, digits and _ + . -");
  if (id.front() == '.' || id.front() == '-') wrong("must not begin with '.' or '-'");
}

std::string clean_path(std::string_view path) {
  std::string clean;
  for (const auto part : split(path, '/')) {
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      clean.erase(std::min(clean.size(), clean.rfind('/')));
      continue;
    }
    clean += '/';
    clean += part;
  }
  return clean.empty() ? "/" : clean;
}

bool is_number_list(std::string_view text) {
  for (const auto part : split(text, ',')) {
    const auto dash = part.find('-');
    const auto first = parse_number<std::uint16_t>(part.substr(0, dash));
    if (!first) return false;
    if (dash == std::string_view::npos) continue;
    const auto last = parse_number<std::uint16_t>(part.substr(dash + 1));
    if (!last || *last < *first) return false;
  }
  return true;
}

}  // namespace tare::oci
