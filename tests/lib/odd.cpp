// Odd processes for the tests of the view of namespaces, and the kernel's own answers. One static program, one word a
// task.
//
//   odd thread             a second thread moves into UTS and network namespaces of its own; prints its number and
//   stays odd leaderless         the first thread ends, a second one stays; prints the process's number odd from NSFILE
//   N      which process here has the number N there (NS_GET_PID_FROM_PIDNS); 0: none odd in NSFILE N        the number
//   there of process N here (NS_GET_PID_IN_PIDNS) odd burst MS           makes processes that end at once, as fast as
//   it can, for that time odd levels N           a process N pid namespaces deep; prints "ready" from the innermost and
//   stays
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "odd: %s: %s\n", what, std::strerror(errno));
  std::exit(99);
}

[[noreturn]] void stay() {
  for (;;) pause();
}

// A thread by the plain call: it uses nothing that needs a C library's thread.
alignas(16) char stack[1 << 16];
int thread(int (*body)(void*)) {
  const int flags = CLONE_VM | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
  const int tid = clone(body, stack + sizeof stack, flags, nullptr);
  if (tid < 0) fail("clone");
  return tid;
}

int translate(const char* file, const char* number, unsigned long call) {
  const int ns = open(file, O_RDONLY | O_CLOEXEC);
  if (ns < 0) fail(file);
  const int got = ioctl(ns, call, std::atoi(number));
  if (got < 0 && errno != ESRCH) fail("ioctl");
  std::printf("%d\n", got < 0 ? 0 : got);
  return 0;
}

int burst(long ms) {
  timespec start{}, now{};
  clock_gettime(CLOCK_MONOTONIC, &start);
  do {
    const pid_t pid = fork();
    if (pid < 0) fail("fork");
    if (pid == 0) _exit(0);
    waitpid(pid, nullptr, 0);
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000 < ms);
  return 0;
}

int levels(int n) {
  for (; n > 0; --n) {
    if (unshare(CLONE_NEWPID) != 0) fail("unshare");
    const pid_t pid = fork();
    if (pid < 0) fail("fork");
    if (pid > 0) stay();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
  }
  std::puts("ready");
  std::fflush(stdout);
  stay();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string task = argc > 1 ? argv[1] : "";
  if (task == "thread") {
    const int tid = thread([](void*) -> int {
      if (unshare(CLONE_NEWUTS | CLONE_NEWNET) != 0) _exit(98);
      const char text[] = "ready\n";
      if (write(1, text, sizeof text - 1) < 0) _exit(97);
      stay();
    });
    std::printf("%d\n", tid);
    std::fflush(stdout);
    stay();
  }
  if (task == "leaderless") {
    thread([](void*) -> int { stay(); });
    std::printf("%d\n", getpid());
    std::fflush(stdout);
    syscall(SYS_exit, 0);
  }
  if (task == "from" && argc == 4) return translate(argv[2], argv[3], _IOR(0xb7, 0x6, int));
  if (task == "in" && argc == 4) return translate(argv[2], argv[3], _IOR(0xb7, 0x8, int));
  if (task == "burst" && argc == 3) return burst(std::atol(argv[2]));
  if (task == "levels" && argc == 3) return levels(std::atoi(argv[2]));
  std::fprintf(stderr, "odd: unknown task\n");
  return 2;
}
