#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <exception>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cgroup/cgroup.hpp"
#include "cgroup/files.hpp"
#include "cgroup/tree.hpp"

namespace tare::cgroup {
namespace {

// Sub-cgroups, deepest first. What can't go yet is met again by the caller's next attempt.
void remove_children(const sys::DirFd& dir) {
  for_each_child(dir, [&](const std::string& name) {
    if (const sys::DirFd child = try_open_dir_at(dir, name)) remove_children(child);
    ::unlinkat(dir.get(), name.c_str(), AT_REMOVEDIR);
  });
}

bool is_ours(const Entry& entry) { return entry.made > 0 && !entry.path.empty(); }

// The container's own directory, and what it made in it.
void remove_directory(const Location& location, const Entry& entry) {
  const std::string directory = entry.directory();
  Patience patience(kPatience);
  while (::rmdir(directory.c_str()) != 0) {
    if (is_gone(errno)) return;
    // EBUSY: processes or sub-cgroups; ENOTEMPTY: sub-cgroups, as some kernels say.
    if (errno != EBUSY && errno != ENOTEMPTY) throw_errno(cat("rmdir ", directory), errno);
    if (const sys::DirFd dir = try_open_dir(directory)) remove_children(dir);
    if (::rmdir(directory.c_str()) == 0 || is_gone(errno)) return;
    if (patience.pause()) continue;
    std::string names;
    for (const pid_t pid : processes(location)) names += cat(' ', pid);
    throw Error(ErrorKind::conflict,
                cat("rmdir ", directory, ": ", errno_text(EBUSY),
                    names.empty() ? "" : "; processes in the container's cgroups:", names),
                EBUSY);
  }
}

// Parents that create() made; where another container has moved in meanwhile they stay.
void remove_parents(const Entry& entry) {
  std::string path = entry.path;
  for (int level = 1; level < entry.made; ++level) {
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) return;
    path.resize(slash);
    if (::rmdir(cat(entry.mount_point, '/', path).c_str()) != 0 && !is_gone(errno)) return;
  }
}

}  // namespace

void remove(const Location& location) {
  std::exception_ptr first;
  for (const Entry& entry : location.entries) {
    if (!is_ours(entry)) continue;
    try {
      remove_directory(location, entry);
      remove_parents(entry);
    } catch (const Error&) {
      if (!first) first = std::current_exception();
    }
  }
  if (first) std::rethrow_exception(first);
}

void destroy(const Location& location) {
  // rmdir itself finds out whether any process or sub-cgroup is left.
  for (const Entry& entry : location.entries) {
    if (is_ours(entry) && (::rmdir(entry.directory().c_str()) == 0 || is_gone(errno))) {
      remove_parents(entry);
    } else {
      kill_all(location);
      return remove(location);
    }
  }
}

}  // namespace tare::cgroup
