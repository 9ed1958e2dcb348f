#include "lab/place/forked.hpp"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/text.hpp"

namespace tare::lab {

namespace {

// Everything that could keep a pipe or a socket of others from ending.
void close_all() noexcept { syscall(SYS_close_range, 0U, ~0U, 0U); }

[[noreturn]] void wait_and_leave(pid_t child) noexcept {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

[[noreturn]] void be_one(int left, int pipe_end, const std::function<sys::Child()>& start) noexcept {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_NAME, "tare-weigh-fork");
  if (left > 1) {
    const pid_t next = fork();
    if (next < 0) _exit(errno);
    if (next == 0) be_one(left - 1, pipe_end, start);
    close_all();
    wait_and_leave(next);
  }
  std::string answer;
  pid_t worker = 0;
  try {
    worker = start().release();
    answer = cat("ok ", worker);
  } catch (const Error& error) {
    answer = error.text();
  }
  (void)!write(pipe_end, answer.data(), answer.size());
  close_all();
  if (worker == 0) _exit(1);
  wait_and_leave(worker);
}

}  // namespace

Forked start_forked(int forks, int not_theirs, const std::function<sys::Child()>& start,
                    const std::function<void()>& enter) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw_errno("pipe2", errno);
  sys::Fd out(ends[0]), in(ends[1]);
  const pid_t pid = fork();
  if (pid < 0) throw_errno("fork", errno);
  if (pid == 0) {
    setsid();  // deaf to the terminal's signals, as workers are
    close(not_theirs);
    out.reset();
    try {
      if (enter) enter();
    } catch (const Error& error) {
      (void)!write(in.get(), error.text().data(), error.text().size());
      _exit(1);
    }
    be_one(forks, in.get(), start);
  }
  Forked forked{sys::Child(pid, sys::Fd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)))), 0};
  in.reset();
  const std::string answer = sys::read_all(out, 4096);
  const auto worker =
      answer.starts_with("ok ") ? parse_number<pid_t>(std::string_view(answer).substr(3)) : std::nullopt;
  if (!worker) throw Error(ErrorKind::child, answer.empty() ? "a process of the chain died" : answer);
  forked.worker = *worker;
  return forked;
}

}  // namespace tare::lab
