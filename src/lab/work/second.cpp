#include "lab/work/second.hpp"

#include <sys/socket.h>

namespace tare::lab {

namespace {
char block[kBlock];
}

int echo(int in, int out) noexcept {
  char byte = 0;
  ssize_t n = 0;
  while ((n = read(in, &byte, 1)) == 1) {
    if (write(out, &byte, 1) != 1) return 1;
  }
  return n == 0 ? 0 : 1;
}

int drain(int fd) noexcept {
  std::int64_t sum = 0;
  ssize_t n = 0;
  while ((n = read(fd, block, sizeof block)) > 0) sum += n;
  if (n < 0) return 1;
  return write(fd, &sum, sizeof sum) == sizeof sum ? 0 : 1;
}

Fault stream(const Batch& batch, RunResult& result, std::int64_t chunk, int fd, Second& second) noexcept {
  Meter meter;
  Fault fault = repeat(batch, result, chunk, [&]() noexcept -> Fault {
    std::size_t done = 0;
    while (done < sizeof block) {
      const ssize_t n = send(fd, block + done, sizeof block - done, MSG_NOSIGNAL);
      if (n < 0) return {"send", errno};
      done += static_cast<std::size_t>(n);
    }
    return {};
  });
  if (fault.step == nullptr && shutdown(fd, SHUT_WR) != 0) fault = {"shutdown", errno};
  std::int64_t arrived = -1;
  if (fault.step == nullptr && recv(fd, &arrived, sizeof arrived, MSG_WAITALL) != sizeof arrived)
    fault = {"recv", errno};
  meter.stop_clock();
  if (fault.step != nullptr) return fault;
  fault = second.wait();
  meter.finish(result);
  if (arrived != result.count * static_cast<std::int64_t>(kBlock)) keep_first(fault, {"bytes-that-arrived"});
  return fault;
}

}  // namespace tare::lab
