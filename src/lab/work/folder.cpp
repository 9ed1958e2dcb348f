#include "lab/work/folder.hpp"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

namespace tare::lab {

const char* files_directory() noexcept {
  struct stat cwd, root;
  const bool same =
      stat(".", &cwd) == 0 && stat("/", &root) == 0 && cwd.st_dev == root.st_dev && cwd.st_ino == root.st_ino;
  return same ? "/tmp" : ".";
}

std::int64_t files_file_system() noexcept {
  struct statfs fs;
  return statfs(files_directory(), &fs) == 0 ? static_cast<std::int64_t>(fs.f_type) : 0;
}

Fault nameless(End& out) noexcept {
  out.reset(open(files_directory(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (out) return {};
  // NOLINTNEXTLINE(clang-analyzer-unix.Errno): the descriptor says that open(2) failed
  if (errno != EOPNOTSUPP && errno != EISDIR) return {"open", errno};
  // A file system without such files (overlayfs before Linux 6.3): a name for a moment.
  char path[128], name[64];
  name_of(owner(), name);
  strcpy(path, files_directory());
  strcat(path, name);
  unlink(path);
  out.reset(open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!out) return {"open", errno};
  if (unlink(path) != 0) return {"unlink", errno};
  return {};
}

}  // namespace tare::lab
