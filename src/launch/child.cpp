// child: runs the plan's operations one by one; see protocol.hpp for what it says to its parent.
#include "launch/child.hpp"

#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include "isolate/calls.hpp"
#include "launch/child_process.hpp"

namespace tare::launch {

using isolate::fault;
using isolate::Fault;
using isolate::kNoFault;
using plan::Code;
using sys::raw::call;
using sys::raw::word;

std::uint64_t read_counter() noexcept {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  std::uint64_t value;
  asm volatile("mrs %0, cntvct_el0" : "=r"(value));
  return value;
#endif
}

namespace {

void put(char* to, std::size_t size, const char* text) noexcept {
  std::size_t n = isolate::length(text);
  if (n >= size) n = size - 1;
  isolate::copy(to, text, n);
  to[n] = '\0';
}

// Whoever goes on after a word that did not arrive would wait for an answer that never comes.
Fault tell(ChildContext& c, Kind kind) noexcept {
  c.message.kind = kind;
  const long n = call(SYS_write, c.channel, word(&c.message), sizeof c.message);
  return n < 0 ? fault("write", n) : kNoFault;
}

[[noreturn]] void die(ChildContext& c, const plan::Op& op, std::uint32_t index, Fault f) noexcept {
  c.message.op = index;
  c.message.code = op.code;
  c.message.error = f.error;
  put(c.message.call, sizeof c.message.call, f.call);
  put(c.message.detail, sizeof c.message.detail, c.detail);
  const char* what = "";
  if (op.code == Code::exec_program || op.code == Code::find_program) what = op.program.argv[0];
  if (op.code == Code::run_hook) what = op.hook.path;
  put(c.message.what, sizeof c.message.what, what);
  tell(c, Kind::failed);
  call(SYS_exit_group, 1);
  __builtin_unreachable();
}

Fault ask(ChildContext& c, Kind kind) noexcept {
  // As long as the parent's end is open here, too, its death would not end the wait.
  if (c.parents_end >= 0) call(SYS_close, c.parents_end);
  c.parents_end = -1;
  if (Fault f = tell(c, kind)) return f;
  Message answer;
  const long n = call(SYS_read, c.channel, word(&answer), sizeof answer);
  if (n < 0) return fault("read", n);
  if (n == 0 || answer.kind != Kind::go) call(SYS_exit_group, 1);  // the parent has given up, or died
  return kNoFault;
}

Fault send_console(ChildContext& c) noexcept {
  c.message.kind = Kind::console;
  iovec bytes{&c.message, sizeof c.message};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr header{};
  header.msg_iov = &bytes;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  cmsghdr* rights = CMSG_FIRSTHDR(&header);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof(int));
  isolate::copy(reinterpret_cast<char*>(CMSG_DATA(rights)), reinterpret_cast<const char*>(&c.state.console_master),
                sizeof(int));
  const long r = call(SYS_sendmsg, c.channel, word(&header), MSG_NOSIGNAL);
  return r < 0 ? fault("sendmsg", r) : kNoFault;
}

// Nothing of the runtime stays open while a created container waits, perhaps for days: a pipe of the
// caller's would never end, and a descriptor of the host's would be there to be had.
Fault wait_for_start(ChildContext& c) noexcept {
  const int base = 3 + c.preserve_fds;
  // Out of the way first, so that the two numbers aimed at are free.
  long start = call(SYS_fcntl, c.start_fifo, F_DUPFD_CLOEXEC, base + 2);
  long result = call(SYS_fcntl, c.result_fifo, F_DUPFD_CLOEXEC, base + 2);
  if (start < 0 || result < 0) return fault("fcntl F_DUPFD_CLOEXEC", start < 0 ? start : result);
  start = call(SYS_dup3, start, base, O_CLOEXEC);
  result = call(SYS_dup3, result, base + 1, O_CLOEXEC);
  if (start < 0 || result < 0) return fault("dup3", start < 0 ? start : result);
  const long r = call(SYS_close_range, base + 2, ~0U, 0);
  if (r < 0) return fault("close_range", r);
  c.channel = static_cast<int>(result);
  char byte = 0;
  long n = -EINTR;
  while (n == -EINTR) n = call(SYS_read, start, word(&byte), 1);
  return n <= 0 ? fault("read", n) : kNoFault;
}

// Before the process proper is born among others: only the standard descriptors, those that are passed
// on, the channel and the fifos stay open.
Fault keep_own_descriptors(ChildContext& c) noexcept {
  const int base = 3 + c.preserve_fds;
  int* const kept[] = {&c.channel, &c.start_fifo, &c.result_fifo};
  int n = 0;
  // Out of the way first, so that the numbers aimed at are free.
  for (int* fd : kept) {
    if (*fd < 0) continue;
    const long high = call(SYS_fcntl, *fd, F_DUPFD_CLOEXEC, base + 3);
    if (high < 0) return fault("fcntl F_DUPFD_CLOEXEC", high);
    *fd = static_cast<int>(high);
  }
  for (int* fd : kept) {
    if (*fd < 0) continue;
    const long low = call(SYS_dup3, *fd, base + n, O_CLOEXEC);
    if (low < 0) return fault("dup3", low);
    *fd = base + n++;
  }
  const long r = call(SYS_close_range, base + n, ~0U, 0);
  c.parents_end = -1;
  return r < 0 ? fault("close_range", r) : kNoFault;
}

// A process that nobody has on record must not outlive its parent. As a rule this costs nothing: the
// parent writes the record at once, and is long done.
Fault wait_until_recorded(ChildContext& c) noexcept {
  const auto recorded = [&] { return __atomic_load_n(&c.shared->recorded, __ATOMIC_ACQUIRE) != 0; };
  if (recorded()) return kNoFault;
  // As long as the parent's end is open here, too, its death would not show.
  if (c.parents_end >= 0) call(SYS_close, c.parents_end);
  c.parents_end = -1;
  while (!recorded()) {
    pollfd parent{c.channel, 0, 0};
    const timespec pause{0, 1'000'000};
    const long r = call(SYS_ppoll, word(&parent), 1, word(&pause), 0, 8);
    if (r > 0 && !recorded()) call(SYS_exit_group, 1);
  }
  return kNoFault;
}

Fault execute(ChildContext& c, const plan::ProgramOp& op) noexcept {
  if (op.init) return run_as_init(c, op);
  const long r = op.fd >= 0 ? call(SYS_execveat, op.fd, word(""), word(op.argv), word(op.envp), AT_EMPTY_PATH)
                            : call(SYS_execve, word(c.state.program[0] != '\0' ? c.state.program : op.argv[0]),
                                   word(op.argv), word(op.envp));
  return fault("exec", r);
}

Fault perform(ChildContext& c, const plan::Op& op) noexcept {
  switch (op.code) {
    case Code::wait_for_maps:
      return ask(c, Kind::maps_wanted);
    case Code::wait_for_hooks:
      return ask(c, Kind::hooks_wanted);
    case Code::open_console:
      if (Fault f = isolate::apply(op, c.state)) return f;
      return send_console(c);
    case Code::report_ready:
      if (Fault f = wait_until_recorded(c)) return f;
      return tell(c, Kind::ready);
    case Code::wait_for_start:
      return wait_for_start(c);
    case Code::run_hook:
      return run_hook(c, op.hook);
    case Code::exec_program:
      return execute(c, op.program);
    default:
      return isolate::apply(op, c.state);
  }
}

void run_all(ChildContext& c, const plan::Op* ops, std::uint32_t n, std::uint32_t first_index) noexcept {
  for (std::uint32_t i = 0; i < n; ++i) {
    const std::uint32_t index = first_index + i;
    if (index < c.shared->n_ticks) c.shared->ticks[index] = read_counter();
    c.detail[0] = '\0';
    if (Fault f = perform(c, ops[i])) die(c, ops[i], index, f);
  }
}

}  // namespace

int child_main(void* context) {
  auto& c = *static_cast<ChildContext*>(context);
  c.state.detail = c.detail;
  c.state.detail_size = sizeof c.detail;
  // Modes are as the plan gives them; the umask that the program gets is set near the end.
  c.state.caller_umask = call(SYS_umask, 0);
  if (!c.outer_done) run_all(c, c.outer, c.n_outer, 0);
  run_all(c, c.ops, c.n_ops, c.n_outer);
  return 0;  // a plan without a program: nothing to become
}

int joiner_main(void* context) {
  auto& c = *static_cast<ChildContext*>(context);
  c.state.detail = c.detail;
  c.state.detail_size = sizeof c.detail;
  run_all(c, c.outer, c.n_outer, 0);
  c.outer_done = true;
  // A user namespace may be what gives the right to the others, or what takes it away: those that can
  // be joined without it are, it comes next, and the rest with it. A pidfd names several at once.
  const auto join = [&](bool report) {
    for (std::uint32_t i = 0; i < c.n_joins; ++i) {
      if (c.joins[i].done || c.joins[i].clone_flags == CLONE_NEWUSER) continue;
      const long r = call(SYS_setns, c.joins[i].fd, c.joins[i].clone_flags);
      c.joins[i].done = r >= 0;
      if (r < 0 && report) die(c, plan::Op{}, ~0U - c.joins[i].index, fault("setns", r));
    }
  };
  join(false);
  for (std::uint32_t i = 0; i < c.n_joins; ++i) {
    if (c.joins[i].clone_flags != CLONE_NEWUSER) continue;
    const long r = call(SYS_setns, c.joins[i].fd, CLONE_NEWUSER);
    if (r < 0) die(c, plan::Op{}, ~0U - c.joins[i].index, fault("setns", r));
    c.joins[i].done = true;
  }
  join(true);
  if (Fault f = keep_own_descriptors(c)) die(c, plan::Op{}, ~0U - 1000, f);
  auto* args = static_cast<clone_args*>(c.clone_args);
  args->flags |= CLONE_PARENT;
  args->exit_signal = 0;  // clone(2): with CLONE_PARENT it is that of this process
  const long pid = sys::raw::clone3(args, sizeof *args, child_main, context);
  if (pid < 0) die(c, plan::Op{}, ~0U - 1000, fault("clone3", pid));
  c.shared->pid = static_cast<std::int32_t>(pid);
  return 0;
}

}  // namespace tare::launch
