#include "lab/stats/interval.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lab/design/random.hpp"
#include "lab/stats/distributions.hpp"

namespace tare::lab {

namespace {

// p[t] = P(T = t): the ranks 1 .. n are each in the sum with probability 1/2, independently.
std::vector<double> signed_rank_probabilities(int n) {
  std::vector<double> p(static_cast<std::size_t>(n) * static_cast<std::size_t>(n + 1) / 2 + 1, 0.0);
  p[0] = 1;
  std::size_t top = 0;
  for (std::size_t rank = 1; rank <= static_cast<std::size_t>(n); ++rank) {
    top += rank;
    for (std::size_t t = top + 1; t-- > 0;) p[t] = 0.5 * (p[t] + (t >= rank ? p[t - rank] : 0.0));
  }
  return p;
}

// p[u] = P(U = u) of the rank-sum statistic: of all orders of n + m values, in how many do u pairs stand the other way
// round. The number of those is the coefficient of q^u in the Gaussian binomial of n + m over n.
std::vector<double> rank_sum_probabilities(std::size_t n, std::size_t m) {
  std::vector<double> p(n * m + 1, 0.0);
  p[0] = 1;
  for (std::size_t i = 1; i <= n; ++i) {
    // Times (1 - q^(m + i)), divided by (1 - q^i); scaled by i / (m + i), so that the sum stays 1.
    for (std::size_t u = p.size(); u-- > m + i;) p[u] -= p[u - m - i];
    for (std::size_t u = i; u < p.size(); ++u) p[u] += p[u - i];
    const double scale = static_cast<double>(i) / static_cast<double>(m + i);
    for (double& x : p) x *= scale;
  }
  return p;
}

}  // namespace

double median_of(std::vector<double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

double signed_rank_cdf(int t, int n) {
  if (t < 0) return 0;
  const std::vector<double> p = signed_rank_probabilities(n);
  double sum = 0;
  for (std::size_t i = 0; i < p.size() && i <= static_cast<std::size_t>(t); ++i) sum += p[i];
  return std::min(sum, 1.0);
}

SignedRank::SignedRank(const std::vector<double>& values) : n_(static_cast<int>(values.size())) {
  walsh_.reserve(values.size() * (values.size() + 1) / 2);
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = i; j < values.size(); ++j) walsh_.push_back((values[i] + values[j]) / 2);
  }
  std::sort(walsh_.begin(), walsh_.end());
  value_ = median_of(walsh_);
  probabilities_ = signed_rank_probabilities(n_);
}

// The interval runs from the k-th smallest to the k-th largest Walsh average; it misses with
// probability 2 P(T <= k - 1). The largest k that keeps the level is taken.
Estimate SignedRank::at(double level) const {
  Estimate out{value_, value_, value_, 0, n_};
  if (n_ == 0) return out;
  const double miss = 1 - level;
  double below = 0;
  std::size_t k = 0;
  while (k < probabilities_.size() && 2 * (below + probabilities_[k]) <= miss) below += probabilities_[k++];
  if (k == 0) return out;  // too few values
  out.low = walsh_[k - 1];
  out.high = walsh_[walsh_.size() - k];
  out.coverage = 1 - 2 * below;
  return out;
}

Estimate signed_rank(const std::vector<double>& values, double level) { return SignedRank(values).at(level); }

Estimate hierarchical_bootstrap(const std::vector<std::vector<double>>& rounds_by_launch, std::uint64_t seed,
                                double level, int draws) {
  Estimate out;
  std::vector<double> medians;
  for (const auto& rounds : rounds_by_launch) medians.push_back(median_of(rounds));
  const auto mean = [](const std::vector<double>& values) {
    double sum = 0;
    for (const double x : values) sum += x;
    return sum / static_cast<double>(values.size());
  };
  out.n = static_cast<int>(medians.size());
  out.value = out.low = out.high = medians.empty() ? std::numeric_limits<double>::quiet_NaN() : mean(medians);
  if (medians.size() < 2) return out;
  Random random(seed, 0xb007);
  std::vector<double> means;
  for (int draw = 0; draw < draws; ++draw) {
    double sum = 0;
    for (std::size_t i = 0; i < medians.size(); ++i) {
      const auto& rounds = rounds_by_launch[random.below(medians.size())];
      std::vector<double> drawn(rounds.size());
      for (double& x : drawn) x = rounds[random.below(rounds.size())];
      sum += median_of(std::move(drawn));
    }
    means.push_back(sum / static_cast<double>(medians.size()));
  }
  std::sort(means.begin(), means.end());
  // Resampling n values makes their spread smaller by (n - 1)/n, and a mean of few has Student's tails: Hesterberg's
  // expanded percentile interval takes the percentiles that make up for both.
  const double n = static_cast<double>(medians.size());
  const double share = normal_cdf(std::sqrt(n / (n - 1)) * student_quantile((1 - level) / 2, n - 1));
  const auto tail = static_cast<std::size_t>(std::floor(share * draws));
  out.low = means[tail];
  out.high = means[means.size() - 1 - tail];
  out.coverage = level;
  return out;
}

Estimate rank_sum(const std::vector<double>& x, const std::vector<double>& y, double level) {
  Estimate out;
  out.n = static_cast<int>(x.size() + y.size());
  std::vector<double> differences;
  differences.reserve(x.size() * y.size());
  for (const double b : y) {
    for (const double a : x) differences.push_back(b - a);
  }
  std::sort(differences.begin(), differences.end());
  out.value = out.low = out.high = median_of(differences);
  if (differences.empty()) return out;
  const std::vector<double> p = rank_sum_probabilities(x.size(), y.size());
  const double miss = 1 - level;
  double below = 0;
  std::size_t k = 0;
  while (k < p.size() && 2 * (below + p[k]) <= miss) below += p[k++];
  if (k == 0) return out;
  out.low = differences[k - 1];
  out.high = differences[differences.size() - k];
  out.coverage = 1 - 2 * below;
  return out;
}

Estimate order_statistic(const std::vector<double>& values, double level) {
  Estimate out;
  out.n = static_cast<int>(values.size());
  out.value = median_of(values);
  out.low = out.high = out.value;
  int k = 0;
  while (2 * binomial_cdf(k, out.n, 0.5) <= 1 - level && 2 * k < out.n) ++k;
  if (k == 0) return out;
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  out.low = sorted[static_cast<std::size_t>(k - 1)];
  out.high = sorted[sorted.size() - static_cast<std::size_t>(k)];
  out.coverage = 1 - 2 * binomial_cdf(k - 1, out.n, 0.5);
  return out;
}

Estimate student(const std::vector<double>& values, double level) {
  Estimate out;
  out.n = static_cast<int>(values.size());
  const double n = static_cast<double>(values.size());
  for (const double x : values) out.value += x / n;
  out.low = out.high = out.value;
  if (values.size() < 2) return out;
  double squares = 0;
  for (const double x : values) squares += (x - out.value) * (x - out.value);
  const double error = std::sqrt(squares / (n - 1) / n);
  const double t = student_quantile((1 + level) / 2, n - 1);
  out.low = out.value - t * error;
  out.high = out.value + t * error;
  out.coverage = level;
  return out;
}

}  // namespace tare::lab
