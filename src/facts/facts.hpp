// What this kernel, its cgroup layout and its LSMs can do, as a plain struct.
//
// For: pure code (plan) that decides by it; host::facts() fills it once from the machine, tests
// fill it by hand. Nothing here touches the kernel.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tare::facts {

struct Version {
  int major = 0, minor = 0;
  bool at_least(int a, int b) const { return major > a || (major == a && minor >= b); }
};

// One mounted cgroup hierarchy.
struct Hierarchy {
  std::string mount_point;               // "/sys/fs/cgroup/memory"
  std::vector<std::string> controllers;  // v1: as mounted ("cpu", "cpuacct"); "name=systemd" as such
  bool v2 = false;
  // What /proc/PID/cgroup puts in front of paths below the mount point; empty unless the mount shows
  // only a part of the hierarchy (a nested container without a cgroup namespace).
  std::string root;
  std::string own_path;  // this process's cgroup below the mount point ("/")
};

enum class CgroupLayout { none, v1, v2, hybrid };  // hybrid: v1 controllers and a cgroup2 beside

struct Cgroups {
  CgroupLayout layout = CgroupLayout::none;
  std::vector<Hierarchy> hierarchies;
};

struct Facts {
  Version kernel;
  Cgroups cgroups;
  bool in_initial_userns = true;
  std::uint32_t euid = 0, egid = 0;
  std::uint64_t bounding_capabilities = 0;  // this process's
  int last_capability = 40;
  std::uint64_t ignored_signals = 0;  // bit n-1: this process ignores signal n
};

}  // namespace tare::facts
