// The default container as another program starts it: crun, runc, bubblewrap, unshare, podman. Inside lab/place only.
//
// Each runs in a mount namespace of its own, with an overlay on the host's root in the folder `scratch`, and there the
// file cgroup.controllers of a hybrid layout's cgroup2 is hidden, without which Debian's crun refuses to start. crun
// and runc get the very spec of the default container; bwrap and podman what their options can say of it (namespaces,
// root, /proc, /dev, the tmpfs mounts, capabilities, no_new_privs and, bwrap, the same filter); unshare the namespaces
// alone. The cgroup and its limits are the place's own, made by the laboratory. Errors: not_found where the program is
// not installed; child, with what the program says.
#pragma once

#include <string>

#include "cgroup/cgroup.hpp"
#include "oci/spec.hpp"
#include "seccomp/compile.hpp"
#include "sys/child.hpp"

namespace tare::lab {

struct ForeignLaunch {
  std::string program;
  const oci::Spec& spec;
  const seccomp::Filter& filter;
  const cgroup::Location& location;
  std::string scratch;
  std::string directory;
};

struct Foreign {
  sys::Child child;  // the program itself
  sys::Fd log;       // what it has to say
};

// The worker's descriptors are inherited as they lie. `not_theirs` is closed there.
Foreign start_foreign_program(const ForeignLaunch& launch, int not_theirs);
// Waits until the worker answers, and learns from the socket who it is.
pid_t worker_of(sys::Child& child, const sys::Fd& socket, const std::string& program, const sys::Fd& log);

}  // namespace tare::lab
