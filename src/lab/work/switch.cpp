// Context switches: two processes, which share a page and one CPU, wake each other by futex(2) and sleep
// until they are woken. An operation is there and back: two switches. Nothing is copied and no descriptor
// is looked up, so it is the scheduler that is weighed. And the same by two of POSIX's semaphores in
// that page, which are futexes too: what glibc's sem_post and sem_wait add.
#include <errno.h>
#include <linux/futex.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <atomic>
#include <new>

#include "lab/work/second.hpp"
#include "lab/work/table.hpp"

namespace tare::lab {

namespace {

constexpr std::uint32_t kOver = ~std::uint32_t{0};

struct Shared {
  std::atomic<std::uint32_t> ball{0};  // even: ours to play, odd: theirs; kOver: the end
  std::atomic<std::uint64_t> played{0};
  sem_t there, back;
};

// A page that both processes see; gone with the last of them.
class Page {
 public:
  Page() noexcept : at_(mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    if (at_ != MAP_FAILED) shared_ = new (at_) Shared;
  }
  Page(const Page&) = delete;
  Page& operator=(const Page&) = delete;
  ~Page() {
    if (shared_ != nullptr) munmap(at_, sizeof(Shared));
  }
  Shared* get() const noexcept { return shared_; }

 private:
  void* at_;
  Shared* shared_ = nullptr;
};

long futex(std::atomic<std::uint32_t>& word, int what, std::uint32_t value, const timespec* limit) noexcept {
  return syscall(SYS_futex, &word, what, value, limit, nullptr, 0);
}

void pass(Shared& shared, std::uint32_t value) noexcept {
  shared.ball.store(value, std::memory_order_release);
  futex(shared.ball, FUTEX_WAKE, 1, nullptr);
}

// Until the ball is no longer `value`; false where that takes five seconds.
bool await(Shared& shared, std::uint32_t value) noexcept {
  const timespec limit{5, 0};
  while (shared.ball.load(std::memory_order_acquire) == value) {
    if (futex(shared.ball, FUTEX_WAIT, value, &limit) != 0 && errno == ETIMEDOUT) return false;
  }
  return true;
}

int play(Shared& shared) noexcept {
  std::uint32_t ball = 0;
  for (;;) {
    const timespec no_limit_for_the_worker{3600, 0};  // it dies with the worker
    while (shared.ball.load(std::memory_order_acquire) == ball) {
      futex(shared.ball, FUTEX_WAIT, ball, &no_limit_for_the_worker);
    }
    ball = shared.ball.load(std::memory_order_acquire);
    if (ball == kOver) return 0;
    ++ball;
    shared.played.fetch_add(1, std::memory_order_relaxed);
    pass(shared, ball);
  }
}

}  // namespace

Fault run_switch(const Batch& batch, RunResult& result) noexcept {
  const Page page;
  if (page.get() == nullptr) return {"mmap", errno};
  Shared& shared = *page.get();
  Second second;
  Fault fault = second.start([&]() noexcept { return play(shared); });
  if (fault.step != nullptr) return fault;
  std::uint32_t ball = 0;
  const auto trip = [&]() noexcept -> Fault {
    pass(shared, ball + 1);
    if (!await(shared, ball + 1)) return {"futex", ETIMEDOUT};
    ball += 2;
    if (ball == kOver - 1) ball = 0;
    return {};
  };
  fault = trip();
  Meter meter;
  if (fault.step == nullptr) fault = repeat(batch, result, 1024, trip);
  meter.stop_clock();
  if (fault.step != nullptr) return fault;
  const std::uint64_t played = shared.played.load();
  pass(shared, kOver);
  fault = second.wait();
  meter.finish(result);
  if (played != static_cast<std::uint64_t>(result.count) + 1) keep_first(fault, {"turns-that-were-played"});
  return fault;
}

Fault run_posix_sem(const Batch& batch, RunResult& result) noexcept {
  const Page page;
  if (page.get() == nullptr) return {"mmap", errno};
  Shared& shared = *page.get();
  if (sem_init(&shared.there, 1, 0) != 0 || sem_init(&shared.back, 1, 0) != 0) return {"sem_init", errno};
  Second second;
  Fault fault = second.start([&]() noexcept {
    for (;;) {
      if (sem_wait(&shared.there) != 0) return 1;
      if (shared.ball.load(std::memory_order_relaxed) == kOver) return 0;
      shared.played.fetch_add(1, std::memory_order_relaxed);
      if (sem_post(&shared.back) != 0) return 2;
    }
  });
  if (fault.step != nullptr) return fault;
  const auto trip = [&]() noexcept -> Fault {
    if (sem_post(&shared.there) != 0) return {"sem_post", errno};
    while (sem_wait(&shared.back) != 0) {
      if (errno != EINTR) return {"sem_wait", errno};
    }
    return {};
  };
  fault = trip();
  Meter meter;
  if (fault.step == nullptr) fault = repeat(batch, result, 1024, trip);
  meter.stop_clock();
  if (fault.step != nullptr) return fault;
  const std::uint64_t played = shared.played.load();
  shared.ball.store(kOver, std::memory_order_relaxed);
  sem_post(&shared.there);
  fault = second.wait();
  meter.finish(result);
  if (played != static_cast<std::uint64_t>(result.count) + 1) keep_first(fault, {"turns-that-were-played"});
  return fault;
}

}  // namespace tare::lab
