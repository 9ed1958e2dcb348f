#include "lab/place/network.hpp"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "lab/place/netlink.hpp"

namespace tare::lab {

namespace {

constexpr const char* kOwn = "/proc/self/ns/net";

// While it lives, this process is in another network namespace. The process has one thread.
class Visit {
 public:
  explicit Visit(const sys::Fd& there) : home_(sys::open(kOwn, O_RDONLY)) {
    if (setns(there.get(), CLONE_NEWNET) != 0) throw_errno("setns", errno);
  }
  ~Visit() { setns(home_.get(), CLONE_NEWNET); }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;

 private:
  sys::Fd home_;
};

sys::Fd new_namespace() {
  const sys::Fd home = sys::open(kOwn, O_RDONLY);
  if (unshare(CLONE_NEWNET) != 0) throw_errno("unshare", errno);
  sys::Fd made(open(kOwn, O_RDONLY | O_CLOEXEC));
  const int error = errno;
  if (setns(home.get(), CLONE_NEWNET) != 0) throw_errno("setns", errno);
  if (!made) throw_errno(cat("open ", kOwn), error);
  return made;
}

sys::Fd bound_socket(int type) {
  sys::Fd fd(socket(AF_INET, type | SOCK_CLOEXEC, 0));
  if (!fd) throw_errno("socket", errno);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(kFarAddress);
  if (bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) throw_errno("bind", errno);
  return fd;
}

}  // namespace

FarEnd::FarEnd(std::string kind) : kind_(std::move(kind)), namespace_(new_namespace()) {
  const Visit there(namespace_);
  prepare();
  tcp_ = bound_socket(SOCK_STREAM);
  if (listen(tcp_.get(), 64) != 0) throw_errno("listen", errno);
  udp_ = bound_socket(SOCK_DGRAM);
}

void FarEnd::prepare() {
  Netlink net;
  net.set_up(net.index("lo"));
  net.add_veth("far", "near");
  const int far = net.index("far"), near = net.index("near");
  int addressed = far;
  if (kind_ == "bridge") {
    net.add_bridge("bridge");
    addressed = net.index("bridge");
    net.set_master(far, addressed);
    net.set_up(addressed);
  }
  if (kind_ == "macvlan") {
    net.add_macvlan("macvlan", near);
    net.set_up(near);
  }
  net.set_up(far);
  net.add_address(addressed, kFarAddress, 24);
}

void FarEnd::connect(pid_t pid) {
  const sys::Fd place = sys::open(cat("/proc/", pid, "/ns/net"), O_RDONLY);
  {
    const Visit there(namespace_);
    Netlink net;
    net.move(net.index(kind_ == "macvlan" ? "macvlan" : "near"), place, "eth0");
  }
  const Visit there(place);
  Netlink net;
  const int eth0 = net.index("eth0");
  net.add_address(eth0, kNearAddress, 24);
  net.set_up(eth0);
  check();
}

// What the place sends to the far address arrives there, and can have come by the interface only.
void FarEnd::check() {
  sockaddr_in to{};
  socklen_t size = sizeof to;
  if (getsockname(udp_.get(), reinterpret_cast<sockaddr*>(&to), &size) != 0) throw_errno("getsockname", errno);
  const sys::Fd from(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  for (int i = 0; i < 20; ++i) {  // the first may be lost while the link comes up
    if (sendto(from.get(), "x", 1, 0, reinterpret_cast<sockaddr*>(&to), sizeof to) < 0) throw_errno("sendto", errno);
    pollfd arrives{udp_.get(), POLLIN, 0};
    if (poll(&arrives, 1, 100) > 0) break;
    if (i == 19) throw Error(ErrorKind::kernel, cat("nothing goes through the place's ", kind_));
  }
  char byte;
  sockaddr_in sender{};
  size = sizeof sender;
  while (recvfrom(udp_.get(), &byte, 1, MSG_DONTWAIT, reinterpret_cast<sockaddr*>(&sender), &size) > 0) {
    if (ntohl(sender.sin_addr.s_addr) != kNearAddress) throw Error(ErrorKind::kernel, "a datagram from elsewhere");
  }
}

}  // namespace tare::lab
