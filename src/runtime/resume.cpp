#include "base/error.hpp"
#include "base/text.hpp"
#include "runtime/container.hpp"

namespace tare::runtime {

void resume(const Context& context, const std::string& id) {
  with_intent(cat("resume ", id), [&] {
    const Found found = find(context, id, true);
    const auto status = found.status();
    if (status != Status::paused)
      throw Error(ErrorKind::conflict, cat("container not paused: it is ", status_name(status)));
    // Wherever its first process is by now: nothing but a thaw lets it go on.
    cgroup::thaw(found.record->cgroups);
  });
}

}  // namespace tare::runtime
