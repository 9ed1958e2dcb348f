// Whether a place is what it claims, by the kernel's own word from outside. Inside lab/place only.
//
// Looked at in /proc/PID: which namespaces differ from this process's (those of the place and no others), how deep they
// are, the filters, no_new_privs, the bounding set, the root's mount and what is masked, the interfaces, the cgroups
// and their limits. Throws child, with what was expected and what is there. Source: proc(5), ioctl_ns(2).
#pragma once

#include <sys/types.h>

#include "cgroup/cgroup.hpp"
#include "lab/model/model.hpp"
#include "oci/spec.hpp"

namespace tare::lab {

// container: the default container's spec, for places that are or hold something of it.
void verify(const Place& place, pid_t pid, const cgroup::Location& location, const oci::Spec* container);

}  // namespace tare::lab
