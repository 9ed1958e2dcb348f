// The system calls that a program in `tare box` may use.
//
// An allow-list: what isn't named here fails with EPERM where it exists to look over or change the
// machine, and with ENOSYS elsewhere, so that programs fall back as on an older kernel.
// Not for: containers with a config.json; they get exactly what it says.
#pragma once

#include <cstdint>

#include "oci/spec.hpp"

namespace tare::seccomp {

// capabilities: bit n stands for capability n, as in oci::Capabilities (the bounding set is meant).
oci::Seccomp default_profile(std::uint64_t capabilities);

}  // namespace tare::seccomp
