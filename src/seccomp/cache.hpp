// Compiled filters, kept in a folder by their content.
//
// For: every start of a container: libseccomp takes 3 to 25 ms for an engine's profile, a hit here
// four system calls (openat, fstat, read, close).
// A file is believed only where it is a regular file of our own euid that nobody else may read or
// write, of this format, whole (checksum), and holds exactly the input asked for: profile,
// libseccomp's version, kCompileRevision and machine. All others are compiled afresh and rewritten.
// Errors: only those of compile(); a folder that can't be written costs time, never a start.
#pragma once

#include <string>

#include "oci/spec.hpp"
#include "seccomp/compile.hpp"

namespace tare::seccomp {

// The newest entries that stay; the oldest above it are removed when one is added.
inline constexpr std::size_t kCacheEntries = 64;

// folder is made (0700) on the first miss; its parent must exist. `hit` tells what happened, for tests and timings.
Filter compile_cached(const oci::Seccomp& profile, const std::string& folder, bool* hit = nullptr);

}  // namespace tare::seccomp
