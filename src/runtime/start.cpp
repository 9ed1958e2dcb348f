#include "base/error.hpp"
#include "base/text.hpp"
#include "runtime/container.hpp"
#include "runtime/poststart.hpp"

namespace tare::runtime {

Warnings start(const Context& context, const std::string& id) {
  return with_intent(cat("start ", id), [&] {
    Warnings warnings;
    Found found = find(context, id, true);
    if (found.status() != Status::created)
      throw Error(ErrorKind::conflict, cat("cannot start a container that is ", status_name(found.status())));
    try {
      launch::release(found.slot.folder());
    } catch (const Error&) {
      // The program will never run: what is left is a stopped container.
      found.slot.remove_fifos();
      throw;
    }
    found.slot.remove_fifos();
    try {
      run_poststart(kept_spec(found.slot), *found.record, found.init->pid, warnings);
    } catch (const Error&) {
      // runtime.md: the container is stopped, and lives on for `delete`.
      cgroup::kill_all(found.record->cgroups);
      kill_init(*found.init);
      throw;
    }
    return warnings;
  });
}

}  // namespace tare::runtime
