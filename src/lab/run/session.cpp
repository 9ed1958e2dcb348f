#include "lab/run/session.hpp"

#include <utility>

#include "base/error.hpp"
#include "base/text.hpp"
#include "lab/observe/machine.hpp"
#include "lab/place/measuring_cgroup.hpp"

namespace tare::lab {

namespace {
std::string directory_of(int place) { return cat("place", place); }
}  // namespace

Session::Session(const Experiment& experiment, Launcher& launcher, MeasuringCgroup& cgroup, int stop)
    : experiment_(experiment),
      launcher_(launcher),
      cgroup_(cgroup),
      stop_(stop),
      workers_(experiment.places.size()),
      meters_(experiment.places.size()),
      bundles_(experiment.places.size()),
      set_up_(experiment.places.size(), std::vector<SetUp>(experiment.workloads.size(), SetUp::none)) {}

Session::~Session() {
  try {
    end();
  } catch (const Error&) {  // MeasuringCgroup ends what is left
  }
}

std::string Session::start(int place) {
  const auto index = static_cast<std::size_t>(place);
  Worker worker(launcher_.start(experiment_.places[index], directory_of(place)), stop_);
  std::string hello = worker.hello();
  if (experiment_.cpu >= 0) pin(worker.pid(), experiment_.cpu);
  set_commands(worker, place);
  std::vector<std::string> directories;
  for (const std::string& directory : cgroup_.directories()) {
    directories.push_back(cat(directory, "/", directory_of(place)));
  }
  meters_[index].emplace(worker.pid(), directories);
  workers_[index].emplace(std::move(worker));
  return hello;
}

void Session::set_commands(Worker& worker, int place) {
  std::optional<Bundle>& bundle = bundles_[static_cast<std::size_t>(place)];
  for (const Workload& workload : experiment_.workloads) {
    if (workload.command.empty()) continue;
    const bool ours = workload.command[0] == "{tare}";
    if (ours && !bundle) {
      bundle = make_bundle(cgroup_.scratch(), directory_of(place), cgroup_.path_below(directory_of(place)));
    }
    worker.set_command(experiment_.directory, ours ? put_in(workload.command, *bundle) : workload.command,
                       workload.name);
  }
}

void Session::shell(int place, const char* what, const std::vector<std::string>& commands) {
  for (const std::string& command : commands) {
    try {
      const std::optional<Bundle>& bundle = bundles_[static_cast<std::size_t>(place)];
      worker(place).shell(experiment_.directory, bundle ? put_in(command, *bundle) : command);
    } catch (Error& error) {
      if (!error.text().starts_with("the worker")) error.in_front(cat(what, " ", tare::quoted(command)));
      throw;
    }
  }
}

RunResult Session::work(int place, int workload, std::int64_t count) {
  const Place& p = experiment_.places[static_cast<std::size_t>(place)];
  const auto index = static_cast<std::size_t>(workload);
  const Workload& w = experiment_.workloads[index];
  SetUp& set_up = set_up_[static_cast<std::size_t>(place)][index];
  if (set_up == SetUp::none) {
    set_up = SetUp::half;
    shell(place, "setup", w.setup);
    set_up = SetUp::whole;
  }
  shell(place, "prepare", w.prepare);
  if (w.per_second) return worker(place).run(w.name, INT64_MAX, p.delay, experiment_.batch_ns);
  return worker(place).run(w.name, count, p.delay);
}

RunResult Session::work(int place, int workload, std::int64_t count, Reading& seen) {
  const Meter& meter = *meters_[static_cast<std::size_t>(place)];
  const Reading before = meter.read();
  RunResult result = work(place, workload, count);
  seen = difference(before, meter.read());
  return result;
}

void Session::clean_up(int place) {
  std::vector<SetUp>& set_up = set_up_[static_cast<std::size_t>(place)];
  for (std::size_t i = 0; i < set_up.size(); ++i) {
    const SetUp was = std::exchange(set_up[i], SetUp::none);
    if (was == SetUp::none || experiment_.workloads[i].cleanup.empty()) continue;
    worker(place).wait_in_any_case();  // a run that is interrupted cleans up too
    try {
      shell(place, "cleanup", experiment_.workloads[i].cleanup);
    } catch (const Error&) {
      if (was == SetUp::whole) throw;  // after half a setup it may well fail
    }
  }
}

void Session::end() {
  std::optional<Error> first;
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    if (!workers_[i]) continue;
    const int place = static_cast<int>(i);
    try {
      if (!workers_[i]->ended()) clean_up(place);
    } catch (const Error& error) {
      if (!first) first = error;
    }
    workers_[i]->bye();
    workers_[i].reset();
    meters_[i].reset();
    cgroup_.remove_place(directory_of(place));
  }
  if (first) throw Error(*first);
}

}  // namespace tare::lab
