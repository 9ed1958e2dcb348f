// A launch with more forks behind it: a chain of processes, each the child of the one before, the last of which
// launches. All stay until the worker ends. Inside lab/place only.
#pragma once

#include <functional>

#include "sys/child.hpp"

namespace tare::lab {

struct Forked {
  sys::Child first;  // ends when the worker does
  pid_t worker = 0;
};

// `start` is called in the last of `forks` processes and gives the child that it started; what it throws is thrown
// here. `not_theirs`: a descriptor that is ours alone. `enter`, where set, is called in the first before it forks:
// where it joins a pid namespace, `worker` is the pid in there.
Forked start_forked(int forks, int not_theirs, const std::function<sys::Child()>& start,
                    const std::function<void()>& enter);

}  // namespace tare::lab
