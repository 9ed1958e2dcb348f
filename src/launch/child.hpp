// The process between clone and exec.
//
// For: parent.cpp. child_main is noexcept, allocates nothing and uses no thread storage, since it may
// share its memory with the parent.
#pragma once

#include "isolate/isolate.hpp"
#include "launch/protocol.hpp"

namespace tare::launch {

// A page (or more) that both see in every mode.
struct Shared {
  std::int32_t pid;  // of the child, as the parent's pid namespace has it
  std::int32_t pidfd;
  std::uint32_t recorded;  // 1 when the parent has recorded the pid, so that others can find the process
  std::uint32_t n_ticks;
  std::uint64_t ticks[1];  // of the clock counter, one when an operation begins, and one at exec
};

struct JoinFd {
  int fd;
  int clone_flags;  // one CLONE_NEW* bit, or several where fd is a pidfd
  std::uint32_t index;
  bool done;
};

struct ChildContext {
  const plan::Op* outer;
  std::uint32_t n_outer;
  const plan::Op* ops;
  std::uint32_t n_ops;
  JoinFd* joins;
  std::uint32_t n_joins;
  bool outer_done;
  int channel;           // to the parent
  int parents_end = -1;  // of the channel, as long as it is open here too
  int start_fifo;        // -1: does not wait
  int result_fifo;
  int preserve_fds;
  void* clone_args;  // struct clone_args of the process proper, for the first stage
  Shared* shared;
  isolate::State state;
  Message message;  // the one that goes out
  char detail[512];
};

// The process that becomes the container's.
int child_main(void* context);
// A first stage that joins namespaces and then clones the process proper as its sibling, so that it is
// born inside them; exits 0, or 1 after having reported.
int joiner_main(void* context);

std::uint64_t read_counter() noexcept;

}  // namespace tare::launch
