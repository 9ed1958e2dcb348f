// Capabilities by number, from capabilities(7) and linux/capability.h of Linux 5.9 and later.
#include <iterator>

#include "oci/names.hpp"

namespace tare::oci {
namespace {

constexpr std::string_view kNames[] = {
    "CAP_CHOWN",            // 0
    "CAP_DAC_OVERRIDE",     // 1
    "CAP_DAC_READ_SEARCH",  // 2
    "CAP_FOWNER",           // 3
    "CAP_FSETID",           // 4
    "CAP_KILL",             // 5
    "CAP_SETGID",           // 6
    "CAP_SETUID",           // 7
    "CAP_SETPCAP",          // 8
    "CAP_LINUX_IMMUTABLE",  // 9
    "CAP_NET_BIND_SERVICE",
    "CAP_NET_BROADCAST",
    "CAP_NET_ADMIN",
    "CAP_NET_RAW",
    "CAP_IPC_LOCK",
    "CAP_IPC_OWNER",
    "CAP_SYS_MODULE",
    "CAP_SYS_RAWIO",
    "CAP_SYS_CHROOT",
    "CAP_SYS_PTRACE",
    "CAP_SYS_PACCT",  // 20
    "CAP_SYS_ADMIN",
    "CAP_SYS_BOOT",
    "CAP_SYS_NICE",
    "CAP_SYS_RESOURCE",
    "CAP_SYS_TIME",
    "CAP_SYS_TTY_CONFIG",
    "CAP_MKNOD",
    "CAP_LEASE",
    "CAP_AUDIT_WRITE",
    "CAP_AUDIT_CONTROL",  // 30
    "CAP_SETFCAP",
    "CAP_MAC_OVERRIDE",
    "CAP_MAC_ADMIN",
    "CAP_SYSLOG",
    "CAP_WAKE_ALARM",
    "CAP_BLOCK_SUSPEND",
    "CAP_AUDIT_READ",
    "CAP_PERFMON",
    "CAP_BPF",
    "CAP_CHECKPOINT_RESTORE",  // 40
};
static_assert(std::size(kNames) == kLastCapability + 1);

}  // namespace

std::optional<int> capability_number(std::string_view name) {
  for (int i = 0; i <= kLastCapability; ++i) {
    if (kNames[i] == name) return i;
  }
  return std::nullopt;
}

std::string_view capability_name(int number) {
  return number >= 0 && number <= kLastCapability ? kNames[number] : std::string_view{};
}

}  // namespace tare::oci
