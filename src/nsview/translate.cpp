#include "nsview/translate.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>

#include "base/error.hpp"
#include "base/text.hpp"
#include "nsview/index.hpp"
#include "nsview/namespaces.hpp"
#include "nsview/parse.hpp"

namespace tare::nsview {
namespace {

// linux/nsfs.h of 6.11; Debian 12's header is older.
constexpr unsigned long kPidFrom = _IOR(0xb7, 0x6, int), kPidIn = _IOR(0xb7, 0x8, int);

[[noreturn]] void no_process(pid_t pid) { throw Error(ErrorKind::not_found, cat("there is no process ", pid)); }

sys::DirFd own_proc() {
  sys::DirFd proc = open_proc();
  if (!is_own_proc(proc)) {
    throw Error(ErrorKind::unsupported, "/proc is that of another pid namespace than tare's own")
        .hint("its numbers would mean other processes: mount a proc of this namespace there");
  }
  return proc;
}

// What an ioctl of these gives: the number, 0 where there is none, -1 where the kernel has no such call.
pid_t translated(const sys::Fd& ns, unsigned long call, pid_t number) {
  const int got = ::ioctl(ns.get(), call, number);
  if (got >= 0) return got;
  if (errno == ENOTTY || errno == EINVAL) return -1;
  return 0;
}

Snapshot snapshot_of_numbers() {
  return take({.command = false, .namespaces = true, .cgroup = false, .threads = false});
}

}  // namespace

sys::Fd pid_namespace_of(pid_t pid) {
  const sys::DirFd proc = own_proc();
  const sys::DirFd folder = open_folder(proc, pid);
  if (!folder) no_process(pid);
  sys::Fd ns(::openat(folder.get(), "ns/pid", O_RDONLY | O_CLOEXEC));
  if (!ns && errno == ENOENT) no_process(pid);
  if (!ns) throw_errno(cat("open the pid namespace of process ", pid), errno);
  return ns;
}

Numbers numbers_of(pid_t pid) {
  const sys::DirFd proc = own_proc();
  const sys::DirFd folder = open_folder(proc, pid);
  if (!folder) no_process(pid);
  Numbers found;
  found.pid = pid;
  Reader reader;
  if (!read_process(reader, folder, {true, false, true, false}, found.process, found.cgroup)) no_process(pid);
  if (found.process.closed) {
    throw Error(ErrorKind::kernel, cat("process ", pid, " is closed to this user"), EACCES)
        .hint("/proc is mounted with hidepid");
  }
  std::string_view text;
  if (reader.file(folder, "status", text) != Got::ok) no_process(pid);
  const auto status = parse_status(text);
  if (!status) no_process(pid);
  found.leader = status->group_leader;
  for (const pid_t number : status->numbers) found.levels.push_back({0, number});
  // Names from the inside out; above this process's own namespace the kernel names none.
  sys::Fd ns(::openat(folder.get(), "ns/pid", O_RDONLY | O_CLOEXEC));
  for (auto level = found.levels.rbegin(); level != found.levels.rend() && ns; ++level) {
    level->ns = inode_of(ns);
    ns = parent_of(ns);
  }
  // Another's namespaces may be closed to us; the outermost is ours in any case.
  if (!found.levels.empty() && found.levels.front().ns == 0) {
    found.levels.front().ns = inode_of(sys::Fd(::open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC)));
  }
  return found;
}

pid_t from_namespace(const sys::Fd& ns, pid_t number, bool kernel_calls) {
  const pid_t asked = kernel_calls ? translated(ns, kPidFrom, number) : -1;
  if (asked >= 0) return asked;
  const Snapshot snapshot = snapshot_of_numbers();
  const Process* process = Index(snapshot, pid_parents(namespaces(snapshot, false))).find(inode_of(ns), number);
  return process == nullptr ? 0 : process->pid;
}

pid_t in_namespace(const sys::Fd& ns, pid_t pid, bool kernel_calls) {
  const pid_t asked = kernel_calls ? translated(ns, kPidIn, pid) : -1;
  if (asked >= 0) return asked;
  const std::uint64_t inode = inode_of(ns);
  const Numbers numbers = numbers_of(pid);
  const auto level =
      std::find_if(numbers.levels.begin(), numbers.levels.end(), [&](const Level& l) { return l.ns == inode; });
  return level == numbers.levels.end() ? 0 : level->number;
}

}  // namespace tare::nsview
