// The little of liburcu that pidspace needs, and what ThreadSanitizer must be told of it.
//
// Readers run inside a Section and load pointers that writers change with `load`; writers make a new object reachable
// with `publish`, and free an old one only after `synchronize`. liburcu itself is not instrumented, so under
// ThreadSanitizer the end of a section is told as a release, and the end of a grace period as an acquire; nothing else
// is. Source: rculist and the API of liburcu's memb flavour (urcu-api.md); McKenney, Is Parallel Programming Hard,
// chapter 9.
#pragma once

#include <urcu/urcu-memb.h>

#include <atomic>

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

namespace tare::pidspace::rcu {

// Each thread that reads has one, for as long as it reads.
class Thread {
 public:
  Thread() { urcu_memb_register_thread(); }
  ~Thread() { urcu_memb_unregister_thread(); }
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;
};

#ifdef __SANITIZE_THREAD__
inline char sections = 0;  // an address to tell of
#endif

// What is found inside stays whole until its end.
class Section {
 public:
  Section() { urcu_memb_read_lock(); }
  ~Section() {
#ifdef __SANITIZE_THREAD__
    __tsan_release(&sections);
#endif
    urcu_memb_read_unlock();
  }
  Section(const Section&) = delete;
  Section& operator=(const Section&) = delete;
};

// Waits until every section that had begun has ended. Not to be called in one.
inline void synchronize() {
#ifdef TARE_PIDSPACE_EARLY_FREE  // a fault for the test of the tests: nothing is waited for
  return;
#endif
  urcu_memb_synchronize_rcu();
#ifdef __SANITIZE_THREAD__
  __tsan_acquire(&sections);
#endif
}

// rcu_dereference: acquire in place of consume, which no compiler implements.
template <class T>
T* load(const std::atomic<T*>& pointer) {
  return pointer.load(std::memory_order_acquire);
}

// rcu_assign_pointer.
template <class T>
void publish(std::atomic<T*>& pointer, T* value) {
#ifdef TARE_PIDSPACE_NO_BARRIER  // likewise: what the object holds may be seen after it
  pointer.store(value, std::memory_order_relaxed);
#else
  pointer.store(value, std::memory_order_release);
#endif
}

}  // namespace tare::pidspace::rcu
