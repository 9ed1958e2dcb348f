// The texts of /proc, taken apart. Pure; what is not as expected gives nothing or stays as it was.
// Source: proc_pid_stat(5), proc_pid_status(5), cgroups(7), proc_pid_mountinfo(5).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nsview/kind.hpp"

namespace tare::nsview {

struct Stat {
  pid_t pid = 0, ppid = 0, group = 0, session = 0;
  char state = '?';
  int tty = 0;
  std::uint64_t flags = 0;  // PF_*
  std::uint64_t user_ticks = 0, system_ticks = 0;
  std::uint64_t start = 0;  // ticks after boot
  std::uint32_t threads = 0;
  std::uint64_t virtual_bytes = 0;
  std::string_view name;  // as it is, whatever it holds
};
std::optional<Stat> parse_stat(std::string_view text);

struct Status {
  std::uint32_t uid = 0;       // effective
  pid_t group_leader = 0;      // Tgid
  std::vector<pid_t> numbers;  // NSpid: the number in /proc's own namespace first, the innermost last
  std::uint64_t resident = 0;  // bytes; stat's figure lags behind
};
std::optional<Status> parse_status(std::string_view text);

// One line of /proc/PID/cgroup.
struct CgroupLine {
  std::string_view controllers;  // "cpu,cpuacct", "name=systemd"; empty for cgroup2
  std::string_view path;
};
std::optional<CgroupLine> parse_cgroup_line(std::string_view line);

// The lines of a mountinfo whose mount is a namespace.
struct NamespaceMount {
  NamespaceName name;
  std::string point;  // unescaped
};
std::vector<NamespaceMount> namespace_mounts(std::string_view mountinfo);

}  // namespace tare::nsview
