#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cgroup/cgroup.hpp"
#include "cgroup/files.hpp"
#include "cgroup/freezer.hpp"
#include "cgroup/tree.hpp"

namespace tare::cgroup {
namespace {

// Nothing that is signalled or frozen may ever be the root cgroup, whatever a state file says.
void check_not_root(const Location& location) {
  for (const Entry& entry : location.entries) {
    for (const std::string_view part : split(entry.path, '/')) {
      if (part.empty() || part == "." || part == "..")
        throw Error(ErrorKind::bug, cat("not a container's cgroup: ", quoted(entry.path)));
    }
  }
}

void add_pids(std::string_view text, std::vector<pid_t>& pids) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    // 0 stands for a process of a pid namespace that this process can't see.
    if (const auto pid = parse_number<pid_t>(text.substr(0, end)); pid && *pid > 0) pids.push_back(*pid);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

void collect_below(const sys::DirFd& dir, std::vector<pid_t>& pids) {
  for_each_child(dir, [&](const std::string& name) {
    const sys::DirFd child = try_open_dir_at(dir, name);
    if (!child) return;
    if (const std::optional<std::string> text = try_read_at(child, "cgroup.procs")) add_pids(*text, pids);
    collect_below(child, pids);
  });
}

// Most containers have no cgroups below their own, which the number of links tells (2, and one for
// each sub-directory; file systems that don't count say 1): then there is nothing to walk.
void collect(const Entry& entry, std::vector<pid_t>& pids) {
  const std::string directory = entry.directory();
  struct stat st{};
  if (::stat(directory.c_str(), &st) != 0) {
    if (is_gone(errno)) return;
    throw_errno(cat("stat ", directory), errno);
  }
  if (const std::optional<std::string> text = try_read(directory + "/cgroup.procs")) add_pids(*text, pids);
  if (st.st_nlink == 2) return;
  if (const sys::DirFd dir = try_open_dir(directory)) collect_below(dir, pids);
}

void signal_each(const std::vector<pid_t>& pids) {
  for (const pid_t pid : pids)
    // ESRCH: it ended by itself.
    if (::kill(pid, SIGKILL) != 0 && errno != ESRCH) throw_errno(cat("kill ", pid), errno);
}

// v1 has no kill for a whole cgroup. Frozen processes neither fork nor end (so that no pid can be
// reused between the look and the signal); they die when they thaw.
void kill_round(const Location& location) {
  const Entry* freezer = find_freezer_v1(location);
  if (freezer != nullptr) freeze_v1(*freezer, std::chrono::milliseconds(200));
  try {
    signal_each(processes(location));
  } catch (...) {
    if (freezer != nullptr) thaw_v1(*freezer);
    throw;
  }
  if (freezer != nullptr) thaw_v1(*freezer);
}

}  // namespace

std::vector<pid_t> processes_in(const Entry& entry) {
  std::vector<pid_t> pids;
  collect(entry, pids);
  return pids;
}

std::vector<pid_t> processes(const Location& location) {
  check_not_root(location);
  std::vector<pid_t> pids;
  for (const Entry& entry : location.entries) collect(entry, pids);
  std::sort(pids.begin(), pids.end());
  pids.erase(std::unique(pids.begin(), pids.end()), pids.end());
  return pids;
}

void signal_all(const Location& location, int signal) {
  check_not_root(location);
  // Frozen processes don't fork, and don't end, so that no pid is another process's by the time it is signalled.
  const Entry* v2 = location.v2();
  const Entry* v1 = find_freezer_v1(location);
  const bool was_frozen = frozen(location);
  const auto thaw_again = [&] {
    if (was_frozen && signal != SIGKILL) return;
    if (v2 != nullptr) thaw_v2(*v2);
    if (v1 != nullptr) thaw_v1(*v1);
  };
  constexpr std::chrono::milliseconds kMost{500};  // what does not freeze in that time gets the signal all the same
  try {
    if (!was_frozen && v2 != nullptr) freeze_v2(*v2, kMost);
    if (!was_frozen && v2 == nullptr && v1 != nullptr) freeze_v1(*v1, kMost);
  } catch (const Error&) {
    // Not ours to freeze.
  }
  try {
    for (const pid_t pid : processes(location))
      if (::kill(pid, signal) != 0 && errno != ESRCH) throw_errno(cat("kill ", pid), errno);
  } catch (...) {
    thaw_again();
    throw;
  }
  thaw_again();
}

void kill_all(const Location& location) {
  check_not_root(location);
  const Entry* v2 = location.v2();
  Patience patience(kPatience);
  for (int round = 0;; ++round) {
    if (v2 != nullptr) {
      const std::string file = v2->directory() + "/cgroup.kill";
      const int why = try_write(file, "1");
      // EOPNOTSUPP: a threaded cgroup; its processes get the signal one by one below.
      if (why != 0 && !is_gone(why) && why != EOPNOTSUPP) throw_write("", file, "1", why);
    }
    // A killed process of a frozen v1 cgroup stays until it thaws.
    if (const Entry* freezer = find_freezer_v1(location)) thaw_v1(*freezer);
    const std::vector<pid_t> left = processes(location);
    if (left.empty()) return;
    // After cgroup.kill they only need some time to end, unless some are in the v1 cgroups alone.
    if (v2 == nullptr || round >= 5) kill_round(location);
    if (patience.pause()) continue;
    std::string names;
    for (const pid_t pid : left) names += cat(' ', pid);
    throw Error(ErrorKind::conflict, cat("processes do not end though they were killed:", names));
  }
}

}  // namespace tare::cgroup
