// child: the copy that tmpcopyup makes of what a tmpfs covers.
#include <dirent.h>

#include "isolate/calls.hpp"

namespace tare::isolate {
namespace {

struct Entry {  // struct linux_dirent64
  std::uint64_t inode;
  std::int64_t offset;
  std::uint16_t size;
  std::uint8_t type;
  char name[1];
};

constexpr int kDeepest = 64;

// One process copies at a time: what need not be there once a level is here, not on the stack.
char block[16384];
char link_target[4096];

Fault copy_file(int from, int to, const char* name, const struct stat& st) noexcept {
  const long in = call(SYS_openat, from, word(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
  if (in < 0) return fault("open", in);
  const long out = call(SYS_openat, to, word(name), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (out < 0) return fault("open", out);
  long n = 0;
  while ((n = call(SYS_read, in, word(block), sizeof block)) > 0) {
    for (long done = 0; done < n;) {
      const long w = call(SYS_write, out, word(block + done), n - done);
      if (w < 0) return fault("write", w);
      done += w;
    }
  }
  if (n < 0) return fault("read", n);
  // The owner before the mode: chown(2) clears the set-user-ID bits.
  long r = call(SYS_fchown, out, st.st_uid, st.st_gid);
  if (r >= 0) r = call(SYS_fchmod, out, st.st_mode & 07777);
  close_fd(in);
  close_fd(out);
  return r < 0 ? fault("fchown", r) : kNoFault;
}

Fault copy_link(int from, int to, const char* name, const struct stat& st) noexcept {
  const long n = call(SYS_readlinkat, from, word(name), word(link_target), sizeof link_target - 1);
  if (n < 0) return fault("readlink", n);
  link_target[n] = '\0';
  long r = call(SYS_symlinkat, word(link_target), to, word(name));
  if (r >= 0) r = call(SYS_fchownat, to, word(name), st.st_uid, st.st_gid, AT_SYMLINK_NOFOLLOW);
  return r < 0 ? fault("symlink", r) : kNoFault;
}

Fault copy_folder(int from, int to, const char* name, const struct stat& st, int depth) noexcept {
  const long in = call(SYS_openat, from, word(name), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
  if (in < 0) return fault("open", in);
  long r = call(SYS_mkdirat, to, word(name), 0700);
  if (r < 0) return fault("mkdir", r);
  const long out = call(SYS_openat, to, word(name), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
  if (out < 0) return fault("open", out);
  if (Fault f = copy_tree(static_cast<int>(in), static_cast<int>(out), depth + 1)) return f;
  r = call(SYS_fchown, out, st.st_uid, st.st_gid);
  if (r >= 0) r = call(SYS_fchmod, out, st.st_mode & 07777);
  close_fd(in);
  close_fd(out);
  return r < 0 ? fault("fchown", r) : kNoFault;
}

Fault copy_entry(int from, int to, const char* name, int depth) noexcept {
  struct stat st{};
  long r = call(SYS_newfstatat, from, word(name), word(&st), AT_SYMLINK_NOFOLLOW);
  if (r < 0) return fault("stat", r);
  if (S_ISREG(st.st_mode)) return copy_file(from, to, name, st);
  if (S_ISLNK(st.st_mode)) return copy_link(from, to, name, st);
  if (S_ISDIR(st.st_mode)) return copy_folder(from, to, name, st, depth);
  r = call(SYS_mknodat, to, word(name), st.st_mode, static_cast<long>(st.st_rdev));
  if (r >= 0) r = call(SYS_fchownat, to, word(name), st.st_uid, st.st_gid, AT_SYMLINK_NOFOLLOW);
  return r < 0 ? fault("mknod", r) : kNoFault;
}

}  // namespace

Fault copy_tree(int from, int to, int depth) noexcept {
  if (depth > kDeepest) return {"tmpcopyup", ELOOP};
  // Small on purpose: one of these stands on the stack for each level.
  alignas(8) char entries[1024];
  long n = 0;
  while ((n = call(SYS_getdents64, from, word(entries), sizeof entries)) > 0) {
    for (long at = 0; at < n;) {
      const auto* entry = reinterpret_cast<const Entry*>(entries + at);
      at += entry->size;
      if (equal(entry->name, ".") || equal(entry->name, "..")) continue;
      if (Fault f = copy_entry(from, to, entry->name, depth)) return f;
    }
  }
  return n < 0 ? fault("getdents64", n) : kNoFault;
}

}  // namespace tare::isolate
