// TCP over the place's loopback: request and response of one byte, a stream of blocks, and connections
// made and closed, as netperf's TCP_RR, TCP_STREAM and TCP_CC.
#include <sys/socket.h>

#include "lab/work/inet.hpp"
#include "lab/work/table.hpp"

namespace tare::lab {

Fault run_tcp_rr(const Batch& batch, RunResult& result) noexcept {
  End ours, theirs;
  if (const Fault fault = tcp_pair(ours, theirs); fault.step != nullptr) return fault;
  Second second;
  const Fault fault = second.start([&]() noexcept {
    ours.reset();
    return echo(theirs.get(), theirs.get());
  });
  if (fault.step != nullptr) return fault;
  theirs.reset();
  return round_trips(batch, result, 128, ours.get(), ours.get(), second, [&] { shutdown(ours.get(), SHUT_WR); });
}

Fault run_tcp_stream(const Batch& batch, RunResult& result) noexcept {
  End ours, theirs;
  if (const Fault fault = tcp_pair(ours, theirs); fault.step != nullptr) return fault;
  Second second;
  const Fault fault = second.start([&]() noexcept {
    ours.reset();
    return drain(theirs.get());
  });
  if (fault.step != nullptr) return fault;
  theirs.reset();
  return stream(batch, result, 256, ours.get(), second);
}

Fault run_tcp_connect(const Batch& batch, RunResult& result) noexcept {
  if (const Fault fault = loopback(); fault.step != nullptr) return fault;
  End listener;
  sockaddr_in address;
  if (const Fault fault = bound(SOCK_STREAM, listener, address); fault.step != nullptr) return fault;
  return measure(batch, result, 32, [&]() noexcept -> Fault {
    const End ours(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!ours) return {"socket", errno};
    if (connect(ours.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      return {"connect", errno};
    const End theirs(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!theirs) return {"accept", errno};
    // Closed by a reset: without it each port would be kept for a minute, and the ports run out.
    const linger at_once{1, 0};
    if (setsockopt(ours.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once) != 0) return {"setsockopt", errno};
    return {};
  });
}

}  // namespace tare::lab
