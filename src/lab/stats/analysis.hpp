// Dataset -> what each place costs each workload. Pure.
//
// For each launch, round and workload, the time of an operation in a place is divided by that of the
// reference in the same round, and the logarithm taken; a launch's value is the median of these over
// its rounds; the launches' values, which are independent of each other, give the estimate
// and its interval (interval.hpp). docs/METHOD.md says why.
#pragma once

#include <string>
#include <vector>

#include "lab/model/model.hpp"
#include "lab/stats/entered.hpp"
#include "lab/stats/interval.hpp"

namespace tare::lab {

inline constexpr double kLevel = 0.95;            // of each interval by itself, and of all claims together
inline constexpr double kDefaultMargin = 0.0198;  // log units: 2 %

enum class Verdict {
  costs,        // slower: the family-wise interval lies above zero, and the estimate beyond what A/A shows
  saves,        // faster, likewise
  no_cost,      // shown to differ by less than the margin, by two one-sided tests
  not_settled,  // neither
  no_interval,  // too few launches for a claim
  absent,       // the place or the workload in it couldn't run
};

// Of the secondary quantities: what an operation takes, in the place; NaN where unknown.
struct PerOperation {
  double cpu_ns = 0, cgroup_cpu_ns = 0, faults = 0, switches = 0, instructions = 0, cycles = 0;
  double peak_bytes = 0;  // of the place's cgroup, at the end
};

struct Cell {
  int place = 0;
  int workload = 0;
  bool control = false;               // bare against bare
  Estimate log_ratio;                 // of time, natural logarithm; the interval by itself
  Estimate family;                    // the same with the interval that all cells together keep
  Estimate equivalence;               // that of the two one-sided tests, family-wise
  Estimate median_check;              // by order statistics of the launches
  std::vector<double> launch_values;  // by launch; NaN where a launch has none
  double margin = 0;                  // log units: what counts as no cost here
  double settled_in_ns = 0;  // not_settled, no_interval: how much longer it would take; infinite: not to be had
  double cpu_log_ratio = 0;  // of CPU time, median of the launches; NaN where unknown
  PerOperation per_operation;
  Entry entry = Entry::unknown;  // whether the work enters what the place adds
  Verdict verdict = Verdict::no_interval;
  std::string reason;      // of absent
  double percent() const;  // of the estimate
  double percent_low() const;
  double percent_high() const;
};

struct Table {
  int workload = 0;
  double reference_ns = 0;  // median time of an operation in the reference
  double aa_bound = 0;  // log units: the outer end of the A/A interval; nothing smaller is claimed. NaN: no interval
  double drift = 0;     // log units over the run: the reference's last third against its first
  bool control_differs = false;          // the A/A interval excludes zero
  std::vector<double> reference_series;  // log ns of an operation in the reference, by launch
  std::vector<Cell> cells;               // the control first, then the others as in the experiment
};

// Cost against depth or count.
struct Slope {
  std::string axis;
  int workload = 0;
  int points = 0;
  Estimate per_unit;  // log units for one more; each launch's line by least squares, then signed ranks over launches
};

struct Outlier {
  int launch = 0, round = 0, place = 0, workload = 0;
  double log_ratio = 0;  // against the median of its cell
};

struct Analysis {
  std::vector<Table> tables;  // by workload
  std::vector<Slope> slopes;
  std::vector<Outlier> outliers;  // kept in all figures; the furthest first
  int launches = 0;
  int family = 0;  // cells that are claimed about together
  // By place: the geometric mean of the ratios over the workloads that every place did which did any, log units; from
  // the launches that had them all. n is 0 where there is none.
  std::vector<Estimate> overall;
  std::vector<int> common_workloads;
};

Analysis analyse(const Dataset& data);

// The hierarchical bootstrap of a cell; apart, since it takes long.
Estimate bootstrap(const Dataset& data, const Cell& cell);

// The cells whose family-wise interval lies above the limit (log units).
std::vector<Cell> above(const Analysis& analysis, double limit);

// Half-widths by workload, the widest of its cells; NaN without an interval, 0 where no place can do it. What a run
// decides by.
std::vector<double> half_widths(const Dataset& data);

// The rule of --precision: from launch kFirstLook on, all widths are at most that. It sees no estimate, so that
// stopping by it leaves the error rate as it is.
bool precise_enough(const std::vector<double>& widths, int launches, double precision);

double to_percent(double log_ratio);

}  // namespace tare::lab
