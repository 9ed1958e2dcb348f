// Calls newer than a profile return ENOSYS instead of its default action.
//
// For: programs (and libcs) that try a new call and fall back on ENOSYS, but give up on EPERM. A
// call whose number lies above the highest one that the profile names for its architecture can't
// have been known to the profile's author. runc does the same, and images rely on it.
#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <vector>

#include "oci/spec.hpp"

namespace tare::seccomp {

// Puts the checks in front of a program made by libseccomp for these architectures (SCMP_ARCH_*
// values). Nothing is added where the default action lets calls through (ALLOW, LOG, and TRACE,
// whose tracer decides) or is ENOSYS already.
void prepend_enosys(std::vector<sock_filter>& program, const oci::Seccomp& profile,
                    const std::vector<std::uint32_t>& architectures);

}  // namespace tare::seccomp
