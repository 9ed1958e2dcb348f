// The answer of `tare features`: runtime-spec, features.md and features-linux.md.
//
// True to what this program does, and nothing that is not built yet: a client believes it.
#include <algorithm>
#include <iterator>

#include "base/json.hpp"
#include "oci/mount_options.hpp"
#include "oci/names.hpp"
#include "oci/write.hpp"

namespace tare::oci {
namespace {

void enabled(json::Writer& out, std::string_view key, bool value) {
  out.key(key).begin_object().key("enabled").boolean(value).end_object();
}

void write_names(json::Writer& out, std::string_view key, std::span<const std::string_view> names) {
  out.key(key).begin_array();
  for (const auto name : names) out.string(name);
  out.end_array();
}

// Known, and refused as long as nothing does them: mounts with mappings of their own, a remount by
// itself, a listener for system calls.
constexpr std::string_view kUnbuiltMountOptions[] = {"idmap", "remount", "ridmap"};
constexpr std::string_view kUnbuiltAction = "SCMP_ACT_NOTIFY";
// The fourth is heeded by the kernel only together with a listener.
constexpr std::string_view kBuiltFlags[] = {"SECCOMP_FILTER_FLAG_LOG", "SECCOMP_FILTER_FLAG_SPEC_ALLOW",
                                            "SECCOMP_FILTER_FLAG_TSYNC"};

// What libseccomp 2.5 knows of the specification's architectures.
constexpr std::string_view kBuiltArchitectures[] = {
    "SCMP_ARCH_AARCH64", "SCMP_ARCH_ARM",      "SCMP_ARCH_MIPS",        "SCMP_ARCH_MIPS64",  "SCMP_ARCH_MIPS64N32",
    "SCMP_ARCH_MIPSEL",  "SCMP_ARCH_MIPSEL64", "SCMP_ARCH_MIPSEL64N32", "SCMP_ARCH_PARISC",  "SCMP_ARCH_PARISC64",
    "SCMP_ARCH_PPC",     "SCMP_ARCH_PPC64",    "SCMP_ARCH_PPC64LE",     "SCMP_ARCH_RISCV64", "SCMP_ARCH_S390",
    "SCMP_ARCH_S390X",   "SCMP_ARCH_X32",      "SCMP_ARCH_X86",         "SCMP_ARCH_X86_64"};

void write_seccomp(json::Writer& out) {
  out.key("seccomp").begin_object();
  out.key("enabled").boolean(true);
  out.key("actions").begin_array();
  for (const auto action : seccomp_actions()) {
    if (action != kUnbuiltAction) out.string(action);
  }
  out.end_array();
  write_names(out, "operators", seccomp_operators());
  write_names(out, "archs", kBuiltArchitectures);
  write_names(out, "knownFlags", seccomp_flags());
  write_names(out, "supportedFlags", kBuiltFlags);
  out.end_object();
}

void write_linux(json::Writer& out) {
  out.key("linux").begin_object();
  constexpr std::string_view kNamespaces[] = {"cgroup", "ipc", "mount", "network", "pid", "time", "user", "uts"};
  write_names(out, "namespaces", kNamespaces);
  out.key("capabilities").begin_array();
  for (int i = 0; i <= kLastCapability; ++i) out.string(capability_name(i));
  out.end_array();
  out.key("cgroup").begin_object();
  out.key("v1").boolean(true);
  out.key("v2").boolean(true);
  out.key("systemd").boolean(false);
  out.key("systemdUser").boolean(false);
  out.key("rdma").boolean(false);
  out.end_object();
  write_seccomp(out);
  enabled(out, "apparmor", true);
  enabled(out, "selinux", false);
  enabled(out, "intelRdt", false);
  out.key("mountExtensions").begin_object();
  enabled(out, "idmap", false);
  out.end_object();
  enabled(out, "netDevices", false);
  out.end_object();
}

}  // namespace

std::string features_json(int indent) {
  json::Writer out(indent);
  out.begin_object();
  out.key("ociVersionMin").string("1.0.0");
  out.key("ociVersionMax").string("1.3.0");
  constexpr std::string_view kHooks[] = {"prestart",       "createRuntime", "createContainer",
                                         "startContainer", "poststart",     "poststop"};
  write_names(out, "hooks", kHooks);
  out.key("mountOptions").begin_array();
  for (const auto option : known_mount_options()) {
    if (std::ranges::find(kUnbuiltMountOptions, option) == std::end(kUnbuiltMountOptions)) out.string(option);
  }
  out.end_array();
  write_linux(out);
  out.key("annotations").begin_object();
  out.key("dev.tare.version").string(TARE_VERSION);
  out.key("dev.tare.checkpoint.enabled").string("false");
  out.end_object();
  constexpr std::string_view kUnsafe[] = {kAnnotationRootOverlay};
  write_names(out, "potentiallyUnsafeConfigAnnotations", kUnsafe);
  out.end_object();
  return out.take();
}

}  // namespace tare::oci
