// A chained hash that readers walk under RCU: the pid hash of the kernel until 4.14.
#pragma once

#include "pidspace/types.hpp"

namespace tare::pidspace {

// The kernel's hash_long(): by the golden ratio.
inline std::size_t hash_of(std::uint64_t number, const void* what, std::size_t buckets) {
  const std::uint64_t mixed = (number + (reinterpret_cast<std::uintptr_t>(what) >> 4)) * 0x61C8864680B583EBULL;
  return (mixed >> 32) & (buckets - 1);
}

// Entry has `std::atomic<Entry*> next`.
template <class Entry, std::atomic<Entry*> Entry::* kNext, class Probe>
class Table {
 public:
  explicit Table(std::size_t buckets) : heads_(buckets) {}
  std::size_t buckets() const { return heads_.size(); }

  void insert(std::size_t bucket, Entry& entry) {
    (entry.*kNext).store(heads_[bucket].load(std::memory_order_relaxed), std::memory_order_relaxed);
    rcu::publish(heads_[bucket], &entry);
  }
  void erase(std::size_t bucket, Entry& entry) {
    std::atomic<Entry*>* at = &heads_[bucket];
    while (at->load(std::memory_order_relaxed) != &entry) at = &(at->load(std::memory_order_relaxed)->*kNext);
    rcu::publish(*at, (entry.*kNext).load(std::memory_order_relaxed));
  }
  template <class Match>
  Entry* find(std::size_t bucket, const Match& match) const {
    Entry* entry = Probe::follow(heads_[bucket]);
    while (entry != nullptr && !match(*entry)) entry = Probe::follow(entry->*kNext);
    return entry;
  }

 private:
  std::vector<std::atomic<Entry*>> heads_;
};

}  // namespace tare::pidspace
