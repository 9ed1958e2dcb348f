// Links and addresses by rtnetlink, as much of it as the laboratory's places need. Inside lab/place only.
//
// A Netlink speaks to the network namespace in which it was made. Errors: kind kernel, with the request in words.
// Source: rtnetlink(7), netlink(7), linux/if_link.h.
#pragma once

#include <cstdint>
#include <string>

#include "sys/fd.hpp"

namespace tare::lab {

class Netlink {
 public:
  Netlink();

  int index(const std::string& name) const;
  void add_veth(const std::string& name, const std::string& peer);
  void add_bridge(const std::string& name);
  void add_macvlan(const std::string& name, int parent);  // mode bridge
  void set_master(int link, int bridge);
  void set_up(int link);
  void move(int link, const sys::Fd& network_namespace, const std::string& new_name);
  void add_address(int link, std::uint32_t address, int prefix);  // IPv4, host byte order

 private:
  class Request;
  void send(Request& request, const std::string& what) const;
  sys::Fd socket_;
};

}  // namespace tare::lab
