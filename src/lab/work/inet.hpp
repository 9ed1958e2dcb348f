// Internet sockets over the place's own loopback. Inside lab/work only.
#pragma once

#include <netinet/in.h>

#include "lab/work/second.hpp"

namespace tare::lab {

// Brings the loopback device up where it is down, as it is in a fresh network namespace; that wants
// CAP_NET_ADMIN in the user namespace that owns it. Nothing is changed where it is up.
Fault loopback() noexcept;

// A socket of that type (SOCK_STREAM: listening), bound to 127.0.0.1 and a port that the kernel chose.
Fault bound(int type, End& out, sockaddr_in& address) noexcept;

// Both ends of one TCP connection, without Nagle's delay.
Fault tcp_pair(End& ours, End& theirs) noexcept;

}  // namespace tare::lab
