// The two freezers, each by itself; freeze(), thaw() and kill_all() combine them.
#pragma once

#include <chrono>

#include "cgroup/cgroup.hpp"

namespace tare::cgroup {

const Entry* find_freezer_v1(const Location& location);  // nullptr where there is none

// Writes FROZEN until the state is reached (FREEZING: some process was not caught, it is told again).
// False, thawed again, where the time was not enough; true too where the cgroup is gone.
bool freeze_v1(const Entry& entry, std::chrono::milliseconds most);
bool freeze_v2(const Entry& entry, std::chrono::milliseconds most);
// Gone is fine.
void thaw_v1(const Entry& entry);
void thaw_v2(const Entry& entry);

}  // namespace tare::cgroup
