// Numbers to pointers, 64 ways a level, read under RCU: the kernel's IDR since 4.15 (lib/radix-tree.c, lib/idr.c).
//
// It is allocator and index at once: a number is taken first, with no pointer behind it, and found from `set` on.
#pragma once

#include <algorithm>
#include <bit>

#include "pidspace/numbers.hpp"

namespace tare::pidspace {

template <class T, class Probe>
class Radix {
 public:
  Radix() = default;
  Radix(const Radix&) = delete;
  Radix& operator=(const Radix&) = delete;

  int take(Memory& memory, int pid_max, Failure& why) {
    int number = free_from(last_ + 1);
    if (number >= pid_max) {
      number = free_from(first_after_wrap(last_));
      if (number >= pid_max || number > last_) {
        why = Failure::numbers;
        return 0;
      }
    }
    if (!grow(number, memory) || !reserve(number, memory)) {
      why = Failure::memory;
      return 0;
    }
    return last_ = number;
  }
  void set(int number, T* value) { rcu::publish(slot(number), static_cast<void*>(value)); }
  // From here on not found any more. The number stays taken until `give`.
  void hide(int number) { rcu::publish(slot(number), static_cast<void*>(nullptr)); }
  void give(int number, Retired& retired) {
    Node* path[kLevels];
    int depth = 0;
    Node* node = root_.load(std::memory_order_relaxed);
    for (;; node = child(*node, number)) {
      path[depth++] = node;
      if (node->shift == 0) break;
    }
    path[depth - 1]->present &= ~bit(index(*path[depth - 1], number));
    for (int i = depth - 1; i > 0; --i) {
      Node &below = *path[i], &above = *path[i - 1];
      above.full &= ~bit(index(above, number));
      if (below.present != 0) continue;
      above.present &= ~bit(index(above, number));
      rcu::publish(above.slots[index(above, number)], static_cast<void*>(nullptr));
      retired.add(&below, sizeof(Node));
    }
  }
  T* find(int number) const {
    const Node* node = Probe::follow(root_);
    if (node == nullptr) return nullptr;
    unsigned shift = Probe::see(node->shift);
    if (static_cast<unsigned>(number) >> shift >= kWays) return nullptr;
    for (;; shift -= kStep) {
      void* const next = Probe::follow(node->slots[static_cast<unsigned>(number) >> shift & (kWays - 1)]);
      if (shift == 0 || next == nullptr) return static_cast<T*>(next);
      node = static_cast<const Node*>(next);
    }
  }
  int next(int from) const {
    const Node* const root = root_.load(std::memory_order_relaxed);
    if (root == nullptr || static_cast<unsigned>(from) >> root->shift >= kWays) return 0;
    const int found = taken_from(*root, static_cast<unsigned>(from));
    return found < 0 ? 0 : found;
  }
  void clear(Memory& memory) {
    if (Node* const root = root_.load(std::memory_order_relaxed)) drop(*root, memory);
    root_.store(nullptr, std::memory_order_relaxed);
  }

 private:
  static constexpr unsigned kStep = 6, kWays = 64;
  static constexpr int kLevels = 6;
  struct Node {
    unsigned shift;
    std::uint64_t present, full;  // slots that are not empty; that have no free number below. Writers only
    std::atomic<void*> slots[kWays];
  };
  static std::uint64_t bit(unsigned i) { return std::uint64_t{1} << i; }
  static unsigned index(const Node& node, int number) {
    return static_cast<unsigned>(number) >> node.shift & (kWays - 1);
  }
  static Node* child(const Node& node, int number) {
    return static_cast<Node*>(node.slots[index(node, number)].load(std::memory_order_relaxed));
  }
  std::atomic<void*>& slot(int number) const {
    Node* node = root_.load(std::memory_order_relaxed);
    while (node->shift > 0) node = child(*node, number);
    return node->slots[index(*node, number)];
  }
  static Node* make(unsigned shift, Memory& memory) {
    void* const raw = memory.take(sizeof(Node));
    Node* const node = raw == nullptr ? nullptr : new (raw) Node{};
    if (node != nullptr) node->shift = shift;
    return node;
  }

  // The least free number from there on, also where there is no node for it yet.
  int free_from(int from) const {
    const Node* const root = root_.load(std::memory_order_relaxed);
    const auto n = static_cast<unsigned>(from);
    if (root == nullptr || n >> root->shift >= kWays) return from;
    const int found = free_in(*root, n);
    return found < 0 ? static_cast<int>(kWays << root->shift) : found;
  }
  static int free_in(const Node& node, unsigned from) {
    if (node.shift == 0) {
      const std::uint64_t rest = ~node.present >> from;
      return rest == 0 ? -1 : static_cast<int>(from) + std::countr_zero(rest);
    }
    const unsigned below = (1u << node.shift) - 1;
    unsigned rest = from & below;
    for (unsigned i = from >> node.shift; i < kWays; ++i, rest = 0) {
      if ((node.full & bit(i)) != 0) continue;
      const auto* const next = static_cast<const Node*>(node.slots[i].load(std::memory_order_relaxed));
      const int found = next == nullptr ? static_cast<int>(rest) : free_in(*next, rest);
      if (found >= 0) return static_cast<int>(i << node.shift) + found;
    }
    return -1;
  }
  static int taken_from(const Node& node, unsigned from) {
    if (node.shift == 0) {
      const std::uint64_t rest = node.present >> from;
      return rest == 0 ? -1 : static_cast<int>(from) + std::countr_zero(rest);
    }
    const unsigned below = (1u << node.shift) - 1;
    unsigned rest = from & below;
    for (unsigned i = from >> node.shift; i < kWays; ++i, rest = 0) {
      const auto* const next = static_cast<const Node*>(node.slots[i].load(std::memory_order_relaxed));
      const int found = next == nullptr ? -1 : taken_from(*next, rest);
      if (found >= 0) return static_cast<int>(i << node.shift) + found;
    }
    return -1;
  }
  bool grow(int number, Memory& memory) {
    for (;;) {
      Node* const root = root_.load(std::memory_order_relaxed);
      if (root != nullptr && static_cast<unsigned>(number) >> root->shift < kWays) return true;
      Node* const above = make(root == nullptr ? 0 : root->shift + kStep, memory);
      if (above == nullptr) return false;
      if (root != nullptr) {
        above->slots[0].store(root, std::memory_order_relaxed);
        if (root->present != 0) above->present = 1;
        if (is_full(*root)) above->full = 1;
      }
      rcu::publish(root_, above);
    }
  }
  static bool is_full(const Node& node) { return (node.shift == 0 ? node.present : node.full) == ~std::uint64_t{0}; }
  bool reserve(int number, Memory& memory) {
    Node* path[kLevels];
    int depth = 0;
    Node* node = root_.load(std::memory_order_relaxed);
    for (;;) {
      path[depth++] = node;
      if (node->shift == 0) break;
      Node* next = child(*node, number);
      if (next == nullptr) {
        next = make(node->shift - kStep, memory);
        if (next == nullptr) return false;  // what was made above it is empty, and serves the next one
        rcu::publish(node->slots[index(*node, number)], static_cast<void*>(next));
      }
      node = next;
    }
    for (int i = depth - 1; i >= 0; --i) {
      path[i]->present |= bit(index(*path[i], number));
      if (i > 0 && is_full(*path[i])) path[i - 1]->full |= bit(index(*path[i - 1], number));
    }
    return true;
  }
  static void drop(Node& node, Memory& memory) {
    for (std::atomic<void*>& below : node.slots) {
      void* const next = below.load(std::memory_order_relaxed);
      if (node.shift > 0 && next != nullptr) drop(*static_cast<Node*>(next), memory);
    }
    memory.give(&node, sizeof(Node));
  }

  int last_ = 0;
  std::atomic<Node*> root_{nullptr};
};

}  // namespace tare::pidspace
