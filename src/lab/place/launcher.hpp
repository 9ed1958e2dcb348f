// Place -> a running worker, by the very launch that `tare run` uses (launch::start).
//
// tare-work is started by its descriptor with one kept socket, in a cgroup of the place's own below
// the measuring cgroup, with the same environment, working directory, limits, standard streams (to
// /dev/null) and descriptors for every place, and with the same number of forks: one. So two places
// differ only in what their names say. A place with more forks says so (Place::forks) and is compared to one with as
// many. Once it runs, it is looked at from outside (verify.hpp): a place that isn't what it claims is an error. Errors:
// kind kernel or child, with the operation that failed; not_found where a foreign program is not installed.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "facts/facts.hpp"
#include "lab/model/model.hpp"
#include "lab/place/measuring_cgroup.hpp"
#include "lab/place/plans.hpp"
#include "sys/child.hpp"
#include "sys/fd.hpp"

namespace tare::lab {

// Destroyed from below to above: what the worker lives in or beside goes after it.
struct Launched {
  Launched() = default;
  Launched(sys::Child c, sys::Fd s) : child(std::move(c)), socket(std::move(s)) {}
  pid_t pid() const { return worker != 0 ? worker : child.pid(); }

  std::shared_ptr<void> company;   // namespaces above, siblings, the far end of an interface
  std::function<void(bool)> turn;  // to be called with true before the place's work and with false after it, where set
  pid_t worker = 0;                // where it isn't the child itself
  sys::Child child;                // ours to wait for; ends when the worker does
  sys::Fd socket;                  // SOCK_SEQPACKET; lab/work/protocol.hpp
};

// Takes the numbers that workers get their descriptors by (lab/work/protocol.hpp), before anything
// else is opened under them. Call it first of all.
void reserve_descriptors();

// The path of a program of tare's: beside the running one, or where `make install` puts it. Throws not_found.
std::string find_program(const std::string& name);

class Chain;

class Launcher {
 public:
  // directory: where the workers will work; the default container gets it by a bind mount, unless it is "/".
  Launcher(MeasuringCgroup& cgroup, std::string directory);
  // cgroup: the name of the place's own directory below the measuring cgroup.
  Launched start(const Place& place, const std::string& cgroup);

 private:
  friend class Chain;
  // How one launch differs from a plain one.
  struct Extras {
    int join_pidfd = -1;                    // of a running process
    int join_namespaces = 0;                // CLONE_NEW* bits: of it
    std::function<void(pid_t)> on_hooks{};  // the namespaces are there, the program isn't yet
    int far_tcp = -1, far_udp = -1;
    std::function<void()> enter{};  // in the first of `forks` processes between
  };
  cgroup::Location prepare(const Place& place, const std::string& cgroup);
  Launched launch(const plan::Plan& plan, const cgroup::Location& location, const Extras& extras, int forks = 0);
  Launched start_plain(const Place& place, const cgroup::Location& location);
  Launched start_joined(const Place& place, const cgroup::Location& location);
  Launched start_with_interface(const Place& place, const cgroup::Location& location);
  Launched start_siblings(const Place& place, const cgroup::Location& location, const std::string& cgroup);
  Launched start_foreign(const Place& place, const cgroup::Location& location);
  std::shared_ptr<Chain> chain_of(const std::string& name);

  MeasuringCgroup& cgroup_;
  std::string directory_;
  facts::Facts facts_;
  Plans plans_;
  sys::Fd program_;
  sys::Fd null_;
  std::weak_ptr<Chain> pid_chain_, user_chain_;  // as long as a worker lives in them
};

}  // namespace tare::lab
