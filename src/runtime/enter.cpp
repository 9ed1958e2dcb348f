#include "launch/enter.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "host/host.hpp"
#include "runtime/container.hpp"

namespace tare::runtime {

RunResult enter(const launch::EnterRequest& request) {
  return with_intent(cat("enter ", request.pid), [&] {
    RunResult result;
    const facts::Cgroups cgroups = request.join_cgroup ? host::cgroups() : facts::Cgroups{};
    block_signals();
    launch::Entered entered = launch::enter(request, cgroups);
    result.warnings = std::move(entered.warnings);
    result.status = attend(entered.child, sys::Fd(), false);
    return result;
  });
}

}  // namespace tare::runtime
