#include "cgroup/controllers.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cgroup/files.hpp"

namespace tare::cgroup {
namespace {

using Names = std::vector<std::string>;

// What engines and `events` read statistics of.
constexpr std::array<std::string_view, 6> kUsual = {"cpuset", "cpu", "io", "memory", "pids", "hugetlb"};

Names words(std::string_view text) {
  Names names;
  for (const std::string_view word : split(text, ' '))
    if (!word.empty()) names.emplace_back(word);
  return names;
}

bool has(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// An EBUSY may pass (a dying child still holds the controller); one that stays has its cause in
// processes of that cgroup itself.
int enable_one(const std::string& file, std::string_view name, bool required) {
  Patience patience(std::chrono::milliseconds(required ? 500 : 0));
  const std::string value = cat('+', name);
  while (true) {
    const int why = try_write(file, value);
    if (why != EBUSY || !patience.pause()) return why;
  }
}

[[noreturn]] void throw_not_enabled(const std::string& directory, std::string_view name, int why) {
  Error error(ErrorKind::unsupported, cat("enable the ", name, " controller below ", directory, ": ", errno_text(why)),
              why);
  const std::string type = try_read(directory + "/cgroup.type").value_or("");
  if (type.find("threaded") != std::string::npos || type == "domain invalid")
    error.hint(cat(directory, " is a threaded cgroup, in which only some controllers exist"));
  else if (why == EBUSY)
    error.hint(cat("processes in ", directory, " itself are in the way: move them into a cgroup below it"));
  throw error;
}

// One level: all in one write if that works, else each by itself to know which one failed.
void enable_at(const std::string& directory, const Names& wanted, const Names& required) {
  const std::string file = directory + "/cgroup.subtree_control";
  const Names enabled = words(read(file));
  std::string together;
  for (const std::string& name : wanted)
    if (!has(enabled, name)) together += cat(together.empty() ? "+" : " +", name);
  if (together.empty() || try_write(file, together) == 0) return;
  for (const std::string& name : wanted) {
    if (has(enabled, name)) continue;
    const bool must = has(required, name);
    const int why = enable_one(file, name, must);
    if (why != 0 && must) throw_not_enabled(directory, name, why);
  }
}

}  // namespace

void enable_controllers(const Entry& entry, bool all) {
  Names wanted = entry.controllers;
  if (all)
    for (const std::string_view name : kUsual)
      if (!has(wanted, name)) wanted.emplace_back(name);
  if (wanted.empty()) return;
  const std::string inside = entry.directory() + "/cgroup.controllers";
  Names there = words(read(inside));
  std::erase_if(wanted, [&](const std::string& name) { return has(there, name); });
  if (wanted.empty()) return;

  const Names available = words(read(entry.mount_point + "/cgroup.controllers"));
  for (const std::string& name : entry.controllers) {
    if (has(available, name)) continue;
    throw Error(ErrorKind::unsupported, cat("no ", name, " controller in ", entry.mount_point, "/cgroup.controllers"));
  }
  std::erase_if(wanted, [&](const std::string& name) { return !has(available, name); });
  if (wanted.empty()) return;

  std::string directory = entry.mount_point;
  for (const std::string_view part : split(entry.path, '/')) {
    enable_at(directory, wanted, entry.controllers);
    directory += '/';
    directory += part;
    // The child of a threaded cgroup can hold no process until it is made threaded too.
    if (try_read(directory + "/cgroup.type").value_or("") == "domain invalid")
      write_field("", directory + "/cgroup.type", "threaded");
  }
  there = words(read(inside));
  for (const std::string& name : entry.controllers)
    if (!has(there, name)) throw Error(ErrorKind::unsupported, cat("no ", name, " controller in ", inside));
}

}  // namespace tare::cgroup
