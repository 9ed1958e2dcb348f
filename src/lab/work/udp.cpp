// UDP over the place's loopback: request and response of one byte, and datagrams of 1 KiB of which no more
// than a window are on their way, so that none is lost (udp(7) drops what doesn't fit the receiver).
#include <sys/socket.h>

#include "lab/work/inet.hpp"
#include "lab/work/table.hpp"

namespace tare::lab {

namespace {

constexpr std::int64_t kWindow = 16;
char datagram[1024];

// Two connected sockets; what doesn't arrive within five seconds is a fault, not a wait for ever.
Fault udp_pair(End& ours, End& theirs) noexcept {
  if (const Fault fault = loopback(); fault.step != nullptr) return fault;
  sockaddr_in our_address, their_address;
  if (const Fault fault = bound(SOCK_DGRAM, ours, our_address); fault.step != nullptr) return fault;
  if (const Fault fault = bound(SOCK_DGRAM, theirs, their_address); fault.step != nullptr) return fault;
  const auto* const us = reinterpret_cast<const sockaddr*>(&our_address);
  const auto* const them = reinterpret_cast<const sockaddr*>(&their_address);
  if (connect(ours.get(), them, sizeof their_address) != 0) return {"connect", errno};
  if (connect(theirs.get(), us, sizeof our_address) != 0) return {"connect", errno};
  const timeval limit{5, 0};
  if (setsockopt(ours.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) != 0) return {"setsockopt", errno};
  return {};
}

// Takes datagrams in, and says so after each full window; an empty one is the end.
int take_in(int fd) noexcept {
  for (std::int64_t n = 1;; ++n) {
    const ssize_t size = recv(fd, datagram, sizeof datagram, 0);
    if (size == 0) return 0;
    if (size != sizeof datagram) return 1;
    if (n % kWindow == 0 && send(fd, &n, sizeof n, 0) != sizeof n) return 1;
  }
}

}  // namespace

Fault run_udp_rr(const Batch& batch, RunResult& result) noexcept {
  End ours, theirs;
  if (const Fault fault = udp_pair(ours, theirs); fault.step != nullptr) return fault;
  Second second;
  const Fault fault = second.start([&]() noexcept { return echo(theirs.get(), theirs.get()); });
  if (fault.step != nullptr) return fault;
  return round_trips(batch, result, 128, ours.get(), ours.get(), second, [&] { send(ours.get(), "", 0, 0); });
}

Fault run_udp_stream(const Batch& batch, RunResult& result) noexcept {
  End ours, theirs;
  if (const Fault start = udp_pair(ours, theirs); start.step != nullptr) return start;
  Second second;
  if (const Fault start = second.start([&]() noexcept { return take_in(theirs.get()); }); start.step != nullptr) {
    return start;
  }
  std::int64_t sent = 0;
  const auto one = [&]() noexcept -> Fault {
    if (send(ours.get(), datagram, sizeof datagram, 0) != sizeof datagram) return {"send", errno};
    if (++sent % kWindow != 0) return {};
    std::int64_t arrived = 0;
    if (recv(ours.get(), &arrived, sizeof arrived, 0) != sizeof arrived) return {"recv", errno};
    if (arrived != sent) return {"datagrams-that-arrived"};
    return {};
  };
  Meter meter;
  Fault fault = repeat(batch, result, 512, one);
  // The last window's, so that all are known to have come.
  while (fault.step == nullptr && sent % kWindow != 0) fault = one();
  meter.stop_clock();
  if (fault.step != nullptr) return fault;
  if (send(ours.get(), "", 0, 0) != 0) return {"send", errno};
  fault = second.wait();
  meter.finish(result);
  return fault;
}

}  // namespace tare::lab
