// child: see the header.
#include "launch/child_process.hpp"

#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "isolate/calls.hpp"

namespace tare::launch {

using isolate::fault;
using isolate::Fault;
using isolate::kNoFault;
using sys::raw::call;
using sys::raw::word;

namespace {

struct Launchee {
  const char* path;
  const char* const* argv;
  const char* const* envp;
  const char* cwd;
  int fd;
  int stdin_fd;  // -1: as it is
  bool own_session;
  int error;
  long umask;
};

int exec_launchee(void* argument) {
  auto& l = *static_cast<Launchee*>(argument);
  if (l.own_session) {
    // A hook gets nothing of ours or of the caller's but the state.
    call(SYS_setsid);
    call(SYS_umask, l.umask);
  }
  if (l.stdin_fd >= 0) call(SYS_dup3, l.stdin_fd, 0, 0);
  if (l.cwd != nullptr && call(SYS_chdir, word(l.cwd)) < 0) call(SYS_chdir, word("/"));
  const std::uint64_t none = 0;
  call(SYS_rt_sigprocmask, SIG_SETMASK, word(&none), 0, 8);
  if (l.own_session) call(SYS_close_range, 3, ~0U, 4);  // CLOSE_RANGE_CLOEXEC
  const long r = l.fd >= 0 ? call(SYS_execveat, l.fd, word(""), word(l.argv), word(l.envp), AT_EMPTY_PATH)
                           : call(SYS_execve, word(l.path), word(l.argv), word(l.envp));
  l.error = static_cast<int>(-r);
  return 127;
}

alignas(16) char second_stack[32768];

// As vfork(2): returns when the program runs, or could not be executed (l.error).
long start(Launchee& l, int* pidfd) noexcept {
  clone_args args{};
  args.flags = CLONE_VM | CLONE_VFORK | CLONE_CLEAR_SIGHAND | (pidfd != nullptr ? CLONE_PIDFD : 0);
  args.pidfd = static_cast<std::uint64_t>(word(pidfd));
  args.exit_signal = SIGCHLD;
  args.stack = static_cast<std::uint64_t>(word(second_stack));
  args.stack_size = sizeof second_stack;
  const long pid = sys::raw::clone3(&args, sizeof args, exec_launchee, &l);
  if (pid != -ENOSYS && pid != -EPERM) return pid;
  // Common profiles hide clone3(2), whose flags a filter can't see. No handler is set in this process by
  // now, so that nothing is lost with CLONE_CLEAR_SIGHAND.
  const unsigned long flags = CLONE_VM | CLONE_VFORK | SIGCHLD | (pidfd != nullptr ? CLONE_PIDFD : 0U);
  return sys::raw::clone(flags, second_stack + sizeof second_stack, pidfd, exec_launchee, &l);
}

long write_state(const plan::HookOp& op) noexcept {
  const long fd = call(SYS_memfd_create, word("state"), 1);  // MFD_CLOEXEC
  if (fd < 0) return fd;
  isolate::Buffer<24> pid;
  pid.add_number(static_cast<std::uint64_t>(call(SYS_getpid)));
  isolate::write_once(fd, op.state_before_pid, isolate::length(op.state_before_pid));
  isolate::write_once(fd, pid.text, pid.used);
  isolate::write_once(fd, op.state_after_pid, isolate::length(op.state_after_pid));
  call(SYS_lseek, fd, 0, SEEK_SET);
  return fd;
}

}  // namespace

Fault run_hook(ChildContext& c, const plan::HookOp& op) noexcept {
  const long state_fd = write_state(op);
  if (state_fd < 0) return fault("memfd_create", state_fd);
  Launchee l{op.path,
             op.argv,
             op.envp,
             c.state.pivoted ? "/" : op.cwd,
             -1,
             static_cast<int>(state_fd),
             true,
             0,
             c.state.caller_umask};
  int pidfd = -1;
  const long pid = start(l, &pidfd);
  isolate::close_fd(state_fd);
  if (pid < 0) return fault("clone3", pid);
  bool late = false;
  if (l.error == 0 && op.timeout > 0) {
    pollfd ended{pidfd, POLLIN, 0};
    timespec limit{op.timeout, 0};
    late = call(SYS_ppoll, word(&ended), 1, word(&limit), 0, 8) == 0;
  }
  if (late) call(SYS_kill, -pid, SIGKILL);
  int status = 0;
  long r = -EINTR;
  while (r == -EINTR) r = call(SYS_wait4, pid, word(&status), 0, 0);
  isolate::close_fd(pidfd);
  if (l.error != 0) return {"exec", l.error};
  if (r < 0) return fault("wait4", r);
  if (late) {
    isolate::note(c.state, "it ran into its timeout and was killed");
    return {"", ETIMEDOUT};
  }
  if (status == 0) return kNoFault;
  isolate::Buffer<64> text;
  if (WIFSIGNALED(status))
    text.add("it was ended by signal ").add_number(static_cast<unsigned>(WTERMSIG(status)));
  else
    text.add("exit status ").add_number(static_cast<unsigned>(WEXITSTATUS(status)));
  isolate::note(c.state, text.text);
  return {"", ECANCELED};
}

Fault run_as_init(ChildContext& c, const plan::ProgramOp& op) noexcept {
  // Everything that a signal could mean for the program is taken here and passed on.
  const std::uint64_t all = ~std::uint64_t{0};
  call(SYS_rt_sigprocmask, SIG_SETMASK, word(&all), 0, 8);
  Launchee l{
      c.state.program[0] != '\0' ? c.state.program : op.argv[0], op.argv, op.envp, nullptr, op.fd, -1, false, 0, 0};
  const long pid = start(l, nullptr);
  if (pid < 0) return fault("clone3", pid);
  if (l.error != 0) return {"exec", l.error};
  // The parent sees exec's success by the end of the channel.
  call(SYS_close_range, 3, ~0U, 0);
  while (true) {
    siginfo_t info{};
    const long signal = call(SYS_rt_sigtimedwait, word(&all), word(&info), 0, 8);
    if (signal != SIGCHLD) {
      // What the terminal sends (SI_KERNEL) reaches the whole foreground group by itself.
      if (signal > 0 && info.si_code != SI_KERNEL) call(SYS_kill, pid, signal);
      continue;
    }
    int status = 0;
    long ended = 0;
    while ((ended = call(SYS_wait4, -1, word(&status), WNOHANG, 0)) > 0) {
      if (ended != pid) continue;
      call(SYS_exit_group, WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
    }
  }
}

}  // namespace tare::launch
