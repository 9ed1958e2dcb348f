// Estimates of a location with an interval, from a handful of independent values.
//
// None assumes that the values are normal. `signed_rank` is what reports use; `median` and
// `mean` are there to check it by.
#pragma once

#include <cstdint>
#include <vector>

namespace tare::lab {

struct Estimate {
  double value = 0;
  double low = 0, high = 0;
  double coverage = 0;  // that the interval has under its assumption; 0: too few values for an interval
  int n = 0;
  bool has_interval() const { return coverage > 0; }
  double half_width() const { return (high - low) / 2; }
};

double median_of(std::vector<double> values);  // NaN of nothing

// Hodges and Lehmann's estimate, the median of all Walsh averages (x_i + x_j)/2, i <= j, with the
// interval that Wilcoxon's signed-rank test gives (Hollander, Wolfe, Chicken: Nonparametric
// Statistical Methods, 3.2 and 3.3). Assumes: independent, each symmetric about the same value.
// The coverage is exact and at least `level` for continuous values; needs six of them for 95 %.
Estimate signed_rank(const std::vector<double>& values, double level = 0.95);

// The same at several levels: what costs time, the averages in order, is made once.
class SignedRank {
 public:
  explicit SignedRank(const std::vector<double>& values);
  Estimate at(double level) const;

 private:
  int n_;
  double value_;
  std::vector<double> walsh_;          // in order
  std::vector<double> probabilities_;  // of the statistic's values
};

// The median with the interval between two order statistics (the sign test's). Assumes nothing but
// independence and one median. Coverage exact and at least `level`; wider than signed_rank.
Estimate order_statistic(const std::vector<double>& values, double level = 0.95);

// The interval of a bootstrap in two stages: launches are drawn with replacement, then of each drawn one its rounds;
// the statistic is the mean over the launches of their medians. Expanded percentiles, so that it holds for few launches
// too (Hesterberg, What Teachers Should Know About the Bootstrap, The American Statistician 69, 2015). The same seed
// gives the same interval. It assumes independent launches and rounds, and no symmetry; where the rounds' noise is
// greater than the launches' it is wider than need be, since that noise is in the launches' spread already (Davison and
// Hinkley, Bootstrap Methods, 3.8).
Estimate hierarchical_bootstrap(const std::vector<std::vector<double>>& rounds_by_launch, std::uint64_t seed,
                                double level = 0.95, int draws = 2000);

// How much the second sample lies above the first: the median of all differences y_j - x_i, with the interval of the
// rank-sum test of Wilcoxon, Mann and Whitney (Hollander, Wolfe, Chicken, 4.2 and 4.3; Moses' interval). Assumes:
// independent, of one shape. Exact coverage of at least `level` without ties; n is that of both together.
Estimate rank_sum(const std::vector<double>& x, const std::vector<double>& y, double level = 0.95);

// The mean with Student's interval: assumes normal values.
Estimate student(const std::vector<double>& values, double level = 0.95);

// P(T <= t) of Wilcoxon's signed-rank statistic with n values without ties, exactly.
double signed_rank_cdf(int t, int n);

}  // namespace tare::lab
