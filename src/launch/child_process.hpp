// child: processes that the child itself starts: hooks inside the container, and the program under an
// init of ours.
#pragma once

#include "launch/child.hpp"

namespace tare::launch {

// createContainer and startContainer. The hook gets a session of its own; at the timeout its whole
// process group is killed, and nothing waits for a pipe that a grandchild holds.
isolate::Fault run_hook(ChildContext& c, const plan::HookOp& op) noexcept;

// The calling process becomes an init: it starts the program, reaps whatever ends, passes signals on,
// and exits as the program did. Returns only where the program could not be executed.
isolate::Fault run_as_init(ChildContext& c, const plan::ProgramOp& op) noexcept;

}  // namespace tare::launch
