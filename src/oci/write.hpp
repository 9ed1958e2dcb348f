// From the structs to JSON text: config.json and `features`.
//
// For: `tare spec`, `box --print-spec`, `tare features`, the copy of the spec that create keeps.
// parse_spec(write_spec(s)) gives s back, if s is normalized.
#pragma once

#include <cstdint>
#include <string>

#include "oci/spec.hpp"

namespace tare::oci {

// indent: blanks for each level, 0: one line. No line end after it.
std::string write_spec(const Spec& spec, int indent = 2);
std::string write_process(const Process& process, int indent = 2);

// What `tare spec` writes: a shell in ./rootfs, read-only, five namespaces, few capabilities.
// rootless: with a user namespace for the caller's ids, and without what only root can do.
// cgroup_namespace: one more namespace, for machines with cgroup v2 only, as others write it there.
Spec default_spec(bool rootless, std::uint32_t uid = 0, std::uint32_t gid = 0, bool cgroup_namespace = false);

// What `tare features` prints: what was built in, never what this kernel has.
std::string features_json(int indent = 2);

}  // namespace tare::oci
