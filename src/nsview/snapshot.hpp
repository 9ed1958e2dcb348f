// The processes of this machine, as one pass over /proc finds them.
//
// It is no instant: processes come and go meanwhile. But each is read by a descriptor of its folder, so all that is
// said of one is of one, and one that ended before it was read is left out. Where /proc hides processes (hidepid=2, 4)
// they are not there; where it closes them (hidepid=1, or another user's namespaces) what can't be read is marked so.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "nsview/container.hpp"
#include "nsview/procfs.hpp"

namespace tare::nsview {

struct Process {
  pid_t pid = 0, ppid = 0, group = 0, session = 0;
  std::uint32_t uid = 0;
  char state = '?';
  bool closed = false;     // /proc shows that it is there, and nothing of it
  bool of_kernel = false;  // a kernel thread
  int tty = 0;
  std::uint64_t user_ticks = 0, system_ticks = 0, start = 0, virtual_bytes = 0, resident = 0;
  std::uint32_t threads = 0;
  std::vector<pid_t> numbers;  // at each level, /proc's own first
  Inodes namespaces{};
  int cgroup = -1;            // in Snapshot::cgroups
  std::string name, command;  // as they are; the command's words end with NUL
};

// A thread other than the first of its process, in other namespaces than that one.
struct Thread {
  pid_t pid = 0, tid = 0;
  Inodes namespaces{};
};

struct CgroupText {
  std::string text;    // of /proc/PID/cgroup
  int container = -1;  // in Snapshot::containers
};

struct Snapshot {
  std::vector<Process> processes;  // by pid, ascending
  std::vector<Thread> threads;
  std::vector<CgroupText> cgroups;
  std::vector<ContainerKey> containers;
  Inodes host{};       // the namespaces of process 1, or of this process where that one's can't be read
  std::string hidden;  // "hidepid=2": processes of others may be missing

  const Process* find(pid_t pid) const;
  // nullptr: none, or it can't be seen.
  const ContainerKey* container_of(const Process& process) const;
};

// What to read. Numbers (levels, uid) and the stat line always are.
struct What {
  bool command = false;
  bool namespaces = false;
  bool cgroup = false;
  bool threads = false;  // other threads' namespaces
};

Snapshot take(const What& what, const std::vector<Known>& known = {});

// One process; false where it is gone.
bool read_process(Reader& reader, const sys::DirFd& folder, const What& what, Process& process, std::string& cgroup);

}  // namespace tare::nsview
