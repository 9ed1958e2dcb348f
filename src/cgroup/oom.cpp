#include "cgroup/oom.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cgroup/files.hpp"

namespace tare::cgroup {

OomWatch::OomWatch(const Location& location) {
  const Entry* entry = location.find("memory");
  if (entry == nullptr) return;
  v2_ = entry->v2;
  const std::string directory = entry->directory();
  const std::string file = directory + (v2_ ? "/memory.events" : "/memory.oom_control");
  if (!exists(file)) return;  // cgroup2 without the controller
  if (v2_) {
    fd_ = sys::open(file, O_RDONLY);
    seen_ = kills().value_or(0);
    return;
  }
  control_ = sys::open(file, O_RDONLY);
  fd_ = sys::Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!fd_) throw_errno("eventfd", errno);
  // A kernel for real time has no such notices (EOPNOTSUPP, EINVAL): then none are told.
  const int why = try_write(directory + "/cgroup.event_control", cat(fd_.get(), ' ', control_.get()));
  if (why != 0) fd_.reset();
}

short OomWatch::poll_events() const { return v2_ ? POLLPRI : POLLIN; }

// The counts are the kernel's, and only grow.
std::optional<std::uint64_t> OomWatch::kills() {
  if (::lseek(fd_.get(), 0, SEEK_SET) < 0) return std::nullopt;
  const auto text = read_open(fd_.get(), "memory.events");
  return text ? keyed_number(*text, "oom_kill") : std::nullopt;
}

bool OomWatch::happened() {
  if (!fd_) return false;
  if (v2_) {
    const auto now = kills();
    if (!now) fd_.reset();
    const bool more = now && *now > seen_;
    if (more) seen_ = *now;
    return more;
  }
  std::uint64_t count = 0;
  if (::read(fd_.get(), &count, sizeof count) < 0) return false;
  // The end of the cgroup is told the same way, once.
  char byte = 0;
  if (::pread(control_.get(), &byte, 1, 0) < 0) {
    fd_.reset();
    return count > 1;
  }
  return count > 0;
}

}  // namespace tare::cgroup
