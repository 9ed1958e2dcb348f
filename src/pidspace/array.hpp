// Two designs with an array by level: of a size fixed when compiled, and as long as the namespace is deep.
#pragma once

#include "pidspace/radix.hpp"
#include "pidspace/simple.hpp"

namespace tare::pidspace {

// An array of kMost elements inside the pid. 1 is no namespaces, 2 is flat, 3 and more is nested.
template <int kMost>
struct Fixed {
  template <class Probe>
  class Of {
   public:
    static constexpr const char* kName = kMost == 4 ? "fixed, 4" : kMost == 5 ? "fixed, 5" : "fixed";
    static constexpr int kLevel = kMost - 1;

    struct Ns : NsHead<Ns> {
      Bitmap numbers;
    };
    struct Pid;
    struct Element {
      int nr = 0;
      Ns* ns = nullptr;
      Pid* pid = nullptr;
      std::atomic<Element*> next{nullptr};
    };
    struct Pid : PidHead<Pid> {
      int level = 0;
      Element elements[static_cast<std::size_t>(kMost)];
    };

    Of(const Limits& limits, Memory& memory, Retired& retired)
        : memory_(memory), retired_(retired), table_(limits.buckets) {}

    static std::size_t bytes(int) { return sizeof(Pid); }
    int take(Ns& ns, int pid_max, Failure& why) { return ns.numbers.take(memory_, pid_max, why); }
    void give(Ns& ns, int number) { ns.numbers.give(number); }
    int next(const Ns& ns, int from) const { return ns.numbers.next(from); }
    void clear(Ns& ns) { ns.numbers.clear(memory_); }

    Pid* make(Ns& ns, const int* numbers) {
      void* const raw = memory_.take(sizeof(Pid));
      if (raw == nullptr) return nullptr;
      Pid* const pid = new (raw) Pid;
      pid->level = ns.level;
      for (Ns* at = &ns; at != nullptr; at = at->parent) {
        Element& e = pid->elements[at->level];
        e.nr = numbers[at->level];
        e.ns = at;
        e.pid = pid;
      }
      for (int level = 0; level <= ns.level; ++level) {
        Element& e = pid->elements[level];
        table_.insert(bucket(e.nr, e.ns), e);
      }
      return pid;
    }
    void hide(Pid& pid) {
      for (int level = 0; level <= pid.level; ++level) {
        Element& e = pid.elements[level];
        table_.erase(bucket(e.nr, e.ns), e);
      }
    }
    void drop(Pid& pid) { retired_.add(&pid, sizeof(Pid)); }
    Ns* own(const Pid& pid, Ns&) const { return pid.elements[pid.level].ns; }

    Pid* find(int number, const Ns& ns) const {
      const Element* const e = table_.find(bucket(number, &ns), [&](const Element& one) {
        return Probe::see(one.nr) == number && Probe::see(one.ns) == &ns;
      });
      return e == nullptr ? nullptr : Probe::see(e->pid);
    }
    int nr(const Pid& pid) const { return Probe::see(pid.elements[0].nr); }
    int vnr(const Pid& pid) const { return Probe::see(pid.elements[Probe::see(pid.level)].nr); }
    int nr_in(const Pid& pid, const Ns& ns) const {
      const int level = Probe::see(ns.level);
      if (level > Probe::see(pid.level)) return 0;
      const Element& e = pid.elements[level];
      return Probe::see(e.ns) == &ns ? Probe::see(e.nr) : 0;
    }

   private:
    std::size_t bucket(int number, const Ns* ns) const {
      return hash_of(static_cast<std::uint64_t>(number), ns, table_.buckets());
    }
    Memory& memory_;
    Retired& retired_;
    Table<Element, &Element::next, Probe> table_;
  };
};

// Today's kernel: level + 1 elements behind the pid, in its allocation; each namespace has an index of its own, which
// is its allocator too, so that there is no hash.
template <class Probe>
class Kernel {
 public:
  static constexpr const char* kName = "today's kernel";
  static constexpr int kLevel = 32;

  struct Pid;
  struct Ns : NsHead<Ns> {
    Radix<Pid, Probe> numbers;
  };
  struct Element {
    int nr = 0;
    Ns* ns = nullptr;
  };
  struct Pid : PidHead<Pid> {
    int level = 0;
    const Element& element(int at) const { return reinterpret_cast<const Element*>(this + 1)[at]; }
  };

  Kernel(const Limits&, Memory& memory, Retired& retired) : memory_(memory), retired_(retired) {}

  static std::size_t bytes(int level) { return sizeof(Pid) + (static_cast<std::size_t>(level) + 1) * sizeof(Element); }
  int take(Ns& ns, int pid_max, Failure& why) { return ns.numbers.take(memory_, pid_max, why); }
  void give(Ns& ns, int number) { ns.numbers.give(number, retired_); }
  int next(const Ns& ns, int from) const { return ns.numbers.next(from); }
  void clear(Ns& ns) { ns.numbers.clear(memory_); }

  Pid* make(Ns& ns, const int* numbers) {
    void* const raw = memory_.take(bytes(ns.level));
    if (raw == nullptr) return nullptr;
    Pid* const pid = new (raw) Pid;
    pid->level = ns.level;
    auto* const elements = reinterpret_cast<Element*>(pid + 1);
    for (Ns* at = &ns; at != nullptr; at = at->parent) new (elements + at->level) Element{numbers[at->level], at};
    for (Ns* at = &ns; at != nullptr; at = at->parent) at->numbers.set(numbers[at->level], pid);
    return pid;
  }
  void hide(Pid& pid) {
    for (int level = 0; level <= pid.level; ++level) pid.element(level).ns->numbers.hide(pid.element(level).nr);
  }
  void drop(Pid& pid) { retired_.add(&pid, bytes(pid.level)); }
  Ns* own(const Pid& pid, Ns&) const { return pid.element(pid.level).ns; }

  Pid* find(int number, const Ns& ns) const { return ns.numbers.find(number); }
  int nr(const Pid& pid) const { return Probe::see(pid.element(0).nr); }
  int vnr(const Pid& pid) const { return Probe::see(pid.element(Probe::see(pid.level)).nr); }
  int nr_in(const Pid& pid, const Ns& ns) const {
    const int level = Probe::see(ns.level);
    if (level > Probe::see(pid.level)) return 0;
    const Element& e = pid.element(level);
    return Probe::see(e.ns) == &ns ? Probe::see(e.nr) : 0;
  }

 private:
  Memory& memory_;
  Retired& retired_;
};

}  // namespace tare::pidspace
