// The cells as comma-separated values (RFC 4180), for a spreadsheet or a program: figures, not words.
#include <cmath>

#include "base/text.hpp"
#include "lab/report/report.hpp"
#include "lab/report/words.hpp"

namespace tare::lab {

namespace {

std::string field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string figure(double value, int digits) { return std::isfinite(value) ? fixed(value, digits) : std::string(); }

std::string interval(const Estimate& e) {
  if (!e.has_interval()) return ",";
  return cat(figure(to_percent(e.low), 4), ",", figure(to_percent(e.high), 4));
}

std::string rows(const std::string& run, const Dataset& data, const Analysis& analysis) {
  std::string out;
  for (const Table& table : analysis.tables) {
    for (const Cell& cell : table.cells) {
      const Place& place = place_of(data, cell.place);
      const PerOperation& p = cell.per_operation;
      out += cat(field(run), ",", field(workload_of(data, table.workload).name), ",", field(place.name), ",",
                 field(place.against), ",", cell.control ? "yes" : "no", ",", word(cell.entry), ",", word(cell.verdict),
                 ",");
      out += cat(cell.log_ratio.n, ",", figure(table.reference_ns, 3), ",");
      out += cat(cell.log_ratio.n > 0 ? figure(cell.percent(), 4) : "", ",", interval(cell.family), ",",
                 interval(cell.log_ratio), ",", figure(to_percent(cell.margin), 4), ",", figure(p.cpu_ns, 3), ",",
                 figure(p.cgroup_cpu_ns, 3), ",", figure(p.faults, 4), ",", figure(p.switches, 4), ",",
                 figure(p.instructions, 1), "\r\n");
    }
  }
  return out;
}

}  // namespace

std::string csv_report(const std::vector<Group>& groups) {
  std::string out =
      "run,workload,place,against,control,enters,verdict,launches,bare_ns,percent,family_low,family_high,low,high,"
      "margin_percent,cpu_ns,cgroup_cpu_ns,faults,switches,instructions\r\n";
  for (const Group& one : groups) out += rows(one.name, one.data, one.analysis);
  return out;
}

}  // namespace tare::lab
