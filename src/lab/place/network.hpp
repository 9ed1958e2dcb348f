// The far end of a place's interface: a network namespace of its own with two sockets. Inside lab/place only.
//
//   veth      the place's eth0 is one end of a pair, whose other end has the far address
//   bridge    the other end is a port of a bridge, and the bridge has the far address
//   macvlan   eth0 is a macvlan (mode bridge) on one end of a pair, whose other end has the far address
//
// The place has 10.201.0.2/24 and the far end 10.201.0.1, each in its own namespace, so places never meet, and the
// host's namespace gets no interface at any time. Everything goes when the last of descriptors and processes does.
// Errors: kind kernel. Source: veth(4), network_namespaces(7).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "sys/fd.hpp"

namespace tare::lab {

inline constexpr std::uint32_t kFarAddress = (10U << 24) | (201U << 16) | 1U;
inline constexpr std::uint32_t kNearAddress = kFarAddress + 1;

class FarEnd {
 public:
  // kind: veth, bridge or macvlan. The interface for the place is there, but in the far namespace still.
  explicit FarEnd(std::string kind);

  int tcp() const { return tcp_.get(); }  // listens
  int udp() const { return udp_.get(); }  // bound
  // Moves the interface into the network namespace of the process, gives it its address, and sends a datagram through.
  void connect(pid_t pid);

 private:
  void prepare();
  void check();
  std::string kind_;
  sys::Fd namespace_, tcp_, udp_;
};

}  // namespace tare::lab
