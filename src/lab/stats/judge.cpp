// The verdicts: one family of cells, within which a wrong claim is made in at most 5 % of runs.
//
// Two kinds of claim, a difference and an equivalence; each has its own 5 %, shared out evenly over the cells
// (Bonferroni: Holm's procedure rejects a little more, but has no intervals to show for it). Equivalence is
// claimed by two one-sided tests (Schuirmann, J. Pharmacokinet. Biopharm. 15, 1987): the interval of level 1 - 2 alpha
// lies within the margin on both sides.
#include <algorithm>
#include <cmath>
#include <limits>

#include "lab/stats/analysis.hpp"
#include "lab/stats/grid.hpp"

namespace tare::lab {

namespace {

double outer(const Estimate& e) { return std::max(std::fabs(e.low), std::fabs(e.high)); }

// The widest bound of the A/A intervals; NaN until there is one.
void bound_by_the_control(Table& table) {
  table.aa_bound = kNone;
  for (const Cell& cell : table.cells) {
    if (!cell.control || !cell.log_ratio.has_interval()) continue;
    const double bound = outer(cell.log_ratio);
    table.aa_bound = std::isnan(table.aa_bound) ? bound : std::max(table.aa_bound, bound);
    if (cell.log_ratio.low > 0 || cell.log_ratio.high < 0) table.control_differs = true;
  }
}

double ratio_squared(double half, double wanted) {
  return wanted > 0 ? (half / wanted) * (half / wanted) : std::numeric_limits<double>::infinity();
}

// Widths shrink with the square root of the number of launches: until a claim of either kind would hold, if the
// estimate stays where it is. One launch at least.
double settled_in(const Dataset& data, const Cell& cell, double bound) {
  const double value = std::fabs(cell.family.value);
  const double times = std::min(ratio_squared(cell.family.half_width(), value > bound ? value : 0),
                                ratio_squared(cell.equivalence.half_width(), cell.margin - value));
  const double spent = static_cast<double>(data.samples.back().at_ns);
  return std::max(spent * (times - 1), spent / data.launches);
}

// Until there are as many launches as an interval at that level takes: 2 x 2^-n is at most alpha.
double interval_in(const Dataset& data, const Cell& cell, double alpha) {
  if (data.samples.empty() || data.launches == 0) return std::numeric_limits<double>::infinity();
  const double each = static_cast<double>(data.samples.back().at_ns) / data.launches;
  return each * std::max(1.0, std::ceil(1 - std::log2(alpha)) - cell.family.n);
}

void judge_cell(const Dataset& data, Cell& cell, double bound, double alpha) {
  const Estimate& e = cell.family;
  const double aa = cell.control ? 0 : bound;
  const double margin = data.experiment.margin > 0 ? data.experiment.margin : kDefaultMargin;
  cell.margin = std::isnan(aa) ? margin : std::max(margin, aa);
  if (!e.has_interval() || std::isnan(aa)) {
    cell.verdict = Verdict::no_interval;
    cell.settled_in_ns = interval_in(data, cell, alpha);
  } else if (e.low > 0 && e.value > aa) {
    cell.verdict = Verdict::costs;
  } else if (e.high < 0 && e.value < -aa) {
    cell.verdict = Verdict::saves;
  } else if (cell.equivalence.low > -cell.margin && cell.equivalence.high < cell.margin) {
    cell.verdict = Verdict::no_cost;
  } else {
    cell.verdict = Verdict::not_settled;
    cell.settled_in_ns = settled_in(data, cell, aa);
  }
}

}  // namespace

void judge(const Dataset& data, Analysis& analysis) {
  for (const Table& table : analysis.tables) {
    for (const Cell& cell : table.cells) analysis.family += cell.log_ratio.n > 0 && cell.verdict != Verdict::absent;
  }
  const double alpha = (1 - kLevel) / std::max(1, analysis.family);
  for (Table& table : analysis.tables) {
    for (Cell& cell : table.cells) {
      const SignedRank ranks(present(cell.launch_values));
      cell.family = ranks.at(1 - alpha);
      cell.equivalence = ranks.at(1 - 2 * alpha);
    }
    bound_by_the_control(table);
    for (Cell& cell : table.cells) {
      if (cell.verdict != Verdict::absent) judge_cell(data, cell, table.aa_bound, alpha);
    }
  }
}

}  // namespace tare::lab
