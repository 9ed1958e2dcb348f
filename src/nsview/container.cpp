#include "nsview/container.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "nsview/parse.hpp"

namespace tare::nsview {
namespace {

constexpr std::size_t kIdLength = 64;

bool is_id(std::string_view word) {
  return word.size() == kIdLength &&
         std::all_of(word.begin(), word.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

// "libpod-ID.scope" or "libpod-ID" for the prefix "libpod-"; helpers such as "libpod-conmon-ID" are no containers.
std::string_view id_after(std::string_view component, std::string_view prefix) {
  if (!component.starts_with(prefix)) return {};
  component.remove_prefix(prefix.size());
  if (component.ends_with(".scope")) component.remove_suffix(6);
  return is_id(component) ? component : std::string_view();
}

struct Prefix {
  std::string_view text;
  const char* engine;
};
constexpr Prefix kPrefixes[] = {{"libpod-", "podman"},
                                {"docker-", "docker"},
                                {"crio-", "cri-o"},
                                {"cri-containerd-", "containerd"},
                                {"nerdctl-", "containerd"}};

// What one component says, with the one before it.
std::optional<ContainerKey> match(std::string_view component, std::string_view before, bool in_pods) {
  const auto found = [&](std::string_view engine, std::string_view id) {
    return ContainerKey{in_pods ? "kubernetes" : std::string(engine), std::string(id), {}, false};
  };
  for (const Prefix& p : kPrefixes) {
    const std::string_view id = id_after(component, p.text);
    if (!id.empty()) return found(p.engine, id);
  }
  if (before == "docker" && is_id(component)) return found("docker", component);
  if (in_pods && is_id(component)) return found("kubernetes", component);
  // containerd with the systemd notation but without systemd: "SLICE:cri-containerd:ID".
  const std::size_t colon = component.rfind(":cri-containerd:");
  if (colon != std::string_view::npos && is_id(component.substr(colon + 16)))
    return found("containerd", component.substr(colon + 16));
  return std::nullopt;
}

}  // namespace

std::optional<ContainerKey> container_of_path(std::string_view path) {
  std::string_view before;
  bool in_pods = false, users = false;
  std::size_t at = 0;
  while (at < path.size()) {
    const std::size_t start = at + (path[at] == '/' ? 1 : 0);
    const std::size_t end = std::min(path.find('/', start), path.size());
    const std::string_view component = path.substr(start, end - start);
    if (auto key = match(component, before, in_pods)) {
      key->cgroup = path.substr(0, end);
      key->users = users;
      return key;
    }
    if (component == "user.slice") users = true;
    if (component.starts_with("kubepods")) in_pods = true;
    before = component;
    at = end;
    if (start == end) ++at;
  }
  return std::nullopt;
}

KnownIndex::KnownIndex(const std::vector<Known>& known) {
  for (const Known& k : known)
    for (const Known::Place& place : k.places) by_place_.try_emplace(cat(place.controllers, ":", place.path), &k);
}

std::optional<ContainerKey> KnownIndex::find(std::string_view controllers, std::string_view path) const {
  if (by_place_.empty()) return std::nullopt;
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string_view place = path.substr(0, end);
    const auto at = by_place_.find(cat(controllers, ":", place));
    if (at != by_place_.end()) return ContainerKey{at->second->engine, at->second->id, std::string(place), false};
    if (end == std::string_view::npos) return std::nullopt;
  }
}

std::optional<ContainerKey> container_of(std::string_view cgroup_text, const std::vector<Known>& known) {
  return container_of(cgroup_text, KnownIndex(known));
}

std::optional<ContainerKey> container_of(std::string_view cgroup_text, const KnownIndex& known) {
  std::optional<ContainerKey> best;
  const auto take = [&](ContainerKey key) {
    if (!best || key.cgroup.size() < best->cgroup.size()) best = std::move(key);
  };
  while (!cgroup_text.empty()) {
    const std::size_t end = std::min(cgroup_text.find('\n'), cgroup_text.size());
    const auto line = parse_cgroup_line(cgroup_text.substr(0, end));
    cgroup_text.remove_prefix(std::min(end + 1, cgroup_text.size()));
    if (!line || line->path == "/") continue;
    // An engine that uses tare names the container: so first what the path says.
    if (auto key = container_of_path(line->path)) take(std::move(*key));
    if (auto key = known.find(line->controllers, line->path)) take(std::move(*key));
  }
  return best;
}

}  // namespace tare::nsview
