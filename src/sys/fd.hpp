// File descriptors with an owner.
//
// For: every descriptor outside the child. `Fd` closes on destruction; `DirFd` is a directory (or
// an O_PATH handle of one) below which things are opened by a relative path.
// Not for: code between clone and exec, which uses plain numbers made before.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tare::sys {

class Fd {
 public:
  Fd() = default;
  explicit Fd(int number) noexcept : number_(number) {}
  Fd(Fd&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) {
      reset();
      number_ = std::exchange(other.number_, -1);
    }
    return *this;
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { reset(); }

  int get() const noexcept { return number_; }
  bool valid() const noexcept { return number_ >= 0; }
  explicit operator bool() const noexcept { return valid(); }
  int release() noexcept { return std::exchange(number_, -1); }
  void reset() noexcept;

 private:
  int number_ = -1;
};

// A directory. All functions take a path relative to it; absolute paths are taken below it too.
class DirFd : public Fd {
 public:
  using Fd::Fd;
  DirFd() = default;
  explicit DirFd(Fd&& fd) noexcept : Fd(std::move(fd)) {}
};

// open(2) with O_CLOEXEC always added. Throws kind kernel, "open PATH: ...".
Fd open(const std::string& path, int flags, mode_t mode = 0);
DirFd open_dir(const std::string& path);
// openat(2); for trusted trees (cgroupfs, the state folder) only. A container's tree: open_in_root.
Fd open_at(const DirFd& dir, const std::string& name, int flags, mode_t mode = 0);
// As open_at, but an absent file (ENOENT) gives an invalid Fd.
Fd try_open_at(const DirFd& dir, const std::string& name, int flags, mode_t mode = 0);
// openat2(2) with RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | resolve: links and ".." stay below root.
Fd open_in_root(const DirFd& root, const std::string& path, int flags, mode_t mode = 0, std::uint64_t resolve = 0);

// A handle (O_PATH) of a path without any symbolic link in it: 0 or the handle's errno in `error`.
Fd open_without_links(const std::string& path, int& error);

// The whole file; throws kind kernel where it holds more than `most` bytes (EFBIG).
std::string read_all(const Fd& fd, std::size_t most);
std::string read_file(const std::string& path, std::size_t most = 16 << 20);
// As read_file, of a regular file only: what else is there may never end, or wait for ever.
std::string read_regular_file(const std::string& path, std::size_t most);
std::string read_file_at(const DirFd& dir, const std::string& name, std::size_t most = 1 << 20);
// One write(2) of the whole text, as cgroup and proc files want it.
void write_file_at(const DirFd& dir, const std::string& name, std::string_view text);
void write_all(const Fd& fd, std::string_view bytes);

// The names in a directory, without "." and "..", in the kernel's order.
std::vector<std::string> list_dir(const DirFd& dir);

}  // namespace tare::sys
