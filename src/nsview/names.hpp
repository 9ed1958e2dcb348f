// The names that engines gave their containers, from the stores that this user can read.
//
// For: showing "web" beside an id that the cgroup gave. Nothing is looked up by a name that a process chose, and no
// user's store is read for somebody else: its owner could put there whatever he likes, or make the read wait. An
// absent, unreadable or odd store gives no name. Sources: the layouts of docker, containers/storage (podman, CRI-O) and
// containerd as they are on disk.
#pragma once

#include <sys/types.h>

#include <string>
#include <unordered_map>

#include "nsview/container.hpp"

namespace tare::nsview {

class Names {
 public:
  // root: a folder in front of the stores' paths, for tests.
  explicit Names(std::string root = "") : root_(std::move(root)) {}
  // "" where none is found.
  std::string of(const ContainerKey& key);
  // A process of the container that its engine wrote down; 0 where there is none. It may long be another's.
  pid_t first_process(const ContainerKey& key);

 private:
  const std::unordered_map<std::string, std::string>& storage();
  std::string from_annotations(const ContainerKey& key);
  std::string root_;
  bool storage_read_ = false;
  std::unordered_map<std::string, std::string> storage_names_;  // id -> name, of containers/storage
};

}  // namespace tare::nsview
