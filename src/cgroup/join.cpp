#include <algorithm>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cgroup/cgroup.hpp"
#include "cgroup/files.hpp"

namespace tare::cgroup {
namespace {

// "/a/b" for a sub-cgroup "a/b", "" for none. Throws invalid_spec where it would leave the container's.
std::string suffix_of(std::string_view sub) {
  std::string suffix;
  for (const std::string_view part : split(sub, '/')) {
    if (part.empty() || part == ".") continue;
    if (part == ".." || part.find('\0') != part.npos)
      throw Error(ErrorKind::invalid_spec, cat("cgroup ", quoted(sub), " is not below the container's"));
    suffix += '/';
    suffix += part;
  }
  return suffix;
}

// The path in the line of /proc/PID/cgroup that is about this entry; nothing where there is none.
std::optional<std::string_view> path_in(std::string_view text, const Entry& entry) {
  for (const std::string_view line : split(text, '\n')) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == line.npos ? line.npos : line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const std::string_view any = controllers.substr(0, controllers.find(','));
    const auto& names = entry.controllers;
    const bool ours = entry.v2 ? any.empty() : std::find(names.begin(), names.end(), any) != names.end();
    if (ours) return line.substr(second + 1);
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> join_files(const Location& location, std::string_view sub) {
  const std::string file = suffix_of(sub) + "/tasks";
  std::vector<std::string> files;
  files.reserve(location.entries.size());
  for (const Entry& entry : location.entries)
    if (!entry.v2) files.push_back(entry.directory() + file);
  return files;
}

sys::DirFd open_v2(const Location& location, std::string_view sub) {
  const std::string suffix = suffix_of(sub);
  const Entry* entry = location.v2();
  return entry == nullptr ? sys::DirFd() : sys::open_dir(entry->directory() + suffix);
}

void attach(const Location& location, pid_t pid, std::string_view sub) {
  const std::string file = suffix_of(sub) + "/cgroup.procs";
  for (const Entry& entry : location.entries) write_field("", entry.directory() + file, cat(pid));
}

std::string sub_of(const Location& location, pid_t pid) {
  const Entry* entry = location.v2();
  if (entry == nullptr) return "";
  const std::string text = read(cat("/proc/", pid, "/cgroup"));
  const std::string top = cat(entry->root, '/', entry->path, '/');
  const std::string_view found = path_in(text, *entry).value_or("");
  return found.starts_with(top) ? std::string(found.substr(top.size())) : "";
}

std::vector<std::string> homes_of(const Location& location, pid_t pid) {
  const std::string text = read(cat("/proc/", pid, "/cgroup"));
  std::vector<std::string> homes;
  for (const Entry& entry : location.entries) {
    std::string_view path = path_in(text, entry).value_or("/");
    // A mount that shows a part only: what is outside it has no name here.
    if (path.starts_with(entry.root)) path.remove_prefix(entry.root.size());
    homes.push_back(cat(entry.mount_point, "/", path));
  }
  return homes;
}

void verify(const Location& location, pid_t pid) {
  const std::string file = cat("/proc/", pid, "/cgroup");
  const std::string text = read(file);
  for (const Entry& entry : location.entries) {
    const std::string wanted = cat(entry.root, '/', entry.path);
    const std::optional<std::string_view> found = path_in(text, entry);
    const bool inside =
        found && found->starts_with(wanted) && (found->size() == wanted.size() || (*found)[wanted.size()] == '/');
    if (!inside)
      throw Error(ErrorKind::bug, cat("process ", pid, " is in cgroup ", quoted(found.value_or("none")), " of ",
                                      entry.mount_point, ", not in ", quoted(wanted)));
  }
}

}  // namespace tare::cgroup
