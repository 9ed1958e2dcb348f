// The tables in Markdown, as an issue or a commit message takes them.
#include <cmath>

#include "base/text.hpp"
#include "lab/report/report.hpp"
#include "lab/report/words.hpp"
#include "lab/stats/bill.hpp"

namespace tare::lab {

namespace {

// Names come from a file: none may end a cell or begin a tag.
std::string safe(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n' || c == '\r') {
      out += ' ';
      continue;
    }
    if (std::string_view("\\`*_[]<>|#").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string_view trimmed(std::string_view line) { return line.substr(0, line.find_last_not_of('\n') + 1); }

std::string bill(const Dataset& data, const Bill& bill) {
  const auto amount = [&](const Estimate& e) {
    std::string out = cat(fixed(e.value, 1, true), " | ", fixed(100 * e.value / bill.bare_ns, 1, true), " | ");
    return e.has_interval() ? cat(out, fixed(e.low, 1), " to ", fixed(e.high, 1), " |\n") : cat(out, " |\n");
  };
  std::string out = cat("\n### The bill of ", safe(workload_of(data, bill.workload).name), "\n\n",
                        "| item | ns an operation | % of bare | 95 % interval, ns |\n|---|---|---|---|\n");
  for (const BillItem& item : bill.items) {
    out += cat("| ", safe(place_of(data, item.place).name), " | ", amount(item.ns));
  }
  for (const int place : bill.missing) out += cat("| ", safe(place_of(data, place).name), " | not weighed | | |\n");
  out += cat("| sum | ", amount(bill.sum), "| container | ", amount(bill.whole));
  return out + cat("| unexplained | ", amount(bill.unexplained));
}

std::string one_report(const Dataset& data, const Analysis& analysis) {
  std::string out =
      cat(safe(trimmed(head(data))), "\n\n", "Time of an operation against bare. The first interval holds for all ",
          analysis.family, " cells together with 95 %, the second for its cell alone.\n");
  if (data.experiment.bill) {
    for (const Bill& one : make_bills(data)) out += bill(data, one);
  }
  for (const Table& table : analysis.tables) {
    const Workload& workload = workload_of(data, table.workload);
    out += cat("\n### ", safe(workload.name), " (", safe(command_text(workload)), ")");
    out += std::isnan(table.reference_ns) ? "\n" : cat(": ", duration(table.reference_ns), " each in bare\n");
    out += "\n| place | what it costs | launches |\n|---|---|---|\n";
    for (const Cell& cell : table.cells) {
      out += cat("| ", safe(place_of(data, cell.place).name), " | ", safe(words(data, cell)), " | ", cell.log_ratio.n,
                 " |\n");
    }
    if (table.control_differs) out += "\nThe A/A interval leaves out zero: in one run of twenty it does.\n";
  }
  const std::string machine = meanwhile_text(data);
  if (!machine.empty()) out += cat("\n", safe(machine), "\n");
  for (const std::string& warning : data.warnings) out += cat("\n**", safe(warning), "**\n");
  return out;
}

}  // namespace

std::string markdown_report(const std::vector<Group>& groups) {
  std::string out;
  for (const Group& one : groups) out += cat("## ", safe(one.name), "\n\n", one_report(one.data, one.analysis), "\n");
  if (groups.size() < 2) return out;
  out += cat("## Across, against ", safe(groups[0].name), "\n\nNot paired: all that differs between the machines or ",
             "kernels is in it.\n\n| workload | place |");
  std::string rule = "\n|---|---|";
  for (std::size_t g = 1; g < groups.size(); ++g) {
    out += cat(" ", safe(groups[g].name), " |");
    rule += "---|";
  }
  out += rule + "\n";
  for (const Across& one : compare_across(groups)) {
    out += cat("| ", safe(workload_of(groups[0].data, one.workload).name), " | ", safe(one.place), " |");
    for (const Estimate& e : one.shifts) {
      if (e.n == 0 || std::isnan(e.value)) {
        out += " not weighed there |";
        continue;
      }
      out += cat(" ", percent(e.value, true), " %");
      out += e.has_interval() ? cat(" (", percent(e.low), " to ", percent(e.high), ") |") : std::string(" |");
    }
    out += "\n";
  }
  return out;
}

}  // namespace tare::lab
