// A filter loaded in a forked child, and what calls do there.
#pragma once

#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "seccomp/compile.hpp"

namespace tare::seccomp {

inline constexpr int kNotLoaded = 1000;
inline constexpr int kKilled = 2000;  // + the signal

// What `call` gives (0, or its errno as returned by `probe`) under the filter; kKilled + signal
// where the child died.
template <class Call>
int under(const Filter& filter, Call call) {
  const pid_t pid = fork();
  if (pid == 0) {
    signal(SIGSEGV, SIG_DFL);  // also where a sanitizer would report it
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) _exit(250);
    if (!filter.program.empty()) {
      const sock_fprog program{static_cast<unsigned short>(filter.program.size()),
                               const_cast<sock_filter*>(filter.program.data())};
      if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, filter.flags, &program) != 0) _exit(250);
    }
    // Not _exit: the sanitizers look for leaks there, which the filter may forbid.
    syscall(SYS_exit_group, call());
  }
  int status = 0;
  if (waitpid(pid, &status, 0) != pid) return kNotLoaded;
  if (WIFSIGNALED(status)) return kKilled + WTERMSIG(status);
  return WEXITSTATUS(status) == 250 ? kNotLoaded : WEXITSTATUS(status);
}

// 0 where the system call succeeds, its errno else (errnos above 249 don't occur here).
inline int probe(long number, long a = 0, long b = 0, long c = 0, long d = 0) {
  return syscall(number, a, b, c, d) >= 0 ? 0 : errno;
}

#ifdef __x86_64__
// int 0x80: the 32-bit table, whatever the program's own size. 0 or the errno.
inline int probe_32(int number, long a = 0, long b = 0, long c = 0) {
  int result = 0;
  asm volatile("int $0x80" : "=a"(result) : "a"(number), "b"(a), "c"(b), "d"(c) : "memory", "r8", "r9", "r10", "r11");
  return result < 0 ? -result : 0;
}

// What a filter must answer to it; where the kernel takes no 32-bit calls at all (ia32_emulation=0) the instruction
// kills before any filter is asked.
inline int answer_32(int wanted) {
  static const bool taken = under(Filter{}, [] { return probe_32(20 /* getpid */); }) == 0;
  return taken ? wanted : kKilled + SIGSEGV;
}
#endif

}  // namespace tare::seccomp
