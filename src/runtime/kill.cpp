#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.hpp"
#include "base/text.hpp"
#include "runtime/container.hpp"
#include "sys/child.hpp"

namespace tare::runtime {
namespace {

// By pidfd, checked after it was opened: a pid alone may be somebody else's by now.
bool send(const store::Init& init, int signal) {
  const sys::Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, init.pid, 0)));
  if (!pidfd || !init.alive()) return false;
  if (::syscall(SYS_pidfd_send_signal, pidfd.get(), signal, nullptr, 0) == 0) return true;
  if (errno == ESRCH) return false;
  throw_errno("pidfd_send_signal", errno);
}

// Waits for the end of a killed process, boundedly.
void wait_for_end(const store::Init& init) {
  const sys::Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, init.pid, 0)));
  if (!pidfd || !init.alive()) return;
  pollfd ended{pidfd.get(), POLLIN, 0};
  if (::poll(&ended, 1, 10'000) == 0)
    throw Error(ErrorKind::conflict, cat("process ", init.pid, " does not end, though it was killed"));
}

// Creation was cut short before a process was recorded: what is in the cgroups may be somebody else's, who
// had them before. A process of ours ends by itself, since its parent has gone.
void remove_unconfirmed(const cgroup::Location& location, Warnings& warnings) {
  try {
    cgroup::remove(location);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::conflict) throw;
    warnings.push_back(cat("left as it is, since it may be somebody else's: ", error.text()));
  }
}

}  // namespace

void kill_init(const store::Init& init) {
  send(init, SIGKILL);
  wait_for_end(init);
}

void kill(const Context& context, const std::string& id, int signal, bool all) {
  with_intent(cat("kill ", id), [&] {
    const Found found = find(context, id, false);
    if (all && found.record) {
      // What is stopped already has nobody to get it, which is what was wanted.
      cgroup::signal_all(found.record->cgroups, signal);
      // One that has no cgroups.
      if (found.alive && found.record->cgroups.entries.empty()) send(*found.init, signal);
      return;
    }
    // Engines compare these words.
    if (!found.alive || !send(*found.init, signal)) throw Error(ErrorKind::conflict, "container not running");
    // A frozen process takes a signal only when it thaws; one that is to end should end.
    if (signal == SIGKILL && found.record && cgroup::frozen(found.record->cgroups)) cgroup::thaw(found.record->cgroups);
  });
}

Warnings remove(const Context& context, const std::string& id, bool force) {
  return with_intent(cat("delete ", id), [&]() -> Warnings {
    Warnings warnings;
    try {
      Found found = find(context, id, true);
      if (!found.damage.empty()) {
        if (!force) throw Error(ErrorKind::conflict, found.damage).hint("delete --force takes its folder away");
        warnings.push_back(cat(found.damage, ": processes and cgroups of this container may be left"));
      }
      const auto status = found.damage.empty() ? found.status() : Status::stopped;
      const bool mortal = force || status == Status::stopped || status == Status::created;
      if (!mortal)
        throw Error(ErrorKind::conflict,
                    cat("cannot delete container that is not stopped: it is ", status_name(status)))
            .hint("end it first, or delete --force");
      if (found.alive) send(*found.init, SIGKILL);
      if (found.record) {
        if (found.init) {
          cgroup::kill_all(found.record->cgroups);
          wait_for_end(*found.init);
          cgroup::remove(found.record->cgroups);
        } else {
          remove_unconfirmed(found.record->cgroups, warnings);
        }
        try {
          run_poststop(kept_spec(found.slot), *found.record, warnings);
        } catch (const Error& error) {
          // Cut short while it was created: no configuration was kept.
          if (!force) throw;
          if (error.errno_value() != ENOENT) warnings.push_back(error.text());
        }
      }
      found.slot.remove();
    } catch (const Error& error) {
      if (!force || error.kind() != ErrorKind::not_found) throw;
    }
    return warnings;
  });
}

}  // namespace tare::runtime
