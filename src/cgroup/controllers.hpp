// cgroup2's controllers, enabled from the top down to a cgroup's parent.
//
// For: create(). A cgroup has a controller's files if its parent names it in cgroup.subtree_control.
// Source: Documentation/admin-guide/cgroup-v2.rst, "Controlling Controllers".
#pragma once

#include "cgroup/cgroup.hpp"

namespace tare::cgroup {

// Makes entry.controllers available in the entry's cgroup; throws unsupported, naming what is in the
// way, where that can't be. `all`: also those of the usual ones that can be had, since statistics need them.
// Parents stay as they are afterwards: others may have come to rely on it.
void enable_controllers(const Entry& entry, bool all);

}  // namespace tare::cgroup
