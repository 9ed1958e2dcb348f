// Work that enters the kernel not at all: integer and floating point arithmetic, a block of it an
// operation, with a result that is known. What a place changes here is the scheduler's or the machine's doing.
#include "lab/work/table.hpp"

namespace tare::lab {

namespace {

constexpr int kSteps = 1024;

// Multiplications, shifts and branches that depend on each other, some of them on the data.
constexpr std::uint64_t integer_block(std::uint64_t x) noexcept {
  std::uint64_t sum = 0;
  for (int i = 0; i < kSteps; ++i) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    sum += x * 0x9e3779b97f4a7c15U;
    if ((x & 3) == 0) sum = (sum << 5) | (sum >> 59);
    sum ^= sum / ((x & 0xff) | 1);
  }
  return sum;
}

constexpr std::uint64_t kSeed = 88172645463325252U;
constexpr std::uint64_t kIntegerResult = integer_block(kSeed);

// The sum of 1/k^2 with a square root on the way: (sqrt(k^2))^2. Some pi^2/6 - 1/1024.
double float_block(double one) noexcept {
  double sum = 0, k = 0;
  for (int i = 0; i < kSteps; ++i) {
    k += one;
    const double root = __builtin_sqrt(k * k);
    sum += one / (root * k);
  }
  return sum;
}

// The compiler must take it that the value comes from elsewhere.
template <class T>
T unknown(T value) noexcept {
  volatile T kept = value;
  return kept;
}

}  // namespace

Fault run_cpu_int(const Batch& batch, RunResult& result) noexcept {
  return measure(batch, result, 256, []() noexcept -> Fault {
    if (integer_block(unknown(kSeed)) != kIntegerResult) return {"sum-of-integers"};
    return {};
  });
}

Fault run_cpu_float(const Batch& batch, RunResult& result) noexcept {
  return measure(batch, result, 512, []() noexcept -> Fault {
    const double sum = float_block(unknown(1.0));
    if (!(sum > 1.64395797 && sum < 1.64395799)) return {"sum-of-floats"};
    return {};
  });
}

}  // namespace tare::lab
