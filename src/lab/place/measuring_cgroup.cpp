#include "lab/place/measuring_cgroup.hpp"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "lab/place/bundle.hpp"
#include "lab/work/left.hpp"
#include "sys/child.hpp"
#include "sys/fd.hpp"

namespace tare::lab {

namespace {

constexpr std::string_view kPrefix = "tare-weigh.";
constexpr const char* kRun = "/run/";

// The inode that stands for this process's pid namespace.
std::uint64_t pid_namespace() {
  struct stat st{};
  return stat("/proc/self/ns/pid", &st) == 0 ? st.st_ino : 0;
}

void pause_ms(long ms) noexcept {
  const timespec t{ms / 1000, (ms % 1000) * 1'000'000};
  nanosleep(&t, nullptr);
}

// SIGKILL to everyone in the directory; false where nobody was there.
bool kill_members(const std::string& directory) {
  bool any = false;
  std::string text;
  try {
    text = sys::read_file(directory + "/cgroup.procs");
  } catch (const Error&) {
    return false;
  }
  for (const std::string_view line : split(text, '\n')) {
    const auto pid = parse_number<pid_t>(line);
    if (!pid || *pid <= 1 || *pid == getpid()) continue;
    any = true;
    kill(*pid, SIGKILL);
  }
  return any;
}

std::vector<std::string> folders_in(const std::string& directory) {
  std::vector<std::string> out;
  try {
    for (const std::string& name : sys::list_dir(sys::open_dir(directory))) {
      struct stat st{};
      std::string path = cat(directory, "/", name);
      if (lstat(path.c_str(), &st) == 0 && S_ISDIR(st.st_mode)) out.push_back(std::move(path));
    }
  } catch (const Error&) {
  }
  return out;
}

bool clear_tree(const std::string& directory, int attempts) {
  for (const std::string& below : folders_in(directory)) clear_tree(below, attempts);
  for (int i = 0; i < attempts; ++i) {
    if (rmdir(directory.c_str()) == 0 || errno == ENOENT) return true;
    if (errno != EBUSY) return false;
    kill_members(directory);
    while (waitpid(-1, nullptr, WNOHANG) > 0) {  // zombies of our own keep nothing, but reap them
    }
    pause_ms(i < 20 ? 1 : 10);
  }
  return false;
}

std::string parent_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

// What runs that were killed, watcher and all, have left in this folder of cgroups or of /run.
void sweep(const std::string& parent) {
  for (const std::string& path : folders_in(parent)) {
    const std::string_view name = std::string_view(path).substr(path.rfind('/') + 1);
    if (!is_abandoned(name)) continue;
    clear_tree(path, 300);
    if (parent == "/run") remove_folder(path);
    remove_left(parse_number<pid_t>(split(name, '.')[1]).value_or(0), nullptr);
  }
}

// The greatest CPU weight there is, so that what else runs on this machine takes less from the
// workers; all places share it. Only one of the files exists in a hierarchy, in most none.
void raise_weight(const std::string& directory) {
  const sys::DirFd dir = sys::open_dir(directory);
  const auto set = [&](const char* file, const char* value) {
    if (faccessat(dir.get(), file, W_OK, 0) == 0) sys::write_file_at(dir, file, value);
  };
  set("cpu.shares", "262144");
  set("cpu.weight", "10000");
}

}  // namespace

bool clear_cgroup(const std::string& directory) noexcept {
  try {
    return clear_tree(directory, 300);
  } catch (const Error&) {
    return false;
  }
}

std::string owner_name() { return cat(kPrefix, getpid(), ".", sys::start_time(getpid()), ".", pid_namespace()); }

bool is_abandoned(std::string_view name) {
  const auto parts = split(name, '.');
  if (!name.starts_with(kPrefix) || parts.size() != 4) return false;
  // A pid of another pid namespace says nothing here: its owner may well live.
  if (parse_number<std::uint64_t>(parts[3]) != pid_namespace()) return false;
  const auto pid = parse_number<pid_t>(parts[1]);
  const auto start = parse_number<std::uint64_t>(parts[2]);
  return pid && start && sys::start_time(*pid) != *start;
}

MeasuringCgroup::MeasuringCgroup(const facts::Cgroups& cgroups)
    : cgroups_(cgroups), name_(owner_name()), scratch_(kRun + name_) {
  // So that on v2 the CPU controller is there; the weight is written below.
  oci::Resources resources;
  resources.cpu.emplace();
  resources.cpu->shares = 262144;
  cgroup::Location location = cgroup::locate(cgroups_, name_, name_, &resources);
  for (const cgroup::Entry& entry : location.entries) {
    sweep(parent_of(entry.directory()));
    std::string outer = cat(entry.mount_point, "/", name_);
    if (outer == entry.directory()) continue;
    sweep(entry.mount_point);
    outer_.push_back(std::move(outer));
  }
  sweep("/run");
  cgroup::create(location, true);
  for (const cgroup::Entry& entry : location.entries) {
    directories_.push_back(entry.directory());
    raise_weight(entry.directory());
  }
  if (mkdir(scratch_.c_str(), 0700) != 0) throw_errno(cat("mkdir ", scratch_), errno);
}

MeasuringCgroup::~MeasuringCgroup() {
  for (const auto* all : {&directories_, &outer_}) {
    for (const std::string& directory : *all) clear_cgroup(directory);
  }
  remove_folder(scratch_);
  remove_left(getpid(), ".");  // of workers that were killed
}

cgroup::Location MeasuringCgroup::locate(const std::string& place, const oci::Resources* resources) const {
  return cgroup::locate(cgroups_, cat(name_, "/", place), place, resources);
}

void MeasuringCgroup::remove_place(const std::string& place) noexcept {
  for (const std::string& directory : directories_) clear_cgroup(cat(directory, "/", place));
}

Watcher::Watcher(const MeasuringCgroup& cgroup) {
  const pid_t laboratory = getpid();
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw_errno("pipe2", errno);
  pid_ = fork();
  if (pid_ < 0) {
    const int e = errno;
    close(ends[0]);
    close(ends[1]);
    throw_errno("fork", e);
  }
  if (pid_ > 0) {
    close(ends[0]);
    pipe_ = ends[1];
    return;
  }
  setsid();
  prctl(PR_SET_NAME, "tare-weigh-watch");
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, nullptr);
  // Only the reading end stays open, so that nobody waits for this process to close anything.
  if (ends[0] != 0) dup2(ends[0], 0);
  syscall(SYS_close_range, 1U, ~0U, 0U);
  char byte;
  while (read(0, &byte, 1) < 0 && errno == EINTR) {
  }
  for (const auto* directories : {&cgroup.directories(), &cgroup.outer_directories()}) {
    for (const std::string& directory : *directories) clear_cgroup(directory);
  }
  remove_folder(cgroup.scratch());
  remove_left(laboratory, ".");
  _exit(0);
}

Watcher::~Watcher() {
  close(pipe_);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace tare::lab
