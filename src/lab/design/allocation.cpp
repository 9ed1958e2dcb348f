#include "lab/design/allocation.hpp"

#include <algorithm>
#include <cmath>

namespace tare::lab {

namespace {

constexpr double kLeastShare = 0.5;

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

int warm_up_batches(const std::vector<double>& times) {
  const std::size_t half = times.size() / 2;
  if (half < 3) return 0;
  const std::vector<double> later(times.begin() + static_cast<std::ptrdiff_t>(half), times.end());
  const double level = median(later);
  std::vector<double> deviations;
  for (const double t : later) deviations.push_back(std::fabs(t - level));
  const double spread = 3 * 1.4826 * median(deviations);
  for (std::size_t i = 0; i < half; ++i) {
    const auto steady = [&](double t) { return std::fabs(t - level) <= spread; };
    if (steady(times[i]) && steady(times[i + 1]) && steady(times[i + 2])) return static_cast<int>(i);
  }
  return static_cast<int>(half);
}

std::vector<bool> Allocation::next(const std::vector<double>& widths) {
  double widest = 0;
  for (const double width : widths) {
    if (std::isfinite(width)) widest = std::max(widest, width);
  }
  std::vector<bool> out;
  for (std::size_t i = 0; i < credit_.size(); ++i) {
    const double width = widths[i];
    const double ratio = std::isfinite(width) && widest > 0 ? width / widest : 1.0;
    credit_[i] += std::clamp(ratio * ratio, kLeastShare, 1.0);
    const bool takes_part = credit_[i] >= 1.0 - 1e-9;
    if (takes_part) credit_[i] -= 1.0;
    out.push_back(takes_part);
  }
  return out;
}

}  // namespace tare::lab
