#include "lab/place/worker.hpp"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/text.hpp"

namespace tare::lab {

namespace {

std::string why(const Failure& failure) {
  const int status = static_cast<int>(failure.status);
  if (status != 0 && WIFSIGNALED(status)) return cat(failure.step, ": killed by signal ", WTERMSIG(status));
  if (status != 0 && WIFEXITED(status)) {
    const int code = WEXITSTATUS(status);
    if (code == 127) return cat(failure.step, ": not found (exit status 127)");
    return cat(failure.step, ": exit status ", code);
  }
  if (failure.errno_value == 0) return cat(failure.step, ": not as it must be");  // a self-check
  return cat(failure.step, ": ", errno_text(static_cast<int>(failure.errno_value)));
}

}  // namespace

std::string Worker::ask(std::string_view message) {
  if (ended()) throw Error(ErrorKind::child, "the worker has ended before");
  const int fd = launched_.socket.get();
  if (send(fd, message.data(), message.size(), MSG_NOSIGNAL) < 0 && errno != EPIPE) throw_errno("send", errno);
  pollfd watched[2] = {{fd, POLLIN, 0}, {stop_, POLLIN, 0}};
  for (;;) {
    if (poll(watched, 2, -1) < 0) {
      if (errno == EINTR) continue;
      throw_errno("poll", errno);
    }
    if (watched[1].revents != 0) throw Interrupted{};
    if (watched[0].revents != 0) break;
  }
  char buffer[1024];
  const ssize_t n = recv(fd, buffer, sizeof buffer, 0);
  if (n <= 0) {
    const sys::ExitStatus end = launched_.child.wait();
    throw Error(ErrorKind::child, end.signalled ? cat("the worker was killed by signal ", end.value)
                                                : cat("the worker ended with status ", end.value));
  }
  std::string answer(buffer, static_cast<std::size_t>(n));
  Failure failure;
  if (parse_failure(answer, failure)) throw Error(ErrorKind::child, why(failure));
  return answer;
}

std::string Worker::hello() {
  const std::string answer = ask(cat("hello ", getpid()));
  const std::string begin = cat("hello ", kProtocolVersion, " ");
  if (!answer.starts_with(begin)) {
    throw Error(ErrorKind::child, cat("tare-work is of another version: it says ", tare::quoted(answer)));
  }
  return answer.substr(begin.size());
}

void Worker::set_command(const std::string& directory, const std::vector<std::string>& argv,
                         const std::string& workload) {
  std::string message("command");
  message += '\0';
  message += workload;
  message += '\0';
  message += directory;
  for (const std::string& arg : argv) {
    message += '\0';
    message += arg;
  }
  if (message.size() >= kMessageLimit) throw Error(ErrorKind::usage, "the command is longer than 64 KiB");
  ask(message);
}

void Worker::shell(const std::string& directory, const std::string& text) {
  std::string message("shell");
  message += '\0';
  message += directory;
  message += '\0';
  message += text;
  if (message.size() >= kMessageLimit) throw Error(ErrorKind::usage, "the shell command is longer than 64 KiB");
  ask(message);
}

RunResult Worker::run(const std::string& workload, std::int64_t count, std::int64_t delay, std::int64_t time_ns) {
  if (launched_.turn) launched_.turn(true);
  const std::string answer = ask(cat("run ", workload, " ", count, " ", delay, " ", time_ns));
  if (launched_.turn) launched_.turn(false);
  RunResult result;
  if (!parse_done(answer, result)) throw Error(ErrorKind::child, cat("the worker says ", tare::quoted(answer)));
  return result;
}

void Worker::bye() {
  (void)send(launched_.socket.get(), "bye", 3, MSG_NOSIGNAL);
  launched_.socket.reset();
  if (!ended()) launched_.child.wait();
}

}  // namespace tare::lab
