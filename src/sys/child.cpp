#include "sys/child.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.hpp"
#include "base/text.hpp"

namespace tare::sys {

Child& Child::operator=(Child&& other) noexcept {
  if (this != &other) {
    destroy();
    pid_ = std::exchange(other.pid_, 0);
    pidfd_ = std::move(other.pidfd_);
  }
  return *this;
}

ExitStatus Child::wait() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0)
    if (errno != EINTR) throw_errno("waitpid", errno);
  pid_ = 0;
  if (WIFSIGNALED(status)) return {true, WTERMSIG(status)};
  return {false, WEXITSTATUS(status)};
}

void Child::kill(int signal) const noexcept {
  if (pid_ <= 0) return;
  if (!pidfd_ || ::syscall(SYS_pidfd_send_signal, pidfd_.get(), signal, nullptr, 0) < 0) ::kill(pid_, signal);
}

void Child::destroy() noexcept {
  if (pid_ <= 0) return;
  kill(SIGKILL);
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = 0;
}

std::uint64_t start_time(pid_t pid) {
  const int fd = ::open(cat("/proc/", pid, "/stat").c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  const Fd owner(fd);
  char buf[1024];
  const ssize_t n = ::read(fd, buf, sizeof buf);
  if (n <= 0) return 0;
  std::string_view text(buf, static_cast<std::size_t>(n));
  // Field 2, the name, may hold blanks and parentheses: count from the last ')'.
  const auto close_paren = text.rfind(')');
  if (close_paren == std::string_view::npos || close_paren + 2 >= text.size()) return 0;
  text.remove_prefix(close_paren + 2);
  const auto fields = split(text, ' ');
  if (fields.size() < 20 || fields[0] == "Z" || fields[0] == "X") return 0;
  return parse_number<std::uint64_t>(fields[19]).value_or(0);
}

}  // namespace tare::sys
