// crowd PROCESSES SETS: a crowd of waiting processes, for bench/view. Each of the SETS is a process with all eight
// kinds of namespaces of its own and its share of the others; says "ready" and lives until its stdin ends.
//
// Everything is below the init of a pid namespace, which dies with this program by whatever signal: so nothing stays,
// and no limit of the machine is touched.
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

long start(std::uint64_t flags) {
  clone_args args{};
  args.flags = flags;
  args.exit_signal = SIGCHLD;
  return syscall(SYS_clone3, &args, sizeof args);
}

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "crowd: %s: %s\n", what, std::strerror(errno));
  std::_Exit(1);
}

void tell(int fd) {
  if (write(fd, "x", 1) != 1) std::_Exit(1);
}

[[noreturn]] void wait_for_ever() {
  for (;;) pause();
}

void fill(long members, int fd) {
  for (long i = 0; i < members; ++i) {
    const long pid = start(0);
    if (pid < 0) fail("fork");
    if (pid == 0) {
      tell(fd);
      wait_for_ever();
    }
  }
}

[[noreturn]] void init_of(long processes, long sets, int fd) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // Had it died before: then nobody has the other end.
  pollfd other{fd, POLLOUT, 0};
  if (poll(&other, 1, 0) > 0 && (other.revents & POLLERR) != 0) std::_Exit(1);
  constexpr std::uint64_t kAll = CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID |
                                 CLONE_NEWNET | CLONE_NEWCGROUP | CLONE_NEWTIME;
  const long share = sets > 0 ? processes / sets : 0;
  for (long i = 0; i < sets; ++i) {
    const long pid = start(kAll);
    if (pid < 0) fail("clone3");
    if (pid == 0) {
      fill(share - 1, fd);
      tell(fd);
      wait_for_ever();
    }
  }
  fill(processes - share * sets, fd);
  wait_for_ever();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const long processes = std::atol(argv[1]), sets = std::atol(argv[2]);
  int ends[2];
  if (pipe(ends) != 0) fail("pipe");
  const long init = start(CLONE_NEWPID);
  if (init < 0) fail("clone3");
  if (init == 0) {
    close(ends[0]);
    init_of(processes, sets, ends[1]);
  }
  close(ends[1]);
  char buffer[4096];
  for (long there = 0; there < processes;) {
    const ssize_t n = read(ends[0], buffer, sizeof buffer);
    if (n <= 0) fail("the crowd did not come together");
    there += n;
  }
  std::puts("ready");
  std::fflush(stdout);
  while (read(0, buffer, sizeof buffer) > 0) {
  }
  kill(static_cast<pid_t>(init), SIGKILL);
  waitpid(static_cast<pid_t>(init), nullptr, 0);
  return 0;
}
