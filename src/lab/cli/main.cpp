// tare-weigh, the laboratory: tare weigh's program.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "base/error.hpp"
#include "base/text.hpp"
#include "lab/cli/options.hpp"
#include "lab/cli/pidspace.hpp"
#include "lab/design/schedule.hpp"
#include "lab/model/file.hpp"
#include "lab/observe/machine.hpp"
#include "lab/place/launcher.hpp"
#include "lab/report/report.hpp"
#include "lab/run/run.hpp"

namespace tare::lab {
namespace {

constexpr int kOwnFailure = 125;
constexpr int kAboveLimit = 3;
constexpr std::int64_t kLeastForEvidence = 20'000'000'000;

void put(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

// On a terminal one line that is written over; elsewhere a line every ten seconds.
class ProgressLine {
 public:
  void show(const Progress& p) {
    const bool terminal = isatty(2) == 1;
    if (!terminal && p.spent_ns < next_ns_) return;
    next_ns_ = p.spent_ns + 10'000'000'000;
    std::string text = p.phase;
    if (p.launch > 0 || p.phase == "weighing") {
      text += cat(": launch ", p.launch + 1, ", ", p.spent_ns / 1'000'000'000, " of ", p.time_ns / 1'000'000'000, " s");
    }
    if (p.half_width > 0) text += cat(", intervals within ", fixed(to_percent(p.half_width), 1), " %");
    put(2, terminal ? cat("\r\x1b[K", text) : cat("tare weigh: ", text, "\n"));
    shown_ = terminal;
  }
  void clear() {
    if (shown_) put(2, "\r\x1b[K");
    shown_ = false;
  }

 private:
  std::int64_t next_ns_ = 0;
  bool shown_ = false;
};

int stop_descriptor() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, signal);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  signal(SIGPIPE, SIG_IGN);
  const int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (fd < 0) throw_errno("signalfd", errno);
  return fd;
}

std::uint64_t clock_seed() {
  timespec t{};
  clock_gettime(CLOCK_REALTIME, &t);
  // Short enough to be typed again.
  return (static_cast<std::uint64_t>(t.tv_sec) * 1'000'003 + static_cast<std::uint64_t>(t.tv_nsec)) % 1'000'000'000;
}

std::string dry_run_text(const Experiment& e) {
  constexpr std::int64_t kStart = 15'000'000;  // a place's start and end, as seen on small machines
  const Budget b = budget(e, kStart, {});
  std::string out;
  int cells = 0;
  for (const Workload& workload : e.workloads) {
    for (const Place& place : e.places) {
      out += cat(workload.name, " in ", place.name, place.role == Role::reference ? " (reference)" : "",
                 place.role == Role::control ? " (control)" : "",
                 place.delay > 0 ? cat(" (slowed by ", fixed(static_cast<double>(place.delay) / 100, 2), " %)") : "",
                 "\n");
      ++cells;
    }
  }
  out +=
      cat(cells, " cells, each ", e.rounds, " batches of ", duration(static_cast<double>(e.batch_ns)), " a launch\n");
  out += cat("a launch takes about ", duration(static_cast<double>(b.launch_ns)), ", six (the fewest) ",
             duration(static_cast<double>(b.least_ns)), "; ", duration(static_cast<double>(e.time_ns)),
             " allow for about ", b.launches, "\n");
  if (!e.workloads.empty() && !e.workloads[0].command.empty())
    out += "a command that lasts longer than a batch needs more\n";
  out += cat("seed ", e.seed, "; the first launch starts:");
  const LaunchSchedule first = schedule(e, 0);
  for (const int place : first.start_order) out += cat(" ", e.places[static_cast<std::size_t>(place)].name);
  out += "\nits first round:";
  int workload = -1;
  for (const Slot& slot : first.slots) {
    if (slot.round > 0) break;
    if (!slot.counted) continue;
    if (slot.workload != workload) out += cat("\n  ", e.workloads[static_cast<std::size_t>(slot.workload)].name, ":");
    workload = slot.workload;
    out += cat(" ", e.places[static_cast<std::size_t>(slot.place)].name);
  }
  return out + "\n";
}

void write_form(const std::string& path, const std::string& text) {
  if (path == "-") return put(1, text);
  with_intent(cat("write ", path), [&] { sys::write_all(sys::open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644), text); });
}

// Gives the exit status: what --fail-above says of the figures.
int write_report(const Options& options, std::vector<Dataset> files) {
  const std::vector<Group> groups = group(std::move(files));
  const auto to_terminal = [](const Options::Form& form) { return form.file == "-"; };
  if (std::none_of(options.forms.begin(), options.forms.end(), to_terminal)) {
    put(1, text_report(groups));
    for (const Group& one : groups)
      if (options.details) put(1, details_text(one.data, one.analysis));
  }
  for (const Options::Form& form : options.forms) {
    const auto report = form.name == "json"       ? static_cast<std::string (*)(const std::vector<Group>&)>(json_report)
                        : form.name == "markdown" ? markdown_report
                        : form.name == "csv"      ? csv_report
                                                  : html_report;
    write_form(form.file, report(groups));
  }
  bool exceeded = false;
  for (const Group& one : groups) {
    if (options.fail_above <= 0) break;
    for (const Cell& cell : above(one.analysis, options.fail_above)) {
      exceeded = true;
      put(2, cat("tare weigh: ", one.data.experiment.workloads[static_cast<std::size_t>(cell.workload)].name, " in ",
                 one.data.experiment.places[static_cast<std::size_t>(cell.place)].name, " costs more than ",
                 fixed(to_percent(options.fail_above), 1), " %\n"));
    }
  }
  return exceeded ? kAboveLimit : 0;
}

void warn_of_disturbance(const Dataset& data) {
  if (data.conditions.size() < 2) return;
  const Conditions& first = data.conditions.front();
  const Conditions& last = data.conditions.back();
  const double all = static_cast<double>(last.all_ticks - first.all_ticks);
  const double stolen = static_cast<double>(last.stolen_ticks - first.stolen_ticks);
  if (first.load > 1) {
    put(2,
        cat("tare weigh: the load was ", fixed(first.load, 1), " at the start: a busy machine widens the intervals\n"));
  }
  if (all > 0 && stolen / all > 0.01) {
    put(2, cat("tare weigh: the hypervisor took ", fixed(100 * stolen / all, 1), " % of the CPU time meanwhile\n"));
  }
}

// The run that a sample file tells of, to be gone on with. The figures of two machines don't belong together.
void load(const Options& options, Dataset& data) {
  data = with_intent(options.go_on, [&] { return parse_samples(sys::read_file(options.go_on, kMostSamples)); });
  const nlohmann::json then = nlohmann::json::parse(data.machine), now = nlohmann::json::parse(machine_description());
  for (const char* what : {"kernel", "kernel_build", "mitigations"}) {
    if (then.value(what, nlohmann::json()) == now.value(what, nlohmann::json())) continue;
    throw Error(ErrorKind::conflict, cat(options.go_on, ": begun on another machine or kernel (", what, ")"))
        .hint("start another run; analyse takes the files of both");
  }
  if (data.version != TARE_VERSION) {
    throw Error(ErrorKind::conflict,
                cat(options.go_on, ": begun with version ", data.version, ", this is ", TARE_VERSION));
  }
  const std::int64_t spent = data.samples.empty() ? 0 : data.samples.back().at_ns;
  std::erase_if(data.samples, [&](const Sample& s) { return s.launch >= data.launches; });
  std::erase_if(data.conditions, [&](const Conditions& c) { return c.launch >= data.launches; });
  data.experiment.time_ns = spent + options.experiment.time_ns;
  if (options.experiment.precision > 0) data.experiment.precision = options.experiment.precision;
  data.ended.clear();
}

int weigh(Options& options) {
  if (!options.seed_given) options.experiment.seed = clock_seed();
  if (options.dry_run) {
    put(1, dry_run_text(options.experiment));
    return 0;
  }
  if (geteuid() != 0) {
    throw Error(ErrorKind::unsupported, "namespaces and cgroups need root").hint("sudo tare weigh ...");
  }
  reserve_descriptors();
  Dataset data;
  const bool goes_on = !options.go_on.empty();
  if (!goes_on && !options.experiment.workloads[0].command.empty()) {
    char* const cwd = get_current_dir_name();
    if (cwd != nullptr) options.experiment.directory = cwd;
    free(cwd);
  }
  if (goes_on) {
    load(options, data);
  } else {
    data.experiment = options.experiment;
    data.machine = machine_description();
    data.version = TARE_VERSION;
  }
  Sink sink = goes_on ? Sink::gone_on(options.go_on)
                      : Sink(options.samples.empty() ? default_sample_path(options.experiment.seed) : options.samples);
  ProgressLine line;
  const bool evidence = options.evidence && data.experiment.time_ns >= kLeastForEvidence;
  RunOptions run_options{&sink, evidence, stop_descriptor(), [&](const Progress& p) { line.show(p); }};
  try {
    run(data, run_options);
  } catch (...) {
    line.clear();
    throw;
  }
  line.clear();
  warn_of_disturbance(data);
  const int verdict = data.launches > 0 ? write_report(options, {data}) : 0;
  if (!sink.empty()) put(2, cat("samples: ", sink.path(), "\n"));
  if (data.ended != "interrupted") return verdict;
  put(2, "tare weigh: interrupted\n");
  return data.launches >= kLeastLaunches ? 0 : 1;
}

int do_all(const std::vector<std::string>& args) {
  if (!args.empty() && args[0] == "pidspace") return weigh_pidspace({args.begin() + 1, args.end()});
  Options options = parse_options(args);
  if (options.help) {
    put(1, help_text());
    return 0;
  }
  if (options.version) {
    put(1, cat("tare-weigh ", TARE_VERSION, "\n"));
    return 0;
  }
  if (!options.analyse.empty()) {
    std::vector<Dataset> files;
    for (const std::string& path : options.analyse) {
      files.push_back(with_intent(path, [&] { return parse_samples(sys::read_file(path, kMostSamples)); }));
    }
    return write_report(options, std::move(files));
  }
  return weigh(options);
}

}  // namespace
}  // namespace tare::lab

int main(int argc, char** argv) {
  try {
    return tare::lab::do_all({argv + 1, argv + argc});
  } catch (const tare::Error& error) {
    tare::lab::put(2, tare::cat("tare weigh: ", error.text(), "\n"));
    if (!error.hint().empty()) tare::lab::put(2, tare::cat("  ", error.hint(), "\n"));
  } catch (const std::exception& error) {
    tare::lab::put(2, tare::cat("tare weigh: bug: ", error.what(), "\n"));
  }
  return tare::lab::kOwnFailure;
}
