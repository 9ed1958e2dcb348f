// The foreground: signals passed on, a terminal carried, the end awaited.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.hpp"
#include "base/text.hpp"
#include "runtime/container.hpp"

namespace tare::runtime {
namespace {

// Those that speak to the runtime itself stay: job control (a stopped tare is a stopped tare), and what
// comes without anybody having meant the program (SIGURG: Go's runtimes send it to everything).
bool stays_here(int signal) {
  switch (signal) {
    case SIGKILL:
    case SIGSTOP:
    case SIGTSTP:
    case SIGTTIN:
    case SIGTTOU:
    case SIGCONT:
    case SIGURG:
    case SIGSEGV:
    case SIGBUS:
    case SIGFPE:
    case SIGILL:
    case SIGTRAP:
    case SIGSYS:
    case SIGABRT:
      return true;
    default:
      return false;
  }
}

sigset_t taken_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (int signal = 1; signal <= SIGRTMAX; ++signal)
    if (!stays_here(signal)) ::sigaddset(&set, signal);
  return set;
}

// The caller's terminal, raw while the container has it, and restored whatever happens.
class RawTerminal {
 public:
  RawTerminal() {
    if (::tcgetattr(0, &saved_) < 0) return;
    termios raw = saved_;
    ::cfmakeraw(&raw);
    active_ = ::tcsetattr(0, TCSANOW, &raw) == 0;
  }
  RawTerminal(const RawTerminal&) = delete;
  ~RawTerminal() {
    if (active_) ::tcsetattr(0, TCSANOW, &saved_);
  }

 private:
  termios saved_{};
  bool active_ = false;
};

void copy_window_size(int master) {
  winsize size{};
  if (::ioctl(0, TIOCGWINSZ, &size) == 0 || ::ioctl(1, TIOCGWINSZ, &size) == 0) ::ioctl(master, TIOCSWINSZ, &size);
}

// Bytes that were read and could not be written yet: bounded, and while some wait nothing more is read.
struct Pending {
  char bytes[8192];
  std::size_t at = 0, end = 0;
  bool empty() const { return at == end; }
  // false: nobody reads any more.
  bool flush(int fd) {
    while (!empty()) {
      const ssize_t n = ::write(fd, bytes + at, end - at);
      if (n < 0 && (errno == EAGAIN || errno == EINTR)) return true;
      if (n < 0) return false;
      at += static_cast<std::size_t>(n);
    }
    return true;
  }
  // false: the end.
  bool fill(int fd) {
    const ssize_t n = ::read(fd, bytes, sizeof bytes);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return true;
    at = 0;
    end = n > 0 ? static_cast<std::size_t>(n) : 0;
    return n > 0;
  }
};

class Attendant {
 public:
  Attendant(sys::Child& child, sys::Fd master, bool default_actions)
      : child_(child), master_(std::move(master)), default_actions_(default_actions) {}

  int run();

 private:
  void take_signals();
  void pass_on(int signal);
  bool reap();
  void carry(short in_events, short out_events, short master_events);
  void drain();

  sys::Child& child_;
  sys::Fd master_;
  bool default_actions_;
  sys::Fd signals_;
  Pending to_master_, to_output_;
  bool input_open_ = true, output_open_ = true;
  bool ended_ = false;
  sys::ExitStatus status_;
};

// PID 1 gets no signal that it has no handler for. By hand a Ctrl-C is meant to end the program, so what
// the signal would have done to any other process is done to this one.
bool would_end_it_but_is_dropped(pid_t pid, int signal) {
  if (signal != SIGINT && signal != SIGTERM && signal != SIGHUP && signal != SIGQUIT) return false;
  try {
    const auto text = sys::read_file(cat("/proc/", pid, "/status"));
    for (const std::string_view field : {"\nSigCgt:", "\nSigIgn:", "\nSigBlk:"}) {
      const auto at = text.find(field);
      if (at == std::string::npos) return false;
      const auto line = std::string_view(text).substr(at + field.size());
      const auto mask = parse_number<std::uint64_t>(trim(line.substr(0, line.find('\n'))), 16).value_or(0);
      if ((mask >> (signal - 1) & 1) != 0) return false;
    }
    return true;
  } catch (const Error&) {
    return false;
  }
}

void Attendant::pass_on(int signal) {
  if (default_actions_ && would_end_it_but_is_dropped(child_.pid(), signal)) {
    child_.kill(SIGKILL);
    status_ = {true, signal};  // told as the signal that was meant
    return;
  }
  child_.kill(signal);
}

bool Attendant::reap() {
  bool ended = false;
  int status = 0;
  pid_t pid = 0;
  // A subreaper gets others' children too.
  while (!ended && (pid = ::waitpid(-1, &status, WNOHANG)) > 0) {
    if (pid != child_.pid()) continue;
    if (!status_.signalled)
      status_ =
          WIFSIGNALED(status) ? sys::ExitStatus{true, WTERMSIG(status)} : sys::ExitStatus{false, WEXITSTATUS(status)};
    child_.release();
    ended = true;
  }
  return ended;
}

void Attendant::take_signals() {
  signalfd_siginfo info[8];
  const ssize_t n = ::read(signals_.get(), info, sizeof info);
  for (std::size_t i = 0; n > 0 && i < static_cast<std::size_t>(n) / sizeof info[0]; ++i) {
    const int signal = static_cast<int>(info[i].ssi_signo);
    if (signal == SIGCHLD)
      ended_ = reap() || ended_;
    else if (signal == SIGWINCH) {
      if (master_) copy_window_size(master_.get());
    } else if (signal != SIGPIPE) {
      pass_on(signal);
    }
  }
}

void Attendant::carry(short in_events, short out_events, short master_events) {
  if ((in_events & (POLLIN | POLLHUP | POLLERR)) != 0 && to_master_.empty()) input_open_ = to_master_.fill(0);
  if (!to_master_.empty()) to_master_.flush(master_.get());
  if ((out_events & POLLERR) != 0) output_open_ = false;
  if ((master_events & (POLLIN | POLLHUP)) != 0 && to_output_.empty() && !to_output_.fill(master_.get()))
    master_.reset();
  if (!to_output_.empty()) {
    if (output_open_) output_open_ = to_output_.flush(1);
    if (!output_open_) to_output_.at = to_output_.end = 0;  // nobody reads: the program is not to block on it
  }
}

// What the program wrote before it ended is still in the terminal. Others may hold it open, so only
// what is there is taken.
void Attendant::drain() {
  if (!master_) return;
  pollfd waiting{master_.get(), POLLIN, 0};
  while (output_open_ && ::poll(&waiting, 1, 0) > 0 && (waiting.revents & POLLIN) != 0) {
    if (!to_output_.fill(master_.get())) break;
    while (output_open_ && !to_output_.empty()) {
      output_open_ = to_output_.flush(1);
      if (!to_output_.empty()) {
        pollfd room{1, POLLOUT, 0};
        ::poll(&room, 1, 1000);
      }
    }
  }
}

int Attendant::run() {
  const sigset_t set = taken_signals();
  const bool terminal = master_.valid();
  if (!terminal) {
    // Nothing to carry: one call waits for everything.
    while (!ended_) {
      siginfo_t info{};
      const int signal = ::sigwaitinfo(&set, &info);
      if (signal == SIGCHLD)
        ended_ = reap();
      else if (signal > 0 && signal != SIGPIPE && signal != SIGWINCH)
        pass_on(signal);
    }
    return status_.as_shell();
  }
  signals_ = sys::Fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals_) throw_errno("signalfd", errno);
  const RawTerminal raw;
  copy_window_size(master_.get());
  ::fcntl(master_.get(), F_SETFL, O_RDWR | O_NONBLOCK);
  while (!ended_) {
    pollfd fds[4] = {{signals_.get(), POLLIN, 0},
                     {input_open_ && to_master_.empty() ? 0 : -1, POLLIN, 0},
                     {output_open_ && !to_output_.empty() ? 1 : -1, POLLOUT, 0},
                     {master_.valid() ? master_.get() : -1, 0, 0}};
    if (to_output_.empty()) fds[3].events = static_cast<short>(fds[3].events | POLLIN);
    if (!to_master_.empty()) fds[3].events = static_cast<short>(fds[3].events | POLLOUT);
    if (::poll(fds, 4, -1) < 0 && errno != EINTR) throw_errno("poll", errno);
    if ((fds[0].revents & POLLIN) != 0) take_signals();
    if (master_) carry(fds[1].revents, fds[2].revents, fds[3].revents);
    // A hung-up terminal with no reader inside would make poll return at once for ever.
    if (master_ && (fds[3].revents & POLLHUP) != 0 && to_output_.empty() && (fds[3].revents & POLLIN) == 0) {
      pollfd only{signals_.get(), POLLIN, 0};
      ::poll(&only, 1, 20);
    }
  }
  drain();
  return status_.as_shell();
}

}  // namespace

void block_signals() {
  const sigset_t set = taken_signals();
  if (::sigprocmask(SIG_BLOCK, &set, nullptr) < 0) throw_errno("sigprocmask", errno);
}

int attend(sys::Child& child, sys::Fd master, bool default_actions) {
  return Attendant(child, std::move(master), default_actions).run();
}

}  // namespace tare::runtime
