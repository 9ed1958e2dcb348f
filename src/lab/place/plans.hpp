// A place's plan: what its process does between clone and exec. Inside lab/place only.
//
// Bare is the plan with nothing but what every launch needs; every other place adds operations, and those are the
// runtime's own (plan::Code). The default container's is plan::make's, of the spec that `tare box --print-spec` prints.
// Makes nothing: the cgroup, the network and the processes are the Launcher's.
// Errors: kind kernel, child.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cgroup/cgroup.hpp"
#include "facts/facts.hpp"
#include "lab/model/model.hpp"
#include "oci/spec.hpp"
#include "plan/plan.hpp"
#include "seccomp/compile.hpp"

namespace tare::lab {

// The CLONE_NEW* bit of a namespace's name; throws bug for another word.
std::uint64_t clone_flag(const std::string& name);

// Of all workers. The same for all, and little: the size of this block shifts the worker's stack.
std::vector<std::string> worker_environment();

// Whether the place has an interface of its own beside the loopback.
bool has_interface(const Place& place);

// `rules` comparisons with an argument of calls that the workloads make; all is allowed in the end. Since the answer
// hangs on an argument, the kernel can't give it from its cache of calls that are always allowed
// (seccomp_cache_check_allow).
seccomp::Filter filter_of_rules(std::int64_t rules);

class Plans {
 public:
  // directory: where the workers work; a place with a root of its own gets it by a bind mount, unless it is "/".
  // scratch: an empty folder to mount the layers of a root on.
  Plans(const facts::Facts& facts, std::string directory, std::string scratch);

  // maps_from_outside: a new user namespace waits for hooks (launch::Request::on_hooks) in which its maps are written,
  // since only someone in the namespace above may write them.
  plan::Plan make(const Place& place, const cgroup::Location& location, bool maps_from_outside = false);

  // The default container as `tare box` has it, with tare-work as its program.
  const oci::Spec& container_spec();
  const seccomp::Filter& container_filter();
  // What the place's cgroup is limited to; nothing for most.
  std::optional<oci::Resources> resources(const Place& place);

 private:
  plan::Plan small_plan(const Place& place, const cgroup::Location& location, bool maps_from_outside);
  plan::Plan container_plan(const cgroup::Location& location);
  plan::Plan mounts_plan(const cgroup::Location& location, bool masked);
  void add_root(plan::Plan& plan, const std::string& layer);
  void add_capabilities(plan::Plan& plan);
  void add_filter(plan::Plan& plan, const Place& place);
  void set_program(plan::Plan& plan) const;
  plan::Options options(const cgroup::Location& location) const;
  int identity_namespace();

  const facts::Facts& facts_;
  std::string directory_, scratch_;
  std::vector<std::string> environment_;
  std::optional<oci::Spec> spec_;
  seccomp::Filter filter_;
  sys::Fd identity_;  // a user namespace that maps each id to itself, for idmapped mounts
};

}  // namespace tare::lab
