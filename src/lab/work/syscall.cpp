// One system call, by number, that enters the kernel each time: getppid(2) is not answered by the vDSO
// and glibc keeps no copy. (It translates a pid, so it does enter the pid namespace's code.) And the
// opposite: the clock by the vDSO, which in a time namespace reads a second page (kernel: vvar, timens).
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lab/work/table.hpp"

namespace tare::lab {

Fault run_syscall(const Batch& batch, RunResult& result) noexcept {
  return measure(batch, result, 8192, []() noexcept -> Fault {
    syscall(SYS_getppid);
    return {};
  });
}

Fault run_clock(const Batch& batch, RunResult& result) noexcept {
  std::int64_t last = 0;
  return measure(batch, result, 65536, [&]() noexcept -> Fault {
    const std::int64_t now = monotonic_ns();
    if (now < last) [[unlikely]] {
      return {"clock-that-goes-on"};
    }
    last = now;
    return {};
  });
}

}  // namespace tare::lab
