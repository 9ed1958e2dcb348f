#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cgroup/cgroup.hpp"
#include "cgroup/controllers.hpp"
#include "cgroup/files.hpp"
#include "cgroup/tree.hpp"

namespace tare::cgroup {
namespace {

// Walks down from the mount point and makes what is missing. 0 or the errno of the first failure.
int make_each(Entry& entry) {
  std::string directory = entry.mount_point;
  int made = 0;
  for (const std::string_view part : split(entry.path, '/')) {
    directory += '/';
    directory += part;
    if (::mkdir(directory.c_str(), 0755) == 0) {
      ++made;
    } else if (errno == EEXIST) {
      made = 0;  // only what is new down to the end is ours to remove
    } else {
      const int why = errno;
      entry.made = made;
      // What was made above the failure goes again, deepest first.
      for (; made > 0; --made) {
        directory.resize(directory.rfind('/'));
        ::rmdir(directory.c_str());
      }
      entry.made = 0;
      return why;
    }
  }
  entry.made = made;
  return 0;
}

// 0 or an errno. Most often all but the last component exists, so one call does it.
int make_directory(Entry& entry) {
  if (::mkdir(entry.directory().c_str(), 0755) == 0) {
    entry.made = 1;
    return 0;
  }
  if (errno == EEXIST) return 0;
  if (errno != ENOENT) return errno;
  // Another container may be removing the parent that it shares with us: then the walk starts again.
  int why = ENOENT;
  for (int attempt = 0; attempt < 16 && why == ENOENT; ++attempt) why = make_each(entry);
  return why;
}

// A cgroup that someone uses, be it in a cgroup below, can't be told apart from the container later on:
// to kill the container would be to kill them too.
void check_unused(const Entry& entry) {
  if (const std::vector<pid_t> inside = processes_in(entry); !inside.empty())
    throw Error(ErrorKind::conflict,
                cat("cgroup ", quoted(entry.directory()), " is in use by process ", inside.front()));
  const char* file = entry.v2 ? "/cgroup.freeze" : "/freezer.state";
  const std::optional<std::string> state = try_read(entry.directory() + file);
  if (state && *state != "0" && *state != "THAWED")
    throw Error(ErrorKind::conflict, cat("cgroup ", quoted(entry.directory()), " is frozen"));
}

// cpuset on v1 starts empty, and nothing may join it so: each level takes what its parent has.
void fill_cpuset(const Entry& entry) {
  std::string directory = entry.mount_point;
  for (const std::string_view part : split(entry.path, '/')) {
    const std::string parent = directory;
    directory += '/';
    directory += part;
    for (const char* file : {"/cpuset.cpus", "/cpuset.mems"}) {
      if (!try_read(directory + file).value_or("").empty()) continue;
      write_field("", directory + file, read(parent + file));
    }
  }
}

bool may_be_left_out(int why) { return why == EACCES || why == EPERM || why == EROFS; }

}  // namespace

void create(Location& location, bool optional) {
  try {
    for (Entry& entry : location.entries) {
      if (const int why = make_directory(entry); why != 0) {
        if (!optional || !may_be_left_out(why)) throw_errno(cat("mkdir ", entry.directory()), why);
        entry.path.clear();
        continue;
      }
      if (entry.made == 0) check_unused(entry);
      if (entry.v2) enable_controllers(entry, location.layout == facts::CgroupLayout::v2);
      const auto& names = entry.controllers;
      if (!entry.v2 && std::find(names.begin(), names.end(), "cpuset") != names.end()) fill_cpuset(entry);
    }
  } catch (...) {
    std::erase_if(location.entries, [](const Entry& entry) { return entry.made == 0; });
    try {
      remove(location);
    } catch (const Error&) {
      // The first failure is the one to tell.
    }
    throw;
  }
  std::erase_if(location.entries, [](const Entry& entry) { return entry.path.empty(); });
}

}  // namespace tare::cgroup
