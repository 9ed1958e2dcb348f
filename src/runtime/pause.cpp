#include "base/error.hpp"
#include "base/text.hpp"
#include "runtime/container.hpp"

namespace tare::runtime {

void pause(const Context& context, const std::string& id) {
  with_intent(cat("pause ", id), [&] {
    const Found found = find(context, id, true);
    const auto status = found.status();
    if (status != Status::running && status != Status::created)
      throw Error(ErrorKind::conflict, cat("container not running: it is ", status_name(status)));
    held_cgroups(found).use([](const cgroup::Location& cgroups) { cgroup::freeze(cgroups); });
  });
}

}  // namespace tare::runtime
