// One page that stands by itself: the tables with each interval drawn, inline SVG, nothing fetched and no script.
#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "lab/report/report.hpp"
#include "lab/report/words.hpp"

namespace tare::lab {

namespace {

std::string safe(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        // Other control characters mean nothing in HTML, and something to a terminal.
        if (static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t') out += c;
    }
  }
  return out;
}

constexpr double kWidth = 360, kHeight = 18;

// Percent -> pixels, alike for all rows of a table.
struct Scale {
  double low = -1, high = 1;
  double at(double percent) const { return kWidth * std::clamp((percent - low) / (high - low), 0.0, 1.0); }
};

Scale scale_of(const Table& table) {
  Scale out;
  for (const Cell& cell : table.cells) {
    if (cell.log_ratio.n == 0 || !std::isfinite(cell.log_ratio.value)) continue;
    const Estimate& e = cell.family.has_interval() ? cell.family : cell.log_ratio;
    out.low = std::min(out.low, to_percent(e.low));
    out.high = std::max(out.high, to_percent(e.high));
  }
  const double air = (out.high - out.low) / 20;
  return {out.low - air, out.high + air};
}

std::string line(double x1, double x2, const char* kind) {
  return cat("<line class=\"", kind, "\" x1=\"", fixed(x1, 1), "\" x2=\"", fixed(x2, 1), "\" y1=\"9\" y2=\"9\"/>");
}

std::string drawing(const Scale& scale, const Table& table, const Cell& cell) {
  if (cell.log_ratio.n == 0 || !std::isfinite(cell.log_ratio.value)) return {};
  std::string out = cat("<svg width=\"", fixed(kWidth, 0), "\" height=\"", fixed(kHeight, 0),
                        "\" role=\"img\" aria-label=\"", percent(cell.log_ratio.value, true), " %\">");
  if (std::isfinite(table.aa_bound)) {  // what A/A shows, behind everything
    const double from = scale.at(to_percent(-table.aa_bound)), to = scale.at(to_percent(table.aa_bound));
    out += cat("<rect class=\"aa\" x=\"", fixed(from, 1), "\" y=\"0\" width=\"", fixed(to - from, 1),
               "\" height=\"18\"/>");
  }
  const std::string zero = fixed(scale.at(0), 1);
  out += cat("<line class=\"zero\" x1=\"", zero, "\" x2=\"", zero, "\" y1=\"0\" y2=\"18\"/>");
  const auto interval = [&](const Estimate& e, const char* kind) {
    if (e.has_interval()) out += line(scale.at(to_percent(e.low)), scale.at(to_percent(e.high)), kind);
  };
  interval(cell.family, "family");
  interval(cell.log_ratio, "alone");
  return cat(out, "<circle cx=\"", fixed(scale.at(cell.percent()), 1), "\" cy=\"9\" r=\"3\"/></svg>");
}

std::string table_html(const Dataset& data, const Table& table) {
  const Workload& workload = workload_of(data, table.workload);
  const Scale scale = scale_of(table);
  std::string out = cat("<h3>", safe(workload.name), " <small>", safe(command_text(workload)));
  if (!std::isnan(table.reference_ns)) out += cat(", ", duration(table.reference_ns), " each in bare");
  out += cat("</small></h3>\n<table>\n<tr><th>place</th><th>", fixed(scale.low, 1), " % to ", fixed(scale.high, 1),
             " %</th><th>what it costs</th></tr>\n");
  for (const Cell& cell : table.cells) {
    out += cat("<tr><td>", safe(place_of(data, cell.place).name), "</td><td>", drawing(scale, table, cell), "</td><td>",
               safe(words(data, cell)), "</td></tr>\n");
  }
  out += "</table>\n";
  if (const std::string series = sparkline(table.reference_series); !series.empty())
    out += cat("<p>bare over the run: ", series, "</p>\n");
  if (table.control_differs) out += "<p>The A/A interval leaves out zero: in one run of twenty it does.</p>\n";
  return out;
}

constexpr const char* kStyle =
    "body{font:15px/1.4 sans-serif;margin:2em auto;max-width:75em;padding:0 1em;color:#222}"
    "table{border-collapse:collapse}td,th{padding:2px 10px;text-align:left;border-bottom:1px solid #ddd}"
    "small{font-weight:normal;color:#666}pre{overflow:auto;background:#f6f6f6;padding:1em}"
    ".aa{fill:#e4e4e4}.zero{stroke:#999}.family{stroke:#7aa6d8;stroke-width:3}.alone{stroke:#1f5fa8;stroke-width:6}"
    "circle{fill:#c33}";

}  // namespace

std::string html_report(const std::vector<Group>& groups) {
  std::string out =
      cat("<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>tare weigh</title><style>", kStyle,
          "</style></head>\n<body>\n<h1>What isolation costs</h1>\n");
  out +=
      "<p>Time of an operation against bare. Thin: the interval that holds for all cells together with 95 %; thick: "
      "that "
      "of the cell alone; grey: what A/A shows.</p>\n";
  for (const Group& one : groups) {
    out += cat("<h2>", safe(one.name), "</h2>\n<p>", safe(head(one.data)), "</p>\n");
    for (const std::string& warning : one.data.warnings) out += cat("<p><b>", safe(warning), "</b></p>\n");
    for (const Table& table : one.analysis.tables) out += table_html(one.data, table);
  }
  return cat(out, "<h2>The whole report</h2>\n<pre>", safe(text_report(groups)), "</pre>\n</body>\n</html>\n");
}

}  // namespace tare::lab
