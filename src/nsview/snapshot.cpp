#include "nsview/snapshot.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.hpp"
#include "nsview/parse.hpp"

namespace tare::nsview {
namespace {

constexpr std::uint64_t kKernelThread = 0x00200000;  // PF_KTHREAD of linux/sched.h

// hidepid=1: the folder is there and gives its owner, everything in it is closed.
bool note_closed(const sys::DirFd& folder, Process& process) {
  struct stat st{};
  if (::fstatat(folder.get(), "", &st, AT_EMPTY_PATH) != 0) return false;
  process.closed = true;
  process.uid = st.st_uid;
  process.numbers = {process.pid};
  return true;
}

bool is_ended(const Process& process) { return process.state == 'Z' || process.state == 'X'; }

bool has_none(const Inodes& inodes) { return inodes == Inodes{}; }

// The first thread may have ended before the others: then only they have namespaces and a command.
class Threads {
 public:
  explicit Threads(Reader& reader) : reader_(reader) {}

  // `found`: where threads in other namespaces go; nullptr: only what a process without its first thread needs.
  void read(const sys::DirFd& folder, Process& process, std::vector<Thread>* found) {
    const sys::DirFd tasks = open_folder(folder, "task");
    if (!tasks || reader_.numbers(tasks, tids_) != Got::ok) return;
    bool leaderless = is_ended(process);
    for (const pid_t tid : tids_) {
      if (tid == process.pid) continue;
      const sys::DirFd task = open_folder(tasks, tid);
      Thread thread{process.pid, tid, {}};
      if (!task || reader_.namespaces(task, thread.namespaces) == Got::forbidden) continue;
      if (has_none(thread.namespaces)) continue;
      if (leaderless) {
        process.namespaces = thread.namespaces;
        leaderless = false;
      } else if (found != nullptr && thread.namespaces != process.namespaces) {
        found->push_back(thread);
      }
    }
  }

 private:
  Reader& reader_;
  std::vector<pid_t> tids_;
};

class Pass {
 public:
  Pass(const What& what, const std::vector<Known>& known) : what_(what), known_(known), threads_(reader_) {}

  Snapshot run() {
    const sys::DirFd proc = open_proc();
    std::vector<pid_t> pids;
    if (reader_.numbers(proc, pids) != Got::ok) return {};
    snapshot_.processes.reserve(pids.size());
    for (const pid_t pid : pids) {
      const sys::DirFd folder = open_folder(proc, pid);
      if (folder) add(folder, pid);
    }
    std::sort(snapshot_.processes.begin(), snapshot_.processes.end(),
              [](const Process& a, const Process& b) { return a.pid < b.pid; });
    finish(proc);
    return std::move(snapshot_);
  }

 private:
  void add(const sys::DirFd& folder, pid_t pid) {
    Process process;
    process.pid = pid;
    if (!read_process(reader_, folder, what_, process, cgroup_)) return;
    if (what_.namespaces && process.threads > 1 && (what_.threads || is_ended(process))) {
      threads_.read(folder, process, what_.threads ? &snapshot_.threads : nullptr);
    }
    if (what_.cgroup && !process.closed) process.cgroup = number_of(cgroup_);
    snapshot_.processes.push_back(std::move(process));
  }

  // Equal texts are kept once, and looked at once.
  int number_of(const std::string& text) {
    const auto [at, fresh] = seen_.try_emplace(text, static_cast<int>(snapshot_.cgroups.size()));
    if (!fresh) return at->second;
    CgroupText entry{text, -1};
    if (auto key = nsview::container_of(text, known_)) {
      const auto same = std::find_if(snapshot_.containers.begin(), snapshot_.containers.end(), [&](const auto& c) {
        return c.id == key->id && c.engine == key->engine && c.users == key->users;
      });
      entry.container = static_cast<int>(same - snapshot_.containers.begin());
      if (same == snapshot_.containers.end()) snapshot_.containers.push_back(std::move(*key));
    }
    snapshot_.cgroups.push_back(std::move(entry));
    return at->second;
  }

  void finish(const sys::DirFd& proc) {
    const sys::DirFd init = open_folder(proc, 1);
    if (init) reader_.namespaces(init, snapshot_.host);
    const sys::DirFd self(::openat(proc.get(), "self", O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!self) return;
    Inodes own{};
    reader_.namespaces(self, own);
    if (has_none(snapshot_.host)) snapshot_.host = own;
    // One number is that of /proc's own namespace, which is this process's where that has one number, too.
    const Process* this_one = snapshot_.find(::getpid());
    if (this_one != nullptr && this_one->numbers.size() == 1) {
      for (Process& process : snapshot_.processes) {
        std::uint64_t& ns = process.namespaces[index_of(Kind::pid)];
        if (what_.namespaces && ns == 0 && process.numbers.size() == 1) ns = own[index_of(Kind::pid)];
      }
    }
    std::string mounts;
    if (reader_.long_file(self, "mountinfo", mounts) == Got::ok) snapshot_.hidden = hidden_by(mounts);
  }

  const What& what_;
  KnownIndex known_;
  Reader reader_;
  Threads threads_;
  Snapshot snapshot_;
  std::unordered_map<std::string, int> seen_;
  std::string cgroup_;
};

}  // namespace

bool read_process(Reader& reader, const sys::DirFd& folder, const What& what, Process& process, std::string& cgroup) {
  std::string_view text;
  const Got first = reader.file(folder, "stat", text);
  if (first == Got::gone) return false;
  if (first == Got::forbidden) return note_closed(folder, process);
  const auto stat = parse_stat(text);
  if (!stat) return false;
  process.pid = stat->pid;
  process.ppid = stat->ppid;
  process.group = stat->group;
  process.session = stat->session;
  process.state = stat->state;
  process.of_kernel = (stat->flags & kKernelThread) != 0;
  process.tty = stat->tty;
  process.user_ticks = stat->user_ticks;
  process.system_ticks = stat->system_ticks;
  process.start = stat->start;
  process.virtual_bytes = stat->virtual_bytes;
  process.threads = stat->threads;
  process.name = stat->name;

  if (reader.file(folder, "status", text) != Got::ok) return false;
  const auto status = parse_status(text);
  if (!status) return false;
  process.uid = status->uid;
  process.numbers = status->numbers;
  process.resident = status->resident;

  if (what.cgroup) {
    if (reader.file(folder, "cgroup", text) != Got::ok) return false;
    cgroup = text;
  }
  if (what.namespaces) reader.namespaces(folder, process.namespaces);
  if (what.command && !process.of_kernel && reader.file(folder, "cmdline", text) == Got::ok) process.command = text;
  return true;
}

Snapshot take(const What& what, const std::vector<Known>& known) { return Pass(what, known).run(); }

const Process* Snapshot::find(pid_t pid) const {
  const auto at = std::lower_bound(processes.begin(), processes.end(), pid,
                                   [](const Process& process, pid_t number) { return process.pid < number; });
  return at != processes.end() && at->pid == pid ? &*at : nullptr;
}

const ContainerKey* Snapshot::container_of(const Process& process) const {
  if (process.cgroup < 0) return nullptr;
  const int container = cgroups[static_cast<std::size_t>(process.cgroup)].container;
  return container < 0 ? nullptr : &containers[static_cast<std::size_t>(container)];
}

}  // namespace tare::nsview
