// Reading /proc with few calls: folders by descriptor, files into one buffer.
//
// A descriptor of /proc/PID stays that process's: once it is gone, everything below gives ESRCH, whoever has the number
// by then. So what is read of one process is of one process.
// Errors: what vanished or is forbidden is a value; Error only where /proc itself can't be used.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "nsview/kind.hpp"
#include "sys/fd.hpp"

namespace tare::nsview {

// What became of a read.
enum class Got { ok, gone, forbidden };

class Reader {
 public:
  Reader() : buffer_(kMost) {}
  // A file of at most 128 KiB, the rest being cut off. The text is valid until the next call.
  Got file(const sys::DirFd& dir, const char* name, std::string_view& text);
  // A symbolic link's text, likewise.
  Got link(const sys::DirFd& dir, const char* name, std::string_view& text);
  // The numbers among a folder's names, in its order.
  Got numbers(const sys::DirFd& dir, std::vector<pid_t>& found);
  // The namespaces of what `dir` is the folder of; those that can't be read stay 0.
  Got namespaces(const sys::DirFd& dir, Inodes& inodes);
  // The whole of a file of any length, up to 64 MiB.
  Got long_file(const sys::DirFd& dir, const char* name, std::string& text);

 private:
  static constexpr std::size_t kMost = 128 << 10;
  std::vector<char> buffer_;
};

// Handles (O_PATH) of folders; invalid where there is none, or it is hidden.
sys::DirFd open_folder(const sys::DirFd& dir, const char* name);
sys::DirFd open_folder(const sys::DirFd& proc, pid_t number);

// /proc, which must be procfs. Throws unsupported where it is something else.
sys::DirFd open_proc();
// Whether the numbers in this /proc are those that system calls of this process mean.
bool is_own_proc(const sys::DirFd& proc);
// The hidepid option of the mount at /proc: "" where nothing is hidden.
std::string hidden_by(std::string_view mountinfo);

}  // namespace tare::nsview
