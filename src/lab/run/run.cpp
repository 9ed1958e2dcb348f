#include "lab/run/run.hpp"

#include <time.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.hpp"
#include "base/text.hpp"
#include "host/host.hpp"
#include "lab/design/allocation.hpp"
#include "lab/design/schedule.hpp"
#include "lab/model/file.hpp"
#include "lab/observe/machine.hpp"
#include "lab/observe/trace.hpp"
#include "lab/place/measuring_cgroup.hpp"
#include "lab/report/report.hpp"
#include "lab/run/session.hpp"
#include "lab/stats/analysis.hpp"

namespace tare::lab {

namespace {

std::int64_t now_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

// The whole of a run, so that its steps can be read one after the other in `run` below.
class Runner {
 public:
  Runner(Dataset& data, const RunOptions& options)
      : data_(data),
        experiment_(data.experiment),
        options_(options),
        begin_(now_ns() - (data.samples.empty() ? 0 : data.samples.back().at_ns)),
        first_(data.launches),
        known_absences_(data.absences.size()),
        cgroup_(host::cgroups()),
        watcher_(cgroup_),
        launcher_(cgroup_, experiment_.directory),
        allocation_(experiment_.workloads.size()) {}

  void choose_cpu();
  void warn_of_the_machine();
  void rehearse();  // which places start, which workloads they can do, how long it all takes
  void check_time();
  void write_head();
  void trace();  // which layers each work enters; never timed
  void weigh();
  void finish(const char* how);

 private:
  void calibrate(Session& session, int reference, std::size_t workload);
  void find_warm_up(Session& session, int fresh, std::size_t workload);
  void note_conditions(int number);
  nlohmann::ordered_json look_at(Session& session, int place);
  void launch(int number, const std::vector<bool>& active);
  void drop(int place, int workload, std::string reason);
  bool absent(int place, int workload) const;
  bool enough(int launches, const std::vector<double>& widths) const;
  void report(const char* phase, int launch) const;
  std::int64_t spent() const { return now_ns() - begin_; }

  Dataset& data_;
  Experiment& experiment_;
  const RunOptions& options_;
  std::int64_t begin_;  // less what earlier parts of the run took
  int first_;           // launch of this part
  std::size_t known_absences_;
  MeasuringCgroup cgroup_;
  Watcher watcher_;
  Launcher launcher_;
  std::vector<std::int64_t> batch_ns_;  // by workload, as calibrated: longer than wanted for slow commands
  Allocation allocation_;
  std::int64_t start_ns_ = 0;  // one place's start and end
  double half_width_ = 0;
};

void Runner::choose_cpu() {
  const std::vector<int> cpus = allowed_cpus();
  if (experiment_.cpu < 0) experiment_.cpu = cpus.back();  // the first ones get most interrupts
  if (std::find(cpus.begin(), cpus.end(), experiment_.cpu) == cpus.end()) {
    throw Error(ErrorKind::usage, cat("CPU ", experiment_.cpu, " is not among those allowed"));
  }
  pin_away_from(0, experiment_.cpu);
}

void Runner::warn_of_the_machine() {
  if (first_ > 0) return;  // they are in the file
  if (cgroup_.directories().empty()) {
    data_.warnings.emplace_back(
        "no cgroup could be made: the places share that of tare weigh, without a weight of their own");
  }
  if (allowed_cpus().size() == 1 && allowed_cpus().front() == experiment_.cpu) {
    data_.warnings.emplace_back("only one CPU: the workers share it with tare weigh itself");
  }
}

void Runner::drop(int place, int workload, std::string reason) {
  const Place& p = experiment_.places[static_cast<std::size_t>(place)];
  if (p.role != Role::subject && workload >= 0 && experiment_.workloads.size() > 1) {
    // One of several that can't be done on this machine (ps is not installed): the others are weighed.
    for (std::size_t i = 0; i < experiment_.places.size(); ++i) {
      if (!absent(static_cast<int>(i), workload)) {
        data_.absences.push_back({static_cast<int>(i), workload, cat(p.name, ": ", reason)});
      }
    }
    return;
  }
  if (p.role != Role::subject) {  // without the reference there is nothing to say
    const std::string what =
        workload < 0 ? p.name : cat(experiment_.workloads[static_cast<std::size_t>(workload)].name, " in ", p.name);
    throw Error(ErrorKind::child, cat(what, ": ", reason));
  }
  if (!absent(place, workload)) data_.absences.push_back({place, workload, std::move(reason)});
}

bool Runner::absent(int place, int workload) const {
  return std::any_of(data_.absences.begin(), data_.absences.end(),
                     [&](const Absence& a) { return a.place == place && (a.workload < 0 || a.workload == workload); });
}

void Runner::calibrate(Session& session, int reference, std::size_t workload) {
  Workload& w = experiment_.workloads[workload];
  std::int64_t count = w.count > 0 ? w.count : 1;
  double operation = 0;
  for (;;) {
    const RunResult r = session.work(reference, static_cast<int>(workload), count);
    operation = static_cast<double>(r.wall_ns) / static_cast<double>(r.count);
    if (w.count > 0 || r.wall_ns >= experiment_.batch_ns / 2) break;
    count = std::max(count * 2, batch_count(experiment_.batch_ns * 3 / 4, operation));
  }
  if (w.count == 0) w.count = batch_count(experiment_.batch_ns, operation);
  batch_ns_[workload] = static_cast<std::int64_t>(operation * static_cast<double>(w.count));
}

// From the first batches of a worker that has done nothing yet: short ones, so that it is seen where it ends.
void Runner::find_warm_up(Session& session, int fresh, std::size_t workload) {
  constexpr int kShort = 24;
  Workload& w = experiment_.workloads[workload];
  if (w.warm_up > 0) return;
  const std::int64_t part = std::max<std::int64_t>(1, w.count / 8);
  w.warm_up = 2 * part;
  // A slow command has no time for it.
  if (batch_ns_[workload] / w.count * part * kShort > experiment_.time_ns / 100) return;
  std::vector<double> times;
  for (int i = 0; i < kShort; ++i) {
    const RunResult r = session.work(fresh, static_cast<int>(workload), part);
    times.push_back(static_cast<double>(r.wall_ns) / static_cast<double>(r.count));
  }
  w.warm_up = std::max<std::int64_t>(2, warm_up_batches(times)) * part;
}

void Runner::rehearse() {
  report("calibrating", 0);
  batch_ns_.assign(experiment_.workloads.size(), 0);
  const std::int64_t before = now_ns();
  std::int64_t working = 0;
  Session session(experiment_, launcher_, cgroup_, options_.stop_fd);
  int started = 0;
  for (std::size_t i = 0; i < experiment_.places.size(); ++i) {
    const int place = static_cast<int>(i);
    std::string hello;
    try {
      hello = session.start(place);
      ++started;
    } catch (const Error& error) {
      drop(place, -1, error.text());
      continue;
    }
    const std::int64_t work_begin = now_ns();
    for (std::size_t w = 0; w < experiment_.workloads.size(); ++w) {
      if (absent(place, static_cast<int>(w))) continue;
      try {
        if (experiment_.places[i].role == Role::reference) {
          calibrate(session, place, w);
        } else if (experiment_.places[i].role == Role::control) {
          find_warm_up(session, place, w);
        } else {
          (void)session.work(place, static_cast<int>(w), 1);
        }
      } catch (const Error& error) {
        drop(place, static_cast<int>(w), error.text());
        if (!error.text().starts_with("the worker")) continue;
        break;
      }
    }
    working += now_ns() - work_begin;
    if (experiment_.places[i].role == Role::reference) check_time();  // before more time is spent in vain
  }
  session.end();
  start_ns_ = (now_ns() - before - working) / std::max(1, started);
}

// A slow command gets fewer rounds before it gets fewer launches.
void Runner::check_time() {
  const std::int64_t left = experiment_.time_ns - spent();
  while (experiment_.rounds > 2 && budget(experiment_, start_ns_, batch_ns_).least_ns > left) experiment_.rounds -= 2;
  const Budget need = budget(experiment_, start_ns_, batch_ns_);
  if (need.least_ns <= left) return;
  throw Error(ErrorKind::usage,
              cat("the time is too short: six launches of two rounds, the least that give an interval, take ",
                  duration(static_cast<double>(need.least_ns + spent()))))
      .hint("give more --time, or fewer --places or --workloads");
}

void Runner::write_head() {
  check_time();
  if (options_.sink == nullptr) return;
  options_.sink->append(first_ > 0 ? continued_line(first_, now_text()) : run_line(data_, now_text()));
  if (first_ == 0) {
    for (const std::string& warning : data_.warnings) options_.sink->append(warning_line(warning));
  }
  for (std::size_t i = known_absences_; i < data_.absences.size(); ++i) {
    options_.sink->append(absence_line(experiment_, data_.absences[i]));
  }
}

// One session of its own. Where it would take more than a twelfth of the time, the rest stays unknown.
void Runner::trace() {
  if (!options_.evidence || first_ > 0) return;
  std::optional<Tracer> tracer;
  std::string incomplete;
  try {
    tracer.emplace(experiment_.cpu);
  } catch (const Error& error) {
    incomplete = cat("no evidence of what the work enters: ", error.text());
  }
  Session session(experiment_, launcher_, cgroup_, options_.stop_fd);
  const std::int64_t until = now_ns() + experiment_.time_ns / 12;
  for (std::size_t i = 0; tracer && i < experiment_.places.size(); ++i) {
    const int place = static_cast<int>(i);
    const std::string layer(layer_of(experiment_.places[i]));
    if (find_layer(layer) == nullptr || absent(place, -1)) continue;
    if (now_ns() > until) {
      incomplete = cat("no time for the evidence of what the work enters, from ", layer, " on");
      break;
    }
    report("tracing", 0);
    session.start(place);
    tracer->watch(session.worker(place).pid(), layer);
    for (std::size_t w = 0; w < experiment_.workloads.size(); ++w) {
      const Workload& workload = experiment_.workloads[w];
      if (absent(place, static_cast<int>(w)) || workload.per_second || now_ns() > until) continue;
      const auto work = [&](std::int64_t n) { (void)session.work(place, static_cast<int>(w), n); };
      const double operation = static_cast<double>(batch_ns_[w]) / static_cast<double>(workload.count);
      try {
        for (Evidence& seen : tracer->trace({static_cast<int>(w), work, workload.count, operation})) {
          if (options_.sink != nullptr) options_.sink->append(evidence_line(experiment_, seen));
          data_.evidence.push_back(std::move(seen));
        }
      } catch (const Error& error) {
        if (error.text().starts_with("the worker")) throw;
        incomplete = cat("evidence of what ", workload.name, " enters in ", layer, ": ", error.text());
      }
    }
  }
  session.end();
  if (incomplete.empty()) return;
  data_.warnings.push_back(incomplete);
  if (options_.sink != nullptr) options_.sink->append(warning_line(incomplete));
}

nlohmann::ordered_json Runner::look_at(Session& session, int place) {
  nlohmann::ordered_json seen = nlohmann::ordered_json::parse(process_description(session.worker(place).pid()));
  data_.speculation.push_back(
      {place, seen.value("Speculation_Store_Bypass", ""), seen.value("SpeculationIndirectBranch", "")});
  return seen;
}

void Runner::note_conditions(int number) {
  data_.conditions.push_back(conditions(number, spent()));
  if (options_.sink != nullptr && !options_.sink->empty())
    options_.sink->append(conditions_line(data_.conditions.back()));
}

void Runner::launch(int number, const std::vector<bool>& active) {
  note_conditions(number);
  const LaunchSchedule order = schedule(experiment_, number);
  Session session(experiment_, launcher_, cgroup_, options_.stop_fd);
  for (const int place : order.start_order) {
    if (absent(place, -1)) continue;
    const std::string hello = session.start(place);
    if (options_.sink != nullptr) {
      // Once in full; later launches differ in their pids only.
      nlohmann::ordered_json line{{"record", "worker"},
                                  {"launch", number},
                                  {"place", experiment_.places[static_cast<std::size_t>(place)].name},
                                  {"says", hello}};
      if (number == first_) line["seen"] = look_at(session, place);
      options_.sink->append(line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
    }
  }
  // Warm-up: the first faults and cold caches of each worker.
  for (const int place : order.start_order) {
    for (std::size_t w = 0; w < experiment_.workloads.size(); ++w) {
      if (!active[w] || absent(place, static_cast<int>(w))) continue;
      (void)session.work(place, static_cast<int>(w), experiment_.workloads[w].warm_up);
    }
  }
  int position = 0;
  for (const Slot& slot : order.slots) {
    if (!active[static_cast<std::size_t>(slot.workload)] || absent(slot.place, slot.workload)) continue;
    const std::int64_t count = experiment_.workloads[static_cast<std::size_t>(slot.workload)].count;
    Reading seen;
    const RunResult r = session.work(slot.place, slot.workload, count, seen);
    if (!slot.counted) continue;
    const Sample sample{number,      slot.round,      position++,        slot.place,  slot.workload, r.count,
                        r.wall_ns,   r.cpu_ns,        r.faults,          r.voluntary, r.involuntary, spent(),
                        seen.cpu_ns, seen.peak_bytes, seen.instructions, seen.cycles};
    data_.samples.push_back(sample);
    if (options_.sink != nullptr) options_.sink->append(sample_line(experiment_, sample));
  }
  session.end();
  data_.launches = number + 1;
  if (options_.sink != nullptr) options_.sink->append(launch_end_line(number));
}

// With --precision: every interval is narrow enough, looked at after each launch from the twelfth on. The
// widths alone decide, never the estimates.
bool Runner::enough(int launches, const std::vector<double>& widths) const {
  if (experiment_.precision <= 0 || launches < kFirstLook) return false;
  return std::all_of(widths.begin(), widths.end(), [&](double w) { return w <= experiment_.precision; });
}

void Runner::report(const char* phase, int launch) const {
  if (options_.progress) options_.progress({phase, launch, spent(), experiment_.time_ns, half_width_});
}

void Runner::weigh() {
  std::int64_t longest = 0;
  const std::vector<bool> all(experiment_.workloads.size(), true);
  for (int number = first_;; ++number) {
    // The clock decides, not the data; the first six are done in any case.
    if (number >= kLeastLaunches && spent() + longest > experiment_.time_ns) return finish("time");
    std::vector<double> widths;
    if (number >= kLeastLaunches) {
      widths = half_widths(data_);
      half_width_ = 0;
      for (const double width : widths) half_width_ = std::max(half_width_, std::isnan(width) ? 0 : width);
    }
    if (number > first_ && enough(number, widths)) return finish("precision");
    report("weighing", number);
    const std::int64_t before = now_ns();
    launch(number, number < kFirstLook ? all : allocation_.next(widths));
    longest = std::max(longest, now_ns() - before);
  }
}

void Runner::finish(const char* how) {
  note_conditions(data_.launches);
  data_.ended = how;
  if (options_.sink != nullptr && !options_.sink->empty()) options_.sink->append(end_line(how));
}

}  // namespace

void run(Dataset& dataset, const RunOptions& options) {
  Runner runner(dataset, options);
  runner.choose_cpu();
  runner.warn_of_the_machine();
  try {
    runner.rehearse();
    runner.write_head();
    runner.trace();
    runner.weigh();
  } catch (const Interrupted&) {
    runner.finish("interrupted");
  }
}

}  // namespace tare::lab
