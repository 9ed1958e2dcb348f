#include "lab/cli/options.hpp"

#include <cmath>
#include <cstdlib>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "base/text.hpp"

namespace tare::lab {

namespace {

constexpr std::int64_t kBillTime = 300'000'000'000;

double number_of(const std::string& text, const char** rest) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  *rest = end;
  if (end == text.c_str() || !std::isfinite(value) || value <= 0) {
    throw Error(ErrorKind::usage, cat(tare::quoted(text), " is not a number above 0"));
  }
  return value;
}

std::vector<std::string> names_in(const std::string& text) {
  std::vector<std::string> out;
  for (const std::string_view name : split(text, ',')) out.emplace_back(trim(name));
  return out;
}

// Of a percentage, in log units.
double parse_percent(const std::string& name, const std::string& text) {
  const char* rest = nullptr;
  const double percent = number_of(text, &rest);
  if (std::string_view(rest) != "%" && *rest != '\0') {
    throw Error(ErrorKind::usage, cat(name, " takes a percentage as in 1%, not ", tare::quoted(text)));
  }
  return std::log1p(percent / 100);
}

int parse_count(const std::string& name, const std::string& text, int least) {
  const auto n = parse_number<int>(text);
  if (!n || *n < least)
    throw Error(ErrorKind::usage, cat(name, " takes a whole number from ", least, " on, not ", tare::quoted(text)));
  return *n;
}

// Walks the arguments: "--name=value", "--name value", "-o value".
class Arguments {
 public:
  explicit Arguments(const std::vector<std::string>& args) : args_(args) {}
  bool next() {
    if (at_ == args_.size()) return false;
    name = args_[at_++];
    value_.reset();
    const auto equals = name.find('=');
    if (name.starts_with("--") && equals != std::string::npos) {
      value_ = name.substr(equals + 1);
      name.resize(equals);
    }
    return true;
  }
  std::string value() {
    if (value_) return *std::exchange(value_, std::nullopt);
    if (at_ == args_.size()) throw Error(ErrorKind::usage, cat(name, " needs a value"));
    return args_[at_++];
  }
  void no_value() const {
    if (value_) throw Error(ErrorKind::usage, cat(name, " takes no value"));
  }
  std::vector<std::string> rest() {
    std::vector<std::string> out(args_.begin() + static_cast<std::ptrdiff_t>(at_), args_.end());
    at_ = args_.size();
    return out;
  }
  std::string name;

 private:
  const std::vector<std::string>& args_;
  std::size_t at_ = 0;
  std::optional<std::string> value_;
};

}  // namespace

std::int64_t parse_duration(const std::string& text) {
  const char* rest = nullptr;
  const double value = number_of(text, &rest);
  const std::string_view unit = rest;
  double scale = 0;
  if (unit.empty() || unit == "s") scale = 1e9;
  if (unit == "ms") scale = 1e6;
  if (unit == "m" || unit == "min") scale = 60e9;
  if (unit == "h") scale = 3600e9;
  if (scale == 0 || value * scale > 1e18) {
    throw Error(ErrorKind::usage, cat(tare::quoted(text), " is not a time such as 90s or 5m"));
  }
  return static_cast<std::int64_t>(value * scale);
}

Options parse_options(const std::vector<std::string>& args) {
  Options out;
  Experiment& e = out.experiment;
  std::vector<std::string> injections, command;
  std::optional<std::vector<std::string>> places, workloads;
  Workload user;  // the user's command, and what belongs to it
  user.name = "command";
  bool quick = false, time_given = false, command_given = false;
  Arguments it(args);
  while (it.next()) {
    if (it.name == "--time") {
      e.time_ns = parse_duration(it.value());
      time_given = true;
    } else if (it.name == "--precision") {
      e.precision = parse_percent(it.name, it.value());
    } else if (it.name == "--margin") {
      e.margin = parse_percent(it.name, it.value());
    } else if (it.name == "--fail-above") {
      out.fail_above = parse_percent(it.name, it.value());
    } else if (it.name == "--continue") {
      out.go_on = it.value();
    } else if (it.name == "--setup" || it.name == "--prepare" || it.name == "--cleanup") {
      std::vector<std::string>& list = it.name == "--setup"     ? user.setup
                                       : it.name == "--prepare" ? user.prepare
                                                                : user.cleanup;
      list.push_back(it.value());
    } else if (it.name == "--seed") {
      const std::string text = it.value();
      const auto seed = parse_number<std::uint64_t>(text);
      if (!seed) throw Error(ErrorKind::usage, cat("--seed takes a whole number, not ", tare::quoted(text)));
      e.seed = *seed;
      out.seed_given = true;
    } else if (it.name == "--places") {
      places = names_in(it.value());
    } else if (it.name == "--workloads") {
      workloads = names_in(it.value());
    } else if (it.name == "--inject") {
      injections.push_back(it.value());
    } else if (it.name == "--rounds") {
      e.rounds = parse_count(it.name, it.value(), 2);
      if (e.rounds % 2 != 0) throw Error(ErrorKind::usage, "--rounds must be even: rounds come in mirrored pairs");
    } else if (it.name == "--batch") {
      e.batch_ns = parse_duration(it.value());
    } else if (it.name == "--cpu") {
      e.cpu = parse_count(it.name, it.value(), 0);
    } else if (it.name == "--json" || it.name == "--markdown" || it.name == "--csv" || it.name == "--html") {
      out.forms.push_back({it.name.substr(2), it.value()});
    } else if (it.name == "-o" || it.name == "--samples") {
      out.samples = it.value();
    } else if (it.name == "--quick" || it.name == "--bill" || it.name == "--no-evidence" || it.name == "--per-second" ||
               it.name == "--details" || it.name == "--dry-run" || it.name == "-h" || it.name == "--help" ||
               it.name == "--version") {
      it.no_value();
      quick |= it.name == "--quick";
      e.bill |= it.name == "--bill";
      out.evidence &= it.name != "--no-evidence";
      user.per_second |= it.name == "--per-second";
      out.details |= it.name == "--details";
      out.dry_run |= it.name == "--dry-run";
      out.help |= it.name == "-h" || it.name == "--help";
      out.version |= it.name == "--version";
    } else if (it.name == "--") {
      command = it.rest();
      command_given = true;
    } else if (it.name == "analyse" && out.analyse.empty()) {
      out.analyse.push_back(it.value());
    } else if (!out.analyse.empty() && !it.name.starts_with("-")) {
      out.analyse.push_back(it.name);
    } else {
      throw Error(ErrorKind::usage, cat("unknown argument ", tare::quoted(it.name)))
          .hint("a command to weigh comes after --");
    }
  }
  if (command_given && command.empty()) throw Error(ErrorKind::usage, "there is no command after --");
  if (command_given && workloads) throw Error(ErrorKind::usage, "--workloads and a command exclude each other");
  if (e.bill && places)
    throw Error(ErrorKind::usage, "--bill has places of its own: --places and --bill exclude each other");
  if (!command_given && (user.per_second || !(user.setup.empty() && user.prepare.empty() && user.cleanup.empty())))
    throw Error(ErrorKind::usage,
                "--setup, --prepare, --cleanup and --per-second belong to a command, which comes after --");
  if (!out.go_on.empty() && (places || workloads || command_given || e.bill || out.seed_given))
    throw Error(ErrorKind::usage, "--continue goes on with what the file says: places, workloads and seed are in it");
  e.places = e.bill ? bill_places() : places ? named_places(*places) : default_places();
  for (const std::string& one : injections) inject(e.places, one);
  if (command_given) {
    user.command = command;
    e.workloads = {user};
  } else {
    e.workloads = workloads ? named_workloads(*workloads) : default_workloads();
  }
  if (e.bill && !time_given) e.time_ns = kBillTime;
  if (quick && !time_given) e.time_ns = 50'000'000'000;
  if (e.precision > 0 && !time_given) e.time_ns = 600'000'000'000;
  return out;
}

std::string help_text() {
  return
      R"(tare weigh: what isolation costs on this machine

usage: tare weigh [options] [-- COMMAND [ARGUMENT...]]
       tare weigh analyse FILE...  the report of earlier runs' samples, also of several machines or kernels
       tare weigh pidspace         six designs of the pid namespace on one base; see tare weigh pidspace --help

Runs the same work bare and in places made of namespaces, many launches of each, interleaved in a
random order, and shows what each place costs with a 95 % interval. A line "A/A" weighs bare against
bare: what is smaller than that is not claimed. Needs root. docs/METHOD.md says how and why.

  --time T          how long in all (default 60s; 10m with --precision)
  --precision P     stop when every half-width is at most P, as in 1%
  --bill            the itemised bill of the default container: each layer by itself, the whole, what is left over
                    (default time 5m)
  --margin P        what is smaller counts as no cost (default 2%)
  --fail-above P    exit status 3 where a place surely costs more than P
  --continue F      goes on with the run of that sample file, for --time more
  --setup CMD, --prepare CMD, --cleanup CMD
                    shell commands in each place before a launch's first sample of the command, before each
                    sample, and at the end; not timed
  --per-second      of the command: a sample is what gets done in a batch's time, not so many runs
  --no-evidence     without the traced runs that show what each work enters (done in runs of 20 s and more)
  --quick           the default set in at most a minute
  --places LIST     of pid mnt uts ipc net user cgroup time container and many more, or groups of them (namespaces,
                    layers, pid-depth, user-depth, siblings, foreign, all), with commas; docs/METHOD.md has them all
  --workloads LIST  of spawn exec syscall pipe open and fifty others, or groups of them (unixbench, processes, files,
                    ipc, network, memory, cpu, all, host), with commas
  --seed N          of the order; printed, chosen by the clock where not given
  --rounds N        in a launch, even (default 4)
  --batch T         length of a batch (default 10ms)
  --cpu N           that the workers are kept on (default: the last one allowed)
  --inject NAME=P   adds a bare place NAME, or takes the place NAME, and slows its work by P (as in
                    slowed=5%): a known cost, to prove the method by
  -o, --samples F   where the raw samples go, one JSON record a line
                    (default: $XDG_STATE_HOME/tare/weigh/ or ~/.local/state/tare/weigh/)
  --details         what an operation takes besides time, too: CPU, faults, switches, counters, memory
  --json F, --markdown F, --csv F, --html F
                    writes the report in that form too; - is standard output, in place of the text
  --dry-run         lists what would be weighed and the time it needs

Exit status: 0; 1 where a run was interrupted before it had its six launches; 3 where --fail-above says so;
125 for an error.
)";
}

}  // namespace tare::lab
