// One launch: all places started and ready, then worked with, then ended. Inside lab/run only.
#pragma once

#include <optional>
#include <vector>

#include "lab/model/model.hpp"
#include "lab/observe/meter.hpp"
#include "lab/place/bundle.hpp"
#include "lab/place/launcher.hpp"
#include "lab/place/worker.hpp"

namespace tare::lab {

class Session {
 public:
  Session(const Experiment& experiment, Launcher& launcher, MeasuringCgroup& cgroup, int stop);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Starts the place, pins it, tells it the command. Gives what the worker says of itself.
  std::string start(int place);
  bool running(int place) const { return workers_[static_cast<std::size_t>(place)].has_value(); }
  Worker& worker(int place) { return *workers_[static_cast<std::size_t>(place)]; }
  // A batch: of so many operations, or (Workload::per_second) of the experiment's batch time. The workload's
  // setup comes before the first one of a place, its prepare before each; neither is timed.
  RunResult work(int place, int workload, std::int64_t count);
  // The same, and what was seen of it from outside.
  RunResult work(int place, int workload, std::int64_t count, Reading& seen);
  // All of them, and their cgroups, after the cleanup of what was set up. Throws the first cleanup's failure.
  void end();

 private:
  enum class SetUp { none, half, whole };
  void set_commands(Worker& worker, int place);
  void shell(int place, const char* what, const std::vector<std::string>& commands);
  void clean_up(int place);
  const Experiment& experiment_;
  Launcher& launcher_;
  MeasuringCgroup& cgroup_;
  int stop_;
  std::vector<std::optional<Worker>> workers_;
  std::vector<std::optional<Meter>> meters_;
  std::vector<std::optional<Bundle>> bundles_;  // by place: for the workloads that start containers
  std::vector<std::vector<SetUp>> set_up_;      // by place and workload
};

}  // namespace tare::lab
