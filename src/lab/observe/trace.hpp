// Traced runs: does a piece of work enter a layer's code, and how often?
//
// Three kinds of evidence, through perf_event_open(2) on the worker and the children it makes while it is traced:
// counts of system calls by number, counts of tracepoints, and sampled kernel call chains. A traced batch is never
// timed. Two batches are made, one of twice the operations of the other: what the second has more is what the
// operations do, without what every batch has (the message that asked for it, the clock). Errors: unsupported where
// perf events or tracefs are not to be had, with the call that failed. Source: perf_event_open(2),
// Documentation/trace/events.rst.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lab/model/model.hpp"
#include "lab/observe/layers.hpp"
#include "sys/fd.hpp"

namespace tare::lab {

// Of one worker, for one layer. Everything is opened once, since each tracepoint that begins or ends waits for the
// kernel.
class Trace;

class Tracer {
 public:
  // cpu: that all workers are kept on.
  explicit Tracer(int cpu);
  ~Tracer();

  // work(n) does n operations in the worker. operation_ns: what one takes in an untimed run, for rates a second.
  struct Work {
    int workload = 0;
    std::function<void(std::int64_t)> run;
    std::int64_t count = 0;
    double operation_ns = 0;
  };
  // Begins to watch the worker; the one before is let go.
  void watch(pid_t worker, std::string_view layer_name);
  std::vector<Evidence> trace(const Work& work);

 private:
  friend class Trace;
  std::int64_t event_id(const std::string& event);
  const std::string& function_at(std::uint64_t address) const;

  int cpu_;
  sys::Fd tracefs_;
  std::map<std::string, std::int64_t> ids_;  // -1: the kernel has no such event
  std::vector<sys::Fd> held_;                // one of each event, so that it stays switched on
  std::vector<std::pair<std::uint64_t, std::string>> symbols_;
  std::unique_ptr<Trace> trace_;
};

}  // namespace tare::lab
