#include "nsview/names.hpp"

#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "sys/fd.hpp"

namespace tare::nsview {
namespace {

constexpr std::size_t kMostStore = 16 << 20;

// f of a JSON file's root; nothing where it can't be read.
template <class F>
void read_json(const std::string& path, F&& f) {
  try {
    const json::Document document(sys::read_regular_file(path, kMostStore), path);
    const json::Field root = document.root();
    f(root);
  } catch (const Error&) {
    // No name then.
  }
}

// containerd keeps a task's bundle by namespace; Kubernetes' is k8s.io, docker's moby.
constexpr const char* kTaskNamespaces[] = {"k8s.io", "default", "moby"};
constexpr const char* kTasks = "/run/containerd/io.containerd.runtime.v2.task/";
// containers/storage keeps its lists by the driver of its layers.
constexpr const char* kDrivers[] = {"overlay", "vfs", "btrfs", "zfs"};
constexpr const char* kStores[] = {"/run/containers/storage/", "/var/lib/containers/storage/"};

// A file of a container, wherever an engine may have put it.
std::vector<std::string> files_of(const std::string& root, const std::string& id, const char* of_task,
                                  const char* of_storage) {
  std::vector<std::string> paths;
  for (const char* space : kTaskNamespaces) paths.push_back(cat(root, kTasks, space, "/", id, "/", of_task));
  for (const char* store : kStores)
    for (const char* driver : kDrivers)
      paths.push_back(cat(root, store, driver, "-containers/", id, "/userdata/", of_storage));
  return paths;
}

}  // namespace

const std::unordered_map<std::string, std::string>& Names::storage() {
  if (storage_read_) return storage_names_;
  storage_read_ = true;
  std::vector<std::string> folders;
  for (const char* store : kStores) folders.push_back(cat(root_, store));
  const char* home = std::getenv("HOME");
  if (::geteuid() != 0 && home != nullptr && *home == '/') {
    folders = {cat(root_, home, "/.local/share/containers/storage/")};
  }
  for (const std::string& folder : folders)
    for (const char* driver : kDrivers)
      for (const char* list : {"containers.json", "volatile-containers.json"})
        read_json(cat(folder, driver, "-containers/", list), [&](const json::Field& containers) {
          for (std::size_t i = 0; i < containers.array().size(); ++i) {
            const json::Field container = containers.at(i);
            const json::Field id = container.member("id"), names = container.member("names");
            if (names && names.array().size() > 0) storage_names_[id.string()] = names.at(0).string();
          }
        });
  return storage_names_;
}

std::string Names::from_annotations(const ContainerKey& key) {
  std::string name;
  const std::vector<std::string> configs = files_of(root_, key.id, "config.json", "config.json");
  for (const std::string& path : configs) {
    read_json(path, [&](const json::Field& config) {
      const json::Field annotations = config.member("annotations");
      if (!annotations) return;
      const auto take = [&](const char* member) {
        const json::Field value = annotations.member(member);
        return value ? value.string() : std::string();
      };
      const std::string pod = take("io.kubernetes.cri.sandbox-name"),
                        container = take("io.kubernetes.cri.container-name");
      if (!pod.empty()) name = container.empty() ? pod : cat(pod, "/", container);
      for (const char* member : {"io.kubernetes.container.name", "nerdctl/name", "io.kubernetes.cri-o.Name"})
        if (name.empty()) name = take(member);
    });
    if (!name.empty()) break;
  }
  return name;
}

std::string Names::of(const ContainerKey& key) {
  if (key.engine == "tare") return key.id;
  if (key.users && ::geteuid() == 0) return "";
  if (key.engine == "docker") {
    std::string name;
    read_json(cat(root_, "/var/lib/docker/containers/", key.id, "/config.v2.json"), [&](const json::Field& config) {
      const json::Field field = config.member("Name");
      if (field) name = field.string();
    });
    return name.starts_with('/') ? name.substr(1) : name;
  }
  if (key.engine == "podman") {
    const auto& names = storage();
    const auto at = names.find(key.id);
    return at == names.end() ? "" : at->second;
  }
  return from_annotations(key);
}

pid_t Names::first_process(const ContainerKey& key) {
  pid_t pid = 0;
  if (key.users && ::geteuid() == 0) return 0;
  read_json(cat(root_, "/var/lib/docker/containers/", key.id, "/config.v2.json"), [&](const json::Field& config) {
    const json::Field state = config.member("State");
    if (!state) return;
    const json::Field number = state.member("Pid");
    if (number) pid = static_cast<pid_t>(number.int64(0, 1 << 22));
  });
  const std::vector<std::string> files = files_of(root_, key.id, "init.pid", "pidfile");
  for (const std::string& file : files) {
    if (pid != 0) break;
    try {
      pid = parse_number<pid_t>(trim(sys::read_regular_file(file, 64))).value_or(0);
    } catch (const Error&) {
      // Not this engine's.
    }
  }
  return pid;
}

}  // namespace tare::nsview
