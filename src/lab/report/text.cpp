#include "base/text.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "lab/report/report.hpp"
#include "lab/report/words.hpp"
#include "lab/stats/bill.hpp"

namespace tare::lab {

namespace {

std::string heading(const Dataset& data, const Table& table) {
  const Workload& workload = workload_of(data, table.workload);
  std::string out = cat(workload.name, " (", command_text(workload), "): ");
  if (std::isnan(table.reference_ns)) return cat(out, "not weighed\n");
  return cat(out, duration(table.reference_ns), " each in bare\n");
}

// How often a second the work enters each layer, by each kind of evidence; which it does not enter; of which that is
// not known.
std::string evidence_text(const Dataset& data, int workload) {
  std::map<std::string, std::string> kinds;
  std::map<std::string, Entry> layers;
  for (const Evidence& e : data.evidence) {
    if (e.workload != workload) continue;
    layers[e.layer] = entered(data.evidence, workload, e.layer);
    if (e.rate <= 0) continue;
    std::string& text = kinds[e.kind];
    text += cat(text.empty() ? "" : ", ", e.layer, " ", e.rate < 10 ? fixed(e.rate, 1) : fixed(e.rate, 0));
  }
  std::string out, no, unknown;
  for (const auto& [kind, text] : kinds) out += cat("  enters, a second, by ", kind, ": ", text, "\n");
  for (const auto& [layer, entry] : layers) {
    if (entry == Entry::no) no += cat(no.empty() ? "" : ", ", layer);
    if (entry == Entry::unknown) unknown += cat(unknown.empty() ? "" : ", ", layer);
  }
  if (!no.empty()) out += cat("  looked for and never entered: ", no, "\n");
  if (!unknown.empty()) out += cat("  not known whether it enters: ", unknown, "\n");
  return out;
}

std::string remarks(const Dataset& data, const Table& table) {
  std::string out = evidence_text(data, table.workload);
  if (const std::string line = sparkline(table.reference_series); !line.empty())
    out += cat("  bare over the run: ", line, "\n");
  const double margin = stated_margin(data.experiment);
  if (table.aa_bound > margin) {
    out += cat("  the margin here is ", percent(table.aa_bound), " %, which is what A/A shows, and not the ",
               percent(margin), " % stated\n");
  }
  if (table.control_differs) {
    out += "  ! the A/A interval leaves out zero: in one run of twenty it does; if it does again, something is wrong\n";
  }
  if (std::fabs(table.drift) > 0.05) {
    out += cat("  ! bare drifted by ", percent(table.drift, true), " % from the first third to the last\n");
  }
  return out;
}

std::string amount(const Bill& bill, const Estimate& e) {
  const auto one = [](double ns) { return cat(ns < 0 ? "-" : "+", duration(std::fabs(ns))); };
  std::string out =
      cat(padded(one(e.value), 10), " ", padded(cat(fixed(100 * e.value / bill.bare_ns, 1, true), " %"), 9));
  if (!e.has_interval()) return out;
  return cat(out, " (", one(e.low), " to ", one(e.high), ")");
}

std::string bill_text(const Dataset& data, const Bill& bill, std::size_t width) {
  const Workload& workload = workload_of(data, bill.workload);
  std::string out =
      cat("\nThe bill of ", workload.name, ", for each ", workload.unit, " of ", duration(bill.bare_ns), " in bare\n");
  for (const BillItem& item : bill.items) {
    const Place& place = place_of(data, item.place);
    out += cat("  ", padded(place.name, width), "  ", amount(bill, item.ns));
    out += place.against.empty() ? "\n" : cat(", on top of ", place.against, "\n");
  }
  for (const int place : bill.missing) out += cat("  ", padded(place_of(data, place).name, width), "  not weighed\n");
  out += cat("  ", padded("sum", width), "  ", amount(bill, bill.sum), "\n");
  out += cat("  ", padded("container", width), "  ", amount(bill, bill.whole), "\n");
  return out + cat("  ", padded("unexplained", width), "  ", amount(bill, bill.unexplained), "\n");
}

std::string slopes_text(const Dataset& data, const Analysis& analysis) {
  std::string out;
  for (const Slope& slope : analysis.slopes) {
    const Estimate& e = slope.per_unit;
    out += cat("  ", workload_of(data, slope.workload).name, " by ", slope.axis, ": ",
               fixed(to_percent(e.value), 2, true), " % for one more");
    out +=
        e.has_interval() ? cat(" (", fixed(to_percent(e.low), 2), " to ", fixed(to_percent(e.high), 2), ")\n") : "\n";
  }
  return out.empty() ? out : cat("\nLines through the places of an axis\n", out);
}

std::string overall_text(const Dataset& data, const Analysis& analysis, std::size_t width) {
  if (analysis.common_workloads.size() < 2) return {};
  std::string out = "\nGeometric mean of the ratios over the workloads that every place could do:";
  for (const int w : analysis.common_workloads) out += cat(" ", workload_of(data, w).name);
  out += "; with 95 % intervals, each by itself\n";
  for (std::size_t i = 0; i < analysis.overall.size(); ++i) {
    const Estimate& e = analysis.overall[i];
    if (e.n == 0) continue;
    out += cat("  ", padded(data.experiment.places[i].name, width), "  ", percent(e.value, true), " %");
    out += e.has_interval() ? cat(" (", percent(e.low), " to ", percent(e.high), ")\n") : "\n";
  }
  return out;
}

std::string outliers_text(const Dataset& data, const Analysis& analysis) {
  if (analysis.outliers.empty()) return {};
  std::string out =
      cat("\n", analysis.outliers.size(),
          " batches lie further than five robust standard deviations from their cell's median; kept. The furthest:\n");
  for (std::size_t i = 0; i < std::min<std::size_t>(5, analysis.outliers.size()); ++i) {
    const Outlier& o = analysis.outliers[i];
    out += cat("  ", workload_of(data, o.workload).name, " in ", place_of(data, o.place).name, ", launch ", o.launch,
               ", round ", o.round, ": ", percent(o.log_ratio, true), " %\n");
  }
  return out;
}

// What a doubter asks first.
std::string method_text(const Dataset& data, const Analysis& analysis) {
  const Experiment& e = data.experiment;
  return cat(
      "\nVaried: what the place's name says, and nothing else. Held: program, launch, cgroup depth and weight, CPU, "
      "environment, descriptors, limits.\n",
      "Repeated: ", analysis.launches, " launches, in each of which all places start afresh in a random order; ",
      e.rounds, " rounds a launch, of batches of ", duration(static_cast<double>(e.batch_ns)), " or longer.\n",
      meanwhile_text(data), "Sure: intervals over launches by signed ranks, which assume no normality; claims about ",
      analysis.family, " cells together are wrong in at most 5 % of runs.\n",
      "What else it could be: what A/A shows, drift, and outliers stand above; other kernels, machines and loads are "
      "not "
      "in it. docs/METHOD.md\n");
}

}  // namespace

std::string text_report(const Dataset& data, const Analysis& analysis) {
  std::size_t width = std::string_view("unexplained").size();
  for (const Place& place : data.experiment.places) width = std::max(width, place.name.size());
  std::string out = head(data);
  out += cat("Time of an operation against bare. The first interval holds for all ", analysis.family,
             " cells together with 95 %, the second for its cell alone. Where a cell reads \"no cost\" the first is "
             "that of the "
             "two one-sided tests.\n");
  if (data.experiment.bill) {
    for (const Bill& bill : make_bills(data)) out += bill_text(data, bill, width);
  }
  for (const Table& table : analysis.tables) {
    out += cat("\n", heading(data, table));
    for (const Cell& cell : table.cells) {
      out += cat("  ", padded(place_of(data, cell.place).name, width), "  ", words(data, cell), "\n");
    }
    out += remarks(data, table);
  }
  out += slopes_text(data, analysis);
  out += overall_text(data, analysis, width);
  out += outliers_text(data, analysis);
  out += method_text(data, analysis);
  for (const std::string& warning : data.warnings) out += cat("! ", warning, "\n");
  return out;
}

}  // namespace tare::lab
