// What machine this is, for the first line of the sample file; and what the kernel says of a worker.
//
// Read only, from /proc and /sys; what can't be read is left out, never guessed. Both give JSON text.
// Sources: proc(5), sysfs-devices-system-cpu, Documentation/admin-guide/hw-vuln.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace tare::lab {

// Kernel, processor, mitigations, frequency governor, clock source, load, command line, memory.
std::string machine_description();

// From outside, so it is seen alike in every place: namespaces (by inode), cgroups, seccomp mode,
// Speculation_*, capabilities, limits, CPUs allowed, number of open descriptors.
std::string process_description(pid_t pid);

// What disturbs a run: load average of the last minute, and stolen time since boot in clock ticks.
struct Disturbance {
  double load = 0;
  std::int64_t stolen_ticks = 0;
  std::int64_t all_ticks = 0;
};
Disturbance disturbance();

// The CPUs this process may run on, ascending.
std::vector<int> allowed_cpus();
// Keeps the process on one CPU, or on all but that one where there is another. Throws kernel.
void pin(pid_t pid, int cpu);
void pin_away_from(pid_t pid, int cpu);

}  // namespace tare::lab
