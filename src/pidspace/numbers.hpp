// Which numbers of a namespace are taken: the bitmap that the kernel had until 4.14 (pidmap), page by page as needed.
//
// Numbers go round: the search begins behind the last one given, and after the greatest again at kReserved (at 1 in a
// namespace that has not come that far). Every design gives the same numbers. Only the space's lock holder calls this.
#pragma once

#include <bit>
#include <cstring>

#include "pidspace/types.hpp"

namespace tare::pidspace {

// Where a search begins again, as alloc_pid() has it.
inline int first_after_wrap(int last) { return last + 1 > kReserved ? kReserved : 1; }

class Bitmap {
 public:
  Bitmap() = default;
  Bitmap(const Bitmap&) = delete;
  Bitmap& operator=(const Bitmap&) = delete;

  // The next number, or 0 with `why`.
  int take(Memory& memory, int pid_max, Failure& why) {
    int number = free_from(last_ + 1, pid_max);
    if (number == 0) number = free_from(first_after_wrap(last_), std::min(last_ + 1, pid_max));
    if (number == 0) {
      why = Failure::numbers;
      return 0;
    }
    Page* const page = page_of(number, memory);
    if (page == nullptr) {
      why = Failure::memory;
      return 0;
    }
    page->words[word_in_page(number)] |= bit(number);
    return last_ = number;
  }
  void give(int number) {
    pages_[static_cast<std::size_t>(number) / kBits]->words[word_in_page(number)] &= ~bit(number);
  }
  // The least one that is taken, from `from` on; 0: none.
  int next(int from) const {
    for (auto n = static_cast<std::size_t>(from); n < pages_.size() * kBits;) {
      const Page* const page = pages_[n / kBits];
      if (page == nullptr) {
        n = (n / kBits + 1) * kBits;
        continue;
      }
      const std::uint64_t rest = page->words[n % kBits / 64] >> (n % 64);
      if (rest != 0) return static_cast<int>(n) + std::countr_zero(rest);
      n = (n / 64 + 1) * 64;
    }
    return 0;
  }
  void clear(Memory& memory) {
    for (Page* const page : pages_) {
      if (page != nullptr) memory.give(page, sizeof(Page));
    }
    pages_.clear();
  }

 private:
  static constexpr std::size_t kBits = 32768;
  struct Page {
    std::uint64_t words[kBits / 64];
  };
  static std::size_t word_in_page(int number) { return static_cast<std::size_t>(number) % kBits / 64; }
  static std::uint64_t bit(int number) { return std::uint64_t{1} << (static_cast<unsigned>(number) % 64); }

  int free_from(int from, int end) const {
    while (from < end) {
      const auto n = static_cast<std::size_t>(from);
      const Page* const page = n / kBits < pages_.size() ? pages_[n / kBits] : nullptr;
      if (page == nullptr) return from;
      const std::uint64_t rest = ~page->words[n % kBits / 64] >> (n % 64);
      if (rest != 0) {
        const int number = from + std::countr_zero(rest);
        return number < end ? number : 0;
      }
      from = (from / 64 + 1) * 64;
    }
    return 0;
  }
  Page* page_of(int number, Memory& memory) {
    const std::size_t index = static_cast<std::size_t>(number) / kBits;
    try {
      if (index >= pages_.size()) pages_.resize(index + 1, nullptr);
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
    Page*& page = pages_[index];
    if (page == nullptr) {
      page = static_cast<Page*>(memory.take(sizeof(Page)));
      if (page != nullptr) std::memset(page, 0, sizeof *page);
    }
    return page;
  }

  int last_ = 0;
  std::vector<Page*> pages_;
};

}  // namespace tare::pidspace
