// tsan_FAULT DESIGN: readers beside writers, for ThreadSanitizer to watch. Ends with 0 where nothing contradicts what a
// reader may expect: a pid that is found by a number in a namespace has that number there, or (a hash of pids) has just
// gone.
#include "pidspace/pidspace.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>

namespace {

using namespace tare::pidspace;

constexpr int kRounds = 20'000;

template <class Design>
class Crowd {
 public:
  using Pid = typename Design::Pid;
  using Ns = typename Design::Ns;

  Crowd() {
    spaces_.push_back(&space_.first());
    for (int level = 1; level <= std::min(Design::kLevel, 3); ++level)
      spaces_.push_back(*space_.create(*spaces_.back()));
  }

  bool run() {
    std::thread writers[2], readers[2];
    for (unsigned i = 0; i < 2; ++i) writers[i] = std::thread([this, i] { write(i); });
    for (unsigned i = 0; i < 2; ++i) readers[i] = std::thread([this, i] { read(i + 10); });
    for (std::thread& one : writers) one.join();
    stop_.store(true, std::memory_order_relaxed);
    for (std::thread& one : readers) one.join();
    return !wrong_.load() && found_.load() > 0;
  }

 private:
  void write(unsigned seed) {
    std::mt19937 random(seed);
    std::vector<Pid*> mine;
    for (int i = 0; i < kRounds; ++i) {
      if (mine.size() < 30 || (random() % 2 == 0 && mine.size() < 60)) {
        const auto pid = space_.allocate(*spaces_[random() % spaces_.size()]);
        if (pid) mine.push_back(*pid);
      } else {
        const std::size_t which = random() % mine.size();
        space_.free(*mine[which]);
        mine[which] = mine.back();
        mine.pop_back();
      }
    }
    for (Pid* const pid : mine) space_.free(*pid);
  }
  void read(unsigned seed) {
    const rcu::Thread thread;
    std::mt19937 random(seed);
    while (!stop_.load(std::memory_order_relaxed)) {
      const rcu::Section section;
      for (int i = 0; i < 50; ++i) {
        const Ns& ns = *spaces_[random() % spaces_.size()];
        const int number = 1 + static_cast<int>(random() % 400);
        const Pid* const pid = space_.find(number, ns);
        if (pid == nullptr) continue;
        found_.fetch_add(1, std::memory_order_relaxed);
        const int seen = space_.nr_in(*pid, ns);
        const bool gone = seen == 0 && std::strcmp(Design::kName, "nested, hash") == 0;
        if (seen != number && !gone) wrong_.store(true);
        if (space_.nr(*pid) < 1 && !gone) wrong_.store(std::strcmp(Design::kName, "nested, hash") != 0);
      }
    }
  }

  Space<Design> space_{Limits{.pid_max = 400, .buckets = 16}};
  std::vector<Ns*> spaces_;
  std::atomic<bool> stop_{false}, wrong_{false};
  std::atomic<long> found_{0};
};

template <class... Design>
int run(const char* name) {
  int out = 2;
  ((std::strcmp(Design::kName, name) == 0 ? out = Crowd<Design>().run() ? 0 : 1 : 0), ...);
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  return run<None<Plain>, Flat<Plain>, List<Plain>, Hash<Plain>, Fixed<4>::Of<Plain>, Kernel<Plain>>(argv[1]);
}
