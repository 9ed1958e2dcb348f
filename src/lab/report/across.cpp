// The reports of several machines or kernels.
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "lab/report/report.hpp"

namespace tare::lab {

namespace {

std::string shift_text(const Estimate& e) {
  if (e.n == 0 || std::isnan(e.value)) return "not weighed there";
  std::string out = cat(fixed(to_percent(e.value), 1, true), " %");
  if (!e.has_interval()) return out;
  return cat(out, " (", fixed(to_percent(e.low), 1), " to ", fixed(to_percent(e.high), 1), ")");
}

}  // namespace

std::string text_report(const std::vector<Group>& groups) {
  if (groups.size() == 1) return text_report(groups[0].data, groups[0].analysis);
  std::string out;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    out += cat(i == 0 ? "" : "\n", "== ", i + 1, ": ", groups[i].name, "\n");
    out += text_report(groups[i].data, groups[i].analysis);
  }
  out += cat("\n== Time of an operation against 1 (", groups[0].name, "), with 95 % intervals.\n",
             "Not paired: each was measured at another time, or on another machine; all that differs between them is "
             "in it.\n");
  int workload = -1;
  for (const Across& one : compare_across(groups)) {
    if (one.workload != workload) {
      workload = one.workload;
      out += cat("\n", groups[0].data.experiment.workloads[static_cast<std::size_t>(workload)].name, "\n");
    }
    out += cat("  ", one.place, ":");
    for (std::size_t g = 0; g < one.shifts.size(); ++g)
      out += cat(g == 0 ? " " : "; ", g + 2, " ", shift_text(one.shifts[g]));
    out += "\n";
  }
  return out;
}

std::string json_report(const std::vector<Group>& groups) {
  using json = nlohmann::ordered_json;
  if (groups.size() == 1) return json_report(groups[0].data, groups[0].analysis);
  json all{{"report", "tare-weigh"}, {"schema", kSchema}};
  json reports = json::array(), across = json::array();
  for (const Group& one : groups) {
    json report = json::parse(json_report(one.data, one.analysis));
    report["name"] = one.name;
    reports.push_back(report);
  }
  for (const Across& one : compare_across(groups)) {
    json shifts = json::array();
    for (const Estimate& e : one.shifts) {
      json shift{{"percent", e.n > 0 && std::isfinite(e.value) ? json(to_percent(e.value)) : json(nullptr)}};
      if (e.has_interval()) {
        shift["low_percent"] = to_percent(e.low);
        shift["high_percent"] = to_percent(e.high);
      }
      shifts.push_back(shift);
    }
    across.push_back({{"workload", groups[0].data.experiment.workloads[static_cast<std::size_t>(one.workload)].name},
                      {"place", one.place},
                      {"against_the_first", shifts}});
  }
  all["reports"] = reports;
  all["across"] = across;
  return all.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace tare::lab
