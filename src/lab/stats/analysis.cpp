#include "lab/stats/analysis.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "lab/design/schedule.hpp"
#include "lab/stats/grid.hpp"

namespace tare::lab {

namespace {

// The reference's median over the last third of the launches against the first third.
double drift_of(const std::vector<double>& series) {
  const std::vector<double> all = present(series);
  if (all.size() < 6) return 0;
  const auto third = static_cast<std::ptrdiff_t>(all.size() / 3);
  return median_of({all.end() - third, all.end()}) - median_of({all.begin(), all.begin() + third});
}

PerOperation per_operation(const Dataset& data, int workload, int place) {
  PerOperation sum{0, 0, 0, 0, 0, 0, 0};
  double count = 0;
  const auto add = [&](double& to, std::int64_t value) { to += value < 0 ? kNone : static_cast<double>(value); };
  for (const Sample& s : data.samples) {
    if (s.workload != workload || s.place != place || s.launch >= data.launches) continue;
    count += static_cast<double>(s.count);
    add(sum.cpu_ns, s.cpu_ns);
    add(sum.cgroup_cpu_ns, s.cgroup_cpu_ns);
    add(sum.faults, s.faults);
    add(sum.switches, s.voluntary + s.involuntary);
    add(sum.instructions, s.instructions);
    add(sum.cycles, s.cycles);
    sum.peak_bytes = std::max(sum.peak_bytes, static_cast<double>(s.peak_bytes));
  }
  for (double* value : {&sum.cpu_ns, &sum.cgroup_cpu_ns, &sum.faults, &sum.switches, &sum.instructions, &sum.cycles}) {
    *value = count > 0 ? *value / count : kNone;
  }
  if (sum.peak_bytes <= 0) sum.peak_bytes = kNone;
  return sum;
}

Table table_of(const Dataset& data, int workload) {
  Table table;
  table.workload = workload;
  const Grid wall(data, workload, false), cpu(data, workload, true);
  const std::vector<int> references = places_with(data.experiment, Role::reference);
  std::vector<double> bare;
  for (int launch = 0; launch < data.launches; ++launch) {
    std::vector<double> rounds;
    for (int round = 0; round < data.experiment.rounds; ++round) {
      const double value = reference_value(wall, references, launch, round);
      if (!std::isnan(value)) rounds.push_back(value);
    }
    bare.insert(bare.end(), rounds.begin(), rounds.end());
    table.reference_series.push_back(median_of(std::move(rounds)));
  }
  table.reference_ns = std::exp(median_of(std::move(bare)));
  table.drift = drift_of(table.reference_series);

  std::vector<int> order = places_with(data.experiment, Role::control);
  for (const int place : places_with(data.experiment, Role::subject)) order.push_back(place);
  for (const int place : order) {
    const Place& p = data.experiment.places[static_cast<std::size_t>(place)];
    Cell cell;
    cell.place = place;
    cell.workload = workload;
    cell.control = p.role == Role::control;
    if (const Absence* absence = absence_of(data, place, workload)) {
      cell.verdict = Verdict::absent;
      cell.reason = absence->reason;
    }
    const std::vector<int> by = divisors(data.experiment, place);
    cell.launch_values = launch_values(wall, by, place);
    cell.log_ratio = signed_rank(present(cell.launch_values));
    cell.median_check = order_statistic(present(cell.launch_values));
    cell.cpu_log_ratio = median_of(present(launch_values(cpu, by, place)));
    cell.per_operation = per_operation(data, workload, place);
    if (const auto layer = layer_of(p); !layer.empty()) cell.entry = entered(data.evidence, workload, layer);
    table.cells.push_back(std::move(cell));
  }
  return table;
}

// Least squares through the places of an axis, in one launch; NaN where a point is missing.
double line_slope(const std::vector<double>& x, const std::vector<double>& y) {
  const double n = static_cast<double>(x.size());
  double mx = 0, my = 0, xx = 0, xy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    mx += x[i] / n;
    my += y[i] / n;
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mx) * (x[i] - mx);
    xy += (x[i] - mx) * (y[i] - my);
  }
  return xy / xx;
}

void fit_slopes(const Dataset& data, Analysis& out) {
  std::set<std::string> axes;
  for (const Place& place : data.experiment.places) {
    if (!place.axis.empty()) axes.insert(place.axis);
  }
  for (const std::string& axis : axes) {
    for (const Table& table : out.tables) {
      std::vector<const Cell*> points;
      std::set<std::int64_t> amounts;
      for (const Cell& cell : table.cells) {
        const Place& place = data.experiment.places[static_cast<std::size_t>(cell.place)];
        if (place.axis != axis || cell.verdict == Verdict::absent) continue;
        points.push_back(&cell);
        amounts.insert(place.amount);
      }
      if (amounts.size() < 2) continue;
      std::vector<double> slopes;
      for (std::size_t launch = 0; launch < static_cast<std::size_t>(data.launches); ++launch) {
        std::vector<double> x, y;
        for (const Cell* cell : points) {
          x.push_back(static_cast<double>(data.experiment.places[static_cast<std::size_t>(cell->place)].amount));
          y.push_back(cell->launch_values[launch]);
        }
        slopes.push_back(line_slope(x, y));
      }
      out.slopes.push_back({axis, table.workload, static_cast<int>(points.size()), signed_rank(present(slopes))});
    }
  }
}

// Batches further from their cell's median than five robust standard deviations.
void name_outliers(const Dataset& data, Analysis& out) {
  for (const Table& table : out.tables) {
    const Grid grid(data, table.workload, false);
    for (const Cell& cell : table.cells) {
      const std::vector<int> by = divisors(data.experiment, cell.place);
      std::vector<Outlier> all;
      std::vector<double> values, distances;
      for (int launch = 0; launch < data.launches; ++launch) {
        for (int round = 0; round < data.experiment.rounds; ++round) {
          const double d = grid.value(cell.place, launch, round) - reference_value(grid, by, launch, round);
          if (std::isnan(d)) continue;
          all.push_back({launch, round, cell.place, table.workload, d});
          values.push_back(d);
        }
      }
      const double middle = median_of(values);
      for (const double d : values) distances.push_back(std::fabs(d - middle));
      const double limit = 5 * 1.4826 * median_of(distances);
      for (Outlier& o : all) {
        o.log_ratio -= middle;
        if (std::fabs(o.log_ratio) > limit) out.outliers.push_back(o);
      }
    }
  }
  std::stable_sort(out.outliers.begin(), out.outliers.end(),
                   [](const Outlier& a, const Outlier& b) { return std::fabs(a.log_ratio) > std::fabs(b.log_ratio); });
}

// Over the workloads that every place did which does anything at all: a mean over sets that differ says nothing.
void average(const Dataset& data, Analysis& out) {
  out.overall.assign(data.experiment.places.size(), Estimate{});
  const auto measured = [](const Cell& c) { return c.verdict != Verdict::absent && c.log_ratio.n > 0; };
  std::set<int> places;
  for (const Table& table : out.tables) {
    for (const Cell& cell : table.cells) {
      if (measured(cell)) places.insert(cell.place);
    }
  }
  for (const Table& table : out.tables) {
    const auto n = std::count_if(table.cells.begin(), table.cells.end(), measured);
    if (n > 0 && static_cast<std::size_t>(n) == places.size()) out.common_workloads.push_back(table.workload);
  }
  if (out.common_workloads.empty()) return;
  const double each = 1 / static_cast<double>(out.common_workloads.size());
  for (const int place : places) {
    // By launch; one that left a workload out gives NaN, and counts for none.
    std::vector<double> means(static_cast<std::size_t>(data.launches), 0.0);
    for (const int workload : out.common_workloads) {
      for (const Cell& cell : out.tables[static_cast<std::size_t>(workload)].cells) {
        if (cell.place != place) continue;
        for (std::size_t i = 0; i < means.size(); ++i) means[i] += each * cell.launch_values[i];
      }
    }
    out.overall[static_cast<std::size_t>(place)] = signed_rank(present(means));
  }
}

}  // namespace

bool precise_enough(const std::vector<double>& widths, int launches, double precision) {
  if (precision <= 0 || launches < kFirstLook) return false;
  return std::all_of(widths.begin(), widths.end(), [&](double w) { return w <= precision; });  // NaN is not
}

double to_percent(double log_ratio) { return 100 * std::expm1(log_ratio); }
double Cell::percent() const { return to_percent(log_ratio.value); }
double Cell::percent_low() const { return to_percent(log_ratio.low); }
double Cell::percent_high() const { return to_percent(log_ratio.high); }

Analysis analyse(const Dataset& data) {
  Analysis out;
  out.launches = data.launches;
  for (std::size_t i = 0; i < data.experiment.workloads.size(); ++i) {
    out.tables.push_back(table_of(data, static_cast<int>(i)));
  }
  judge(data, out);
  fit_slopes(data, out);
  name_outliers(data, out);
  average(data, out);
  return out;
}

Estimate bootstrap(const Dataset& data, const Cell& cell) {
  const Grid grid(data, cell.workload, false);
  const std::vector<int> by = divisors(data.experiment, cell.place);
  std::vector<std::vector<double>> rounds;
  for (int launch = 0; launch < data.launches; ++launch) {
    std::vector<double> values = round_values(grid, by, cell.place, launch);
    if (!values.empty()) rounds.push_back(std::move(values));
  }
  const auto stream = static_cast<std::uint64_t>(cell.place) * 1000 + static_cast<std::uint64_t>(cell.workload);
  return hierarchical_bootstrap(rounds, data.experiment.seed + stream);
}

std::vector<Cell> above(const Analysis& analysis, double limit) {
  std::vector<Cell> out;
  for (const Table& table : analysis.tables) {
    std::copy_if(table.cells.begin(), table.cells.end(), std::back_inserter(out), [&](const Cell& cell) {
      return !cell.control && cell.verdict != Verdict::absent && cell.family.has_interval() && cell.family.low > limit;
    });
  }
  return out;
}

std::vector<double> half_widths(const Dataset& data) {
  std::vector<double> out;
  for (std::size_t w = 0; w < data.experiment.workloads.size(); ++w) {
    const int workload = static_cast<int>(w);
    const Grid grid(data, workload, false);
    double widest = kNone;
    bool done = false;  // by any place: what none can do needs no width
    for (std::size_t i = 0; i < data.experiment.places.size(); ++i) {
      const int place = static_cast<int>(i);
      if (data.experiment.places[i].role == Role::reference || absence_of(data, place, workload) != nullptr) continue;
      done = true;
      const Estimate e = signed_rank(present(launch_values(grid, divisors(data.experiment, place), place)));
      if (e.has_interval()) widest = std::isnan(widest) ? e.half_width() : std::max(widest, e.half_width());
    }
    out.push_back(done ? widest : 0);
  }
  return out;
}

}  // namespace tare::lab
