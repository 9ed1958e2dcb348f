// A program in namespaces of a process that runs already.
//
// For: `tare enter`. Not for: a container's exec, which gets the container's limits, filters and capabilities too.
// Everything of the target is opened before anything is entered. The namespaces are entered by one setns(2) with its
// pidfd, which the kernel does in the order that works or not at all; this process itself is in them afterwards.
// Errors: not_found where the process is gone, kernel with what was refused and a hint why.
// Sources: setns(2), namespaces(7), pid_namespaces(7), user_namespaces(7).
#pragma once

#include <string>
#include <vector>

#include "cgroup/cgroup.hpp"
#include "facts/facts.hpp"
#include "sys/child.hpp"

namespace tare::launch {

struct EnterRequest {
  pid_t pid = 0;
  int kinds = 0;             // CLONE_NEW*; those that are ours already are left out
  bool root = false;         // the target's root; always with its mount namespace
  bool cwd = false;          // its working directory, instead of "/"
  bool environment = false;  // its environment, instead of ours
  bool join_cgroup = false;
  bool keep_ids = false;  // with a user namespace: do not become its root
  bool fit_proc = true;   // where /proc is not that of the pid namespace entered: one that is, seen by us alone
  std::vector<std::string> args;
};

struct Entered {
  sys::Child child;
  std::vector<std::string> warnings;
};

Entered enter(const EnterRequest& request, const facts::Cgroups& cgroups);

// Why a namespace could not be entered, in words: for tests. `flag`: CLONE_NEW*.
std::string why_not(int flag, int errno_value, bool owner_is_another, bool enters_user);

}  // namespace tare::launch
