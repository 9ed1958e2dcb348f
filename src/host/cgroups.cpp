#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.hpp"
#include "base/text.hpp"
#include "host/host.hpp"
#include "host/mountinfo.hpp"
#include "sys/fd.hpp"

namespace tare::host {
namespace {

// f(line) for each line of text, without the newline; returns what follows the last newline.
template <class F>
std::string_view for_each_line(std::string_view text, F&& f) {
  std::size_t start = 0;
  for (std::size_t end; (end = text.find('\n', start)) != std::string_view::npos; start = end + 1)
    f(text.substr(start, end - start));
  return text.substr(start);
}

bool has_word(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    if (list.substr(0, comma) == word) return true;
    if (comma == std::string_view::npos) break;
    list.remove_prefix(comma + 1);
  }
  return false;
}

// `path` as seen from `root`; false where it is not at or below it. Both as this process's cgroup
// namespace shows them, so outside of the namespace's top both begin with "/..".
bool below(std::string_view root, std::string_view path, std::string_view& rest) {
  if (root == "/") {
    rest = path;
    return !path.starts_with("/..") || (path.size() > 3 && path[3] != '/');
  }
  if (!path.starts_with(root)) return false;
  rest = path.substr(root.size());
  if (rest.empty()) rest = "/";
  return rest.front() == '/';
}

// One line of /proc/self/cgroup, "4:memory:/web" or "0::/web", becomes a hierarchy if it is mounted.
void add_hierarchy(facts::Cgroups& out, const CgroupMounts& mounts, std::string_view line) {
  const std::size_t first = line.find(':');
  if (first == std::string_view::npos) return;
  const std::size_t second = line.find(':', first + 1);
  if (second == std::string_view::npos) return;
  const std::string_view controllers = line.substr(first + 1, second - first - 1);
  const std::string_view path = line.substr(second + 1);
  const bool v2 = controllers.empty();
  const std::string_view any = controllers.substr(0, controllers.find(','));

  const CgroupMount* best = nullptr;
  std::string_view own;
  bool holds = false;
  for (const CgroupMount& mount : mounts.visible()) {
    if (mount.v2 != v2 || (!v2 && !has_word(mount.options, any))) continue;
    std::string_view rest;
    if (!holds && below(mount.root, path, rest)) {
      best = &mount;
      own = rest;
      holds = true;
    } else if (!holds && (best == nullptr || (best->root != "/" && mount.root == "/"))) {
      best = &mount;
      own = "/";
    }
  }
  if (best == nullptr) return;
  facts::Hierarchy& hierarchy = out.hierarchies.emplace_back();
  hierarchy.mount_point = best->mount_point;
  if (best->root != "/") hierarchy.root = best->root;
  hierarchy.v2 = v2;
  hierarchy.own_path = own;
  if (!v2)
    for (const std::string_view name : split(controllers, ',')) hierarchy.controllers.emplace_back(name);
}

facts::Cgroups combine(const CgroupMounts& mounts, std::string_view cgroup) {
  facts::Cgroups out;
  out.hierarchies.reserve(mounts.visible().size());
  const std::string_view last = for_each_line(cgroup, [&](auto line) { add_hierarchy(out, mounts, line); });
  if (!last.empty()) add_hierarchy(out, mounts, last);
  bool v1 = false, v2 = false;
  for (const facts::Hierarchy& hierarchy : out.hierarchies) (hierarchy.v2 ? v2 : v1) = true;
  using Layout = facts::CgroupLayout;
  out.layout = v1 && v2 ? Layout::hybrid : v1 ? Layout::v1 : v2 ? Layout::v2 : Layout::none;
  return out;
}

std::size_t read_some(const sys::Fd& fd, char* to, std::size_t most, std::string_view path) {
  while (true) {
    const ssize_t n = ::read(fd.get(), to, most);
    if (n >= 0) return static_cast<std::size_t>(n);
    if (errno != EINTR) throw_errno(cat("read ", path), errno);
  }
}

}  // namespace

facts::Cgroups parse_cgroups(std::string_view mountinfo, std::string_view cgroup) {
  CgroupMounts mounts;
  const std::string_view last = for_each_line(mountinfo, [&](auto line) { mounts.feed(line); });
  mounts.feed(last);
  return combine(mounts, cgroup);
}

facts::Cgroups cgroups() {
  // A busy host's mountinfo has hundreds of lines, so it goes through a small window; only lines of
  // cgroups are kept.
  char window[16 << 10];
  CgroupMounts mounts;
  {
    const char* path = "/proc/self/mountinfo";
    const sys::Fd fd = sys::open(path, O_RDONLY);
    std::size_t used = 0;
    while (const std::size_t n = read_some(fd, window + used, sizeof window - used, path)) {
      used += n;
      const std::string_view rest =
          for_each_line(std::string_view(window, used), [&](auto line) { mounts.feed(line); });
      used = rest.size();
      // A line as long as the window is some overlay's list of layers: no cgroup mount, its end is dropped.
      if (used == sizeof window)
        used /= 2;
      else
        std::memmove(window, rest.data(), used);
    }
  }
  // The kernel writes this file in one go, so a read that leaves room has read it all.
  const char* path = "/proc/self/cgroup";
  const sys::Fd fd = sys::open(path, O_RDONLY);
  std::size_t used = 0;
  while (const std::size_t n = read_some(fd, window + used, sizeof window - used, path)) {
    used += n;
    if (used < sizeof window) break;
    throw Error(ErrorKind::kernel, cat(path, " is longer than ", sizeof window, " bytes"), EFBIG);
  }
  return combine(mounts, std::string_view(window, used));
}

}  // namespace tare::host
