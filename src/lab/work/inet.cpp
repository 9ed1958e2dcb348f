#include "lab/work/inet.hpp"

#include <net/if.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

namespace tare::lab {

Fault loopback() noexcept {
  const End control(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!control) return {"socket", errno};
  ifreq request{};
  strcpy(request.ifr_name, "lo");
  if (ioctl(control.get(), SIOCGIFFLAGS, &request) != 0) return {"loopback", errno};
  if ((request.ifr_flags & IFF_UP) != 0) return {};
  request.ifr_flags = static_cast<short>(request.ifr_flags | IFF_UP);
  if (ioctl(control.get(), SIOCSIFFLAGS, &request) != 0) return {"loopback-up", errno};
  return {};
}

Fault bound(int type, End& out, sockaddr_in& address) noexcept {
  out.reset(socket(AF_INET, type | SOCK_CLOEXEC, 0));
  if (!out) return {"socket", errno};
  address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (bind(out.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0) return {"bind", errno};
  if (type == SOCK_STREAM && listen(out.get(), 1) != 0) return {"listen", errno};
  if (getsockname(out.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) return {"getsockname", errno};
  return {};
}

Fault tcp_pair(End& ours, End& theirs) noexcept {
  if (const Fault fault = loopback(); fault.step != nullptr) return fault;
  End listener;
  sockaddr_in address;
  if (const Fault fault = bound(SOCK_STREAM, listener, address); fault.step != nullptr) return fault;
  ours.reset(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!ours) return {"socket", errno};
  if (connect(ours.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return {"connect", errno};
  theirs.reset(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!theirs) return {"accept", errno};
  const int on = 1;
  for (const int fd : {ours.get(), theirs.get()}) {
    if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0) return {"setsockopt", errno};
  }
  return {};
}

}  // namespace tare::lab
