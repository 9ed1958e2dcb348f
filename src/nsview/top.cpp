#include "nsview/top.hpp"

#include <algorithm>
#include <chrono>

#include "base/text.hpp"
#include "cgroup/tree.hpp"

namespace tare::nsview {
namespace {

// Whoever may make cgroups could make very many, very deep.
constexpr std::size_t kDeepest = 16, kMostFolders = 100'000;

class Walk {
 public:
  explicit Walk(std::vector<Place>& found) : found_(found) {}

  void hierarchy(const facts::Hierarchy& hierarchy) {
    const sys::DirFd top = cgroup::try_open_dir(hierarchy.mount_point);
    if (top) folder(top, hierarchy, "", 0);
  }

  void add(const ContainerKey& key, const facts::Hierarchy& hierarchy, std::string_view path) {
    auto at = std::find_if(found_.begin(), found_.end(), [&](const Place& p) {
      return p.key.id == key.id && p.key.engine == key.engine && p.key.users == key.users;
    });
    if (at == found_.end()) at = found_.insert(at, {key, {}});
    const auto& entries = at->location.entries;
    if (std::any_of(entries.begin(), entries.end(),
                    [&](const auto& e) { return e.mount_point == hierarchy.mount_point; }))
      return;
    cgroup::Entry entry;
    entry.mount_point = hierarchy.mount_point;
    entry.path = path;
    entry.controllers = hierarchy.controllers;
    entry.v2 = hierarchy.v2;
    entry.root = hierarchy.root;
    at->location.entries.push_back(std::move(entry));
  }

 private:
  // As deep as the limit says.
  void folder(const sys::DirFd& dir, const facts::Hierarchy& hierarchy, const std::string& path, std::size_t depth) {
    if (depth >= kDeepest) return;
    cgroup::for_each_child(dir, [&](const std::string& name) {
      if (++seen_ > kMostFolders) return;
      const std::string below = cat(path, path.empty() ? "" : "/", name);
      const std::string shown = cat(hierarchy.root, "/", below);
      if (const auto key = container_of_path(shown); key && key->cgroup == shown) return add(*key, hierarchy, below);
      const sys::DirFd child = cgroup::try_open_dir_at(dir, name);
      if (child) folder(child, hierarchy, below, depth + 1);
    });
  }

  std::vector<Place>& found_;
  std::size_t seen_ = 0;
};

std::optional<std::string> tenth(const std::optional<cgroup::Pressure>& pressure) {
  return pressure ? std::optional(pressure->some.avg10) : std::nullopt;
}

double per_second(std::uint64_t before, std::uint64_t after, double seconds) {
  return after > before && seconds > 0 ? static_cast<double>(after - before) / seconds : 0;
}

}  // namespace

std::vector<Place> places(const facts::Cgroups& cgroups, const std::vector<Known>& known) {
  std::vector<Place> found;
  Walk walk(found);
  for (const facts::Hierarchy& hierarchy : cgroups.hierarchies) walk.hierarchy(hierarchy);
  for (const Known& k : known) {
    // An engine that runs tare has it under its own name already.
    if (std::any_of(found.begin(), found.end(), [&](const Place& p) { return p.key.id == k.id; })) continue;
    for (const Known::Place& place : k.places)
      for (const facts::Hierarchy& hierarchy : cgroups.hierarchies) {
        if (place.controllers != (hierarchy.v2 ? "" : join(hierarchy.controllers, ","))) continue;
        if (!place.path.starts_with(hierarchy.root + "/")) continue;
        const std::string below = place.path.substr(hierarchy.root.size() + 1);
        if (cgroup::try_open_dir(cat(hierarchy.mount_point, "/", below)))
          walk.add({k.engine, k.id, place.path, false}, hierarchy, below);
      }
  }
  for (Place& place : found) place.location.layout = cgroups.layout;
  std::sort(found.begin(), found.end(), [](const Place& a, const Place& b) {
    return a.key.engine != b.key.engine ? a.key.engine < b.key.engine : a.key.id < b.key.id;
  });
  return found;
}

Counts counts(const Place& place) {
  const cgroup::Usage usage = cgroup::usage(place.location);
  Counts out;
  out.at =
      static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
  out.cpu = usage.cpu.total;
  out.memory = usage.memory.usage.usage;
  out.tasks = usage.pids_current;
  for (const cgroup::BlockEntry& entry : usage.block_io.bytes) {
    if (entry.operation == "Read") out.read += entry.value;
    if (entry.operation == "Write") out.written += entry.value;
  }
  out.cpu_pressure = tenth(usage.cpu.pressure);
  out.memory_pressure = tenth(usage.memory.pressure);
  out.io_pressure = tenth(usage.block_io.pressure);
  return out;
}

Load load(const Counts& before, const Counts& after) {
  const double seconds = after.at > before.at ? static_cast<double>(after.at - before.at) / 1e9 : 0;
  Load out;
  out.cpu = per_second(before.cpu, after.cpu, seconds) / 1e7;
  out.memory = after.memory;
  out.tasks = after.tasks;
  out.read = per_second(before.read, after.read, seconds);
  out.written = per_second(before.written, after.written, seconds);
  return out;
}

}  // namespace tare::nsview
