#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "lab/report/report.hpp"
#include "lab/report/words.hpp"
#include "lab/stats/bill.hpp"

namespace tare::lab {

using json = nlohmann::ordered_json;

namespace {

json number(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }

json estimate(const Estimate& e) {
  json out;
  out["percent"] = number(to_percent(e.value));
  if (e.has_interval()) {
    out["low_percent"] = number(to_percent(e.low));
    out["high_percent"] = number(to_percent(e.high));
    out["coverage"] = e.coverage;
  }
  out["log_ratio"] = number(e.value);
  out["launches"] = e.n;
  return out;
}

json per_operation(const PerOperation& p) {
  return {{"cpu_ns", number(p.cpu_ns)},
          {"cgroup_cpu_ns", number(p.cgroup_cpu_ns)},
          {"faults", number(p.faults)},
          {"context_switches", number(p.switches)},
          {"instructions", number(p.instructions)},
          {"cycles", number(p.cycles)},
          {"peak_bytes", number(p.peak_bytes)}};
}

json amount(const Estimate& e) {
  json out{{"ns", number(e.value)}};
  if (e.has_interval()) {
    out["low_ns"] = number(e.low);
    out["high_ns"] = number(e.high);
  }
  return out;
}

json bill_of(const Dataset& data, const Bill& bill) {
  json items = json::array(), missing = json::array();
  for (const BillItem& item : bill.items) {
    json one = amount(item.ns);
    one["place"] = place_of(data, item.place).name;
    one["against"] = place_of(data, item.place).against;
    items.push_back(one);
  }
  for (const int place : bill.missing) missing.push_back(place_of(data, place).name);
  return {{"workload", workload_of(data, bill.workload).name},
          {"bare_ns", number(bill.bare_ns)},
          {"items", items},
          {"missing", missing},
          {"sum", amount(bill.sum)},
          {"container", amount(bill.whole)},
          {"unexplained", amount(bill.unexplained)}};
}

json evidence_of(const Dataset& data) {
  json out = json::array();
  for (const Evidence& e : data.evidence) {
    out.push_back({{"workload", workload_of(data, e.workload).name},
                   {"layer", e.layer},
                   {"kind", e.kind},
                   {"rate", number(e.rate)},
                   {"conclusive", e.conclusive},
                   {"enters", word(entered(data.evidence, e.workload, e.layer))}});
  }
  return out;
}

json cell_of(const Dataset& data, const Cell& cell) {
  const Place& place = data.experiment.places[static_cast<std::size_t>(cell.place)];
  json out;
  out["place"] = place.name;
  out["control"] = cell.control;
  out["verdict"] = word(cell.verdict);
  out["margin_percent"] = number(to_percent(cell.margin));
  if (cell.verdict == Verdict::not_settled || cell.verdict == Verdict::no_interval)
    out["settled_in_seconds"] = number(cell.settled_in_ns / 1e9);
  out["enters"] = word(cell.entry);
  if (!cell.reason.empty()) out["reason"] = cell.reason;
  out["time"] = estimate(cell.log_ratio);
  out["time_family_wise"] = estimate(cell.family);
  out["time_equivalence"] = estimate(cell.equivalence);
  out["time_by_bootstrap"] = estimate(bootstrap(data, cell));
  out["time_by_order_statistics"] = estimate(cell.median_check);
  out["per_operation"] = per_operation(cell.per_operation);
  out["cpu_percent"] = number(to_percent(cell.cpu_log_ratio));
  if (place.delay != 0) out["injected_percent"] = static_cast<double>(place.delay) / 100;
  json values = json::array();
  for (const double value : cell.launch_values) values.push_back(number(value));
  out["launch_log_ratios"] = values;
  return out;
}

}  // namespace

std::string json_report(const Dataset& data, const Analysis& analysis) {
  json out;
  out["report"] = "tare-weigh";
  out["schema"] = kSchema;
  out["version"] = data.version;
  nlohmann::json experiment;
  to_json(experiment, data.experiment);
  out["experiment"] = experiment;
  out["machine"] = nlohmann::json::parse(data.machine);
  if (!data.conditions.empty()) {
    const Meanwhile m = meanwhile(data);
    out["conditions"] = {{"load", {m.load_low, m.load_high}},
                         {"processes", {m.processes_low, m.processes_high}},
                         {"cpu_pressure_percent", number(100 * m.cpu_pressure)},
                         {"memory_pressure_percent", number(100 * m.memory_pressure)},
                         {"io_pressure_percent", number(100 * m.io_pressure)},
                         {"stolen_percent", number(100 * m.stolen)},
                         {"grace_period_ns", m.grace_ns < 0 ? json() : number(m.grace_ns)}};
  }
  json speculation = json::array();
  for (const Speculation& s : data.speculation) {
    speculation.push_back({{"place", data.experiment.places[static_cast<std::size_t>(s.place)].name},
                           {"store_bypass", s.store_bypass},
                           {"indirect_branch", s.indirect_branch}});
  }
  out["speculation"] = speculation;
  out["launches"] = analysis.launches;
  out["cells_in_the_family"] = analysis.family;
  out["ended"] = data.ended;
  out["warnings"] = data.warnings;
  json tables = json::array();
  for (const Table& table : analysis.tables) {
    json one;
    one["workload"] = data.experiment.workloads[static_cast<std::size_t>(table.workload)].name;
    one["bare_ns"] = number(table.reference_ns);
    one["aa_bound_percent"] = number(to_percent(table.aa_bound));
    one["aa_differs"] = table.control_differs;
    one["drift_percent"] = number(to_percent(table.drift));
    json series = json::array();
    for (const double value : table.reference_series) series.push_back(number(std::exp(value)));
    one["bare_ns_by_launch"] = series;
    json cells = json::array();
    for (const Cell& cell : table.cells) cells.push_back(cell_of(data, cell));
    one["cells"] = cells;
    tables.push_back(one);
  }
  out["tables"] = tables;
  json bills = json::array(), slopes = json::array(), outliers = json::array(), overall = json::array();
  for (const Bill& bill : make_bills(data)) bills.push_back(bill_of(data, bill));
  for (const Slope& slope : analysis.slopes) {
    json one = estimate(slope.per_unit);
    one["axis"] = slope.axis;
    one["workload"] = data.experiment.workloads[static_cast<std::size_t>(slope.workload)].name;
    one["points"] = slope.points;
    slopes.push_back(one);
  }
  for (const Outlier& o : analysis.outliers) {
    outliers.push_back({{"place", data.experiment.places[static_cast<std::size_t>(o.place)].name},
                        {"workload", data.experiment.workloads[static_cast<std::size_t>(o.workload)].name},
                        {"launch", o.launch},
                        {"round", o.round},
                        {"percent", number(to_percent(o.log_ratio))}});
  }
  for (std::size_t i = 0; i < analysis.overall.size(); ++i) {
    if (analysis.overall[i].n == 0) continue;
    json one = estimate(analysis.overall[i]);
    one["place"] = data.experiment.places[i].name;
    overall.push_back(one);
  }
  out["evidence"] = evidence_of(data);
  out["bills"] = bills;
  out["slopes"] = slopes;
  out["geometric_means"] = overall;
  out["outliers"] = outliers;
  return out.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace tare::lab
