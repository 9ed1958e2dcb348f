// child: reaching and making paths below the container's root, never outside it.
#include <linux/magic.h>
#include <sys/statfs.h>

#include "isolate/calls.hpp"

namespace tare::isolate {

long open_below(int root, const char* path, long flags, std::uint64_t resolve) noexcept {
  open_how how{};
  how.flags = static_cast<unsigned long>(flags | O_CLOEXEC);
  how.resolve = static_cast<unsigned long>(RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS) | resolve;
  // openat2(2): EAGAIN where something on the way was renamed meanwhile. Someone who renames for ever
  // gets an error, not an endless loop.
  long result = -EAGAIN;
  for (int attempt = 0; attempt < 1000 && result == -EAGAIN; ++attempt)
    result = call(SYS_openat2, root, word(path), word(&how), sizeof how);
  return result;
}

namespace {

constexpr std::size_t kPathSize = 4096;

// One walk over `path`, making what is missing. A dangling link on the way gives -EAGAIN after its
// target has been put into `path`.
long walk(int root, char* path, Make make, std::uint64_t resolve) noexcept {
  long parent = open_below(root, "/", O_PATH | O_DIRECTORY);
  if (parent < 0) return parent;
  const std::size_t size = length(path);
  std::size_t at = 0;
  while (true) {
    while (path[at] == '/') ++at;
    std::size_t end = at;
    while (end < size && path[end] != '/') ++end;
    std::size_t next = end;
    while (next < size && path[next] == '/') ++next;
    const bool last = next >= size;
    const bool as_file = last && make == Make::file;

    char rest[kPathSize];
    copy(rest, path + end, size - end + 1);
    path[end] = '\0';
    const char* name = path + at;
    long child = open_below(root, path, as_file ? O_PATH : O_PATH | O_DIRECTORY, resolve);
    if (child == -ENOENT) {
      const long made = as_file ? call(SYS_openat, parent, word(name), O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644)
                                : call(SYS_mkdirat, parent, word(name), 0755);
      if (as_file && made >= 0) close_fd(made);
      if (made == -EEXIST && (resolve & RESOLVE_NO_SYMLINKS) == 0) {
        // A dangling link (or someone was faster, which the next walk sees).
        char target[kPathSize];
        const long n = call(SYS_readlinkat, parent, word(name), word(target), sizeof target - 1);
        close_fd(parent);
        if (n < 0) {
          copy(path + end, rest, length(rest) + 1);
          return n == -EINVAL || n == -ENOENT ? -EAGAIN : n;
        }
        Buffer<kPathSize> whole;
        if (target[0] != '/') whole.add(path, at);
        whole.add(target, static_cast<std::size_t>(n)).add(rest);
        if (whole.full) return -ENAMETOOLONG;
        copy(path, whole.text, whole.used + 1);
        return -EAGAIN;
      }
      if (made < 0 && made != -EEXIST) {
        close_fd(parent);
        return made;
      }
      child = open_below(root, path, as_file ? O_PATH : O_PATH | O_DIRECTORY, resolve);
    }
    close_fd(parent);
    copy(path + end, rest, length(rest) + 1);
    if (child < 0 || last) return child;
    parent = child;
    at = next;
  }
}

// Makes the last part of an absolute path below a folder that exists.
bool make_last(int root, const char* path, std::uint64_t resolve) noexcept {
  Buffer<kPathSize> folder;
  std::size_t slash = length(path);
  while (slash > 0 && path[slash] != '/') --slash;
  folder.add(path, slash == 0 ? 1 : slash);
  if (folder.full || path[slash] != '/') return false;
  const long parent = open_below(root, folder.text, O_PATH | O_DIRECTORY, resolve);
  if (parent < 0) return false;
  const long made = call(SYS_mkdirat, parent, word(path + slash + 1), 0755);
  done_with(parent);
  return made >= 0;
}

}  // namespace

long reach(int root, const char* path, Make make, std::uint64_t resolve) noexcept {
  long there = open_below(root, path, O_PATH, resolve | RESOLVE_NO_SYMLINKS);
  if (there == -ELOOP && (resolve & RESOLVE_NO_SYMLINKS) == 0) {
    there = open_below(root, path, O_PATH, resolve);
    // CVE-2019-16884: an image's link must not lead a mount into /proc, which its path doesn't name.
    struct statfs fs{};
    if (there >= 0 && call(SYS_fstatfs, there, word(&fs)) >= 0 && fs.f_type == PROC_SUPER_MAGIC) {
      close_fd(there);
      return -EXDEV;
    }
  }
  if (there != -ENOENT || make == Make::nothing) return there;
  // The usual case: only the last part is missing.
  if (make == Make::folder && make_last(root, path, resolve)) {
    there = open_below(root, path, O_PATH, resolve);
    if (there != -ENOENT) return there;
  }
  char copy_of_path[kPathSize];
  const std::size_t size = length(path);
  if (size >= sizeof copy_of_path) return -ENAMETOOLONG;
  copy(copy_of_path, path, size + 1);
  long result = -EAGAIN;
  for (int links = 0; links < 40 && result == -EAGAIN; ++links) result = walk(root, copy_of_path, make, resolve);
  return result == -EAGAIN ? -ELOOP : result;
}

long reach_parent(int root, const char* path, const char** name) noexcept {
  char folder[kPathSize];
  const std::size_t size = length(path);
  if (size >= sizeof folder) return -ENAMETOOLONG;
  std::size_t slash = size;
  while (slash > 0 && path[slash] != '/') --slash;
  copy(folder, path, slash);
  folder[slash] = '\0';
  *name = path[slash] == '/' ? path + slash + 1 : path;
  return reach(root, slash == 0 ? "/" : folder, Make::folder);
}

}  // namespace tare::isolate
