// Hooks that run in the runtime's own namespaces: prestart, createRuntime, poststart, poststop.
// Source: runtime-spec, config.md "POSIX-platform Hooks".
#pragma once

#include <string>
#include <string_view>

#include "oci/spec.hpp"

namespace tare::launch {

// stdin is the state, the environment exactly the hook's, the working directory the bundle. A hook that
// fails throws: its path, how it ended, and the end of what it wrote to stderr. At the timeout its
// whole process group is killed; a pipe that a grandchild holds is not waited for.
// `field` is where it stands: "hooks.poststart[0]".
void run_hook(const oci::Hook& hook, std::string_view state_json, const std::string& bundle, const std::string& field);

}  // namespace tare::launch
