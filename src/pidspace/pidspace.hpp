// The pid namespace as a data structure: numbers of processes at every level, by six designs behind one interface.
//
//   rcu::Thread thread;                                  // each thread that reads, once
//   Space<Kernel<Plain>> space;                          // or None, Flat, List, Hash, Fixed<N>::Of
//   auto* inner = space.create(space.first()).value();
//   auto* pid = space.allocate(*inner).value();
//   rcu::Section section;                                // around look-ups, and as long as what they give is used
//   space.find(1, *inner) == pid; space.nr(*pid); space.nr_in(*pid, *inner);
//
// Changes take the space's lock and may be called from any thread, outside of sections: they may wait for a grace
// period. Look-ups take no lock. Nothing here aborts: what can't be done is a Failure. The names are the kernel's
// (pid_nr_ns, find_pid_ns, transfer_pid ...; kernel/pid.c, kernel/pid_namespace.c). A pid's numbers never change.
#pragma once

#include <expected>
#include <mutex>

#include "pidspace/array.hpp"
#include "pidspace/nested.hpp"
#include "pidspace/simple.hpp"

namespace tare::pidspace {

template <class Design>
class Space {
 public:
  using Ns = typename Design::Ns;
  using Pid = typename Design::Pid;
  using Process = Task<Pid>;
  template <class T>
  using Or = std::expected<T, Failure>;

  explicit Space(const Limits& limits = {})
      : limits_(limits), memory_(limits.memory), retired_(memory_), design_(limits, memory_, retired_) {
    if constexpr (requires { design_.set_first(first_); }) design_.set_first(first_);
  }
  Space(const Space&) = delete;
  Space& operator=(const Space&) = delete;
  // Whatever is still there goes. Nobody may be reading.
  ~Space() {
    for (auto it = spaces_.rbegin(); it != spaces_.rend(); ++it) empty(**it);
    empty(first_);
    for (Ns* const ns : spaces_) {
      design_.clear(*ns);
      discard(*ns);
    }
    design_.clear(first_);
    retired_.flush();
  }

  Ns& first() { return first_; }
  const Limits& limits() const { return limits_; }
  // Bytes of pids, namespaces and their indexes, and of what waits for a grace period; without the hashes' heads.
  std::size_t memory() const { return memory_.used(); }
  // Those of one pid made at that level.
  static std::size_t bytes(int level) { return Design::bytes(level); }

  Or<Ns*> create(Ns& parent) {
    const std::lock_guard lock(mutex_);
    if (Design::kLevel == 0) return std::unexpected(Failure::unsupported);
    if (parent.level + 1 > std::min(Design::kLevel, limits_.level)) return std::unexpected(Failure::depth);
    if (parent.dead) return std::unexpected(Failure::dead);
    try {
      spaces_.reserve(spaces_.size() + 1);
    } catch (const std::bad_alloc&) {
      return std::unexpected(Failure::memory);
    }
    void* const raw = memory_.take(sizeof(Ns));
    if (raw == nullptr) return std::unexpected(Failure::memory);
    Ns* const ns = new (raw) Ns;
    ns->parent = &parent;
    ns->level = parent.level + 1;
    ++parent.children;
    spaces_.push_back(ns);
    return ns;
  }
  // One without processes and namespaces below it.
  Or<void> destroy(Ns& ns) {
    const std::lock_guard lock(mutex_);
    if (&ns == &first_ || ns.alive > 0 || ns.children > 0) return std::unexpected(Failure::busy);
    --ns.parent->children;
    std::erase(spaces_, &ns);
    retired_.flush();  // also waits for those who look into its index
    rcu::synchronize();
    design_.clear(ns);
    discard(ns);
    return {};
  }

  // A pid with a number in the namespace and in each above it.
  Or<Pid*> allocate(Ns& ns) {
    const std::lock_guard lock(mutex_);
    for (const Ns* at = &ns; at != nullptr; at = at->parent) {
      if (at->dead) return std::unexpected(Failure::dead);
    }
    Or<Pid*> pid = try_allocate(ns);
    if (!pid && pid.error() == Failure::memory) {
      retired_.flush();  // what waits for readers counts, too
      pid = try_allocate(ns);
    }
    return pid;
  }
  // One that no task is attached to.
  void free(Pid& pid) {
    const std::lock_guard lock(mutex_);
    release(pid);
  }

  // Counts the task as of that pid; a pid may have many of each type.
  void attach(Process& task, Type type, Pid& pid) {
    const std::lock_guard lock(mutex_);
    link(task, type, pid);
  }
  // The pid goes with its last task.
  void detach(Process& task, Type type) {
    const std::lock_guard lock(mutex_);
    Pid* const pid = unlink(task, type);
    if (pid != nullptr && unused(*pid)) release(*pid);
  }
  // To another pid: setpgid(2), setsid(2).
  void change(Process& task, Type type, Pid& pid) {
    const std::lock_guard lock(mutex_);
    Pid* const before = unlink(task, type);
    link(task, type, pid);
    if (before != nullptr && before != &pid && unused(*before)) release(*before);
  }
  // `to` takes the place of `from`: a thread that executes a program becomes its group's leader.
  void transfer(Process& from, Process& to, Type type) {
    const std::lock_guard lock(mutex_);
    if (Pid* const pid = unlink(from, type)) link(to, type, *pid);
  }
  // The task ends. Where it is the first process of its namespace (number 1, as thread group), every other one in it
  // and below it ends too, told to `ended` in their order; no new ones are made there any more.
  template <class Ended>
  void exit(Process& task, const Ended& ended) {
    const std::lock_guard lock(mutex_);
    Pid* const group = task.pids[static_cast<int>(Type::tgid)].load(std::memory_order_relaxed);
    if (group != nullptr && task.pids[0].load(std::memory_order_relaxed) == group && design_.vnr(*group) == 1) {
      Ns& ns = *design_.own(*group, first_);
      ns.dead = true;
      reap(ns, task, ended);
    }
    leave(task);
  }

  // find_pid_ns: whose number that is there; null.
  Pid* find(int number, const Ns& ns) const { return design_.find(number, ns); }
  // pid_nr: from the first namespace.
  int nr(const Pid& pid) const { return design_.nr(pid); }
  // pid_vnr: from its own.
  int vnr(const Pid& pid) const { return design_.vnr(pid); }
  // pid_nr_ns: from any; 0 where it can't be seen.
  int nr_in(const Pid& pid, const Ns& ns) const { return design_.nr_in(pid, ns); }
  // task_pid_nr_ns and its like: the task's process, thread group, process group or session as `ns` sees it; 0.
  int task_nr(const Process& task, Type type, const Ns& ns) const {
    const Pid* const pid = rcu::load(task.pids[static_cast<int>(type)]);
    return pid == nullptr ? 0 : nr_in(*pid, ns);
  }
  // find_ge_pid: the pid of the least number from there on, for going through all in order; null. Takes the lock.
  Pid* next(int from, const Ns& ns) {
    const std::lock_guard lock(mutex_);
    const int number = design_.next(ns, from);
    return number == 0 ? nullptr : design_.find(number, ns);
  }
  // Each number of the namespace with its pid, in order.
  template <class See>
  void each(const Ns& ns, const See& see) {
    const std::lock_guard lock(mutex_);
    for (int number = design_.next(ns, 1); number != 0; number = design_.next(ns, number + 1)) {
      if (Pid* const pid = design_.find(number, ns)) see(number, *pid);
    }
  }
  // The tasks of a pid, the latest attached first. In a section.
  template <class See>
  static void tasks(const Pid& pid, Type type, const See& see) {
    const int t = static_cast<int>(type);
    for (const Process* task = rcu::load(pid.tasks[t]); task != nullptr; task = rcu::load(task->next[t])) see(*task);
  }

 private:
  static constexpr auto kLevels = static_cast<std::size_t>(Design::kLevel) + 1;

  Or<Pid*> try_allocate(Ns& ns) {
    int numbers[kLevels] = {};
    Failure why{};
    for (Ns* at = &ns; at != nullptr; at = at->parent) {
      numbers[at->level] = design_.take(*at, limits_.pid_max, why);
      if (numbers[at->level] == 0) {
        give_back(ns, at, numbers);
        return std::unexpected(why);
      }
    }
    Pid* const pid = design_.make(ns, numbers);
    if (pid == nullptr) {
      give_back(ns, nullptr, numbers);
      return std::unexpected(Failure::memory);
    }
    for (Ns* at = &ns; at != nullptr; at = at->parent) ++at->alive;
    return pid;
  }
  void give_back(Ns& from, const Ns* until, const int* numbers) {
    for (Ns* at = &from; at != until; at = at->parent) design_.give(*at, numbers[at->level]);
  }
  void release(Pid& pid) {
    Ns& own = *design_.own(pid, first_);
    int numbers[kLevels] = {};
    for (Ns* at = &own; at != nullptr; at = at->parent) numbers[at->level] = design_.nr_in(pid, *at);
    design_.hide(pid);
    // NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): a pid that was made has a namespace
    give_back(own, nullptr, numbers);
    for (Ns* at = &own; at != nullptr; at = at->parent) --at->alive;
    design_.drop(pid);
  }
  static bool unused(const Pid& pid) {
    for (const auto& tasks : pid.tasks) {
      if (tasks.load(std::memory_order_relaxed) != nullptr) return false;
    }
    return true;
  }
  static void link(Process& task, Type type, Pid& pid) {
    const int t = static_cast<int>(type);
    task.next[t].store(pid.tasks[t].load(std::memory_order_relaxed), std::memory_order_relaxed);
    rcu::publish(task.pids[t], &pid);
    rcu::publish(pid.tasks[t], &task);
  }
  static Pid* unlink(Process& task, Type type) {
    const int t = static_cast<int>(type);
    Pid* const pid = task.pids[t].load(std::memory_order_relaxed);
    if (pid == nullptr) return nullptr;
    std::atomic<Process*>* at = &pid->tasks[t];
    while (at->load(std::memory_order_relaxed) != &task) at = &at->load(std::memory_order_relaxed)->next[t];
    rcu::publish(*at, task.next[t].load(std::memory_order_relaxed));
    rcu::publish(task.pids[t], static_cast<Pid*>(nullptr));
    return pid;
  }
  void leave(Process& task) {
    for (int t = kTypes - 1; t >= 0; --t) {
      Pid* const pid = unlink(task, static_cast<Type>(t));
      if (pid != nullptr && unused(*pid)) release(*pid);
    }
  }
  template <class Ended>
  void reap(Ns& ns, const Process& init, const Ended& ended) {
    for (Ns* const below : spaces_) {
      for (const Ns* at = below; at != nullptr; at = at->parent) {
        if (at == &ns) below->dead = true;
      }
    }
    for (int number = design_.next(ns, 1); number != 0; number = design_.next(ns, number + 1)) {
      Pid* const pid = design_.find(number, ns);
      while (pid != nullptr) {
        Process* victim = pid->tasks[0].load(std::memory_order_relaxed);
        if (victim == &init) victim = victim->next[0].load(std::memory_order_relaxed);
        if (victim == nullptr) break;
        const bool last = pid->tasks[0].load(std::memory_order_relaxed) == victim &&
                          victim->next[0].load(std::memory_order_relaxed) == nullptr;
        leave(*victim);
        ended(*victim);
        if (last) break;  // the pid may have gone with it
      }
    }
  }
  // Pids that are left when the whole space goes; their tasks are the caller's.
  void empty(Ns& ns) {
    for (int number = design_.next(ns, 1); number != 0; number = design_.next(ns, number + 1)) {
      if (Pid* const pid = design_.find(number, ns)) release(*pid);
    }
  }
  void discard(Ns& ns) {
    ns.~Ns();
    memory_.give(&ns, sizeof(Ns));
  }

  std::mutex mutex_;
  Limits limits_;
  Memory memory_;
  Retired retired_;
  Design design_;
  Ns first_;
  std::vector<Ns*> spaces_;  // all but the first, older ones first
};

}  // namespace tare::pidspace
