// fork, _exit in the child, waitpid in the parent: UnixBench's "process creation".
#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab/work/table.hpp"

namespace tare::lab {

Fault run_spawn(const Batch& batch, RunResult& result) noexcept {
  return measure(batch, result, 16, []() noexcept -> Fault {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    if (child < 0) return {"fork", errno};
    int status = 0;
    if (waitpid(child, &status, 0) != child) return {"waitpid", errno};
    if (status != 0) return {"child", 0, status};
    return {};
  });
}

}  // namespace tare::lab
