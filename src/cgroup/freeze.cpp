#include <algorithm>
#include <cerrno>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cgroup/cgroup.hpp"
#include "cgroup/files.hpp"
#include "cgroup/freezer.hpp"

namespace tare::cgroup {
namespace {

void write_unless_gone(const std::string& file, std::string_view value) {
  const int why = try_write(file, value);
  if (why != 0 && !is_gone(why)) throw_write("", file, value, why);
}

std::string state_file(const Entry& entry) {
  return entry.directory() + (entry.v2 ? "/cgroup.events" : "/freezer.state");
}

bool is_frozen(const Entry& entry) {
  const std::optional<std::string> text = try_read(state_file(entry));
  if (!text) return false;
  return entry.v2 ? keyed_number(*text, "frozen") == 1U : *text == "FROZEN";
}

[[noreturn]] void throw_not_in_time(const Location& location, std::string_view what) {
  std::string names;
  for (const pid_t pid : processes(location)) names += cat(' ', pid);
  throw Error(ErrorKind::conflict, cat("processes were not ", what, " in time:", names));
}

}  // namespace

const Entry* find_freezer_v1(const Location& location) {
  const Entry* entry = location.find("freezer");
  return entry != nullptr && !entry->v2 ? entry : nullptr;
}

bool freeze_v1(const Entry& entry, std::chrono::milliseconds most) {
  const std::string file = state_file(entry);
  try {
    Patience patience(most);
    do {
      const int why = try_write(file, "FROZEN");
      if (is_gone(why)) return true;
      if (why != 0) throw_write("", file, "FROZEN", why);
      if (is_frozen(entry)) return true;
    } while (patience.pause());
  } catch (...) {
    try_write(file, "THAWED");
    throw;
  }
  thaw_v1(entry);
  return false;
}

bool freeze_v2(const Entry& entry, std::chrono::milliseconds most) {
  const std::string file = entry.directory() + "/cgroup.freeze";
  const int why = try_write(file, "1");
  if (is_gone(why)) return true;
  if (why != 0) throw_write("", file, "1", why);
  Patience patience(most);
  do {
    if (is_frozen(entry)) return true;
  } while (patience.pause());
  thaw_v2(entry);
  return false;
}

void thaw_v1(const Entry& entry) { write_unless_gone(state_file(entry), "THAWED"); }

void thaw_v2(const Entry& entry) { write_unless_gone(entry.directory() + "/cgroup.freeze", "0"); }

void freeze(const Location& location) {
  const Entry* v2 = location.v2();
  const Entry* v1 = find_freezer_v1(location);
  if (v2 == nullptr && v1 == nullptr) throw Error(ErrorKind::unsupported, "freeze: no freezer cgroup is mounted");
  if (!(v2 != nullptr ? freeze_v2(*v2, kPatience) : freeze_v1(*v1, kPatience))) throw_not_in_time(location, "frozen");
}

void thaw(const Location& location) {
  const Entry* v2 = location.v2();
  const Entry* v1 = find_freezer_v1(location);
  if (v2 != nullptr) thaw_v2(*v2);
  if (v1 != nullptr) thaw_v1(*v1);
  Patience patience(kPatience);
  // A parent that is frozen keeps its children so.
  while (frozen(location))
    if (!patience.pause()) throw_not_in_time(location, "thawed");
}

bool frozen(const Location& location) {
  const Entry* v2 = location.v2();
  const Entry* v1 = find_freezer_v1(location);
  return (v2 != nullptr && is_frozen(*v2)) || (v1 != nullptr && is_frozen(*v1));
}

}  // namespace tare::cgroup
