#include "launch/self.hpp"

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "base/error.hpp"
#include "sys/fd.hpp"

namespace tare::launch {
namespace {

constexpr const char* kOwnFile = "/proc/self/exe";

// execveat(2) by descriptor leaves "/dev/fd/N" as the name; that alone proves nothing, the file itself does.
bool is_protected() {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): getauxval(3) has addresses as numbers
  const auto* name = reinterpret_cast<const char*>(::getauxval(AT_EXECFN));
  if (name == nullptr || !std::string_view(name).starts_with("/dev/fd/")) return false;
  struct statfs fs{};
  if (::statfs(kOwnFile, &fs) == 0 && (fs.f_flags & 1) != 0) return true;  // ST_RDONLY
  const sys::Fd own = sys::open(kOwnFile, O_RDONLY);
  const int seals = ::fcntl(own.get(), F_GET_SEALS);
  return seals >= 0 && (seals & F_SEAL_WRITE) != 0;
}

sys::Fd read_only_clone() {
  const long tree = ::syscall(SYS_open_tree, AT_FDCWD, kOwnFile, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
  if (tree < 0) return {};
  sys::Fd owner(static_cast<int>(tree));
  mount_attr attr{};
  attr.attr_set = MOUNT_ATTR_RDONLY;
  if (::syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH, &attr, sizeof attr) < 0) return {};
  return owner;
}

sys::Fd sealed_copy() {
  const sys::Fd own = sys::open(kOwnFile, O_RDONLY);
  struct stat st{};
  if (::fstat(own.get(), &st) < 0) throw_errno("fstat", errno);
  sys::Fd copy(::memfd_create("tare", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!copy) throw_errno("memfd_create", errno);
  for (off_t left = st.st_size; left > 0;) {
    const ssize_t n = ::sendfile(copy.get(), own.get(), nullptr, static_cast<std::size_t>(left));
    if (n <= 0) throw_errno("sendfile", n == 0 ? EIO : errno);
    left -= n;
  }
  if (::fcntl(copy.get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
    throw_errno("fcntl F_ADD_SEALS", errno);
  return copy;
}

}  // namespace

void protect_own_file(char** argv) {
  if (is_protected()) return;
  with_intent("protect the runtime's own file", [&] {
    // As in entry.cpp: nothing of ours may come to stand for a stdin, stdout or stderr that was closed.
    int null = 0;
    while ((null = ::open("/dev/null", O_RDWR)) >= 0 && null < 3) {
    }
    const sys::Fd extra(null);
    sys::Fd program = read_only_clone();
    if (!program) program = sealed_copy();
    ::syscall(SYS_execveat, program.get(), "", argv, environ, AT_EMPTY_PATH);
    throw_errno("execveat", errno);
  });
}

}  // namespace tare::launch
