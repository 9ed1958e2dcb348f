// linux.seccomp as a program that the kernel takes.
//
// For: turning the profile of a config.json into classic BPF, ahead of the clone; the child only
// hands {flags, program} to seccomp(2). The meaning of every field is runc's, which engines rely on.
// Not for: loading (isolate), or remembering results (cache.hpp).
// Errors: invalid_spec names the field ("linux.seccomp.syscalls[3].action"); unsupported where the
// profile asks for SCMP_ACT_NOTIFY, whose listener tare doesn't serve yet.
// Source: runtime-spec, config-linux.md, "Seccomp"; seccomp(2); seccomp_rule_add(3).
#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <string>
#include <vector>

#include "oci/spec.hpp"

namespace tare::seccomp {

struct Filter {
  std::vector<sock_filter> program;  // empty: every call is allowed anyway, load nothing
  std::uint32_t flags = 0;           // SECCOMP_FILTER_FLAG_* for SECCOMP_SET_MODE_FILTER
  bool operator==(const Filter& other) const;
};

// Raised whenever compile() gives another program for the same profile; cached results of an older
// revision are then ignored.
inline constexpr std::uint32_t kCompileRevision = 1;

Filter compile(const oci::Seccomp& profile);

// "2.5.4": the libseccomp that this binary holds.
std::string libseccomp_version();

// The profile as one canonical text: equal texts, equal programs. Not meant to be read back.
std::string serialise(const oci::Seccomp& profile);

}  // namespace tare::seccomp
