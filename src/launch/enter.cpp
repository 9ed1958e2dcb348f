#include "launch/enter.hpp"

#include <fcntl.h>
#include <grp.h>
#include <linux/mount.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstring>

#include "base/error.hpp"
#include "base/text.hpp"

namespace tare::launch {
namespace {

constexpr std::size_t kMostEnvironment = 8 << 20, kMostReport = 64 << 10;

struct Kind {
  int flag;
  const char* name;
};
// In the order in which they are tried for the sake of an error.
constexpr Kind kKinds[] = {{CLONE_NEWUSER, "user"}, {CLONE_NEWCGROUP, "cgroup"}, {CLONE_NEWIPC, "ipc"},
                           {CLONE_NEWUTS, "uts"},   {CLONE_NEWNET, "net"},       {CLONE_NEWPID, "pid"},
                           {CLONE_NEWTIME, "time"}, {CLONE_NEWNS, "mnt"}};

// What the new process needs of the target, opened beforehand.
struct Target {
  sys::Fd pidfd;
  sys::DirFd folder;  // /proc/PID
  sys::DirFd root, cwd;
  std::vector<std::string> environment;
  std::vector<sys::Fd> cgroup_files;
  int kinds = 0;
};

ino_t inode(int dir, const std::string& path) {
  struct stat st{};
  return ::fstatat(dir, path.c_str(), &st, 0) == 0 ? st.st_ino : 0;
}

[[noreturn]] void closed(pid_t pid, const char* what, int error) {
  if (error == ENOENT || error == ESRCH) throw Error(ErrorKind::not_found, cat("process ", pid, " has ended"));
  Error e(ErrorKind::kernel, cat(what, " of process ", pid, ": ", errno_text(error)), error);
  if (error == EACCES || error == EPERM) {
    e.hint("it is another user's, or has capabilities that tare has not: CAP_SYS_PTRACE over it is needed");
  }
  throw e;
}

// The kinds asked for that are not ours already: to enter the user namespace one is in is an error to setns(2).
int foreign_kinds(const Target& target, pid_t pid, int asked) {
  int kinds = 0;
  for (const Kind& kind : kKinds) {
    if ((asked & kind.flag) == 0) continue;
    const ino_t theirs = inode(target.folder.get(), cat("ns/", kind.name));
    if (theirs == 0) closed(pid, kind.name, errno);
    if (theirs != inode(AT_FDCWD, cat("/proc/self/ns/", kind.name))) kinds |= kind.flag;
  }
  return kinds;
}

std::vector<std::string> environment_of(const sys::DirFd& folder) {
  std::vector<std::string> environment;
  const std::string text = sys::read_file_at(folder, "environ", kMostEnvironment);
  for (const std::string_view entry : split(text, '\0'))
    if (!entry.empty()) environment.emplace_back(entry);
  return environment;
}

// The files through which the new process moves itself into the target's cgroups.
std::vector<sys::Fd> cgroup_files(const sys::DirFd& folder, const facts::Cgroups& cgroups) {
  std::vector<sys::Fd> files;
  const std::string text = sys::read_file_at(folder, "cgroup");
  for (const std::string_view line : split(text, '\n')) {
    const auto fields = split(line, ':');
    if (fields.size() < 3) continue;
    std::string_view path = line.substr(fields[0].size() + fields[1].size() + 2);
    for (const facts::Hierarchy& hierarchy : cgroups.hierarchies) {
      if (fields[1] != (hierarchy.v2 ? "" : join(hierarchy.controllers, ","))) continue;
      if (!path.starts_with(hierarchy.root)) continue;
      path.remove_prefix(hierarchy.root.size());
      files.push_back(sys::open(cat(hierarchy.mount_point, path, "/cgroup.procs"), O_WRONLY));
    }
  }
  return files;
}

Target open_target(const EnterRequest& request, const facts::Cgroups& cgroups) {
  Target target;
  const pid_t pid = request.pid;
  target.pidfd = sys::Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!target.pidfd && errno == EINVAL) {
    throw Error(ErrorKind::conflict, cat(pid, " is a thread, not a process")).hint("enter its process instead");
  }
  if (!target.pidfd) throw Error(ErrorKind::not_found, cat("there is no process ", pid));
  target.folder = sys::open_dir(cat("/proc/", pid));
  const std::string stat = sys::read_file_at(target.folder, "stat");
  const std::size_t name_end = stat.rfind(") ");
  if (name_end != std::string::npos && (stat[name_end + 2] == 'Z' || stat[name_end + 2] == 'X')) {
    throw Error(ErrorKind::not_found,
                cat("process ", pid, " has ended and waits for its parent: it is in no namespaces"));
  }
  target.kinds = foreign_kinds(target, pid, request.kinds);
  if (request.root || (target.kinds & CLONE_NEWNS) != 0) {
    target.root = sys::DirFd(::openat(target.folder.get(), "root", O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!target.root) closed(pid, "the root", errno);
  }
  if (request.cwd) {
    target.cwd = sys::DirFd(::openat(target.folder.get(), "cwd", O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!target.cwd) closed(pid, "the working directory", errno);
  }
  if (request.environment) target.environment = environment_of(target.folder);
  if (request.join_cgroup) target.cgroup_files = cgroup_files(target.folder, cgroups);
  // Still that process: then all of it was its.
  if (::syscall(SYS_pidfd_send_signal, target.pidfd.get(), 0, nullptr, 0) != 0 && errno == ESRCH)
    closed(pid, "", ESRCH);
  return target;
}

// setns(2) says only that something failed: each kind is tried by a process that ends at once.
int errno_of(const Target& target, int flags) {
  const pid_t pid = ::fork();
  if (pid < 0) throw_errno("fork", errno);
  if (pid == 0) ::_exit(::syscall(SYS_setns, target.pidfd.get(), flags) == 0 ? 0 : errno);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
}

bool owner_is_another(const Target& target, const char* kind) {
  const sys::Fd ns(::openat(target.folder.get(), cat("ns/", kind).c_str(), O_RDONLY | O_CLOEXEC));
  const sys::Fd owner(ns ? ::ioctl(ns.get(), NS_GET_USERNS) : -1);
  struct stat st{};
  return owner && ::fstat(owner.get(), &st) == 0 && st.st_ino != inode(AT_FDCWD, "/proc/self/ns/user");
}

[[noreturn]] void explain(const Target& target, int failure) {
  const bool user = (target.kinds & CLONE_NEWUSER) != 0;
  for (const Kind& kind : kKinds) {
    if ((target.kinds & kind.flag) == 0) continue;
    const int error = errno_of(target, kind.flag | (user ? CLONE_NEWUSER : 0));
    if (error == 0) continue;
    const std::string reason = why_not(kind.flag, error, owner_is_another(target, kind.name), user);
    Error e(error == ESRCH ? ErrorKind::not_found : ErrorKind::kernel,
            cat("enter the ", kind.name, " namespace: setns: ", errno_text(error)), error);
    if (!reason.empty()) e.hint(reason);
    throw e;
  }
  throw_errno("setns", failure);
}

// What failed in the new process: written to the parent, which makes an error of it, or, behind a "w", a warning.
void tell(int report, std::string_view mark, std::string_view what, int error) {
  const std::string text = cat(mark, error, " ", what, "\n");
  if (::write(report, text.data(), text.size()) < 0) ::_exit(254);
}
[[noreturn]] void give_up(int report, std::string_view what, int error) {
  tell(report, "", what, error);
  ::_exit(255);
}

// A proc of the pid namespace that we are in, in a mount namespace of our own. The step that failed; nullptr: none.
const char* mount_proc() {
  std::array<char, 32> self{};
  const ssize_t n = ::readlink("/proc/self", self.data(), self.size());
  if (n > 0 && parse_number<pid_t>({self.data(), static_cast<std::size_t>(n)}) == ::getpid()) return nullptr;
  struct stat st{};
  if (::lstat("/proc", &st) != 0 || !S_ISDIR(st.st_mode)) return nullptr;
  const long fs = ::syscall(SYS_fsopen, "proc", FSOPEN_CLOEXEC);
  if (fs < 0 || ::syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) != 0) return "fsopen proc";
  const long made =
      ::syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
  if (made < 0) return "fsmount proc";
  if (::unshare(CLONE_NEWNS) != 0) return "unshare the mounts";
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0) return "make the mounts private";
  if (::syscall(SYS_move_mount, made, "", AT_FDCWD, "/proc", MOVE_MOUNT_F_EMPTY_PATH) != 0) return "mount it";
  return nullptr;
}

void take_place(const EnterRequest& request, const Target& target, int report) {
  if (target.root) {
    if (::fchdir(target.root.get()) != 0 || ::chroot(".") != 0) give_up(report, "the target's root: chroot", errno);
  }
  if (target.cwd) {
    // A directory that is not below the root would be a way out of it: getcwd(2) tells.
    std::array<char, PATH_MAX> path{};
    if (::fchdir(target.cwd.get()) != 0) give_up(report, "the target's working directory: fchdir", errno);
    if (::syscall(SYS_getcwd, path.data(), path.size()) < 0 || path[0] != '/')
      give_up(report, "the target's working directory is not below the root", ENOENT);
  } else if (target.root && ::chdir("/") != 0) {
    give_up(report, "chdir /", errno);
  }
  if (request.fit_proc && (target.kinds & (CLONE_NEWPID | CLONE_NEWNS)) != 0) {
    // Where the namespaces that are ours now do not own that pid namespace, there is no such proc to be had.
    const char* failed = mount_proc();
    if (failed != nullptr) tell(report, "w", cat("/proc is not that of the pid namespace: ", failed), errno);
  }
}

void become_root(int report) {
  // Forbidden where the namespace's maker gave up setgroups(2); then there are none of ours to drop either.
  if (::setgroups(0, nullptr) != 0 && errno != EPERM) give_up(report, "drop the groups: setgroups", errno);
  if (::setresgid(0, 0, 0) != 0) give_up(report, "become group 0 of the user namespace: setresgid", errno);
  if (::setresuid(0, 0, 0) != 0) give_up(report, "become user 0 of the user namespace: setresuid", errno);
}

[[noreturn]] void run(const EnterRequest& request, const Target& target, int report) {
  for (const sys::Fd& file : target.cgroup_files)
    if (::write(file.get(), "0", 1) < 0) give_up(report, "join the target's cgroup", errno);
  take_place(request, target, report);
  if ((target.kinds & CLONE_NEWUSER) != 0 && !request.keep_ids) become_root(report);
  if (request.environment) {
    ::clearenv();
    for (const std::string& entry : target.environment) ::putenv(const_cast<char*>(entry.c_str()));
  }
  std::vector<char*> argv;
  for (const std::string& arg : request.args) argv.push_back(const_cast<char*>(arg.c_str()));
  argv.push_back(nullptr);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::syscall(SYS_close_range, 3, ~0U, CLOSE_RANGE_CLOEXEC);
  ::execvp(argv[0], argv.data());
  give_up(report, cat("run ", quoted(argv[0])), errno);
}

void warn_of_children(const Target& target, std::vector<std::string>& warnings) {
  if ((target.kinds & CLONE_NEWPID) != 0) return;
  const ino_t own = inode(target.folder.get(), "ns/pid"), children = inode(target.folder.get(), "ns/pid_for_children");
  if (own == 0 || children == 0 || own == children) return;
  warnings.emplace_back("the target itself is not in the pid namespace that its children get: enter one of those");
}

// What the new process told: warnings, and at most one failure.
void take_report(std::string_view report, std::vector<std::string>& warnings, sys::Child& child) {
  for (const std::string_view line : split(report, '\n')) {
    if (line.empty()) continue;
    const bool warning = line.front() == 'w';
    const std::string_view text = line.substr(warning ? 1 : 0);
    const std::size_t blank = text.find(' ');
    const int error = parse_number<int>(text.substr(0, blank)).value_or(EIO);
    const std::string words = cat(text.substr(blank + 1), ": ", errno_text(error));
    if (warning) {
      warnings.push_back(words);
      continue;
    }
    child.wait();
    Error e(error == ENOENT ? ErrorKind::not_found : ErrorKind::kernel, words, error);
    if (words.find("of the user namespace") != std::string::npos) e.hint("0 is not mapped there: --keep-ids");
    throw e;
  }
}

}  // namespace

std::string why_not(int flag, int errno_value, bool owner_is_another, bool enters_user) {
  if (errno_value == ESRCH) return "the process has ended meanwhile";
  if (errno_value == ENOSYS) return "a seccomp filter or the kernel hides setns with a pidfd (Linux 5.8)";
  if (flag == CLONE_NEWPID && errno_value == EINVAL) return "a pid namespace can only be entered from one above it";
  if (flag == CLONE_NEWUSER && errno_value == EINVAL) return "tare is in that user namespace already, or has threads";
  if (errno_value == ENOSPC || errno_value == EUSERS)
    return "a limit of user.max_*_namespaces or of their depth is reached";
  if (errno_value != EPERM) return "";
  if (flag == CLONE_NEWUSER) {
    return "only its owner and who has CAP_SYS_ADMIN in a user namespace above may enter a user namespace";
  }
  if (owner_is_another && !enters_user) return "another user namespace owns it: enter that one, too (--user)";
  if (flag == CLONE_NEWNS) return "needs CAP_SYS_ADMIN and CAP_SYS_CHROOT, in tare's own user namespace, too";
  return "needs CAP_SYS_ADMIN in the user namespace that owns it and in tare's own";
}

Entered enter(const EnterRequest& request, const facts::Cgroups& cgroups) {
  Entered entered;
  const Target target = open_target(request, cgroups);
  warn_of_children(target, entered.warnings);
  // What is entered must not read or stop this process while it still is tare.
  ::prctl(PR_SET_DUMPABLE, 0);
  if (target.kinds != 0 && ::syscall(SYS_setns, target.pidfd.get(), target.kinds) != 0) explain(target, errno);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw_errno("pipe2", errno);
  const sys::Fd from(ends[0]);
  sys::Fd to(ends[1]);
  const pid_t pid = ::fork();
  if (pid < 0) throw_errno("fork", errno);
  if (pid == 0) run(request, target, to.get());
  to.reset();
  entered.child = sys::Child(pid, sys::Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))));
  const std::string report = sys::read_all(from, kMostReport);
  take_report(report, entered.warnings, entered.child);
  return entered;
}

}  // namespace tare::launch
