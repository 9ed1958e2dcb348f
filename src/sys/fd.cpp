#include "sys/fd.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.hpp"
#include "base/text.hpp"

namespace tare::sys {

void Fd::reset() noexcept {
  // close(2): the descriptor is gone even where EINTR comes back; nothing can be done about EIO.
  if (number_ >= 0) ::close(number_);
  number_ = -1;
}

Fd open(const std::string& path, int flags, mode_t mode) {
  const int fd = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  if (fd < 0) throw_errno(cat("open ", path), errno);
  return Fd(fd);
}

DirFd open_dir(const std::string& path) { return DirFd(open(path, O_RDONLY | O_DIRECTORY)); }

Fd try_open_at(const DirFd& dir, const std::string& name, int flags, mode_t mode) {
  const int fd = ::openat(dir.get(), name.c_str(), flags | O_CLOEXEC, mode);
  if (fd < 0 && errno != ENOENT) throw_errno(cat("open ", name), errno);
  return Fd(fd < 0 ? -1 : fd);
}

Fd open_at(const DirFd& dir, const std::string& name, int flags, mode_t mode) {
  Fd fd = try_open_at(dir, name, flags, mode);
  if (!fd) throw_errno(cat("open ", name), ENOENT);
  return fd;
}

Fd open_in_root(const DirFd& root, const std::string& path, int flags, mode_t mode, std::uint64_t resolve) {
  open_how how{};
  how.flags = static_cast<unsigned>(flags | O_CLOEXEC);
  how.mode = mode;
  how.resolve = static_cast<__u64>(RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS) | resolve;
  // openat2(2): EAGAIN means that something on the way was renamed meanwhile; try again, boundedly.
  for (int attempt = 0; attempt < 128; ++attempt) {
    const long fd = ::syscall(SYS_openat2, root.get(), path.c_str(), &how, sizeof how);
    if (fd >= 0) return Fd(static_cast<int>(fd));
    if (errno != EAGAIN) break;
  }
  throw_errno(cat("openat2 ", path), errno);
}

Fd open_without_links(const std::string& path, int& error) {
  open_how how{};
  how.flags = static_cast<unsigned>(O_PATH | O_CLOEXEC);
  how.resolve = static_cast<__u64>(RESOLVE_NO_SYMLINKS);
  const long fd = ::syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof how);
  error = fd < 0 ? errno : 0;
  return Fd(fd < 0 ? -1 : static_cast<int>(fd));
}

namespace {

// A regular file's size says how much there is (proc and cgroup files say 0), and a short read of one is its end.
std::string read_bytes(const Fd& fd, const struct stat& st, std::size_t most) {
  const bool sized = S_ISREG(st.st_mode) && st.st_size > 0;
  if (sized && static_cast<std::uint64_t>(st.st_size) > most) throw_errno("read", EFBIG);
  std::string text(sized ? static_cast<std::size_t>(st.st_size) + 1 : 4096, '\0');
  std::size_t used = 0;
  while (true) {
    if (used == text.size()) text.resize(text.size() * 2);
    const ssize_t n = ::read(fd.get(), text.data() + used, text.size() - used);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw_errno("read", errno);
    used += static_cast<std::size_t>(n);
    if (used > most) throw_errno("read", EFBIG);
    if (n == 0 || (sized && used < text.size())) break;
  }
  text.resize(used);
  return text;
}

}  // namespace

std::string read_all(const Fd& fd, std::size_t most) {
  struct stat st{};
  if (::fstat(fd.get(), &st) < 0) throw_errno("fstat", errno);
  return read_bytes(fd, st, most);
}

std::string read_file(const std::string& path, std::size_t most) {
  const Fd fd = open(path, O_RDONLY);
  return with_intent(path, [&] { return read_all(fd, most); });
}

std::string read_regular_file(const std::string& path, std::size_t most) {
  const Fd fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  return with_intent(path, [&] {
    struct stat st{};
    if (::fstat(fd.get(), &st) < 0) throw_errno("fstat", errno);
    if (!S_ISREG(st.st_mode)) throw Error(ErrorKind::invalid_spec, "not a regular file");
    return read_bytes(fd, st, most);
  });
}

std::string read_file_at(const DirFd& dir, const std::string& name, std::size_t most) {
  const Fd fd = open_at(dir, name, O_RDONLY);
  return with_intent(name, [&] { return read_all(fd, most); });
}

void write_file_at(const DirFd& dir, const std::string& name, std::string_view text) {
  const Fd fd = open_at(dir, name, O_WRONLY);
  while (::write(fd.get(), text.data(), text.size()) < 0)
    if (errno != EINTR) throw_errno(cat("write ", quoted(text), " to ", name), errno);
}

void write_all(const Fd& fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd.get(), bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw_errno("write", errno);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

std::vector<std::string> list_dir(const DirFd& dir) {
  const int copy = ::openat(dir.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copy < 0) throw_errno("open .", errno);
  DIR* stream = ::fdopendir(copy);
  if (stream == nullptr) {
    ::close(copy);
    throw_errno("fdopendir", errno);
  }
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(stream)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  ::closedir(stream);
  return names;
}

}  // namespace tare::sys
