// Does an experiment: starts the places, lets them work slot by slot, writes each sample down.
//
// Prints nothing: progress goes to the caller. Everything it starts is gone when it returns or
// throws; the watcher sees to it where the process is killed.
#pragma once

#include <functional>
#include <string>

#include "lab/model/model.hpp"
#include "lab/run/sink.hpp"

namespace tare::lab {

struct Progress {
  std::string phase;          // "calibrating", "tracing", "weighing"
  int launch = 0;             // that is being worked on
  std::int64_t spent_ns = 0;  // since the start
  std::int64_t time_ns = 0;   // in all
  double half_width = 0;      // the widest half-width so far, log units; 0: none yet
};

struct RunOptions {
  Sink* sink = nullptr;
  bool evidence = false;  // traced runs first: which layers does each work enter
  int stop_fd = -1;       // readable: end early and keep what is there
  std::function<void(const Progress&)> progress;
};

// `dataset` has the experiment (counts of 0 are calibrated), the machine and the version; the rest is
// filled in. A dataset that has launches already is gone on with: the same places and counts, the launches that
// follow, `experiment.time_ns` more. Throws usage where the time is too short for six launches.
void run(Dataset& dataset, const RunOptions& options);

}  // namespace tare::lab
