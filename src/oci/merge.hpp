// Changes of linux.resources, as `update` gets them, and the resources that they change. Pure.
//
// In a change, 0 means "as it is" where engines write it so: limits of memory, shares, quotas, periods, weights. A
// limit of pids and a burst may be 0. Source: runc's update, which docker, podman and containerd speak to.
#pragma once

#include "oci/spec.hpp"

namespace tare::oci {

// The change without what means "as it is"; equal to Resources{} where nothing is left.
Resources given(Resources change);

// What stands in one sum with a given value is given too: swap counts memory in, so either needs the other's old value.
// No limit for memory and no word about swap: then none for swap either.
Resources completed(Resources change, const Resources& before);

// `before` with each given value in place of the old one; devices replace the whole list.
Resources merged(Resources before, const Resources& change);

}  // namespace tare::oci
