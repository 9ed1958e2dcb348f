// The cgroup lines of /proc/self/mountinfo, fed line by line and so with little memory.
//
// For: host::cgroups(). Not for: other file systems; a general reader would keep every line.
// Source: proc_pid_mountinfo(5).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tare::host {

struct CgroupMount {
  std::string mount_point;
  std::string root;     // the cgroup that the mount shows as its top, as this process sees it
  std::string options;  // the superblock's: on v1 these name the controllers
  bool v2 = false;
};

class CgroupMounts {
 public:
  // One line, without the newline. What is no mountinfo line is passed over.
  void feed(std::string_view line);
  // The cgroup mounts that no later mount covers, in their order.
  const std::vector<CgroupMount>& visible() const { return mounts_; }

 private:
  std::vector<CgroupMount> mounts_;
};

}  // namespace tare::host
