#include <algorithm>

#include "base/error.hpp"
#include "base/text.hpp"
#include "host/host.hpp"
#include "oci/validate.hpp"
#include "runtime/container.hpp"
#include "sys/child.hpp"

namespace tare::runtime {

std::string_view status_name(Status status) {
  switch (status) {
    case Status::creating:
      return "creating";
    case Status::created:
      return "created";
    case Status::running:
      return "running";
    case Status::paused:
      return "paused";
    case Status::stopped:
      return "stopped";
  }
  return "stopped";
}

Found find(const Context& context, const std::string& id, bool lock) {
  oci::check_id(id);
  Found found{store::Slot::open(context.root, id, lock), std::nullopt, std::nullopt, false, {}};
  try {
    found.record = found.slot.read_record();
    if (!found.record && found.slot.has_record_file()) found.damage = "its state file was cut short";
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::invalid_spec) throw;
    found.damage = cat("its state file can't be read: ", error.text());
  }
  found.init = found.slot.read_init();
  found.alive = found.init && found.init->alive();
  return found;
}

Status Found::status() const {
  if (!damage.empty()) throw Error(ErrorKind::conflict, damage);
  if (!record) return Status::creating;
  if (!init) return Status::creating;
  if (!alive) return Status::stopped;
  if (slot.being_created()) return Status::creating;
  // Also one that waits for its start: it would not hear of it.
  if (cgroup::frozen(record->cgroups)) return Status::paused;
  return slot.waits_for_start() ? Status::created : Status::running;
}

cgroup::Pinned held_cgroups(const Found& found, const cgroup::Location& cgroups) {
  cgroup::Pinned held(cgroups, found.init->pid);
  if (!found.init->alive()) throw Error(ErrorKind::conflict, "container not running");
  return held;
}
cgroup::Pinned held_cgroups(const Found& found) { return held_cgroups(found, found.record->cgroups); }

namespace {

// The name of a user of the host, as `list` shows it; #UID where there is none.
std::string owner_name(uid_t uid) {
  if (uid == 0) return "root";
  try {
    for (const auto passwd = sys::read_file("/etc/passwd"); const auto line : split(passwd, '\n')) {
      const auto fields = split(line, ':');
      if (fields.size() > 2 && parse_number<uid_t>(fields[2]) == uid) return std::string(fields[0]);
    }
  } catch (const Error&) {
    // Not to be read: the number will do.
  }
  return cat("#", uid);
}

ContainerState describe(const std::string& id, const Found& found) {
  ContainerState state;
  state.id = id;
  state.status = found.status();
  if (found.alive) state.pid = found.init->pid;
  if (!found.record) return state;
  state.oci_version = found.record->oci_version;
  state.bundle = found.record->bundle;
  state.rootfs = found.record->rootfs;
  state.created = found.record->created;
  state.owner = owner_name(found.record->owner);
  state.annotations = found.record->annotations;
  return state;
}

}  // namespace

ContainerState state(const Context& context, const std::string& id) {
  return with_intent(cat("state ", id), [&] { return describe(id, find(context, id, false)); });
}

std::vector<ContainerState> list(const Context& context, Warnings& warnings) {
  std::vector<ContainerState> states;
  for (const auto& id : store::ids(context.root)) {
    try {
      states.push_back(describe(id, find(context, id, false)));
    } catch (const Error& error) {
      // Deleted meanwhile, or no container's folder.
      if (error.kind() != ErrorKind::not_found) warnings.push_back(cat(id, ": ", error.text()));
    }
  }
  return states;
}

std::vector<pid_t> ps(const Context& context, const std::string& id) {
  return with_intent(cat("ps ", id), [&] {
    const Found found = find(context, id, false);
    std::vector<pid_t> pids;
    if (found.record) pids = cgroup::processes(found.record->cgroups);
    if (pids.empty() && found.alive) pids.push_back(found.init->pid);
    return pids;
  });
}

}  // namespace tare::runtime
