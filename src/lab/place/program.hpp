// Where the programs are, and which descriptors a worker gets. Inside lab/place only.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "lab/work/protocol.hpp"
#include "sys/fd.hpp"

namespace tare::lab {

inline constexpr int kKept = kLastFd - 2;  // descriptors from 3 on that the worker gets

// What another program prints; throws child where it fails.
std::string output_of(const std::vector<std::string>& argv);

// The pid, as this process's namespace has it, of the worker at the other end of the socket, which must not have been
// spoken to before. 0 where none answers within half a minute.
pid_t pid_behind(const sys::Fd& socket);

// While it lives, what a worker is to inherit lies on the numbers that it expects.
class Inherited {
 public:
  // -1 for one of the far sockets: /dev/null.
  Inherited(int null, int socket, int program, int far_tcp, int far_udp);
  ~Inherited();
  Inherited(const Inherited&) = delete;
  Inherited& operator=(const Inherited&) = delete;

 private:
  int null_;
  int kept_[3];
};

}  // namespace tare::lab
