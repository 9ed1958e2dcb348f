#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cgroup/cgroup.hpp"
#include "cgroup/files.hpp"

namespace tare::cgroup {

void delegate(const Location& location, uid_t owner) {
  const Entry* entry = location.v2();
  if (entry == nullptr || location.layout != facts::CgroupLayout::v2) return;
  const sys::DirFd dir = sys::open_dir(entry->directory());
  constexpr gid_t kKeep = static_cast<gid_t>(-1);
  if (::fchown(dir.get(), owner, kKeep) != 0) throw_errno(cat("chown ", entry->directory()), errno);
  // The kernel knows which of its files are safe; these are what it named first.
  const std::string names =
      try_read("/sys/kernel/cgroup/delegate").value_or("cgroup.procs\ncgroup.subtree_control\ncgroup.threads");
  for (const std::string_view name : split(names, '\n')) {
    if (name.empty() || name.find('/') != name.npos) continue;
    // The list is the same for every kernel of a kind; a file of a controller that is not enabled is missing.
    if (::fchownat(dir.get(), std::string(name).c_str(), owner, kKeep, AT_SYMLINK_NOFOLLOW) != 0 && errno != ENOENT)
      throw_errno(cat("chown ", entry->directory(), '/', name), errno);
  }
}

}  // namespace tare::cgroup
