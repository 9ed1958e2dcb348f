// child: files of /proc and of the cgroups that are written on the way.
#include <linux/magic.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>

#include "isolate/calls.hpp"

namespace tare::isolate {
namespace {

// Host paths, from before the pivot.
Fault write_host_file(const char* path, const char* text, std::size_t size) noexcept {
  const long fd = open_host(path, O_WRONLY);
  if (fd < 0) return fault("open", fd);
  const long n = write_once(fd, text, size);
  close_fd(fd);
  return n < 0 ? fault("write", n) : kNoFault;
}

}  // namespace

Fault join_cgroup(const plan::TextOp& op) noexcept {
  const long fd = open_host(op.a, O_WRONLY);
  if (fd < 0) return fault("open", fd);
  const long n = write_once(fd, "0", 1);
  done_with(fd);
  return n < 0 ? fault("write", n) : kNoFault;
}

Fault set_oom_score_adj(std::int64_t value) noexcept {
  Buffer<32> text;
  if (value < 0) text.add("-");
  text.add_number(static_cast<std::uint64_t>(value < 0 ? -value : value));
  return write_host_file("/proc/self/oom_score_adj", text.text, text.used);
}

Fault write_time_offsets(const plan::TextOp& op) noexcept {
  if (op.a[0] != '\0')
    if (Fault f = write_host_file("/proc/self/timens_offsets", op.a, length(op.a))) return f;
  if (op.b[0] == '\0') return kNoFault;
  const long fd = open_host("/proc/self/ns/time_for_children", O_RDONLY);
  if (fd < 0) return fault("open", fd);
  const long r = call(SYS_setns, fd, CLONE_NEWTIME);
  done_with(fd);
  return r < 0 ? fault("setns", r) : kNoFault;
}

Fault open_proc(State& state) noexcept {
  const long fs = call(SYS_fsopen, word("proc"), FSOPEN_CLOEXEC);
  long r = fs < 0 ? fs : call(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, 0, 0, 0);
  if (r >= 0) r = call(SYS_fsmount, fs, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
  if (fs >= 0) done_with(fs);
  // Where an outer container hides parts of /proc a new one is refused: then the one in sight, which
  // is the host's from our point of view.
  if (r < 0) r = open_host("/proc", O_PATH | O_DIRECTORY);
  if (r < 0) return fault("open", r);
  state.proc = static_cast<int>(r);
  return kNoFault;
}

Fault set_sysctl(const plan::TextOp& op, State& state) noexcept {
  open_how how{};
  how.flags = O_WRONLY | O_CLOEXEC;
  // CVE-2025-52881: nothing that is mounted or linked over a file of /proc/sys gets the value.
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_XDEV | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS;
  const long fd = call(SYS_openat2, state.proc, word(op.a), word(&how), sizeof how);
  if (fd < 0) return fault("open", fd);
  const long n = write_once(fd, op.b, length(op.b));
  done_with(fd);
  return n < 0 ? fault("write", n) : kNoFault;
}

Fault set_apparmor_profile(const plan::TextOp& op, State& state) noexcept {
  // CVE-2019-16884, CVE-2025-52881: by number in a /proc of our own, so that no link and no mount of the
  // container's can take the word. apparmor(7): "exec PROFILE" means from the next exec on.
  Buffer<64> path;
  path.add_number(static_cast<std::uint64_t>(call(SYS_getpid))).add("/attr/");
  const std::size_t folder = path.used;
  path.add("apparmor/exec");
  open_how how{};
  how.flags = O_WRONLY | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_XDEV | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS;
  long fd = call(SYS_openat2, state.proc, word(path.text), word(&how), sizeof how);
  if (fd == -ENOENT) {  // before Linux 5.8, and where AppArmor does not stack
    path.used = folder;
    path.add("exec");
    fd = call(SYS_openat2, state.proc, word(path.text), word(&how), sizeof how);
  }
  if (fd < 0) return fault("open", fd);
  Buffer<512> wanted;
  wanted.add("exec ").add(op.a);
  if (wanted.full) return {"", ENAMETOOLONG};
  const long n = write_once(fd, wanted.text, wanted.used);
  done_with(fd);
  if (n == -ENOENT) note(state, "no profile of that name is loaded");
  if (n == -EINVAL) note(state, "AppArmor is not enabled on this machine");
  return n < 0 ? fault("write", n) : kNoFault;
}

Fault bring_up_loopback() noexcept {
  long sock = call(SYS_socket, AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  // A filter of an outer container may forbid one family and leave the other.
  if (sock < 0) sock = call(SYS_socket, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (sock < 0) return fault("socket", sock);
  ifreq request{};
  copy(request.ifr_name, "lo", 3);
  request.ifr_flags = IFF_UP | IFF_LOOPBACK | IFF_RUNNING;
  const long r = call(SYS_ioctl, sock, SIOCSIFFLAGS, word(&request));
  done_with(sock);
  return r < 0 ? fault("ioctl SIOCSIFFLAGS", r) : kNoFault;
}

}  // namespace tare::isolate
