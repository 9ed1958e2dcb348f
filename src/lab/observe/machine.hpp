// What machine this is, for the first line of the sample file; and what the kernel says of a worker.
//
// Read only, from /proc and /sys; what can't be read is left out, never guessed. Both give JSON text.
// Sources: proc(5), sysfs-devices-system-cpu, Documentation/admin-guide/hw-vuln.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "lab/model/model.hpp"

namespace tare::lab {

// Kernel, processor, mitigations, frequency governor, clock source, load, command line, memory, NUMA, swap, hypervisor.
std::string machine_description();

// From outside, so it is seen alike in every place: namespaces (by inode), cgroups, seccomp mode,
// Speculation_*, capabilities, limits, CPUs allowed, number of open descriptors.
std::string process_description(pid_t pid);

// How busy the machine is now. The grace period is a membarrier(2) of all CPUs, which waits for one; so this call
// takes some milliseconds. Sources: Documentation/accounting/psi.rst, proc_stat(5), membarrier(2).
Conditions conditions(int launch, std::int64_t at_ns);

// The CPUs this process may run on, ascending.
std::vector<int> allowed_cpus();
// Keeps the process on one CPU, or on all but that one where there is another. Throws kernel.
void pin(pid_t pid, int cpu);
void pin_away_from(pid_t pid, int cpu);

}  // namespace tare::lab
