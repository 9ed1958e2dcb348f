#include "cgroup/tree.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cgroup/files.hpp"

namespace tare::cgroup {
namespace {

sys::DirFd open_dir_or_gone(int at, const std::string& path) {
  sys::DirFd fd(::openat(at, path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd && !is_gone(errno)) throw_errno(cat("open ", path), errno);
  return fd;
}

}  // namespace

sys::DirFd try_open_dir(const std::string& path) { return open_dir_or_gone(AT_FDCWD, path); }

sys::DirFd try_open_dir_at(const sys::DirFd& dir, const std::string& name) { return open_dir_or_gone(dir.get(), name); }

std::optional<std::string> try_read_at(const sys::DirFd& dir, const std::string& name) {
  const sys::Fd fd(::openat(dir.get(), name.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) {
    if (is_gone(errno)) return std::nullopt;
    throw_errno(cat("open ", name), errno);
  }
  return read_open(fd.get(), name);
}

void for_each_child(const sys::DirFd& dir, const std::function<void(const std::string&)>& f) {
  sys::Fd copy(::openat(dir.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!copy) {
    if (is_gone(errno)) return;
    throw_errno("open .", errno);
  }
  DIR* stream = ::fdopendir(copy.get());
  if (stream == nullptr) throw_errno("fdopendir", errno);
  copy.release();  // the stream closes it
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(stream)) {
    const std::string_view name = entry->d_name;
    if (entry->d_type == DT_DIR && name != "." && name != "..") names.emplace_back(name);
  }
  ::closedir(stream);
  for (const std::string& name : names) f(name);
}

}  // namespace tare::cgroup
