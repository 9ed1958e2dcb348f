// A container's cgroups: made, limited, joined, frozen, killed and removed, alike on v1, v2 and
// hybrid layouts.
//
// `locate` decides (pure), everything else acts on the Location it gave, which state.json keeps.
// Sources: cgroups(7), Documentation/admin-guide/cgroup-v1 and cgroup-v2.rst.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "facts/facts.hpp"
#include "oci/spec.hpp"
#include "sys/fd.hpp"

namespace tare::cgroup {

// The container's directory in one hierarchy.
struct Entry {
  std::string mount_point;               // "/sys/fs/cgroup/memory"
  std::string path;                      // below the mount point, no leading slash: "web/1"
  std::vector<std::string> controllers;  // v1: of the hierarchy; v2: those the resources need
  bool v2 = false;
  // What /proc/PID/cgroup shows in front of "/path"; empty but for a mount that shows a part only.
  std::string root;
  // How many trailing components of `path` create() made: exactly those are removed. 0: none.
  int made = 0;
  // A descriptor of the directory while a Pinned holds one: then that very cgroup is meant, whatever is
  // at its path by now.
  int pinned = -1;
  std::string directory() const;
};

struct Location {
  facts::CgroupLayout layout = facts::CgroupLayout::none;
  std::vector<Entry> entries;
  // The v1 hierarchy that has the controller, else the cgroup2 one (whether or not it has it), else nullptr.
  const Entry* find(std::string_view controller) const;
  const Entry* v2() const;
};

// Where the container's cgroups go. cgroups_path as in config.json; empty: "/" + id.
// Absolute: below the mount point, so in a nested container below the part that it sees. Relative, as
// with runc: on v1 below this process's own cgroup, on cgroup2 beside it (a cgroup that holds
// processes can't give controllers to those below; the top one, which has no beside, excepted).
// Throws invalid_spec for "..", the root itself, a NUL or newline, and names above 255 bytes.
// Pure. v1 hierarchies for cpu, cpuacct, memory, devices, freezer, blkio, pids and name=systemd are
// always used where mounted; cpuset, hugetlb, net_cls, net_prio, rdma only where a field asks.
Location locate(const facts::Cgroups& cgroups, std::string_view cgroups_path, std::string_view id,
                const oci::Resources* resources);

// Makes the directories (and, on v2, enables the controllers along the way), noting in `made` what is new.
// What exists is used if it is empty and not frozen; else throws conflict.
// Throws kernel with the path, unsupported for a controller that can't be had; what was made until
// then is removed. `optional` (for a caller who may own no cgroups): hierarchies in which the
// directory can't be made (EACCES, EPERM, EROFS) leave the location; apply() refuses fields of theirs.
void create(Location& location, bool optional = false);

// For a container that owns its cgroup (runtime-spec 1.1: a cgroup namespace of its own, and cgroup2
// mounted writable): the directory and the files that /sys/kernel/cgroup/delegate lists become
// `owner`'s, so that it can make cgroups of its own. Nothing on v1, where that is not safe.
void delegate(const Location& location, uid_t owner);

// The same cgroups by descriptor, for verbs that act on a container that lives: what ends meanwhile can't be
// mistaken for a later container's of the same path. Copies of the location are valid as long as this is.
class Pinned {
 public:
  // Throws conflict unless `pid` is inside every one of them, or below: a process that got out of its cgroups is
  // neither frozen nor limited by them.
  Pinned(const Location& location, pid_t pid);
  const Location& location() const { return location_; }
  // Runs f(location()); in errors the paths are the real ones.
  void use(const std::function<void(const Location&)>& f) const;

 private:
  Location location_;
  std::vector<sys::DirFd> directories_;
};

// Writes the limits. Errors name the field ("linux.resources.memory.limit"), file, value and errno.
// A field that the layout can't express throws unsupported. `update`: a running container's limits
// change (order of writes matters); without it a missing devices list means the default list.
void apply(const Location& location, const oci::Resources& resources, bool update = false);

// A running container's new limits; what is not given stays. What was written before a failure is taken back,
// devices on v1 excepted, which come last. A write that makes the kernel reclaim for more than 10 s (the container
// works against it) is interrupted. Throws as apply() does.
class Update {
 public:
  Update(const Location& location, const oci::Resources& resources);
  Update(const Update&) = delete;
  ~Update();  // takes all back, unless kept
  void keep() noexcept { before_.clear(); }

 private:
  struct File {
    std::string path, text;
    const char* reset;  // what follows a device's number to end its line; nullptr: a file of one value
  };
  void note(const Location& location, const oci::Resources& resources);
  void take_back() noexcept;
  std::vector<File> before_;
};

// The v1 hierarchies that `resources` need and the location has not, since nothing asked for them at create: made
// below `like` the others of the location. The processes are still where they were: adopt() moves them.
// On cgroup2 the controllers needed are enabled.
Location extension(const Location& location, const facts::Cgroups& cgroups, const oci::Resources& resources);
// Moves all processes of the location into the extension's cgroups, also those forked meanwhile. Where that fails, or
// by release(), back to where `init` was before.
void adopt(const Location& extension, const Location& location, pid_t init);
void give_back(const Location& extension, const std::vector<std::string>& homes);
// Where `pid` is in the hierarchies of the location, as directories.
std::vector<std::string> homes_of(const Location& location, pid_t pid);

// v1: the files into which the new process writes "0" about itself while it has one thread, in order.
// They are `tasks`, not `cgroup.procs`: for a thread that moves itself the kernel skips the lock
// of all forks and exits, whose taking waits for an RCU grace period (cgroup_procs_write_start).
// Measured for eight hierarchies on an idle machine: 0.2 ms instead of 7 to 19.
std::vector<std::string> join_files(const Location& location, std::string_view sub = {});
// The cgroup2 directory for clone3(CLONE_INTO_CGROUP); invalid where there is none. `sub`: a
// sub-cgroup below that exists ("", "a/b"); throws invalid_spec where it tries to leave.
sys::DirFd open_v2(const Location& location, std::string_view sub = {});
// Moves a process, with all its threads, into all of them: slower than both ways above.
void attach(const Location& location, pid_t pid, std::string_view sub = {});
// Where below the container's cgroup2 directory the process is: "", or the sub-cgroup ("init.scope") into
// which the container moved it. A cgroup that gives controllers to those below it takes no processes
// (EBUSY), so what joins such a container later goes where its first process is. "" without cgroup2.
std::string sub_of(const Location& location, pid_t pid);
// Throws bug unless the process is in every directory of the location or below (reads /proc/PID/cgroup).
void verify(const Location& location, pid_t pid);

// A signal to all processes, also to those forked meanwhile; frozen ones stay so, but for SIGKILL.
void signal_all(const Location& location, int signal);

// All processes in the cgroups and those below, each once, ascending. Gone cgroups: empty.
std::vector<pid_t> processes(const Location& location);
// SIGKILL to all, also to those forked meanwhile and to frozen ones; returns when none is left.
// Throws conflict, naming them, where some stay for 10 s (stuck in the kernel).
void kill_all(const Location& location);
// Both wait a bounded time (10 s) for the state to be reached; a freeze that fails has thawed again.
// freeze throws unsupported without a freezer. cgroup2 is used where there is one (its frozen
// processes can be killed), else the v1 freezer; thaw and frozen look at both.
void freeze(const Location& location);
void thaw(const Location& location);
bool frozen(const Location& location);

// Removes what create() made, sub-cgroups first, by descriptor; gone is fine; EBUSY is tried again
// for a bounded time, then throws conflict and names the processes.
void remove(const Location& location);

// The end of a container: kill_all() and remove(). Where its processes have ended already, as after
// the end of its pid namespace, this is one rmdir a hierarchy and nothing else.
void destroy(const Location& location);

}  // namespace tare::cgroup
