#include "lab/place/chain.hpp"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "launch/launch.hpp"

namespace tare::lab {

namespace {

constexpr std::string_view kMap = "0 0 65536\n";

bool write_map(pid_t pid, const char* file) noexcept {
  char path[64];
  const std::string_view parts[] = {"/proc/", "", "/", file};
  std::size_t n = 0;
  char digits[16];
  const auto end = std::to_chars(digits, digits + sizeof digits, pid).ptr;
  for (std::string_view part : parts) {
    if (part.empty()) part = {digits, static_cast<std::size_t>(end - digits)};
    part.copy(path + n, part.size());
    n += part.size();
  }
  path[n] = '\0';
  const int fd = open(path, O_WRONLY | O_CLOEXEC);
  return fd >= 0 && write(fd, kMap.data(), kMap.size()) == static_cast<ssize_t>(kMap.size());
}

// user_namespaces(7): whoever writes the maps must be in the namespace above.
void write_maps_from(int above, pid_t pid) {
  const pid_t writer = fork();
  if (writer < 0) throw_errno("fork", errno);
  if (writer == 0) {
    const bool done = setns(above, CLONE_NEWUSER) == 0 && write_map(pid, "uid_map") && write_map(pid, "gid_map");
    _exit(done ? 0 : errno);
  }
  int status = 0;
  while (waitpid(writer, &status, 0) < 0 && errno == EINTR) {
  }
  if (status != 0) throw_errno("write the id maps from the namespace above", WEXITSTATUS(status));
}

}  // namespace

Chain::Chain(Launcher& launcher, std::string kind)
    : launcher_(launcher), kind_(std::move(kind)), cgroup_(cat("above-", kind_)) {
  Place top{"top", Role::subject, PlaceKind::bare, {}, 0};
  location_ = launcher_.prepare(top, cgroup_);
  keep(launcher_.start_plain(top, location_));
}

Chain::~Chain() {
  // From the deepest on: the end of a pid namespace's first process waits for the end of all others in it.
  while (!levels_.empty()) {
    try {
      levels_.back().socket.reset();  // the worker ends at the end of file, and so do those who wait for it
      levels_.back().child.wait();
    } catch (const Error&) {  // it is gone
    }
    levels_.pop_back();
  }
  launcher_.cgroup_.remove_place(cgroup_);
}

void Chain::keep(Launched level) {
  pidfds_.emplace_back(static_cast<int>(syscall(SYS_pidfd_open, level.pid(), 0)));
  if (!pidfds_.back()) throw_errno("pidfd_open", errno);
  levels_.push_back(std::move(level));
}

const sys::Fd& Chain::level(int n) {
  Place holder{"above", Role::subject, PlaceKind::nested, {kind_}, 0};
  while (static_cast<int>(levels_.size()) <= n) {
    keep(start_below(static_cast<int>(levels_.size()) - 1, holder, location_));
  }
  return pidfds_[static_cast<std::size_t>(n)];
}

Launched Chain::start_below(int n, const Place& place, const cgroup::Location& location) {
  const int above = level(n).get();
  Launcher::Extras extras;
  if (kind_ == "pid") {
    const plan::Plan plan = launcher_.plans_.make(place, location);
    extras.enter = [above] {
      if (setns(above, CLONE_NEWPID) != 0) throw_errno("setns", errno);
    };
    return launcher_.launch(plan, location, extras, 2);
  }
  extras.join_pidfd = above;
  // A process can't join the user namespace that it is in already; joining a UTS namespace changes nothing.
  extras.join_namespaces = n == 0 ? CLONE_NEWUTS : CLONE_NEWUSER;
  const bool new_one = !place.namespaces.empty();
  if (new_one) {
    extras.on_hooks = [above, n](pid_t pid) {
      const std::vector<oci::IdMapping> maps{{0, 0, 65536}};
      n == 0 ? launch::write_id_maps(pid, maps, maps) : write_maps_from(above, pid);
    };
  }
  const plan::Plan plan = launcher_.plans_.make(place, location, new_one);
  return launcher_.launch(plan, location, extras);
}

}  // namespace tare::lab
