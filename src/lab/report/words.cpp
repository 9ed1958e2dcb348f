#include "lab/report/words.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "lab/report/report.hpp"

namespace tare::lab {

std::string padded(std::string_view text, std::size_t width) {
  std::string out(text);
  if (out.size() < width) out.append(width - out.size(), ' ');
  return out;
}

const Place& place_of(const Dataset& data, int place) {
  return data.experiment.places[static_cast<std::size_t>(place)];
}

const Workload& workload_of(const Dataset& data, int workload) {
  return data.experiment.workloads[static_cast<std::size_t>(workload)];
}

std::string percent(double log_ratio, bool sign) { return fixed(to_percent(log_ratio), 1, sign); }

namespace {

// "2.4 to 3.8; by itself 2.7 to 3.5": the interval that the verdict goes by, which holds for all cells together, and
// the narrower one.
std::string intervals(const Cell& cell, bool negated) {
  const auto range = [&](const Estimate& e) {
    return negated ? cat(fixed(-to_percent(e.high), 1), " to ", fixed(-to_percent(e.low), 1))
                   : cat(percent(e.low), " to ", percent(e.high));
  };
  if (!cell.family.has_interval()) return range(cell.log_ratio);
  const Estimate& deciding = cell.verdict == Verdict::no_cost ? cell.equivalence : cell.family;
  return cat(range(deciding), "; by itself ", range(cell.log_ratio));
}

std::string more_time(double ns) {
  if (!(ns < 7200e9)) return "and hardly to be settled: too near the margin";
  if (ns < 90e9) return cat("about ", fixed(ns / 1e9, 0), " more seconds");
  return cat("about ", fixed(ns / 60e9, 0), " more minutes");
}

std::string claim(const Cell& cell) {
  switch (cell.verdict) {
    case Verdict::costs:
      return cat("costs ", percent(cell.log_ratio.value), " % (", intervals(cell, false), ")");
    case Verdict::saves:
      return cat("saves ", fixed(-cell.percent(), 1), " % (", intervals(cell, true), ")");
    case Verdict::no_cost:
      return cat("no cost above ", percent(cell.margin), " %: ", percent(cell.log_ratio.value, true), " % (",
                 intervals(cell, false), ")");
    case Verdict::not_settled:
      return cat("not settled: ", more_time(cell.settled_in_ns), ": ", percent(cell.log_ratio.value, true), " % (",
                 intervals(cell, false), ")");
    case Verdict::no_interval:
      if (cell.log_ratio.n == 0) return "nothing measured";
      if (!cell.log_ratio.has_interval())
        return cat(percent(cell.log_ratio.value, true), " %, too few launches for an interval");
      return cat("too few launches for a claim: ", more_time(cell.settled_in_ns), ": ",
                 percent(cell.log_ratio.value, true), " % (", intervals(cell, false), ")");
    case Verdict::absent:
      return cat("not weighed: ", cell.reason);
  }
  return {};
}

}  // namespace

std::string words(const Dataset& data, const Cell& cell) {
  std::string out;
  if (cell.control) out = "bare against bare: ";
  const bool finding = cell.verdict == Verdict::costs || cell.verdict == Verdict::saves;
  if (cell.entry == Entry::no && !cell.control && cell.log_ratio.n > 0 && cell.verdict != Verdict::absent) {
    // Figures, and no finding: what such a cell shows is how well the others can be believed.
    out = "control, the work does not enter it: ";
    out += finding ? cat(claim(cell), ": whatever that is, it is not the code of what the place adds")
                   : cat(percent(cell.log_ratio.value, true), " % (", intervals(cell, false), ")");
  } else {
    out += claim(cell);
  }
  const Place& place = place_of(data, cell.place);
  if (!place.against.empty()) out += cat(", against ", place.against);
  if (place.forks != 0) out += cat(", ", place.forks, " more forks in its launch");
  return out;
}

const char* word(Verdict verdict) {
  switch (verdict) {
    case Verdict::costs:
      return "costs";
    case Verdict::saves:
      return "saves";
    case Verdict::no_cost:
      return "no cost above the margin";
    case Verdict::not_settled:
      return "not settled";
    case Verdict::no_interval:
      return "too few launches";
    case Verdict::absent:
      return "not weighed";
  }
  return "";
}

const char* word(Entry entry) {
  switch (entry) {
    case Entry::yes:
      return "yes";
    case Entry::no:
      return "no";
    case Entry::unknown:
      return "not known";
  }
  return "";
}

std::string command_text(const Workload& workload) {
  if (workload.command.empty() || !workload.describes.empty()) return workload.describes;
  std::string out;
  for (const std::string& arg : workload.command) {
    if (!out.empty()) out += ' ';
    const bool plain = !arg.empty() && arg.find_first_not_of(
                                           "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                           "0123456789-_./=:,+%@") == std::string::npos;
    out += plain ? arg : tare::quoted(arg);
  }
  return out;
}

std::string head(const Dataset& data) {
  const nlohmann::json machine = nlohmann::json::parse(data.machine, nullptr, false);
  std::string out = cat("tare weigh ", data.version, ", seed ", data.experiment.seed, ", ", data.launches,
                        " launches of ", data.experiment.rounds, " rounds");
  if (machine.is_object() && machine.contains("kernel")) {
    out += cat("; Linux ", machine["kernel"].get<std::string>());
    if (machine.contains("cpu") && machine["cpu"].contains("model")) {
      out += cat(" on ", machine["cpu"]["model"].get<std::string>());
    }
  }
  if (data.experiment.cpu >= 0) out += cat(", CPU ", data.experiment.cpu);
  return out + "\n";
}

// The reference over the run, in eight steps from its least to its most.
std::string sparkline(const std::vector<double>& series) {
  static constexpr const char* kSteps[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  std::vector<double> shown;
  for (const double x : series) {
    if (!std::isnan(x)) shown.push_back(x);
  }
  if (shown.size() < 2) return {};
  constexpr std::size_t kMost = 60;
  const std::size_t each = (shown.size() + kMost - 1) / kMost;
  std::vector<double> means;
  for (std::size_t i = 0; i < shown.size(); i += each) {
    const std::size_t n = std::min(each, shown.size() - i);
    double sum = 0;
    for (std::size_t k = 0; k < n; ++k) sum += shown[i + k];
    means.push_back(sum / static_cast<double>(n));
  }
  const auto [low, high] = std::minmax_element(means.begin(), means.end());
  std::string out;
  for (const double x : means) {
    const double share = *high > *low ? (x - *low) / (*high - *low) : 0;
    out += kSteps[static_cast<std::size_t>(share * 7.999)];
  }
  return cat(out, " (", duration(std::exp(*low)), " to ", duration(std::exp(*high)), ")");
}

double stated_margin(const Experiment& experiment) {
  return experiment.margin > 0 ? experiment.margin : kDefaultMargin;
}

}  // namespace tare::lab
