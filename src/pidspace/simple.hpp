// Two designs without nesting: no pid namespaces at all, and one level of them below the first.
#pragma once

#include "pidspace/numbers.hpp"
#include "pidspace/table.hpp"

namespace tare::pidspace {

// What a pid has in every design: whose tasks it counts.
template <class Pid>
// NOLINTNEXTLINE(bugprone-crtp-constructor-accessibility): data that all have, not a base to call
struct PidHead {
  std::atomic<Task<Pid>*> tasks[kTypes] = {};
};

// What a namespace has in every design. `alive` counts its pids, those of namespaces below it among them.
template <class Ns>
// NOLINTNEXTLINE(bugprone-crtp-constructor-accessibility)
struct NsHead {
  Ns* parent = nullptr;
  int level = 0;
  std::uint64_t alive = 0, children = 0;
  bool dead = false;
};

// One number a process, in a hash; no namespace but the first.
template <class Probe>
class None {
 public:
  static constexpr const char* kName = "none";
  static constexpr int kLevel = 0;  // the deepest namespace

  struct Ns : NsHead<Ns> {
    Bitmap numbers;
  };
  struct Pid : PidHead<Pid> {
    int nr = 0;
    std::atomic<Pid*> next{nullptr};
  };

  None(const Limits& limits, Memory& memory, Retired& retired)
      : memory_(memory), retired_(retired), table_(limits.buckets) {}

  static std::size_t bytes(int) { return sizeof(Pid); }
  int take(Ns& ns, int pid_max, Failure& why) { return ns.numbers.take(memory_, pid_max, why); }
  void give(Ns& ns, int number) { ns.numbers.give(number); }
  int next(const Ns& ns, int from) const { return ns.numbers.next(from); }
  void clear(Ns& ns) { ns.numbers.clear(memory_); }

  Pid* make(Ns&, const int* numbers) {
    void* const raw = memory_.take(sizeof(Pid));
    if (raw == nullptr) return nullptr;
    Pid* const pid = new (raw) Pid;
    pid->nr = numbers[0];
    table_.insert(bucket(pid->nr), *pid);
    return pid;
  }
  void hide(Pid& pid) { table_.erase(bucket(pid.nr), pid); }
  void drop(Pid& pid) { retired_.add(&pid, sizeof(Pid)); }
  Ns* own(const Pid&, Ns& first) const { return &first; }

  Pid* find(int number, const Ns&) const {
    return table_.find(bucket(number), [&](const Pid& pid) { return Probe::see(pid.nr) == number; });
  }
  int nr(const Pid& pid) const { return Probe::see(pid.nr); }
  int vnr(const Pid& pid) const { return Probe::see(pid.nr); }
  int nr_in(const Pid& pid, const Ns&) const { return Probe::see(pid.nr); }

 private:
  std::size_t bucket(int number) const {
    return hash_of(static_cast<std::uint64_t>(number), nullptr, table_.buckets());
  }
  Memory& memory_;
  Retired& retired_;
  Table<Pid, &Pid::next, Probe> table_;
};

// Two numbers in the pid: the global one, and the one in its namespace, cached so that it is one dereference away.
template <class Probe>
class Flat {
 public:
  static constexpr const char* kName = "flat";
  static constexpr int kLevel = 1;

  struct Ns : NsHead<Ns> {
    Bitmap numbers;
  };
  struct Pid : PidHead<Pid> {
    explicit Pid(Ns& made_in) : ns(&made_in) {}
    int nr = 0, vnr = 0;
    Ns* ns;
    std::atomic<Pid*> next{nullptr}, next_in_ns{nullptr};
  };

  Flat(const Limits& limits, Memory& memory, Retired& retired)
      : memory_(memory), retired_(retired), global_(limits.buckets), local_(limits.buckets) {}

  static std::size_t bytes(int) { return sizeof(Pid); }
  int take(Ns& ns, int pid_max, Failure& why) { return ns.numbers.take(memory_, pid_max, why); }
  void give(Ns& ns, int number) { ns.numbers.give(number); }
  int next(const Ns& ns, int from) const { return ns.numbers.next(from); }
  void clear(Ns& ns) { ns.numbers.clear(memory_); }

  Pid* make(Ns& ns, const int* numbers) {
    void* const raw = memory_.take(sizeof(Pid));
    if (raw == nullptr) return nullptr;
    Pid* const pid = new (raw) Pid(ns);
    pid->nr = numbers[0];
    pid->vnr = numbers[ns.level];
    if (ns.level > 0) local_.insert(bucket(pid->vnr, &ns), *pid);
    global_.insert(bucket(pid->nr, nullptr), *pid);
    return pid;
  }
  void hide(Pid& pid) {
    // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a pid that was made has a namespace
    if (pid.ns->level > 0) local_.erase(bucket(pid.vnr, pid.ns), pid);
    global_.erase(bucket(pid.nr, nullptr), pid);
  }
  void drop(Pid& pid) { retired_.add(&pid, sizeof(Pid)); }
  Ns* own(const Pid& pid, Ns&) const { return pid.ns; }

  Pid* find(int number, const Ns& ns) const {
    if (Probe::see(ns.level) == 0) {
      return global_.find(bucket(number, nullptr), [&](const Pid& pid) { return Probe::see(pid.nr) == number; });
    }
    return local_.find(bucket(number, &ns),
                       [&](const Pid& pid) { return Probe::see(pid.vnr) == number && Probe::see(pid.ns) == &ns; });
  }
  int nr(const Pid& pid) const { return Probe::see(pid.nr); }
  int vnr(const Pid& pid) const { return Probe::see(pid.vnr); }
  int nr_in(const Pid& pid, const Ns& ns) const {
    if (Probe::see(ns.level) == 0) return Probe::see(pid.nr);
    return Probe::see(pid.ns) == &ns ? Probe::see(pid.vnr) : 0;
  }

 private:
  std::size_t bucket(int number, const Ns* ns) const {
    return hash_of(static_cast<std::uint64_t>(number), ns, global_.buckets());
  }
  Memory& memory_;
  Retired& retired_;
  Table<Pid, &Pid::next, Probe> global_;
  Table<Pid, &Pid::next_in_ns, Probe> local_;
};

}  // namespace tare::pidspace
