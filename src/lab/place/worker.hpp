// A worker that runs: the laboratory's end of lab/work/protocol.hpp.
//
// Errors: kind child where the worker died or the workload failed (with the step's name and why);
// Interrupted where the descriptor `stop` became readable while it waited.
#pragma once

#include <string>
#include <vector>

#include "lab/place/launcher.hpp"
#include "lab/work/protocol.hpp"

namespace tare::lab {

struct Interrupted {};

class Worker {
 public:
  Worker(Launched launched, int stop) : launched_(std::move(launched)), stop_(stop) {}
  pid_t pid() const { return launched_.pid(); }

  std::string hello();  // "pid=1 uid=0 ...", checked for the protocol's version
  // The workload of that name is this program from now on; a worker takes eight of them.
  void set_command(const std::string& directory, const std::vector<std::string>& argv,
                   const std::string& workload = "command");
  // /bin/sh -c TEXT in the place, waited for and not measured; it must end with status 0.
  void shell(const std::string& directory, const std::string& text);
  // time_ns > 0: as much as gets done in that time, `count` operations at most; the result says how many.
  RunResult run(const std::string& workload, std::int64_t count, std::int64_t delay, std::int64_t time_ns = 0);
  void wait_in_any_case() { stop_ = -1; }    // from now on; for what must be done at the end
  bool ended() const { return pid() <= 0; }  // died while it was asked something
  void bye();                                // and waits for its end

 private:
  std::string ask(std::string_view message);
  Launched launched_;
  int stop_;
};

}  // namespace tare::lab
