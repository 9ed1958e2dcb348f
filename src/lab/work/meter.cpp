#include <sys/resource.h>
#include <time.h>

#include "lab/work/workload.hpp"

namespace tare::lab {

namespace {

std::int64_t in_ns(const timeval& t) noexcept {
  return static_cast<std::int64_t>(t.tv_sec) * 1'000'000'000 + static_cast<std::int64_t>(t.tv_usec) * 1'000;
}

void add(int who, RunResult& sum) noexcept {
  rusage use{};
  getrusage(who, &use);
  sum.cpu_ns += in_ns(use.ru_utime) + in_ns(use.ru_stime);
  sum.faults += use.ru_minflt + use.ru_majflt;
  sum.voluntary += use.ru_nvcsw;
  sum.involuntary += use.ru_nivcsw;
}

}  // namespace

std::int64_t monotonic_ns() noexcept {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);  // shifted in a time namespace: only differences mean anything
  return static_cast<std::int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

Meter::Meter() noexcept {
  add(RUSAGE_SELF, before_);
  add(RUSAGE_CHILDREN, before_);
  wall_ = monotonic_ns();
}

void Meter::stop_clock() noexcept {
  if (stopped_ == 0) stopped_ = monotonic_ns();
}

void Meter::finish(RunResult& result) noexcept {
  stop_clock();
  RunResult after;
  add(RUSAGE_SELF, after);
  add(RUSAGE_CHILDREN, after);
  result.wall_ns = stopped_ - wall_;
  result.cpu_ns = after.cpu_ns - before_.cpu_ns;
  result.faults = after.faults - before_.faults;
  result.voluntary = after.voluntary - before_.voluntary;
  result.involuntary = after.involuntary - before_.involuntary;
}

}  // namespace tare::lab
