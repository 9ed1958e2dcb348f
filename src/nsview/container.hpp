// Which container a cgroup belongs to.
//
// For: the container of a process, from /proc/PID/cgroup and nothing that the process itself can name. Only names that
// an engine gives count: a user namespace, a chroot or a sandbox of an application is no container. A container may
// make cgroups below its own and name them like another's: so the match nearest to the root counts. What stands below
// user.slice may have been named by that user: then the id is said to be a user's, and its name is looked for in that
// user's stores alone. Sources: the engines' cgroup drivers as their cgroups show them; Kubernetes, "cgroup drivers".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tare::nsview {

struct ContainerKey {
  std::string engine;  // tare, podman, docker, containerd, cri-o or kubernetes
  std::string id;
  std::string cgroup;  // its path as that line of /proc/PID/cgroup shows it
  bool users = false;  // below user.slice
};

// A container that is known by its record: where its cgroups are.
struct Known {
  std::string engine, id;
  struct Place {
    std::string controllers;  // as in /proc/PID/cgroup; empty for cgroup2
    std::string path;
  };
  std::vector<Place> places;
};

// Records by their places, for many look-ups. They must outlive it.
class KnownIndex {
 public:
  explicit KnownIndex(const std::vector<Known>& known);
  // The container at whose place this path is, or below; the outermost of them.
  std::optional<ContainerKey> find(std::string_view controllers, std::string_view path) const;

 private:
  std::unordered_map<std::string, const Known*> by_place_;  // "CONTROLLERS:PATH"
};

// The container of one path.
std::optional<ContainerKey> container_of_path(std::string_view path);
// The container of a process, from the text of its /proc/PID/cgroup.
std::optional<ContainerKey> container_of(std::string_view cgroup_text, const KnownIndex& known);
std::optional<ContainerKey> container_of(std::string_view cgroup_text, const std::vector<Known>& known);

}  // namespace tare::nsview
