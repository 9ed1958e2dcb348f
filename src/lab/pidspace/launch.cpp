// One launch of `tare weigh pidspace`: every scene in every design, timed in turns.
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/text.hpp"
#include "lab/design/random.hpp"
#include "lab/pidspace/model.hpp"
#include "pidspace/pidspace.hpp"
#include "sys/fd.hpp"

namespace tare::lab {

namespace {

using nlohmann::ordered_json;
namespace ps = tare::pidspace;

constexpr int kRounds = 3;
constexpr int kCold = 128;  // look-ups after the caches were emptied

double now_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

// More than the last level of cache holds, walked through.
class Evictor {
 public:
  Evictor() : memory_(96u << 20) {}
  void run() {
    for (std::size_t i = 0; i < memory_.size(); i += 64) memory_[i] = static_cast<char>(memory_[i] + 1);
  }

 private:
  std::vector<char> memory_;
};

// A design in a scene, as the driver below sees it.
class Bench {
 public:
  virtual ~Bench() = default;
  // Nanoseconds an operation; NaN where the design can't.
  virtual double time(std::string_view operation, Evictor& evictor) = 0;
};

template <class Design>
class BenchOf final : public Bench {
  using Space = ps::Space<Design>;
  using Pid = typename Space::Pid;
  using Ns = typename Space::Ns;
  using Task = typename Space::Process;

 public:
  BenchOf(const Scene& scene, std::uint64_t seed) : scene_(scene), random_(seed), space_(limits(scene)) {
    ns_ = &space_.first();
    for (int level = 0; level < scene.level; ++level) ns_ = *space_.create(*ns_);
    parent_ = ns_->parent == nullptr ? ns_ : ns_->parent;
    std::vector<Pid*> all;
    for (int i = 0; i < scene.live; ++i) all.push_back(*space_.allocate(*ns_));
    random_.shuffle(all);
    all.resize(std::min<std::size_t>(all.size(), 4096));
    asked_ = std::move(all);
    for (const Pid* const pid : asked_) numbers_.push_back(space_.vnr(*pid));
  }

  double time(std::string_view operation, Evictor& evictor) override {
    const ps::rcu::Thread thread;
    if (operation == "alloc") return allocating(1);
    if (operation == "alloc, 2") return allocating(2);
    if (operation == "find, 2") return finding_by_two();
    if (operation == "find, cold" || operation == "own, cold") return cold(operation == "find, cold", evictor);
    for (const Mix& mix : pidspace_mixes()) {
      if (operation == mix.name) return mixing(mix);
    }
    const ps::rcu::Section section;
    if (operation == "find") {
      return looking([&](std::size_t i) { return reinterpret_cast<std::uintptr_t>(space_.find(numbers_[i], *ns_)); });
    }
    if (operation == "own") return looking([&](std::size_t i) { return space_.vnr(*asked_[i]); });
    if (operation == "root") return looking([&](std::size_t i) { return space_.nr(*asked_[i]); });
    if (operation == "parent") return looking([&](std::size_t i) { return space_.nr_in(*asked_[i], *parent_); });
    int at = 0;  // step
    return looking([&](std::size_t) {
      const Pid* const pid = space_.next(at + 1, *ns_);
      at = pid == nullptr ? 0 : space_.vnr(*pid);
      return at;
    });
  }

 private:
  static ps::Limits limits(const Scene& scene) {
    ps::Limits out;
    while (out.buckets < static_cast<std::size_t>(scene.live))
      out.buckets *= 2;  // the designs are compared, not the load
    return out;
  }

  // As often as fills half a millisecond, the clock read once in a pass over what is asked for.
  template <class Ask>
  double looking(const Ask& ask) {
    std::uint64_t sum = 0;
    double begin = now_ns(), end = begin;
    std::int64_t done = 0;
    for (int pass = 0; pass < 2 || end - begin < 500'000; ++pass) {
      if (pass == 1) begin = now_ns(), done = 0;  // the first one warms up
      for (std::size_t i = 0; i < asked_.size(); ++i) sum += static_cast<std::uint64_t>(ask(i));
      done += static_cast<std::int64_t>(asked_.size());
      end = now_ns();
    }
    sink_ = sum;
    return (end - begin) / static_cast<double>(done);
  }
  double allocating(int threads) {
    constexpr int kTimes = 2000;
    const auto work = [&] {
      for (int i = 0; i < kTimes; ++i) space_.free(**space_.allocate(*ns_));
    };
    std::vector<std::thread> others;
    const double begin = now_ns();
    for (int i = 1; i < threads; ++i) others.emplace_back(work);
    work();
    for (std::thread& one : others) one.join();
    return (now_ns() - begin) / (kTimes * threads);
  }
  double finding_by_two() {
    constexpr int kTimes = 20'000;
    std::atomic<std::uint64_t> sum = 0;
    const auto work = [&](std::size_t at) {
      const ps::rcu::Section section;
      std::uint64_t mine = 0;
      for (int i = 0; i < kTimes; ++i, at = at + 1 < numbers_.size() ? at + 1 : 0) {
        mine += reinterpret_cast<std::uintptr_t>(space_.find(numbers_[at], *ns_));
      }
      sum += mine;
    };
    const double begin = now_ns();
    std::thread other([&] {
      const ps::rcu::Thread thread;
      work(numbers_.size() / 2);
    });
    work(0);
    other.join();
    const double out = (now_ns() - begin) / (kTimes * 2);
    sink_ = sum.load();
    return out;
  }
  double cold(bool find, Evictor& evictor) {
    const std::size_t n = std::min<std::size_t>(kCold, asked_.size());
    std::uint64_t sum = 0;
    evictor.run();
    const ps::rcu::Section section;
    const double begin = now_ns();
    for (std::size_t i = 0; i < n; ++i) {
      sum += find ? reinterpret_cast<std::uintptr_t>(space_.find(numbers_[i], *ns_))
                  : static_cast<std::uint64_t>(space_.vnr(*asked_[i]));
    }
    const double out = (now_ns() - begin) / static_cast<double>(n);
    sink_ = sum;
    return out;
  }
  double mixing(const Mix& mix) {
    constexpr int kUnits = 1000;
    std::uint64_t sum = 0;
    std::size_t at = 0;
    int walk = 0;
    const auto ask = [&] { return at = at + 1 < asked_.size() ? at + 1 : 0; };
    const auto unit = [&] {
      Task task;
      for (int i = 0; i < mix.allocate; ++i) {
        Pid& pid = **space_.allocate(*ns_);
        for (const auto type : {ps::Type::pid, ps::Type::tgid, ps::Type::pgid, ps::Type::sid})
          space_.attach(task, type, pid);
        space_.exit(task, [](Task&) {});
      }
      const ps::rcu::Section section;
      for (int i = 0; i < mix.number; ++i) sum += static_cast<std::uint64_t>(space_.nr_in(*asked_[ask()], *ns_));
      for (int i = 0; i < mix.find; ++i) sum += reinterpret_cast<std::uintptr_t>(space_.find(numbers_[ask()], *ns_));
      for (int i = 0; i < mix.step; ++i) {
        const Pid* const pid = space_.next(walk + 1, *ns_);
        walk = pid == nullptr ? 0 : space_.vnr(*pid);
      }
    };
    for (int i = 0; i < kUnits / 10; ++i) unit();
    const double begin = now_ns();
    for (int i = 0; i < kUnits; ++i) unit();
    const double out = (now_ns() - begin) / kUnits;
    sink_ = sum;
    return out;
  }

  Scene scene_;
  Random random_;
  Space space_;
  Ns* ns_ = nullptr;
  Ns* parent_ = nullptr;
  std::vector<Pid*> asked_;
  std::vector<int> numbers_;
  volatile std::uint64_t sink_ = 0;  // so that nothing is left out
};

template <class Design>
std::unique_ptr<Bench> bench(const Scene& scene, std::uint64_t seed) {
  if (scene.level > Design::kLevel) return nullptr;
  return std::make_unique<BenchOf<Design>>(scene, seed);
}

std::unique_ptr<Bench> bench(std::size_t design, const Scene& scene, std::uint64_t seed) {
  switch (design) {
    case 0:
      return bench<ps::None<ps::Plain>>({0, scene.live}, seed);  // the base of every level
    case 1:
      return bench<ps::Flat<ps::Plain>>(scene, seed);
    case 2:
      return bench<ps::List<ps::Plain>>(scene, seed);
    case 3:
      return bench<ps::Hash<ps::Plain>>(scene, seed);
    case 4:
      return bench<ps::Fixed<4>::Of<ps::Plain>>(scene, seed);
    case 5:
      return bench<ps::Fixed<5>::Of<ps::Plain>>(scene, seed);
    default:
      return bench<ps::Kernel<ps::Plain>>(scene, seed);
  }
}

// Nanoseconds of a command's run, from fork to reaped, least of three; of its system time where `system`.
double run(const char* const* argv, bool system) {
  double least = 0;
  const sys::Fd null = sys::open("/dev/null", O_WRONLY);
  for (int i = 0; i < 3; ++i) {
    const double begin = now_ns();
    const pid_t pid = fork();
    if (pid == 0) {
      if (argv == nullptr) _exit(0);
      dup2(null.get(), 1);
      execvp(argv[0], const_cast<char* const*>(argv));
      _exit(127);
    }
    int status = 0;
    rusage used{};
    if (pid < 0 || wait4(pid, &status, 0, &used) != pid || status != 0) return -1;
    const double took =
        system ? static_cast<double>(used.ru_stime.tv_sec) * 1e9 + static_cast<double>(used.ru_stime.tv_usec) * 1e3
               : now_ns() - begin;
    if (i == 0 || took < least) least = took;
  }
  return least;
}

int live_processes() {
  int out = 0;
  if (DIR* const proc = opendir("/proc")) {
    while (const dirent* const entry = readdir(proc)) out += entry->d_name[0] >= '1' && entry->d_name[0] <= '9';
    closedir(proc);
  }
  return out;
}

// What a unit of the real work takes here as a whole, to say how much of it the pids are.
void time_the_real(int launch, void (*write)(const std::string&)) {
  // On one CPU, as a worker of tare weigh: where children go is not the question here.
  cpu_set_t before, one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(sysconf(_SC_NPROCESSORS_ONLN) - 1), &one);
  const bool pinned = sched_getaffinity(0, sizeof before, &before) == 0 && sched_setaffinity(0, sizeof one, &one) == 0;
  const double spawn = run(nullptr, false);
  const char* const exec[] = {"/bin/true", nullptr};
  const char* const shell[] = {"/bin/sh", "-c", "printf 'c\\nb\\na\\n' | sort | od -c | grep -v x | tee /dev/null | wc",
                               nullptr};
  const char* const list[] = {"/bin/ps", "-xaf", nullptr};
  ordered_json line{{"record", "real"},
                    {"launch", launch},
                    {"spawn", spawn},
                    {"execl", run(exec, false) - spawn},
                    {"shell", run(shell, false)}};
  const int processes = live_processes();
  const double system = run(list, true);
  line["ps"] = processes > 0 && system >= 0 ? system / processes : -1;
  write(line.dump() + "\n");
  if (pinned) sched_setaffinity(0, sizeof before, &before);
}

}  // namespace

void pidspace_launch(int launch, std::uint64_t seed, bool small, void (*write)(const std::string& line)) {
  time_the_real(launch, write);
  Random random(seed ^ (static_cast<std::uint64_t>(launch) * std::uint64_t{0x9e3779b97f4a7c15}));
  Evictor evictor;
  std::vector<Scene> scenes = pidspace_scenes();
  random.shuffle(scenes);
  for (const Scene& scene : scenes) {
    if (small && scene.live != 50 && (scene.live != 500 || scene.level > 1)) continue;
    std::vector<std::unique_ptr<Bench>> designs;
    for (std::size_t i = 0; i < pidspace_designs().size(); ++i) designs.push_back(bench(i, scene, random.next()));
    std::map<std::pair<std::size_t, std::string>, std::vector<double>> seen;
    for (int round = 0; round < kRounds; ++round) {
      std::vector<std::size_t> order;
      for (std::size_t i = 0; i < designs.size(); ++i) {
        if (designs[i] != nullptr) order.push_back(i);
      }
      for (const Operation& operation : pidspace_operations()) {
        random.shuffle(order);
        for (const std::size_t i : order)
          seen[{i, operation.name}].push_back(designs[i]->time(operation.name, evictor));
      }
    }
    for (const auto& [what, ns] : seen) {
      ordered_json rounds = ordered_json::array();
      for (const double one : ns) rounds.push_back(std::round(one * 1000) / 1000);
      const ordered_json line{{"record", "sample"},
                              {"launch", launch},
                              {"level", scene.level},
                              {"live", scene.live},
                              {"design", pidspace_designs()[what.first]},
                              {"operation", what.second},
                              {"ns", rounds}};
      write(line.dump() + "\n");
    }
  }
  write(ordered_json{{"record", "launch_end"}, {"launch", launch}}.dump() + "\n");
}

}  // namespace tare::lab
