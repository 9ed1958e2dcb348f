// The template of `tare spec`: as other runtimes write it, so that scripts that edit it still work,
// with the few differences named below.
#include "oci/names.hpp"
#include "oci/write.hpp"

namespace tare::oci {
namespace {

std::uint64_t bit(int capability) { return std::uint64_t{1} << capability; }

Process default_process() {
  constexpr int kKill = 5, kNetBindService = 10, kAuditWrite = 29;
  constexpr int kNoFile = 7;  // RLIMIT_NOFILE
  Process process;
  process.terminal = true;
  process.args = {"sh"};
  process.env = {"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "TERM=xterm"};
  process.cwd = "/";
  // No ambient ones: without inheritable ones they could not be granted, and inheritable ones would
  // give files with inheritable capabilities more than meant (CVE-2022-29162).
  const std::uint64_t caps = bit(kAuditWrite) | bit(kKill) | bit(kNetBindService);
  process.capabilities = Capabilities{.bounding = caps, .effective = caps, .permitted = caps};
  process.rlimits = {{kNoFile, 1024, 1024}};
  process.no_new_privileges = true;
  return process;
}

std::vector<Mount> default_mounts(bool rootless) {
  std::vector<Mount> mounts = {
      {"/proc", "proc", "proc", {}, {}, {}},
      {"/dev", "tmpfs", "tmpfs", {"nosuid", "strictatime", "mode=755", "size=65536k"}, {}, {}},
      {"/dev/pts", "devpts", "devpts", {"nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620"}, {}, {}},
      {"/dev/shm", "tmpfs", "shm", {"nosuid", "noexec", "nodev", "mode=1777", "size=65536k"}, {}, {}},
      {"/dev/mqueue", "mqueue", "mqueue", {"nosuid", "noexec", "nodev"}, {}, {}},
  };
  if (rootless) {
    // sysfs can be mounted only by the owner of the network namespace, which is the host's here.
    mounts.push_back({"/sys", "none", "/sys", {"rbind", "nosuid", "noexec", "nodev", "ro"}, {}, {}});
  } else {
    mounts[2].options.emplace_back("gid=5");  // tty; not mapped in a rootless container
    mounts.push_back({"/sys", "sysfs", "sysfs", {"nosuid", "noexec", "nodev", "ro"}, {}, {}});
  }
  mounts.push_back({"/sys/fs/cgroup", "cgroup", "cgroup", {"nosuid", "noexec", "nodev", "relatime", "ro"}, {}, {}});
  return mounts;
}

}  // namespace

Spec default_spec(bool rootless, std::uint32_t uid, std::uint32_t gid, bool cgroup_namespace) {
  Spec spec;
  spec.oci_version = "1.3.0";
  spec.process = default_process();
  spec.root = {"rootfs", true};
  spec.hostname = "tare";
  spec.mounts = default_mounts(rootless);

  Linux& out = spec.linux_;
  out.namespaces.push_back({NamespaceType::pid, ""});
  if (!rootless) out.namespaces.push_back({NamespaceType::network, ""});
  out.namespaces.push_back({NamespaceType::ipc, ""});
  out.namespaces.push_back({NamespaceType::uts, ""});
  out.namespaces.push_back({NamespaceType::mount, ""});
  if (cgroup_namespace) out.namespaces.push_back({NamespaceType::cgroup, ""});
  if (rootless) {
    out.namespaces.push_back({NamespaceType::user, ""});
    out.uid_mappings = {{0, uid, 1}};
    out.gid_mappings = {{0, gid, 1}};
  } else {
    DeviceRule none;
    none.access = "rwm";
    out.resources.emplace().devices = {none};
  }
  // What tells of the host or its hardware. Beyond the usual list: interrupts
  // counts what the neighbours do, powercap measures their energy (CVE-2020-8694).
  out.masked_paths = {"/proc/acpi",
                      "/proc/asound",
                      "/proc/interrupts",
                      "/proc/kcore",
                      "/proc/keys",
                      "/proc/latency_stats",
                      "/proc/sched_debug",
                      "/proc/scsi",
                      "/proc/timer_list",
                      "/proc/timer_stats",
                      "/sys/devices/virtual/powercap",
                      "/sys/firmware"};
  out.readonly_paths = {"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"};
  return spec;
}

}  // namespace tare::oci
