// POSIX's message queues and shared memory. A queue that is open does its sending and receiving by
// descriptor, past the namespace; opening and unlinking one looks its name up there (kernel: do_mq_open,
// mq_unlink). Shared memory is a file in the place's /dev/shm. Names last for a moment (left.hpp).
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lab/work/left.hpp"
#include "lab/work/second.hpp"
#include "lab/work/table.hpp"

namespace tare::lab {

namespace {

constexpr std::size_t kShared = 64 * 1024;

// A queue for one message, without a name by the time this returns.
Fault open_queue(const char* name, End& out) noexcept {
  mq_attr attributes{};
  attributes.mq_maxmsg = 1;
  attributes.mq_msgsize = 64;
  out.reset(mq_open(name, O_RDWR | O_CREAT | O_EXCL | O_NONBLOCK | O_CLOEXEC, 0600, &attributes));
  if (!out) return {"mq_open", errno};
  if (mq_unlink(name) != 0) return {"mq_unlink", errno};
  return {};
}

}  // namespace

Fault run_posix_mq(const Batch& batch, RunResult& result) noexcept {
  char name[64];
  name_of(owner(), name);
  mq_unlink(name);  // of a worker that was killed
  End queue;
  if (const Fault fault = open_queue(name, queue); fault.step != nullptr) return fault;
  char sent[64] = {}, got[64];
  return measure(batch, result, 1024, [&]() noexcept -> Fault {
    ++sent[0];
    if (mq_send(queue.get(), sent, sizeof sent, 0) != 0) return {"mq_send", errno};
    const ssize_t n = mq_receive(queue.get(), got, sizeof got, nullptr);
    if (n < 0) return {"mq_receive", errno};
    if (n != sizeof got || got[0] != sent[0]) [[unlikely]] {
      return {"message-that-arrived"};
    }
    return {};
  });
}

Fault run_mq_open(const Batch& batch, RunResult& result) noexcept {
  char name[64];
  name_of(owner(), name);
  mq_unlink(name);
  return measure(batch, result, 256, [&]() noexcept -> Fault {
    End queue;
    return open_queue(name, queue);
  });
}

Fault run_posix_shm(const Batch& batch, RunResult& result) noexcept {
  char name[64];
  name_of(owner(), name);
  shm_unlink(name);
  return measure(batch, result, 64, [&]() noexcept -> Fault {
    const End file(shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600));
    if (!file) return {"shm_open", errno};
    if (shm_unlink(name) != 0) return {"shm_unlink", errno};
    if (ftruncate(file.get(), kShared) != 0) return {"ftruncate", errno};
    void* const at = mmap(nullptr, kShared, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    if (at == MAP_FAILED) return {"mmap", errno};
    *static_cast<volatile char*>(at) = 1;
    if (munmap(at, kShared) != 0) return {"munmap", errno};
    return {};
  });
}

}  // namespace tare::lab
