// Two designs of namespaces to any depth: a list of elements that is looped over, and elements in a hash.
#pragma once

#include "pidspace/simple.hpp"

namespace tare::pidspace {

// The pid and an element for each level lie in one allocation. The elements, the own namespace's first, are reached by
// a pointer and chained; a number is found by a loop over them.
template <class Probe>
class List {
 public:
  static constexpr const char* kName = "nested, loop";
  static constexpr int kLevel = 32;

  struct Ns : NsHead<Ns> {
    Bitmap numbers;
  };
  struct Pid;
  struct Element {
    int nr = 0;
    Ns* ns = nullptr;
    Pid* pid = nullptr;
    Element* up = nullptr;  // the element of the parent's namespace
    std::atomic<Element*> next{nullptr};
  };
  struct Pid : PidHead<Pid> {
    Element* first = nullptr;
  };

  List(const Limits& limits, Memory& memory, Retired& retired)
      : memory_(memory), retired_(retired), table_(limits.buckets) {}

  static std::size_t bytes(int level) { return sizeof(Pid) + (static_cast<std::size_t>(level) + 1) * sizeof(Element); }
  int take(Ns& ns, int pid_max, Failure& why) { return ns.numbers.take(memory_, pid_max, why); }
  void give(Ns& ns, int number) { ns.numbers.give(number); }
  int next(const Ns& ns, int from) const { return ns.numbers.next(from); }
  void clear(Ns& ns) { ns.numbers.clear(memory_); }

  Pid* make(Ns& ns, const int* numbers) {
    void* const raw = memory_.take(bytes(ns.level));
    if (raw == nullptr) return nullptr;
    Pid* const pid = new (raw) Pid;
    auto* element = reinterpret_cast<Element*>(pid + 1);
    pid->first = element;
    for (Ns* at = &ns; at != nullptr; at = at->parent, ++element) {
      new (element) Element;
      element->nr = numbers[at->level];
      element->ns = at;
      element->pid = pid;
      element->up = at->parent == nullptr ? nullptr : element + 1;
    }
    for (Element* e = pid->first; e != nullptr; e = e->up) table_.insert(bucket(e->nr, e->ns), *e);
    return pid;
  }
  void hide(Pid& pid) {
    for (Element* e = pid.first; e != nullptr; e = e->up) table_.erase(bucket(e->nr, e->ns), *e);
  }
  void drop(Pid& pid) { retired_.add(&pid, bytes(pid.first->ns->level)); }
  Ns* own(const Pid& pid, Ns&) const { return pid.first->ns; }

  Pid* find(int number, const Ns& ns) const {
    const Element* const e = table_.find(bucket(number, &ns), [&](const Element& one) {
      return Probe::see(one.nr) == number && Probe::see(one.ns) == &ns;
    });
    return e == nullptr ? nullptr : Probe::see(e->pid);
  }
  int nr(const Pid& pid) const {
    const Element* e = Probe::see(pid.first);
    while (const Element* const up = Probe::see(e->up)) e = up;
    return Probe::see(e->nr);
  }
  int vnr(const Pid& pid) const { return Probe::see(Probe::see(pid.first)->nr); }
  int nr_in(const Pid& pid, const Ns& ns) const {
    for (const Element* e = Probe::see(pid.first); e != nullptr; e = Probe::see(e->up)) {
      if (Probe::see(e->ns) == &ns) return Probe::see(e->nr);
    }
    return 0;
  }

 private:
  std::size_t bucket(int number, const Ns* ns) const {
    return hash_of(static_cast<std::uint64_t>(number), ns, table_.buckets());
  }
  Memory& memory_;
  Retired& retired_;
  Table<Element, &Element::next, Probe> table_;
};

// An element a level, each an allocation, in two hashes: by number and namespace, and by pid and namespace. Even the
// number in the first namespace is a look-up.
template <class Probe>
class Hash {
 public:
  static constexpr const char* kName = "nested, hash";
  static constexpr int kLevel = 32;

  struct Ns : NsHead<Ns> {
    Bitmap numbers;
  };
  struct Pid;
  struct Element {
    int nr = 0;
    Ns* ns = nullptr;
    Pid* pid = nullptr;
    std::atomic<Element*> next{nullptr}, next_of_pid{nullptr};
  };
  struct Pid : PidHead<Pid> {
    Ns* ns = nullptr;  // where it was made
  };

  Hash(const Limits& limits, Memory& memory, Retired& retired)
      : memory_(memory), retired_(retired), numbers_(limits.buckets), pids_(limits.buckets) {}

  static std::size_t bytes(int level) { return sizeof(Pid) + (static_cast<std::size_t>(level) + 1) * sizeof(Element); }
  int take(Ns& ns, int pid_max, Failure& why) { return ns.numbers.take(memory_, pid_max, why); }
  void give(Ns& ns, int number) { ns.numbers.give(number); }
  int next(const Ns& ns, int from) const { return ns.numbers.next(from); }
  void clear(Ns& ns) { ns.numbers.clear(memory_); }

  Pid* make(Ns& ns, const int* numbers) {
    void* const raw = memory_.take(sizeof(Pid));
    if (raw == nullptr) return nullptr;
    Pid* const pid = new (raw) Pid;
    pid->ns = &ns;
    Element* made[kLevel + 1] = {};
    for (Ns* at = &ns; at != nullptr; at = at->parent) {
      void* const space = memory_.take(sizeof(Element));
      if (space == nullptr) {
        for (Element* const e : made) {
          if (e != nullptr) memory_.give(e, sizeof(Element));
        }
        memory_.give(pid, sizeof(Pid));
        return nullptr;
      }
      Element* const e = made[at->level] = new (space) Element;
      e->nr = numbers[at->level];
      e->ns = at;
      e->pid = pid;
    }
    for (int level = 0; level <= ns.level; ++level) {
      Element& e = *made[level];
      pids_.insert(bucket(pid, e.ns), e);
      numbers_.insert(bucket(e.nr, e.ns), e);
    }
    return pid;
  }
  void hide(Pid& pid) {
    for (Ns* at = pid.ns; at != nullptr; at = at->parent) {
      Element& e = *element(pid, *at);
      numbers_.erase(bucket(e.nr, at), e);
    }
  }
  // A reader that found the pid just before may be told 0 from here on: as for one that has gone.
  void drop(Pid& pid) {
    for (Ns* at = pid.ns; at != nullptr; at = at->parent) {
      Element& e = *element(pid, *at);
      pids_.erase(bucket(&pid, at), e);
      retired_.add(&e, sizeof(Element));
    }
    retired_.add(&pid, sizeof(Pid));
  }
  Ns* own(const Pid& pid, Ns&) const { return pid.ns; }

  Pid* find(int number, const Ns& ns) const {
    const Element* const e = numbers_.find(bucket(number, &ns), [&](const Element& one) {
      return Probe::see(one.nr) == number && Probe::see(one.ns) == &ns;
    });
    return e == nullptr ? nullptr : Probe::see(e->pid);
  }
  int nr(const Pid& pid) const { return nr_in(pid, *first_); }
  int vnr(const Pid& pid) const { return nr_in(pid, *Probe::see(pid.ns)); }
  int nr_in(const Pid& pid, const Ns& ns) const {
    const Element* const e = element(pid, ns);
    return e == nullptr ? 0 : Probe::see(e->nr);
  }
  void set_first(const Ns& first) { first_ = &first; }

 private:
  Element* element(const Pid& pid, const Ns& ns) const {
    return pids_.find(bucket(&pid, &ns),
                      [&](const Element& one) { return Probe::see(one.pid) == &pid && Probe::see(one.ns) == &ns; });
  }
  std::size_t bucket(int number, const Ns* ns) const {
    return hash_of(static_cast<std::uint64_t>(number), ns, numbers_.buckets());
  }
  std::size_t bucket(const Pid* pid, const Ns* ns) const {
    return hash_of(reinterpret_cast<std::uintptr_t>(pid) >> 4, ns, pids_.buckets());
  }
  Memory& memory_;
  Retired& retired_;
  const Ns* first_ = nullptr;
  Table<Element, &Element::next, Probe> numbers_;
  Table<Element, &Element::next_of_pid, Probe> pids_;
};

}  // namespace tare::pidspace
