// poststart hooks: after the program runs, before `start` or `run -d` returns.
#pragma once

#include "runtime/container.hpp"

namespace tare::runtime {

// A failing hook throws for a config of version 1.3 and later, and is a warning before.
void run_poststart(const oci::Spec& spec, const store::Record& record, pid_t pid, Warnings& warnings);

}  // namespace tare::runtime
