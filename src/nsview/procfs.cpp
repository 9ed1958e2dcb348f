#include "nsview/procfs.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>

#include "base/error.hpp"
#include "base/text.hpp"
#include "nsview/parse.hpp"

namespace tare::nsview {
namespace {

constexpr std::size_t kMostText = 64 << 20;

Got got(int error) { return error == EACCES || error == EPERM ? Got::forbidden : Got::gone; }

// linux_dirent64, see getdents64(2): the name begins behind inode, offset, length and type.
constexpr std::size_t kLengthAt = 16, kNameAt = 19;

}  // namespace

Got Reader::file(const sys::DirFd& dir, const char* name, std::string_view& text) {
  const sys::Fd file(::openat(dir.get(), name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file) return got(errno);
  std::size_t used = 0;
  while (used < buffer_.size()) {
    const ssize_t n = ::read(file.get(), buffer_.data() + used, buffer_.size() - used);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return got(errno);
    used += static_cast<std::size_t>(n);
    // The files of /proc give all they have at once, up to a page and more where it is asked for.
    if (n == 0 || used < 4000) break;
  }
  text = {buffer_.data(), used};
  return Got::ok;
}

Got Reader::long_file(const sys::DirFd& dir, const char* name, std::string& text) {
  const sys::Fd file(::openat(dir.get(), name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file) return got(errno);
  text.clear();
  while (text.size() < kMostText) {
    const ssize_t n = ::read(file.get(), buffer_.data(), buffer_.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return got(errno);
    if (n == 0) break;
    text.append(buffer_.data(), static_cast<std::size_t>(n));
  }
  return Got::ok;
}

Got Reader::link(const sys::DirFd& dir, const char* name, std::string_view& text) {
  const ssize_t n = ::readlinkat(dir.get(), name, buffer_.data(), buffer_.size());
  if (n < 0) return got(errno);
  text = {buffer_.data(), static_cast<std::size_t>(n)};
  return Got::ok;
}

Got Reader::numbers(const sys::DirFd& dir, std::vector<pid_t>& found) {
  found.clear();
  const sys::Fd folder(::openat(dir.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return got(errno);
  for (;;) {
    const long n = ::syscall(SYS_getdents64, folder.get(), buffer_.data(), buffer_.size());
    if (n < 0) return got(errno);
    if (n == 0) return Got::ok;
    for (std::size_t at = 0; at < static_cast<std::size_t>(n);) {
      const auto low = static_cast<unsigned char>(buffer_[at + kLengthAt]);
      const auto high = static_cast<unsigned char>(buffer_[at + kLengthAt + 1]);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#error "lengths are read as little-endian"
#endif
      const std::string_view name(buffer_.data() + at + kNameAt);
      if (const auto number = parse_number<pid_t>(name); number && *number >= 0) found.push_back(*number);
      at += std::size_t{low} | (std::size_t{high} << 8);
    }
  }
}

Got Reader::namespaces(const sys::DirFd& dir, Inodes& inodes) {
  Got all = Got::ok;
  for (std::size_t i = 0; i < kKinds; ++i) {
    std::string_view text;
    const Got one = link(dir, kKindInfo[i].link, text);
    if (one == Got::ok) {
      if (const auto name = parse_namespace(text)) inodes[i] = name->inode;
    } else {
      all = one;
      // Forbidden for one, forbidden for all: it is the same check.
      if (one == Got::forbidden) break;
    }
  }
  return all;
}

sys::DirFd open_folder(const sys::DirFd& dir, const char* name) {
  return sys::DirFd(::openat(dir.get(), name, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
}

sys::DirFd open_folder(const sys::DirFd& proc, pid_t number) {
  std::array<char, 16> name{};
  std::to_chars(name.data(), name.data() + name.size() - 1, number);
  return open_folder(proc, name.data());
}

sys::DirFd open_proc() {
  sys::DirFd proc = sys::open_dir("/proc");
  struct statfs fs{};
  if (::fstatfs(proc.get(), &fs) != 0) throw_errno("statfs /proc", errno);
  if (fs.f_type != PROC_SUPER_MAGIC) throw Error(ErrorKind::unsupported, "/proc is not the proc file system");
  return proc;
}

bool is_own_proc(const sys::DirFd& proc) {
  std::array<char, 32> text{};
  const ssize_t n = ::readlinkat(proc.get(), "self", text.data(), text.size());
  return n > 0 && parse_number<pid_t>({text.data(), static_cast<std::size_t>(n)}) == ::getpid();
}

std::string hidden_by(std::string_view mountinfo) {
  std::string found;
  for (const std::string_view line : split(mountinfo, '\n')) {
    const auto fields = split(line, ' ');
    if (fields.size() < 10 || fields[4] != "/proc") continue;
    found.clear();
    for (const std::string_view option : split(fields.back(), ',')) {
      // "noaccess", "invisible" and "ptraceable" are 1, 2 and 4.
      if (option.starts_with("hidepid=") && option != "hidepid=0" && option != "hidepid=off") found = option;
    }
  }
  return found;
}

}  // namespace tare::nsview
