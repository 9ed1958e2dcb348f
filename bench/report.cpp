// Turns the samples of bench/run into tables, raw JSON and verdicts.
//
//   report SAMPLES COUNTS HEADER JSON [--check]      Markdown on stdout, JSON into the file; exit status 1 with --check
//                                                    when a threshold is missed, 2 for a usage or input error
//
// SAMPLES is what `measure` prints; COUNTS has GROUP, NAME and the number of system calls, parted by tabs; HEADER is
// text for the top. Each ratio is that of two runs of the same round; shown are the median over the rounds and the
// order statistics around it that hold the true median with at least 95 % (where there are too few rounds: "-").
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace {

using Values = std::vector<double>;

enum Metric { kWall, kCpu, kFaults, kPeak, kCgroup, kCalls, kMetrics };
constexpr const char* kNames[kMetrics] = {"wall_ms",      "cpu_ms",          "page_faults",
                                          "peak_rss_kib", "cgroup_peak_kib", "system_calls"};

// The rows of ratios in each table, where both are there.
constexpr std::pair<const char*, const char*> kRatios[] = {{"tare", "floor"}, {"tare", "crun"},  {"tare", "runc"},
                                                           {"crun", "floor"}, {"runc", "floor"}, {"runc", "crun"}};

struct Contestant {
  std::map<long, std::array<double, kMetrics>> rounds;  // by round, warm-up excluded
  std::optional<double> calls;
};

struct Group {
  std::vector<std::string> order;
  std::map<std::string, Contestant> contestants;
};

struct Summary {
  double median = NAN, low = NAN, high = NAN;
};

[[noreturn]] void die(const std::string& text) {
  std::fprintf(stderr, "report: %s\n", text.c_str());
  std::exit(2);
}

// The rank r (from 1) of the lowest value of the interval [r, n + 1 - r]; 0 when even [1, n] has less than 95 %.
int interval_rank(int n) {
  double below = 0;  // P(Binomial(n, 1/2) < r)
  int rank = 0;
  double term = std::pow(0.5, n);
  for (int k = 0; k < n / 2; ++k) {
    below += term;
    if (2 * below > 0.05) break;
    rank = k + 1;
    term = term * (n - k) / (k + 1);
  }
  return rank;
}

Summary summarize(Values values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const int n = static_cast<int>(values.size());
  Summary summary;
  summary.median = n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
  if (const int rank = interval_rank(n); rank > 0) {
    summary.low = values[rank - 1];
    summary.high = values[n - rank];
  }
  return summary;
}

std::string number(double value, int digits = -1) {
  if (!std::isfinite(value)) return "-";
  if (digits < 0) digits = value < 10 ? 2 : value < 100 ? 1 : 0;
  char text[40];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

Values column(const Contestant& contestant, Metric metric) {
  Values values;
  for (const auto& [round, sample] : contestant.rounds) values.push_back(sample[metric]);
  return values;
}

Values ratios(const Contestant& a, const Contestant& b, Metric metric) {
  Values values;
  if (metric == kCalls) {
    if (a.calls && b.calls && *b.calls > 0) values.push_back(*a.calls / *b.calls);
    return values;
  }
  for (const auto& [round, sample] : a.rounds) {
    const auto other = b.rounds.find(round);
    if (other != b.rounds.end() && other->second[metric] > 0) values.push_back(sample[metric] / other->second[metric]);
  }
  return values;
}

std::vector<std::pair<std::string, Group>> read_samples(const char* samples, const char* counts) {
  std::vector<std::pair<std::string, Group>> groups;
  const auto group_of = [&](const std::string& name) -> Group& {
    for (auto& [known, group] : groups) {
      if (known == name) return group;
    }
    return groups.emplace_back(name, Group{}).second;
  };
  std::ifstream file(samples);
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    std::string group_name, round, name;
    double wall, cpu, minor, major, peak, cgroup;
    std::getline(fields, group_name, '\t');
    std::getline(fields, round, '\t');
    std::getline(fields, name, '\t');
    if (!(fields >> wall >> cpu >> minor >> major >> peak >> cgroup)) die("a sample cannot be read: " + line);
    if (round.starts_with('-')) continue;
    Group& group = group_of(group_name);
    if (!group.contestants.contains(name)) group.order.push_back(name);
    group.contestants[name].rounds[std::stol(round)] = {wall / 1e6, cpu / 1e3, minor + major, peak, cgroup / 1024, 0};
  }
  std::ifstream count_file(counts);
  while (std::getline(count_file, line)) {
    std::istringstream fields(line);
    std::string group_name, name;
    double calls;
    std::getline(fields, group_name, '\t');
    std::getline(fields, name, '\t');
    if (!(fields >> calls)) die("a count cannot be read: " + line);
    group_of(group_name).contestants[name].calls = calls;
  }
  if (groups.empty()) die(std::string(samples) + " has no samples");
  for (auto& [name, group] : groups)
    std::sort(group.order.begin(), group.order.end(), [](const auto& a, const auto& b) {
      const auto rank = [](const std::string& s) { return s == "floor" ? 0 : s == "tare" ? 1 : s == "crun" ? 2 : 3; };
      return rank(a) < rank(b);
    });
  return groups;
}

void print_figures(const Group& group) {
  std::printf("| | wall ms | CPU ms | page faults | system calls | peak RSS KiB |\n|---|---|---|---|---|---|\n");
  for (const std::string& name : group.order) {
    const Contestant& c = group.contestants.at(name);
    std::printf("| %s | %s | %s | %s | %s | %s |\n", name.c_str(), number(summarize(column(c, kWall)).median).c_str(),
                number(summarize(column(c, kCpu)).median).c_str(),
                number(summarize(column(c, kFaults)).median, 0).c_str(), number(c.calls.value_or(NAN), 0).c_str(),
                number(summarize(column(c, kPeak)).median, 0).c_str());
  }
}

void print_ratio(const Group& group, const char* a, const char* b) {
  const auto first = group.contestants.find(a);
  const auto second = group.contestants.find(b);
  if (first == group.contestants.end() || second == group.contestants.end()) return;
  std::printf("| **%s : %s** |", a, b);
  for (const Metric metric : {kWall, kCpu, kFaults, kCalls, kPeak}) {
    const Summary s = summarize(ratios(first->second, second->second, metric));
    std::printf(" %s", number(s.median).c_str());
    if (metric != kCalls && std::isfinite(s.low))
      std::printf(" (%s to %s)", number(s.low).c_str(), number(s.high).c_str());
    std::printf(" |");
  }
  std::printf("\n");
}

nlohmann::ordered_json to_json(const std::vector<std::pair<std::string, Group>>& groups, const std::string& header) {
  nlohmann::ordered_json root;
  root["format"] = 1;
  root["header"] = header;
  for (const auto& [group_name, group] : groups) {
    for (const std::string& name : group.order) {
      const Contestant& c = group.contestants.at(name);
      auto& entry = root["groups"][group_name][name];
      if (c.calls) entry[kNames[kCalls]] = *c.calls;
      for (const Metric metric : {kWall, kCpu, kFaults, kPeak, kCgroup}) entry[kNames[metric]] = column(c, metric);
    }
  }
  return root;
}

struct Threshold {
  const char* text;
  const char* base;  // null: an absolute figure
  Metric metric;
  double limit;
};

// Those that the project promises for `run`.
constexpr Threshold kThresholds[] = {
    {"CPU at most 2 x the floor's", "floor", kCpu, 2.0},
    {"CPU at most 0.5 x crun's", "crun", kCpu, 0.5},
    {"system calls at most 300", nullptr, kCalls, 300},
    {"page faults at most 160", nullptr, kFaults, 160},
};

bool check(const std::vector<std::pair<std::string, Group>>& groups) {
  bool good = true;
  std::printf("\n");
  for (const Threshold& t : kThresholds) {
    double value = NAN;
    for (const auto& [group_name, group] : groups) {
      const auto tare = group.contestants.find("tare");
      if (group_name != "run" || tare == group.contestants.end()) continue;
      if (t.base == nullptr) {
        value =
            t.metric == kCalls ? tare->second.calls.value_or(NAN) : summarize(column(tare->second, t.metric)).median;
      } else if (const auto base = group.contestants.find(t.base); base != group.contestants.end()) {
        value = summarize(ratios(tare->second, base->second, t.metric)).median;
      }
    }
    const bool pass = value <= t.limit;  // an absent figure is a failure
    good = good && pass;
    std::printf("* %s: tare run, %s: %s\n", pass ? "PASS" : "FAIL", t.text, number(value).c_str());
  }
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) die("usage: report SAMPLES COUNTS HEADER JSON [--check]");
  const auto groups = read_samples(argv[1], argv[2]);
  std::ifstream header_file(argv[3]);
  const std::string header{std::istreambuf_iterator<char>(header_file), {}};
  std::printf("%s", header.c_str());
  for (const auto& [name, group] : groups) {
    if (group.order.empty()) die("the group " + name + " has counts and no samples");
    std::printf("\n### %s (%zu rounds)\n\n", name.c_str(), group.contestants.at(group.order[0]).rounds.size());
    print_figures(group);
    for (const auto& [a, b] : kRatios) print_ratio(group, a, b);
  }
  std::ofstream json(argv[4]);
  json << to_json(groups, header).dump(1) << "\n";
  if (!json.flush()) die(std::string("cannot write ") + argv[4]);
  if (argc > 5 && std::strcmp(argv[5], "--check") == 0) return check(groups) ? 0 : 1;
  return 0;
}
