// Signals: to oneself, taken by a handler; and to a second process and back, each waiting for the other's
// in sigwaitinfo(2), both on one CPU.
#include <errno.h>
#include <signal.h>

#include "lab/work/second.hpp"
#include "lab/work/table.hpp"

namespace tare::lab {

namespace {

volatile sig_atomic_t handled = 0;

void count_one(int) { handled = handled + 1; }

}  // namespace

Fault run_signal(const Batch& batch, RunResult& result) noexcept {
  struct sigaction action{}, before{};
  action.sa_handler = count_one;
  if (sigaction(SIGUSR1, &action, &before) != 0) return {"sigaction", errno};
  const pid_t self = getpid();
  const Fault fault = measure(batch, result, 1024, [self]() noexcept -> Fault {
    const sig_atomic_t had = handled;
    if (kill(self, SIGUSR1) != 0) return {"kill", errno};
    if (handled == had) [[unlikely]] {
      return {"signal-that-arrived"};  // the only thread gets it before kill returns
    }
    return {};
  });
  sigaction(SIGUSR1, &before, nullptr);
  return fault;
}

Fault run_signal_pair(const Batch& batch, RunResult& result) noexcept {
  sigset_t set, before;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigaddset(&set, SIGUSR2);
  if (sigprocmask(SIG_BLOCK, &set, &before) != 0) return {"sigprocmask", errno};
  const pid_t self = getpid();
  Second second;
  Fault fault = second.start([&]() noexcept {
    for (;;) {
      const int signal = sigwaitinfo(&set, nullptr);
      if (signal == SIGUSR2) return 0;
      if (signal != SIGUSR1 || kill(self, SIGUSR1) != 0) return 1;
    }
  });
  if (fault.step == nullptr) {
    const timespec limit{5, 0};
    const auto trip = [&]() noexcept -> Fault {
      if (kill(second.pid(), SIGUSR1) != 0) return {"kill", errno};
      siginfo_t from;
      if (sigtimedwait(&set, &from, &limit) != SIGUSR1) return {"sigtimedwait", errno};
      if (from.si_pid != second.pid()) [[unlikely]] {
        return {"sender-of-the-signal"};
      }
      return {};
    };
    fault = trip();
    Meter meter;
    if (fault.step == nullptr) fault = repeat(batch, result, 256, trip);
    meter.stop_clock();
    if (fault.step == nullptr) {
      if (kill(second.pid(), SIGUSR2) != 0) fault = {"kill", errno};
      keep_first(fault, second.wait());
      meter.finish(result);
    }
  }
  sigprocmask(SIG_SETMASK, &before, nullptr);
  return fault;
}

}  // namespace tare::lab
