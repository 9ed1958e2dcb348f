// The cgroup that all places sit in, bare too, with one directory a place below it.
//
// For: equal membership and depth for every place, and a sure way to find and end everything that a
// run started. It is named after its owner, "tare-weigh.PID.STARTTIME.PIDNAMESPACE", so that a
// later run in the same pid namespace can tell whether the owner still lives. It lies where a container's cgroups would
// (cgroup::locate), without limits, with the greatest CPU weight; where none can be made, places have none, equally.
// Beside it, under the same name in /run, an empty folder for the default container to mount its root's layers on.
// Errors: kind kernel. Source: cgroups(7).
#pragma once

#include <string>
#include <vector>

#include "base/text.hpp"
#include "cgroup/cgroup.hpp"
#include "facts/facts.hpp"

namespace tare::lab {

class MeasuringCgroup {
 public:
  // First ends and removes those whose owner is gone.
  explicit MeasuringCgroup(const facts::Cgroups& cgroups);
  ~MeasuringCgroup();
  MeasuringCgroup(const MeasuringCgroup&) = delete;
  MeasuringCgroup& operator=(const MeasuringCgroup&) = delete;

  // Its directories, one for each hierarchy; none: there are no cgroups here that could be used.
  const std::vector<std::string>& directories() const { return directories_; }
  // The path below the mount points, "/.../NAME", for the cgroups of containers that a worker starts: it is
  // the same from every place and in every hierarchy, and they are cleared with the run's own.
  std::string path_below(const std::string& name) const { return cat("/", name_, "/", name); }
  // Where those go: in hierarchies in which this process isn't in the top cgroup that is not the run's own.
  const std::vector<std::string>& outer_directories() const { return outer_; }
  const std::string& scratch() const { return scratch_; }
  // Where a place's own cgroup goes.
  cgroup::Location locate(const std::string& place, const oci::Resources* resources) const;
  void remove_place(const std::string& place) noexcept;

 private:
  const facts::Cgroups cgroups_;
  std::string name_;
  std::vector<std::string> directories_;
  std::vector<std::string> outer_;
  std::string scratch_;
};

// Ends all processes in the directory and below, and removes it, with a bounded wait. Gone is fine.
// Returns false where something is left.
bool clear_cgroup(const std::string& directory) noexcept;

// The name that this process gives to what it makes.
std::string owner_name();
// Whether such a name is that of a process of this pid namespace that is gone; false for any other name.
bool is_abandoned(std::string_view name);

// A process that outlives a killed tare-weigh for the moment it takes to clear its cgroups: it holds
// one end of a pipe whose other end only the owner has. In a session of its own, deaf to the
// terminal's signals. Ends as soon as the owner does.
class Watcher {
 public:
  explicit Watcher(const MeasuringCgroup& cgroup);
  ~Watcher();
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

 private:
  int pipe_ = -1;
  int pid_ = 0;
};

}  // namespace tare::lab
