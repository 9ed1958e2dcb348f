// The words of pidspace, in the kernel's terms. Sources: pid_namespaces(7), include/linux/pid.h, pid_namespace.h.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include "pidspace/rcu.hpp"

namespace tare::pidspace {

// What a task is counted as: itself, its thread group, its process group, its session.
enum class Type : std::uint8_t { pid, tgid, pgid, sid };
inline constexpr int kTypes = 4;

enum class Failure : std::uint8_t {
  depth,        // the design, or Limits::level, has no level for it (the kernel: ENOSPC)
  numbers,      // every number of some level is taken (EAGAIN)
  memory,       // Limits::memory, or the machine's (ENOMEM)
  dead,         // the namespace's first process has ended (ENOMEM, says the kernel)
  busy,         // it has processes or namespaces still
  unsupported,  // no design of this kind can do it: n/a
};

struct Limits {
  int level = 32;                 // of a namespace below the first, which is level 0
  int pid_max = 4'194'304;        // numbers are below it
  std::size_t memory = SIZE_MAX;  // bytes of pids and namespaces, what waits for a grace period among them
  std::size_t buckets = 4096;     // of a hash; a power of two. The kernel of 2007 had at most 4096
};
inline constexpr int kReserved = 300;  // numbers begin again there: RESERVED_PIDS

template <class Pid>
struct Task {
  std::atomic<Pid*> pids[kTypes] = {};
  std::atomic<Task*> next[kTypes] = {};  // of the same pid and type
};

// Counted memory with a limit; null where there is none left. Not for several threads: the space's lock is held.
class Memory {
 public:
  explicit Memory(std::size_t limit) : limit_(limit) {}
  void* take(std::size_t size) {
    if (size > limit_ - used_) return nullptr;
    void* const out = ::operator new(size, std::nothrow);
    if (out != nullptr) used_ += size;
    return out;
  }
  void give(void* object, std::size_t size) {
    ::operator delete(object);
    used_ -= size;
  }
  std::size_t used() const { return used_; }

 private:
  std::size_t used_ = 0, limit_;
};

// What readers may still hold: freed a thousand at a time, after one grace period for all. Adding can't fail.
class Retired {
 public:
  explicit Retired(Memory& memory) : memory_(memory) { waiting_.reserve(kMost); }
  Retired(const Retired&) = delete;
  Retired& operator=(const Retired&) = delete;
  ~Retired() { flush(); }
  void add(void* object, std::size_t size) {
    waiting_.push_back({object, size});
    if (waiting_.size() >= kMost) flush();
  }
  void flush() {
    if (waiting_.empty()) return;
    rcu::synchronize();
    for (const Waiting& one : waiting_) memory_.give(one.object, one.size);
    waiting_.clear();
  }

 private:
  static constexpr std::size_t kMost = 1024;
  struct Waiting {
    void* object;
    std::size_t size;
  };
  Memory& memory_;
  std::vector<Waiting> waiting_;
};

// How a design reads what lies behind a pointer. The second one counts it, for the row of bytes and loads.
struct Plain {
  template <class T>
  static T see(const T& value) {
    return value;
  }
  template <class T>
  static T* follow(const std::atomic<T*>& pointer) {
    return rcu::load(pointer);
  }
};
struct Counted {
  static inline thread_local std::uint64_t loads = 0;
  template <class T>
  static T see(const T& value) {
    ++loads;
    return value;
  }
  template <class T>
  static T* follow(const std::atomic<T*>& pointer) {
    ++loads;
    return rcu::load(pointer);
  }
};

}  // namespace tare::pidspace
