// System V's message queues, semaphores and shared memory: one process, which never has to wait. What is
// weighed is the way through the ipc namespace's tables and permissions (ipc_obtain_object_check,
// ipcperms; kernel: ipc/util.c).
//
// A queue and a set of semaphores outlive their process: they are called by the laboratory's pid (left.hpp).
#include <errno.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>

#include "lab/work/left.hpp"
#include "lab/work/second.hpp"
#include "lab/work/table.hpp"

namespace tare::lab {

namespace {

constexpr int kNew = IPC_CREAT | IPC_EXCL | 0600;

struct Text {
  long type = 1;
  char bytes[64] = {};
};

constexpr std::size_t kShared = 64 * 1024;

// Takes its kind of thing away at the end; `made` is -1 where there is none.
template <class Remove>
class Removed {
 public:
  Removed(int made, Remove remove) noexcept : made_(made), remove_(remove) {}
  Removed(const Removed&) = delete;
  Removed& operator=(const Removed&) = delete;
  ~Removed() {
    if (made_ >= 0) remove_(made_);
  }
  int get() const noexcept { return made_; }

 private:
  int made_;
  Remove remove_;
};

}  // namespace

Fault run_sysv_msg(const Batch& batch, RunResult& result) noexcept {
  const key_t key = ipc_key(owner());
  if (const int old = msgget(key, 0); old >= 0) msgctl(old, IPC_RMID, nullptr);  // of a worker that was killed
  const Removed queue(msgget(key, kNew), [](int id) { msgctl(id, IPC_RMID, nullptr); });
  if (queue.get() < 0) return {"msgget", errno};
  Text sent, got;
  return measure(batch, result, 1024, [&]() noexcept -> Fault {
    ++sent.bytes[0];
    if (msgsnd(queue.get(), &sent, sizeof sent.bytes, IPC_NOWAIT) != 0) return {"msgsnd", errno};
    const ssize_t n = msgrcv(queue.get(), &got, sizeof got.bytes, 0, IPC_NOWAIT);
    if (n < 0) return {"msgrcv", errno};
    if (n != sizeof got.bytes || got.bytes[0] != sent.bytes[0]) [[unlikely]] {
      return {"message-that-arrived"};
    }
    return {};
  });
}

Fault run_sysv_sem(const Batch& batch, RunResult& result) noexcept {
  const key_t key = ipc_key(owner());
  if (const int old = semget(key, 0, 0); old >= 0) semctl(old, 0, IPC_RMID);
  const Removed set(semget(key, 1, kNew), [](int id) { semctl(id, 0, IPC_RMID); });
  if (set.get() < 0) return {"semget", errno};
  sembuf up{0, 1, IPC_NOWAIT}, down{0, -1, IPC_NOWAIT};
  const Fault fault = measure(batch, result, 2048, [&]() noexcept -> Fault {
    if (semop(set.get(), &up, 1) != 0) return {"semop-up", errno};
    if (semop(set.get(), &down, 1) != 0) return {"semop-down", errno};
    return {};
  });
  if (fault.step == nullptr && semctl(set.get(), 0, GETVAL) != 0) return {"value-of-the-semaphore"};
  return fault;
}

Fault run_sysv_shm(const Batch& batch, RunResult& result) noexcept {
  const key_t key = ipc_key(owner());
  if (const int old = shmget(key, 0, 0); old >= 0) shmctl(old, IPC_RMID, nullptr);
  return measure(batch, result, 64, [&]() noexcept -> Fault {
    const int id = shmget(key, kShared, kNew);
    if (id < 0) return {"shmget", errno};
    void* const at = shmat(id, nullptr, 0);
    const int attach_errno = errno;
    // From here on it goes with its last user.
    if (shmctl(id, IPC_RMID, nullptr) != 0) return {"shmctl", errno};
    // NOLINTNEXTLINE(performance-no-int-to-ptr): how shmat(2) says that it failed
    if (at == reinterpret_cast<void*>(-1)) return {"shmat", attach_errno};
    *static_cast<volatile char*>(at) = 1;
    if (shmdt(at) != 0) return {"shmdt", errno};
    return {};
  });
}

}  // namespace tare::lab
