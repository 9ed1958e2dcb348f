// The page of `tare weigh pidspace`, in Markdown: tables, and what they say of the claims of 2007. Pure.
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "lab/pidspace/rows.hpp"
#include "lab/report/report.hpp"
#include "lab/stats/analysis.hpp"

namespace tare::lab {

namespace {

constexpr const char* kNone = "none";

// By launch; a launch's value is the median of its rounds.
class Values {
 public:
  explicit Values(const PidspaceData& data) : data_(data) {
    for (const PidspaceSample& s : data.samples) {
      auto& all = by_[{s.design, s.operation, s.scene}];
      all.resize(static_cast<std::size_t>(data.launches), std::nan(""));
      all[static_cast<std::size_t>(s.launch)] = median_of(s.ns);
    }
  }
  // Empty: n/a. `none` has but the first level, which is the base of every other.
  const std::vector<double>& at(const std::string& design, const std::string& operation, Scene scene) const {
    static const std::vector<double> nothing;
    const auto found = by_.find({design, operation, scene});
    return found == by_.end() ? nothing : found->second;
  }
  Estimate ns(const std::string& design, const std::string& operation, Scene scene) const {
    return estimate(at(design, operation, scene), 0.95);
  }
  // Log-ratio of one to another, launch by launch.
  Estimate ratio(const std::string& a, const std::string& operation, Scene scene, const std::string& b, Scene of,
                 double level = 0.95, const std::string& other = {}) const {
    const auto &x = at(a, operation, scene), &y = at(b, other.empty() ? operation : other, of);
    std::vector<double> logs;
    for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) logs.push_back(std::log(x[i] / y[i]));
    return estimate(logs, level);
  }
  // What a mix costs more than with no namespaces, as a share of the whole of the real thing.
  Estimate slowdown(const std::string& design, const std::string& mix, Scene scene, double level = 0.95) const {
    const auto &x = at(design, mix, scene), &y = at(kNone, mix, scene);
    const auto real = data_.real.find(mix);
    std::vector<double> shares;
    for (std::size_t i = 0; real != data_.real.end() && i < std::min(x.size(), y.size()); ++i) {
      if (real->second[i] > 0) shares.push_back((x[i] - y[i]) / real->second[i]);
    }
    return estimate(shares, level);
  }
  // Nanoseconds a level: the slope over the levels of 500 pids, launch by launch.
  Estimate slope(const std::string& design, const std::string& operation, double level = 0.95) const {
    std::vector<double> slopes;
    for (int launch = 0; launch < data_.launches; ++launch) {
      double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
      for (const Scene& scene : pidspace_scenes()) {
        const auto& all = at(design, operation, scene);
        if (scene.live != 500 || all.empty()) continue;
        const double x = scene.level, y = all[static_cast<std::size_t>(launch)];
        n += 1, sx += x, sy += y, sxx += x * x, sxy += x * y;
      }
      if (n > 2) slopes.push_back((n * sxy - sx * sy) / (n * sxx - sx * sx));
    }
    return estimate(slopes, level);
  }

 private:
  static Estimate estimate(const std::vector<double>& values, double level) {
    std::vector<double> known;
    for (const double v : values) {
      if (std::isfinite(v)) known.push_back(v);
    }
    return known.empty() ? Estimate{} : signed_rank(known, level);
  }
  const PidspaceData& data_;
  std::map<std::tuple<std::string, std::string, Scene>, std::vector<double>> by_;
};

std::string ns_text(double ns) { return fixed(ns, ns < 100 ? 1 : 0); }

std::string interval(const Estimate& e, int digits, double scale = 1) {
  return e.has_interval() ? cat(" (", fixed(e.low * scale, digits), " to ", fixed(e.high * scale, digits), ")")
                          : std::string();
}

std::string share(const Estimate& e) {
  return e.n == 0 ? std::string("n/a") : cat(fixed(100 * e.value, 3), " %", interval(e, 3, 100));
}

std::string times(const Estimate& e) {
  return cat(
      fixed(std::exp(e.value), 2),
      e.has_interval() ? cat(" (", fixed(std::exp(e.low), 2), " to ", fixed(std::exp(e.high), 2), ")") : std::string());
}

std::string row(const std::string& name, const std::vector<std::string>& cells) {
  std::string out = cat("| ", name, " |");
  for (const std::string& cell : cells) out += cat(" ", cell, " |");
  return out + "\n";
}

std::string header(const std::string& name, const std::vector<std::string>& columns) {
  std::string rule = "|---|";
  for (std::size_t i = 0; i < columns.size(); ++i) rule += "---|";
  return row(name, columns) + rule + "\n";
}

std::string rows_table() {
  std::string out =
      "\n## What each design is\n\nBytes of a pid (what it is found by among them; not its namespace's bitmap or "
      "tree), and loads from memory "
      "that a question takes, both counted by the code itself; a chain of a hash has one entry here.\n\n";
  out += header("design",
                {"bytes at level 0", "1", "3", "8", "32", "loads: root", "own", "any", "find", "the same at level 3"});
  for (std::size_t i = 0; i < pidspace_designs().size(); ++i) {
    std::vector<std::string> cells;
    for (const int level : {0, 1, 3, 8, 32}) {
      const Row one = pidspace_row(i, level);
      cells.push_back(one.bytes == 0 ? "n/a" : cat(one.bytes));
    }
    const Row top = pidspace_row(i, 0), deep = pidspace_row(i, 3);
    for (const int n : {top.root, top.own, top.any, top.find}) cells.push_back(cat(n));
    cells.push_back(deep.bytes == 0 ? "n/a" : cat(deep.root, " ", deep.own, " ", deep.any, " ", deep.find));
    out += row(pidspace_designs()[i], cells);
  }
  return out;
}

std::string slowdown_table(const PidspaceData& data, const Values& values, int level) {
  std::string out = cat("\n### Level ", level, "\n\n");
  std::vector<std::string> columns;
  for (const Mix& mix : pidspace_mixes()) columns.push_back(cat(mix.name, ", ns of ", mix.unit));
  out += header("design", columns);
  for (const std::string& design : pidspace_designs()) {
    std::vector<std::string> times, shares;
    for (const Mix& mix : pidspace_mixes()) {
      const Estimate e = values.ns(design, mix.name, {design == kNone ? 0 : level, 500});
      times.push_back(e.n == 0 ? "n/a" : ns_text(e.value));
      Estimate s;
      if (design != kNone) s = values.slowdown(design, mix.name, {level, 500});
      shares.push_back(e.n == 0 ? "n/a" : design == kNone ? "" : share(s));
    }
    out += row(design, times);
    if (design != kNone) out += row("slowdown", shares);
  }
  std::vector<std::string> real;
  for (const Mix& mix : pidspace_mixes()) {
    const auto found = data.real.find(mix.name);
    real.push_back(found == data.real.end() ? "n/a" : ns_text(median_of(found->second)));
  }
  return out + row("the whole of it here, ns", real);
}

std::string by_level(const Values& values, const Operation& operation) {
  std::string out = cat("\n### ", operation.name, ": ", operation.describes, "\n\n");
  std::vector<std::string> columns;
  for (const Scene& scene : pidspace_scenes()) {
    if (scene.live == 500) columns.push_back(cat("level ", scene.level));
  }
  columns.push_back("ns a level, with its interval");
  out += header("design", columns);
  for (const std::string& design : pidspace_designs()) {
    std::vector<std::string> cells;
    for (const Scene& scene : pidspace_scenes()) {
      if (scene.live != 500) continue;
      const Estimate e = values.ns(design, operation.name, scene);
      cells.push_back(e.n == 0 || (design == kNone && scene.level > 0) ? "n/a" : ns_text(e.value));
    }
    const Estimate slope = design == kNone ? Estimate{} : values.slope(design, operation.name);
    cells.push_back(slope.n == 0 ? "n/a" : cat(fixed(slope.value, 2), interval(slope, 2)));
    out += row(design, cells);
  }
  return out;
}

std::string by_live(const Values& values, const Operation& operation) {
  std::string out = cat("\n### ", operation.name, "\n\n");
  const std::vector<Scene> scenes = {{0, 50},        {0, 500}, {0, 5'000},    {0, 50'000},
                                     {0, 1'000'000}, {1, 500}, {1, 1'000'000}};
  std::vector<std::string> columns;
  for (const Scene& scene : scenes) columns.push_back(cat(scene.live, " at level ", scene.level));
  out += header("design", columns);
  for (const std::string& design : pidspace_designs()) {
    std::vector<std::string> cells;
    for (const Scene& scene : scenes) {
      const Estimate e = values.ns(design, operation.name, scene);
      cells.push_back(e.n == 0 || (design == kNone && scene.level > 0) ? "n/a" : cat(ns_text(e.value), interval(e, 1)));
    }
    out += row(design, cells);
  }
  return out;
}

// Which way an interval of log-ratios points.
std::string says(const Estimate& e, const char* below, const char* above) {
  if (!e.has_interval()) return "too few launches to tell";
  return e.high < 0 ? below : e.low > 0 ? above : "no difference is shown";
}

std::string claims(const Values& values) {
  constexpr double kClaims = 12;
  constexpr double kLevel = 1 - 0.05 / kClaims;
  const Scene one{0, 500}, two{1, 500}, deep{32, 500};
  const std::string list = "nested, loop", hash = "nested, hash", kernel = "today's kernel";
  std::string out =
      "\n## What holds of 2007\n\nTwelve statements; the intervals hold for all of them together with 95 % "
      "(Bonferroni), the launches are the "
      "unit. A factor below 1 is faster.\n\n";
  const auto add = [&](const std::string& claim, const std::string& figure, const std::string& verdict) {
    out += cat("- ", claim, ": ", figure, ": **", verdict, "**.\n");
  };
  const auto compare = [&](const std::string& claim, const std::string& a, const char* operation, Scene scene,
                           const std::string& b, const char* below, const char* above) {
    const Estimate e = values.ratio(a, operation, scene, b, scene, kLevel);
    add(claim, cat("factor ", times(e)), says(e, below, above));
  };
  compare("A loop is really no faster than a hash at one level (the number from the first namespace, level 0)", list,
          "root", one, hash, "does not hold: the loop is faster", "holds: the hash is faster");
  compare("... at two levels (from the first namespace, level 1)", list, "root", two, hash,
          "does not hold: the loop is faster", "holds: the hash is faster");
  compare("... and at 33 (level 32)", list, "root", deep, hash, "does not hold: the loop is faster",
          "holds: the hash is faster");
  compare("A cached number (flat) saves over the loop (own number, level 1)", "flat", "own", two, list, "holds",
          "does not hold");
  compare("... over today's array (own number, level 1)", "flat", "own", two, kernel, "holds", "does not hold");
  compare("Today's tree finds a pid by number faster than a hash of one entry a bucket (500 pids)", kernel, "find", one,
          list, "holds", "does not hold: the hash is faster");
  compare("... with a million", kernel, "find", {0, 1'000'000}, list, "holds", "does not hold: the hash is faster");
  compare("A fixed maximum of 4 and one of 5 read alike (own number, level 1)", "fixed, 4", "own", two, "fixed, 5",
          "no: 4 is faster", "no: 5 is faster");
  for (const std::string& design : {list, kernel}) {
    const Estimate e = values.slope(design, "alloc", kLevel);
    add(cat("Depth costs (", design, ", allocating and freeing)"),
        cat(fixed(e.value, 1), " ns a level", interval(e, 1)), e.has_interval() && e.low > 0 ? "it does" : "not shown");
  }
  for (const std::string& design : {std::string("flat"), list}) {
    const Estimate e = values.slowdown(design, "spawn", one, kLevel);
    add(cat("Who makes no namespaces pays for them (", design,
            ", a spawn in the first namespace, as a share of the whole)"),
        share(e),
        !e.has_interval() ? "too few launches to tell"
        : e.high < 0.001  ? "less than 0.1 %"
        : e.low > 0       ? "it does"
                          : "not shown");
  }
  return out;
}

}  // namespace

std::string pidspace_page(const PidspaceData& data) {
  const Values values(data);
  const nlohmann::json machine = nlohmann::json::parse(data.machine);
  std::string out =
      cat("# Six designs of the pid namespace on one base\n\ntare weigh pidspace ", data.version, ", seed ", data.seed,
          ", ", data.launches, " launches, started ", data.started, "; Linux ", machine.value("kernel", "?"));
  if (machine.contains("cpu")) out += cat(" on ", machine["cpu"].value("model", "?"));
  out += cat(", load ", machine.value("load", "?"), ".\n\n");
  out +=
      "Question: what does each way to keep a process's numbers cost, beside keeping one number, on the same base and "
      "in one run? Each design is\n"
      "a template of src/pidspace; a launch is a process of its own, which builds each scene (a namespace so many "
      "levels deep, so many live\n"
      "pids in it) in every design and times each operation three times in turns. A figure is the estimate over "
      "launches (Hodges and\n"
      "Lehmann), an interval that of the signed-rank test, 95 % by itself. This is the structure alone, in user space: "
      "what a kernel does\n"
      "around it is not in it. n/a: the design can't.\n";
  out += rows_table();
  out +=
      "\n## The table of 2007\n\nThe same mixes as then, 500 live pids, against \"none\" on the same base. A mix is "
      "what the traced real thing "
      "makes of pids:\n\n";
  for (const Mix& mix : pidspace_mixes()) {
    out += cat("- ", mix.name, ", ", mix.unit, ": allocate and free ", mix.allocate, ", number ", mix.number, ", find ",
               mix.find, ", step ", mix.step, "; from");
    for (const Call& call : mix.calls) out += cat(" ", call.times, " x ", call.name, ",");
    out.back() = '\n';
  }
  out +=
      "\nThe slowdown is what the mix takes more than with \"none\", as a share of the whole of the real thing on this "
      "machine (ps: of its "
      "system time).\n";
  for (const int level : {0, 1, 8, 32}) out += slowdown_table(data, values, level);
  out += "\n## By depth\n\nNanoseconds, 500 live pids, all in the deepest namespace.\n";
  for (std::size_t i = 0; i < 6; ++i) out += by_level(values, pidspace_operations()[i]);
  out +=
      "\n## By live pids, hot and cold, one thread and two\n\nNanoseconds with their intervals. The hashes have a "
      "bucket a pid, 4,096 at least.\n";
  for (const Operation& operation : pidspace_operations()) {
    const std::string_view name = operation.name;
    if (name == "alloc" || name == "find" || name.find(',') != std::string_view::npos)
      out += by_live(values, operation);
  }
  out += claims(values);
  out +=
      cat("\n## What it does not say\n\nOther machines, other loads; a kernel's locks, preemption and slab caches. Two "
          "threads on ",
          machine.contains("cpu") ? machine["cpu"].value("online", 0) : 0,
          " CPUs: no more contention than that. Freed memory waits for a grace period a thousand objects at a time, "
          "alike in all.\n");
  return out;
}

std::string pidspace_json(const PidspaceData& data) {
  const Values values(data);
  nlohmann::ordered_json out{
      {"report", "tare-weigh pidspace"}, {"schema", 1}, {"version", data.version}, {"launches", data.launches}};
  out["machine"] = nlohmann::ordered_json::parse(data.machine);
  nlohmann::ordered_json cells = nlohmann::ordered_json::array();
  for (const std::string& design : pidspace_designs()) {
    for (const Scene& scene : pidspace_scenes()) {
      for (const Operation& operation : pidspace_operations()) {
        const Estimate ns = values.ns(design, operation.name, scene);
        if (ns.n == 0) continue;
        const Estimate ratio = values.ratio(design, operation.name, scene, kNone, scene);
        nlohmann::ordered_json cell{{"design", design},
                                    {"level", scene.level},
                                    {"live", scene.live},
                                    {"operation", operation.name},
                                    {"ns", ns.value}};
        if (ns.has_interval()) cell["ns_low"] = ns.low, cell["ns_high"] = ns.high;
        cell["against_none_percent"] = to_percent(ratio.value);
        if (ratio.has_interval())
          cell["low_percent"] = to_percent(ratio.low), cell["high_percent"] = to_percent(ratio.high);
        cells.push_back(std::move(cell));
      }
    }
  }
  out["cells"] = std::move(cells);
  return out.dump(2) + "\n";
}

}  // namespace tare::lab
