// Hierarchies that a container joins after its start, for an update that needs them.
#include <algorithm>
#include <cerrno>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cgroup/cgroup.hpp"
#include "cgroup/controllers.hpp"
#include "cgroup/files.hpp"

namespace tare::cgroup {
namespace {

const Entry* with_mount_point(const Location& location, const std::string& mount_point) {
  for (const Entry& entry : location.entries)
    if (entry.mount_point == mount_point) return &entry;
  return nullptr;
}

// All in `from` to the directory `to`, until none is left outside; a process that forks meanwhile has children outside.
void move_all(const Location& from, const Entry& to) {
  const std::string file = to.directory() + "/cgroup.procs";
  Patience patience(std::chrono::milliseconds(3000));
  while (true) {
    Location there;
    there.entries.push_back(to);
    const std::vector<pid_t> inside = processes(there);
    bool all = true;
    for (const pid_t pid : processes(from)) {
      if (std::binary_search(inside.begin(), inside.end(), pid)) continue;
      const int why = try_write(file, cat(pid));
      if (why == ESRCH) continue;  // it has ended
      if (why != 0) throw_write("", file, cat(pid), why);
      all = false;
    }
    if (all) return;
    if (!patience.pause()) throw Error(ErrorKind::conflict, cat("processes do not all stay in ", to.directory()));
  }
}

}  // namespace

Location extension(const Location& location, const facts::Cgroups& cgroups, const oci::Resources& resources) {
  Location extra;
  extra.layout = location.layout;
  const Entry* like = nullptr;
  for (const Entry& entry : location.entries)
    if (!entry.v2 && (like == nullptr || like->path.empty())) like = &entry;
  const Location all = locate(cgroups, "/x", "x", &resources);
  for (const Entry& wanted : all.entries) {
    const Entry* there = with_mount_point(location, wanted.mount_point);
    if (there != nullptr && there->v2) {
      Entry asked = *there;
      asked.controllers = wanted.controllers;
      if (!asked.controllers.empty()) enable_controllers(asked, false);
    }
    // A hierarchy that is always joined, and is not there, was out of the caller's reach.
    if (there != nullptr || like == nullptr || wanted.v2) continue;
    const auto one = [&](std::string_view name) {
      return std::find(wanted.controllers.begin(), wanted.controllers.end(), name) != wanted.controllers.end();
    };
    if (!one("cpuset") && !one("hugetlb") && !one("net_cls") && !one("net_prio") && !one("rdma")) continue;
    extra.entries.push_back(wanted);
    extra.entries.back().path = like->path;
  }
  if (!extra.entries.empty()) create(extra);
  return extra;
}

void adopt(const Location& extension, const Location& location, pid_t init) {
  const std::vector<std::string> homes = homes_of(extension, init);
  try {
    for (const Entry& entry : extension.entries) move_all(location, entry);
  } catch (...) {
    give_back(extension, homes);
    throw;
  }
}

void give_back(const Location& extension, const std::vector<std::string>& homes) {
  for (std::size_t i = 0; i < extension.entries.size(); ++i) {
    Location one;
    one.entries.push_back(extension.entries[i]);
    Patience patience(std::chrono::milliseconds(2000));
    for (auto inside = processes(one); !inside.empty(); inside = processes(one)) {
      for (const pid_t pid : inside) try_write(homes[i] + "/cgroup.procs", cat(pid));
      if (!patience.pause()) break;
    }
  }
  remove(extension);
}

}  // namespace tare::cgroup
