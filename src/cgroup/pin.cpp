#include <fcntl.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cgroup/cgroup.hpp"

namespace tare::cgroup {

std::string Entry::directory() const {
  return pinned >= 0 ? cat("/proc/self/fd/", pinned, "/.") : mount_point + "/" + path;
}

Pinned::Pinned(const Location& location, pid_t pid) : location_(location) {
  directories_.reserve(location.entries.size());
  for (Entry& entry : location_.entries) {
    // No links are followed: neither tare nor the kernel makes any here.
    directories_.emplace_back(sys::open(entry.directory(), O_PATH | O_DIRECTORY | O_NOFOLLOW));
    entry.pinned = directories_.back().get();
  }
  // Only now: a cgroup with the process in it can't have been another one a moment ago.
  try {
    verify(location_, pid);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::bug) throw;
    throw Error(ErrorKind::conflict, cat("it has left its cgroups: ", error.text()));
  }
}

void Pinned::use(const std::function<void(const Location&)>& f) const {
  try {
    f(location_);
  } catch (const Error& error) {
    std::string text = error.text();
    for (const Entry& entry : location_.entries) {
      const std::string pinned = entry.directory() + "/";
      for (auto at = text.find(pinned); at != std::string::npos; at = text.find(pinned, at + 1))
        text.replace(at, pinned.size(), cat(entry.mount_point, "/", entry.path, "/"));
    }
    Error real(error.kind(), std::move(text), error.errno_value());
    if (!error.hint().empty()) real.hint(error.hint());
    throw real;
  }
}

}  // namespace tare::cgroup
