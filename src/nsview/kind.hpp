// The kinds of namespaces, in one order everywhere, with their names in /proc/PID/ns and their flags.
// Source: namespaces(7).
#pragma once

#include <sched.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080
#endif

namespace tare::nsview {

enum class Kind : std::uint8_t { cgroup, ipc, mnt, net, pid, time, user, uts };
inline constexpr std::size_t kKinds = 8;

struct KindInfo {
  const char* name;  // as in /proc/PID/ns
  const char* link;  // "ns/pid"
  int flag;          // CLONE_NEW*
};
inline constexpr std::array<KindInfo, kKinds> kKindInfo = {{{"cgroup", "ns/cgroup", CLONE_NEWCGROUP},
                                                            {"ipc", "ns/ipc", CLONE_NEWIPC},
                                                            {"mnt", "ns/mnt", CLONE_NEWNS},
                                                            {"net", "ns/net", CLONE_NEWNET},
                                                            {"pid", "ns/pid", CLONE_NEWPID},
                                                            {"time", "ns/time", CLONE_NEWTIME},
                                                            {"user", "ns/user", CLONE_NEWUSER},
                                                            {"uts", "ns/uts", CLONE_NEWUTS}}};
constexpr std::size_t index_of(Kind kind) { return static_cast<std::size_t>(kind); }
constexpr std::string_view name_of(Kind kind) { return kKindInfo[index_of(kind)].name; }

// Which namespaces a process is in: their inode numbers on nsfs, 0 where that can't be read. At one moment a number is
// one namespace's; later it may be another's.
using Inodes = std::array<std::uint64_t, kKinds>;

// "pid:[4026531836]", as /proc/PID/ns, descriptors and mountinfo show it.
struct NamespaceName {
  Kind kind{};
  std::uint64_t inode = 0;
};
std::optional<NamespaceName> parse_namespace(std::string_view text);

}  // namespace tare::nsview
