// How the machine was while it was measured, from the conditions before each launch.
#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "lab/report/report.hpp"
#include "lab/report/words.hpp"

namespace tare::lab {

namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

// What a counter of `field` rose by, over what `base` rose by; parts of a run that was gone on with are added up, the
// time between them is not in it.
template <class Base>
double rise(const std::vector<Conditions>& all, std::int64_t Conditions::* field, Base base) {
  double sum = 0, of = 0;
  for (std::size_t i = 1; i < all.size(); ++i) {
    const Conditions &from = all[i - 1], &to = all[i];
    if (from.*field < 0 || to.*field < from.*field || base(from, to) <= 0) continue;
    sum += static_cast<double>(to.*field - from.*field);
    of += base(from, to);
  }
  return of > 0 ? sum / of : kUnknown;
}

std::string share(const char* of, double value) {
  return std::isnan(value) ? std::string() : cat(", ", of, " ", fixed(100 * value, 1), " %");
}

}  // namespace

Meanwhile meanwhile(const Dataset& data) {
  Meanwhile out;
  const std::vector<Conditions>& all = data.conditions;
  if (all.empty()) return out;
  std::vector<double> grace;
  out.load_low = out.load_high = all[0].load;
  for (const Conditions& c : all) {
    out.load_low = std::min(out.load_low, c.load);
    out.load_high = std::max(out.load_high, c.load);
    if (c.grace_ns >= 0) grace.push_back(static_cast<double>(c.grace_ns));
    if (c.processes < 0) continue;
    out.processes_low = out.processes_low < 0 ? c.processes : std::min(out.processes_low, c.processes);
    out.processes_high = std::max(out.processes_high, c.processes);
  }
  const auto time = [](const Conditions& from, const Conditions& to) {
    return static_cast<double>(to.at_ns - from.at_ns) / 1000;
  };
  const auto ticks = [](const Conditions& from, const Conditions& to) {
    return static_cast<double>(to.all_ticks - from.all_ticks);
  };
  out.cpu_pressure = rise(all, &Conditions::cpu_pressure_us, time);
  out.memory_pressure = rise(all, &Conditions::memory_pressure_us, time);
  out.io_pressure = rise(all, &Conditions::io_pressure_us, time);
  out.stolen = rise(all, &Conditions::stolen_ticks, ticks);
  if (!grace.empty()) {
    const auto middle = grace.begin() + static_cast<std::ptrdiff_t>(grace.size() / 2);
    std::nth_element(grace.begin(), middle, grace.end());
    out.grace_ns = *middle;
  }
  return out;
}

std::string meanwhile_text(const Dataset& data) {
  std::string out;
  if (!data.conditions.empty()) {
    const Meanwhile m = meanwhile(data);
    out += cat("The machine meanwhile: load ", fixed(m.load_low, 1), " to ", fixed(m.load_high, 1));
    if (m.processes_low >= 0) out += cat(", ", m.processes_low, " to ", m.processes_high, " live processes");
    const std::string waited = cat(share("for a CPU", m.cpu_pressure), share("for memory", m.memory_pressure),
                                   share("for I/O", m.io_pressure));
    if (!waited.empty()) out += cat("; share of the time in which some task waited (PSI)", waited.substr(1));
    if (!std::isnan(m.stolen)) out += cat("; stolen by a hypervisor ", fixed(100 * m.stolen, 1), " % of CPU time");
    if (m.grace_ns >= 0) out += cat("; a grace period of RCU took ", duration(m.grace_ns), " (median)");
    out += ".\n";
  }
  return out + speculation_text(data);
}

// One line where all places are alike, as they should be; else each that differs from the first.
std::string speculation_text(const Dataset& data) {
  if (data.speculation.empty()) return {};
  const Speculation& first = data.speculation.front();
  const auto say = [](const Speculation& s) {
    return cat("store bypass ", s.store_bypass, ", indirect branch ", s.indirect_branch);
  };
  if (first.store_bypass.empty() && first.indirect_branch.empty()) return {};
  std::string out = cat("Speculation controls of the workers: ", say(first));
  std::vector<int> told;
  std::string others;
  for (const Speculation& s : data.speculation) {
    if (s.store_bypass == first.store_bypass && s.indirect_branch == first.indirect_branch) continue;
    if (std::find(told.begin(), told.end(), s.place) != told.end()) continue;
    told.push_back(s.place);
    others += cat("; but in ", place_of(data, s.place).name, " ", say(s));
  }
  return cat(out, others.empty() ? ", in all places" : others, ".\n");
}

}  // namespace tare::lab
