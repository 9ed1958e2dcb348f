// Sockets of AF_UNIX: a byte there and back, a stream of blocks, and connections to a listener with an
// abstract name, which the network namespace keeps (unix_find_abstract, unix_autobind).
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "lab/work/second.hpp"
#include "lab/work/table.hpp"

namespace tare::lab {

namespace {

Fault pair(End& ours, End& theirs) noexcept {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return {"socketpair", errno};
  ours.reset(ends[0]);
  theirs.reset(ends[1]);
  return {};
}

}  // namespace

Fault run_unix_rr(const Batch& batch, RunResult& result) noexcept {
  End ours, theirs;
  if (const Fault fault = pair(ours, theirs); fault.step != nullptr) return fault;
  Second second;
  const Fault fault = second.start([&]() noexcept {
    ours.reset();
    return echo(theirs.get(), theirs.get());
  });
  if (fault.step != nullptr) return fault;
  theirs.reset();
  return round_trips(batch, result, 512, ours.get(), ours.get(), second, [&] { shutdown(ours.get(), SHUT_WR); });
}

Fault run_unix_stream(const Batch& batch, RunResult& result) noexcept {
  End ours, theirs;
  if (const Fault fault = pair(ours, theirs); fault.step != nullptr) return fault;
  Second second;
  const Fault fault = second.start([&]() noexcept {
    ours.reset();
    return drain(theirs.get());
  });
  if (fault.step != nullptr) return fault;
  theirs.reset();
  return stream(batch, result, 512, ours.get(), second);
}

Fault run_unix_connect(const Batch& batch, RunResult& result) noexcept {
  const End listener(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!listener) return {"socket", errno};
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // Only the family: the kernel chooses an abstract name (unix(7), autobind).
  socklen_t size = offsetof(sockaddr_un, sun_path);
  if (bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0) return {"bind", errno};
  if (listen(listener.get(), 1) != 0) return {"listen", errno};
  size = sizeof address;
  if (getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) return {"getsockname", errno};
  return measure(batch, result, 128, [&]() noexcept -> Fault {
    const End ours(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!ours) return {"socket", errno};
    if (connect(ours.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0) return {"connect", errno};
    const End theirs(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!theirs) return {"accept", errno};
    return {};
  });
}

}  // namespace tare::lab
