// child: small helpers over raw calls, shared by the operations.
#pragma once

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdint>

#include "isolate/isolate.hpp"
#include "sys/raw.hpp"

namespace tare::isolate {

using sys::raw::call;
using sys::raw::word;

inline Fault fault(const char* name, long result) noexcept { return {name, static_cast<int>(-result)}; }

inline std::size_t length(const char* s) noexcept {
  std::size_t n = 0;
  while (s[n] != '\0') ++n;
  return n;
}
inline bool equal(const char* a, const char* b) noexcept {
  while (*a != '\0' && *a == *b) ++a, ++b;
  return *a == *b;
}
inline void copy(char* to, const char* from, std::size_t n) noexcept {
  for (std::size_t i = 0; i < n; ++i) to[i] = from[i];
}

// A text that grows up to a fixed size; `full` says that something did not fit.
template <std::size_t N>
struct Buffer {
  char text[N] = {};
  std::size_t used = 0;
  bool full = false;
  Buffer& add(const char* s) noexcept { return add(s, length(s)); }
  Buffer& add(const char* s, std::size_t n) noexcept {
    if (used + n + 1 > N) {
      full = true;
      return *this;
    }
    copy(text + used, s, n);
    used += n;
    text[used] = '\0';
    return *this;
  }
  Buffer& add_number(std::uint64_t n, unsigned base = 10) noexcept {
    char digits[24];
    std::size_t at = sizeof digits;
    do digits[--at] = static_cast<char>('0' + n % base);
    while ((n /= base) != 0);
    return add(digits + at, sizeof digits - at);
  }
};

inline void note(State& state, const char* text) noexcept {
  if (state.detail == nullptr) return;
  std::size_t n = length(text);
  if (n >= state.detail_size) n = state.detail_size - 1;
  copy(state.detail, text, n);
  state.detail[n] = '\0';
}

// A handle's name for calls that take a path: it leads to what the handle holds, whatever happens to the names.
// By the host's /proc, so not after the pivot.
struct FdPath {
  Buffer<32> path;
  explicit FdPath(long fd) noexcept { path.add("/proc/self/fd/").add_number(static_cast<std::uint64_t>(fd)); }
};

inline long open_host(const char* path, long flags, long mode = 0) noexcept {
  return call(SYS_openat, AT_FDCWD, word(path), flags | O_CLOEXEC, mode);
}
inline void close_fd(long fd) noexcept { call(SYS_close, fd); }
// Everything here is close-on-exec, so that a call each would buy nothing, unless so much is open that
// the limit on descriptors could be reached (hundreds of mounts).
inline void done_with(long fd) noexcept {
  if (fd >= 64) close_fd(fd);
}
inline long write_once(long fd, const char* text, std::size_t n) noexcept {
  return call(SYS_write, fd, word(text), static_cast<long>(n));
}

// openat2(2) below the container's root: links and ".." stay inside, links of /proc don't jump.
long open_below(int root, const char* path, long flags, std::uint64_t resolve = 0) noexcept;

enum class Make { nothing, folder, file };
// A handle (O_PATH) of what `path` leads to below root; what is missing on the way is made, through
// dangling links too, always inside. -errno.
long reach(int root, const char* path, Make make, std::uint64_t resolve = 0) noexcept;
// The folder that holds the last part of `path`, made where missing; *name points at that part.
long reach_parent(int root, const char* path, const char** name) noexcept;

// The stat of a handle.
inline long stat_fd(long fd, struct stat* st) noexcept {
  return call(SYS_newfstatat, fd, word(""), word(st), AT_EMPTY_PATH);
}

// Operations, one file a mechanism.
Fault set_propagation(const plan::PropagationOp& op, State& state) noexcept;
Fault open_root(const plan::RootOp& op, State& state) noexcept;
Fault pivot(bool by_pivot_root, State& state) noexcept;
Fault assert_root(bool read_only, State& state) noexcept;
Fault host_mkdir(const plan::TextOp& op) noexcept;
Fault host_mount(const plan::MountOp& op) noexcept;
Fault set_root_attributes(const plan::MountOp& op, State& state) noexcept;
Fault open_source(const plan::MountOp& op, State& state) noexcept;
Fault mount_fs(const plan::MountOp& op, State& state) noexcept;
Fault mount_bind(const plan::MountOp& op, State& state) noexcept;
Fault mount_cgroup_v1(const plan::CgroupMountOp& op, State& state) noexcept;
Fault copy_tree(int from, int to, int depth) noexcept;
Fault make_device(const plan::DeviceOp& op, State& state) noexcept;
Fault bind_device(const plan::DeviceOp& op, State& state) noexcept;
Fault make_symlink(const plan::TextOp& op, State& state) noexcept;
Fault mask_path(const plan::TextOp& op, State& state) noexcept;
Fault read_only_path(const plan::TextOp& op, State& state) noexcept;
Fault open_console(const plan::ConsoleOp& op, State& state) noexcept;
Fault use_console(State& state) noexcept;
Fault make_cwd(const plan::TextOp& op, State& state) noexcept;
Fault enter_cwd(const plan::TextOp& op, State& state) noexcept;
Fault bring_up_loopback() noexcept;
Fault open_proc(State& state) noexcept;
Fault set_sysctl(const plan::TextOp& op, State& state) noexcept;
Fault set_apparmor_profile(const plan::TextOp& op, State& state) noexcept;
Fault set_oom_score_adj(std::int64_t value) noexcept;
Fault join_cgroup(const plan::TextOp& op) noexcept;
Fault write_time_offsets(const plan::TextOp& op) noexcept;
Fault become_root() noexcept;
Fault become_user(const plan::UserOp& op) noexcept;
Fault drop_bounding(const plan::CapabilitiesOp& op) noexcept;
Fault set_capabilities(const plan::CapabilitiesOp& op) noexcept;
Fault load_seccomp(const plan::SeccompOp& op) noexcept;
Fault find_program(const plan::ProgramOp& op, State& state) noexcept;

}  // namespace tare::isolate
