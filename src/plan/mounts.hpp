// The part of `make` that turns the mounts of a config.json into operations.
#pragma once

#include "plan/plan.hpp"

namespace tare::plan {

// Pushes the mounts in listed order (runtime-spec: "MUST be mounted in the listed order"). Where the
// container has a user namespace, the sources of binds must be opened before the process becomes
// root inside: `open_sources` pushes that part, and gives each bind the slot that `push_mounts` uses.
struct MountSlots {
  std::vector<std::int16_t> of_mount;  // by index of spec.mounts; -1: none
};
MountSlots open_sources(Plan& plan, const oci::Spec& spec, const Options& options);
void push_mounts(Plan& plan, const oci::Spec& spec, const facts::Facts& facts, const Options& options,
                 const MountSlots& slots);
// Mounts that stay writable until everything has been put into them, and then become read-only.
void push_late_read_only(Plan& plan, const oci::Spec& spec);

}  // namespace tare::plan
