// A child that executes tare-work by its kept descriptor (the same file in any root), which exits at
// once, and waitpid. By vfork(2), as most who start programs do it, and by fork(2), as shells do.
#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab/work/table.hpp"

namespace tare::lab {

namespace {

char name[] = "tare-work";
char word[] = "exit";
char* argv[] = {name, word, nullptr};
char* environment[] = {nullptr};

Fault wait_for(pid_t child) noexcept {
  int status = 0;
  if (waitpid(child, &status, 0) != child) return {"waitpid", errno};
  if (status != 0) return {"execveat", 0, status};
  return {};
}

}  // namespace

Fault run_exec(const Batch& batch, RunResult& result) noexcept {
  return measure(batch, result, 4, []() noexcept -> Fault {
    const pid_t child = vfork();
    if (child == 0) {
      syscall(SYS_execveat, kProgramFd, "", argv, environment, AT_EMPTY_PATH);
      _exit(127);
    }
    if (child < 0) return {"vfork", errno};
    return wait_for(child);
  });
}

Fault run_exec_fork(const Batch& batch, RunResult& result) noexcept {
  return measure(batch, result, 4, []() noexcept -> Fault {
    const pid_t child = fork();
    if (child == 0) {
      syscall(SYS_execveat, kProgramFd, "", argv, environment, AT_EMPTY_PATH);
      _exit(127);
    }
    if (child < 0) return {"fork", errno};
    return wait_for(child);
  });
}

}  // namespace tare::lab
