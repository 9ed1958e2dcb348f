// The laboratory's random numbers: splitmix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom
// Number Generators, OOPSLA 2014; the constants are those of S. Vigna's public-domain splitmix64.c).
//
// For: shuffling a few dozen things reproducibly, from a printed seed, alike on every machine.
// <random>'s engines are fixed by the standard too, but its distributions and std::shuffle are not.
// A stream is made from (seed, number), so that the order of launch 17 doesn't depend on how many
// numbers were drawn for the launches before it.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace tare::lab {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  Random(std::uint64_t seed, std::uint64_t stream) : state_(Random(seed).next() ^ Random(~stream).next()) {}

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  // Uniform in 0 .. n-1, n > 0: numbers in the uneven rest of the range are drawn again.
  std::uint64_t below(std::uint64_t n) {
    const std::uint64_t uneven = (0 - n) % n;  // 2^64 mod n
    for (;;) {
      const std::uint64_t x = next();
      if (x >= uneven) return x % n;
    }
  }

  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }  // [0, 1)

  // Fisher and Yates.
  template <class T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  std::uint64_t state_;
};

}  // namespace tare::lab
