// Namespaces within each other, each held by a process that lives: what a place at some depth is born in.
// Inside lab/place only.
//
// Level 0 is a process without namespaces of its own; level n lives in a new one right below that of level n-1. How
// many forks lie between the laboratory and a level doesn't hang on its depth:
//   user   one more than bare's: a process joins the namespace above (launch's first stage) and clones the level's
//   pid    two more: a process joins (setns(2), which counts for children), its child is in there and launches. A pid
//          namespace can only be made by a process inside the one above (copy_pid_ns).
// All depths of a launch share the levels that they have in common.
// Errors: as launch::start.
#pragma once

#include <string>
#include <vector>

#include "lab/place/launcher.hpp"

namespace tare::lab {

class Chain {
 public:
  // kind: "pid" or "user"
  Chain(Launcher& launcher, std::string kind);
  ~Chain();
  Chain(const Chain&) = delete;
  Chain& operator=(const Chain&) = delete;

  // A pidfd of the process at that level, which is started where it isn't there yet.
  const sys::Fd& level(int n);
  // A process that is born with a new namespace below that level's.
  Launched start_below(int n, const Place& place, const cgroup::Location& location);

 private:
  void keep(Launched level);
  Launcher& launcher_;
  std::string kind_, cgroup_;
  cgroup::Location location_;
  std::vector<Launched> levels_;
  std::vector<sys::Fd> pidfds_;
};

}  // namespace tare::lab
