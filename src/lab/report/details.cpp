// The secondary figures as text: what an operation takes besides time.
#include <cmath>

#include "base/text.hpp"
#include "lab/report/report.hpp"
#include "lab/report/words.hpp"

namespace tare::lab {

namespace {

struct Column {
  const char* name;
  double PerOperation::* value;
  bool time;
};
constexpr Column kColumns[] = {{"CPU", &PerOperation::cpu_ns, true},
                               {"CPU of the cgroup", &PerOperation::cgroup_cpu_ns, true},
                               {"page faults", &PerOperation::faults, false},
                               {"switches", &PerOperation::switches, false},
                               {"instructions", &PerOperation::instructions, false},
                               {"cycles", &PerOperation::cycles, false}};

std::string figure(double value, bool time) {
  if (std::isnan(value)) return "?";
  return time ? duration(value) : fixed(value, value < 10 ? 3 : value < 1000 ? 1 : 0);
}

}  // namespace

std::string details_text(const Dataset& data, const Analysis& analysis) {
  std::size_t width = 0;
  for (const Place& place : data.experiment.places) width = std::max(width, place.name.size());
  std::string out = "\nWhat an operation takes besides time; ? is not known.\n";
  for (const Table& table : analysis.tables) {
    out += cat("\n", workload_of(data, table.workload).name, "\n  ", padded("", width));
    for (const Column& column : kColumns) out += cat("  ", padded(column.name, 17));
    out += "  peak memory\n";
    for (const Cell& cell : table.cells) {
      if (cell.verdict == Verdict::absent) continue;
      out += cat("  ", padded(place_of(data, cell.place).name, width));
      for (const Column& column : kColumns) {
        out += cat("  ", padded(figure(cell.per_operation.*column.value, column.time), 17));
      }
      const double peak = cell.per_operation.peak_bytes;
      out += std::isnan(peak) ? "  ?\n" : cat("  ", fixed(peak / 1048576, 1), " MiB\n");
    }
  }
  return out;
}

}  // namespace tare::lab
