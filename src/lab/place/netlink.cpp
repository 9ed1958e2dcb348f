#include "lab/place/netlink.hpp"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cstring>

#include "base/error.hpp"
#include "base/text.hpp"

namespace tare::lab {

// A message under construction. Attributes may lie within each other.
class Netlink::Request {
 public:
  Request(std::uint16_t type, std::uint16_t flags) {
    header().nlmsg_type = type;
    header().nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | NLM_F_ACK | flags);
    size_ = NLMSG_HDRLEN;
  }
  template <class T>
  void put(const T& body) {
    append(&body, sizeof body);
  }
  void attribute(int type, const void* data, std::size_t size) {
    const std::size_t at = begin(type);
    append(data, size);
    end(at);
  }
  void text(int type, const std::string& value) { attribute(type, value.c_str(), value.size() + 1); }
  template <class T>
  void number(int type, T value) {
    attribute(type, &value, sizeof value);
  }
  std::size_t begin(int type) {
    const std::size_t at = size_;
    const rtattr head{0, static_cast<unsigned short>(type)};
    append(&head, sizeof head);
    return at;
  }
  void end(std::size_t at) {
    const auto length = static_cast<unsigned short>(size_ - at);
    std::memcpy(buffer_ + at, &length, sizeof length);
    size_ = NLMSG_ALIGN(size_);
  }
  const char* bytes() {
    header().nlmsg_len = static_cast<std::uint32_t>(size_);
    return buffer_;
  }
  std::size_t size() const { return size_; }

 private:
  nlmsghdr& header() { return *reinterpret_cast<nlmsghdr*>(buffer_); }
  void append(const void* data, std::size_t size) {
    if (size_ + size + NLMSG_ALIGNTO > sizeof buffer_) throw Error(ErrorKind::bug, "netlink request too long");
    std::memcpy(buffer_ + size_, data, size);
    size_ += size;
  }
  alignas(nlmsghdr) char buffer_[1024] = {};
  std::size_t size_ = 0;
};

namespace {

constexpr std::uint16_t kNew = NLM_F_CREATE | NLM_F_EXCL;

ifinfomsg link_head(int index, unsigned flags = 0) {
  ifinfomsg head{};
  head.ifi_family = AF_UNSPEC;
  head.ifi_index = index;
  head.ifi_flags = flags;
  head.ifi_change = flags;
  return head;
}

}  // namespace

Netlink::Netlink() : socket_(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE)) {
  if (!socket_) throw_errno("socket AF_NETLINK", errno);
}

void Netlink::send(Request& request, const std::string& what) const {
  if (::send(socket_.get(), request.bytes(), request.size(), 0) < 0) throw_errno(what, errno);
  alignas(nlmsghdr) char answer[4096];
  const ssize_t n = recv(socket_.get(), answer, sizeof answer, 0);
  if (n < 0) throw_errno(what, errno);
  const auto* head = reinterpret_cast<const nlmsghdr*>(answer);
  if (n < static_cast<ssize_t>(NLMSG_LENGTH(sizeof(nlmsgerr))) || head->nlmsg_type != NLMSG_ERROR) {
    throw Error(ErrorKind::kernel, cat(what, ": an answer that is none"));
  }
  nlmsgerr result{};
  std::memcpy(&result, answer + NLMSG_HDRLEN, sizeof result);
  if (result.error != 0) throw_errno(what, -result.error);
}

int Netlink::index(const std::string& name) const {
  ifreq request{};
  name.copy(request.ifr_name, IFNAMSIZ - 1);
  const sys::Fd any(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (ioctl(any.get(), SIOCGIFINDEX, &request) != 0) throw_errno(cat("look for interface ", name), errno);
  return request.ifr_ifindex;
}

void Netlink::add_veth(const std::string& name, const std::string& peer) {
  Request r(RTM_NEWLINK, kNew);
  r.put(link_head(0));
  r.text(IFLA_IFNAME, name);
  const std::size_t info = r.begin(IFLA_LINKINFO);
  r.text(IFLA_INFO_KIND, "veth");
  const std::size_t data = r.begin(IFLA_INFO_DATA);
  const std::size_t other = r.begin(VETH_INFO_PEER);
  r.put(link_head(0));
  r.text(IFLA_IFNAME, peer);
  r.end(other);
  r.end(data);
  r.end(info);
  send(r, cat("make veth pair ", name, " and ", peer));
}

void Netlink::add_bridge(const std::string& name) {
  Request r(RTM_NEWLINK, kNew);
  r.put(link_head(0));
  r.text(IFLA_IFNAME, name);
  const std::size_t info = r.begin(IFLA_LINKINFO);
  r.text(IFLA_INFO_KIND, "bridge");
  r.end(info);
  send(r, cat("make bridge ", name));
}

void Netlink::add_macvlan(const std::string& name, int parent) {
  Request r(RTM_NEWLINK, kNew);
  r.put(link_head(0));
  r.text(IFLA_IFNAME, name);
  r.number(IFLA_LINK, parent);
  const std::size_t info = r.begin(IFLA_LINKINFO);
  r.text(IFLA_INFO_KIND, "macvlan");
  const std::size_t data = r.begin(IFLA_INFO_DATA);
  r.number(IFLA_MACVLAN_MODE, static_cast<std::uint32_t>(MACVLAN_MODE_BRIDGE));
  r.end(data);
  r.end(info);
  send(r, cat("make macvlan ", name));
}

void Netlink::set_master(int link, int bridge) {
  Request r(RTM_NEWLINK, 0);
  r.put(link_head(link));
  r.number(IFLA_MASTER, bridge);
  send(r, "put an interface into the bridge");
}

void Netlink::set_up(int link) {
  Request r(RTM_NEWLINK, 0);
  r.put(link_head(link, IFF_UP));
  send(r, "bring an interface up");
}

void Netlink::move(int link, const sys::Fd& network_namespace, const std::string& new_name) {
  Request r(RTM_NEWLINK, 0);
  r.put(link_head(link));
  r.text(IFLA_IFNAME, new_name);
  r.number(IFLA_NET_NS_FD, network_namespace.get());
  send(r, cat("move interface ", new_name, " into the place"));
}

void Netlink::add_address(int link, std::uint32_t address, int prefix) {
  Request r(RTM_NEWADDR, kNew);
  ifaddrmsg head{};
  head.ifa_family = AF_INET;
  head.ifa_prefixlen = static_cast<unsigned char>(prefix);
  head.ifa_index = static_cast<unsigned>(link);
  r.put(head);
  r.number(IFA_LOCAL, htonl(address));
  r.number(IFA_ADDRESS, htonl(address));
  send(r, "give an interface its address");
}

}  // namespace tare::lab
