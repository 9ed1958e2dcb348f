// One byte to a second process and back, through two pipes: UnixBench's "pipe-based context switching",
// both processes on the one CPU, so each round trip is two switches.
#include <fcntl.h>

#include "lab/work/second.hpp"
#include "lab/work/table.hpp"

namespace tare::lab {

Fault run_pipe(const Batch& batch, RunResult& result) noexcept {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {"pipe2", errno};
  End there_in(ends[0]), there(ends[1]);
  if (pipe2(ends, O_CLOEXEC) != 0) return {"pipe2", errno};
  End back(ends[0]), back_out(ends[1]);
  Second second;
  const Fault fault = second.start([&]() noexcept {
    there.reset();
    back.reset();
    return echo(there_in.get(), back_out.get());
  });
  if (fault.step != nullptr) return fault;
  there_in.reset();
  back_out.reset();
  return round_trips(batch, result, 1024, there.get(), back.get(), second, [&] { there.reset(); });
}

}  // namespace tare::lab
