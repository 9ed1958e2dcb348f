// Makes a runtime's `create` fail, and kills it, at each of its system calls in turn; after `delete --force`
// nothing may be left.
//
// For: tests/faults. How: ptrace. The driver is the subreaper of what it starts and has a mount namespace of
// its own, so that processes and mounts that are left can only be of the runtime. Roles: "parent" is the
// program that is started, child1, child2 ... what it clones, in order (also those that share its memory).
// Errors: the call is not made (but close is) and its result is the errno. Kills: SIGKILL instead of the call.
//
// At each error in a child at a call that confines it, create must fail too.
//
//   fault [OPTION...] -- RUNTIME ARG...   with %ID in the arguments of create standing for the container's id
//     --delete "RUNTIME ARG..."  what must clear up afterwards (words parted by blanks, %ID as above)
//     --watch DIR                must hold the same names before and after (state folder, bundle); repeatable
//     --cgroup NAME              no folder of this name may be left below /sys/fs/cgroup
//     --errno NAME[,NAME...]     default EIO
//     --mode errors|kills|both   --role parent|child (default: both)   --from N --to N   --verbose
//
// Ends with 0 only if the undisturbed create works, each point was tried, and nothing was left at any.
// Not counted as error points, since they cannot return one: exit, exit_group, rt_sigreturn.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#if !defined(__x86_64__)
#error "the registers in this file are those of x86_64"
#endif

namespace {

using Text = std::string;
using Words = std::vector<Text>;

constexpr long kLimitMs = 20'000;  // of one create or one delete, on a busy machine

[[noreturn]] void fail(const Text& what) {
  fprintf(stderr, "fault: %s: %s\n", what.c_str(), strerror(errno));
  exit(2);
}

long now_ms() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
}

void nap(long ms) {
  const timespec time{ms / 1000, ms % 1000 * 1'000'000};
  nanosleep(&time, nullptr);
}

Text read_all(const Text& path) {
  Text out;
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  char buffer[65536];
  for (ssize_t got; fd >= 0 && (got = read(fd, buffer, sizeof buffer)) > 0;) {
    out.append(buffer, static_cast<size_t>(got));
  }
  if (fd >= 0) close(fd);
  return out;
}

Words split(const Text& text, char separator) {
  Words out;
  size_t from = 0;
  while (from <= text.size()) {
    const size_t at = std::min(text.find(separator, from), text.size());
    if (at > from) out.push_back(text.substr(from, at - from));
    from = at + 1;
  }
  return out;
}

struct Options {
  Words create, remove, watch, cgroups;
  std::vector<int> errors;
  bool do_errors = true, do_kills = true, do_parent = true, do_child = true, verbose = false;
  int from = 1, to = 1 << 30;
};

int errno_of(const Text& name) {
  for (int code = 1; code < 134; ++code) {
    const char* known = strerrorname_np(code);
    if (known && name == known) return code;
  }
  fail("no such errno: " + name);
}

Words with_id(const Words& words, const Text& id) {
  Words out;
  for (Text word : words) {
    for (size_t at; (at = word.find("%ID")) != Text::npos;) word.replace(at, 3, id);
    out.push_back(word);
  }
  return out;
}

// ---- What the machine looks like.

void list_names(const Text& path, Text& out) {
  DIR* dir = opendir(path.c_str());
  if (!dir) return;
  std::map<Text, bool> names;
  while (const dirent* entry = readdir(dir)) {
    const Text name = entry->d_name;
    if (name == "." || name == "..") continue;
    struct stat st{};
    if (fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0) names[name] = S_ISDIR(st.st_mode);
  }
  closedir(dir);
  for (const auto& [name, is_dir] : names) {
    out += path + "/" + name + "\n";
    if (is_dir) list_names(path + "/" + name, out);
  }
}

void find_folders(const Text& path, const Text& name, int depth, Text& out) {
  DIR* dir = opendir(path.c_str());
  if (!dir) return;
  while (const dirent* entry = readdir(dir)) {
    if (entry->d_type != DT_DIR || entry->d_name[0] == '.') continue;
    const Text below = path + "/" + entry->d_name;
    if (below.find(name) != Text::npos) out += below + "\n";
    if (depth > 0) find_folders(below, name, depth - 1, out);
  }
  closedir(dir);
}

struct Picture {
  Text mounts, names, cgroups, processes, descriptors;
  Picture without_processes() const { return {mounts, names, cgroups, "", descriptors}; }
};

Text mounts_without_ids() {
  Text out;
  for (const auto& line : split(read_all("/proc/self/mountinfo"), '\n')) {
    const size_t second = line.find(' ', line.find(' ') + 1);
    out += line.substr(second + 1) + "\n";
  }
  return out;
}

void add_descendants(pid_t pid, Text& out) {
  for (const auto& child :
       split(read_all("/proc/" + std::to_string(pid) + "/task/" + std::to_string(pid) + "/children"), ' ')) {
    Text name = read_all("/proc/" + child + "/comm");
    if (!name.empty()) name.pop_back();
    out += child + " (" + name + ")\n";
    add_descendants(atoi(child.c_str()), out);
  }
}

Picture look(const Options& options, const Text& id) {
  Picture now;
  now.mounts = mounts_without_ids();
  for (const auto& dir : options.watch) list_names(dir, now.names);
  Words groups = options.cgroups;
  groups.push_back(id);
  for (const auto& name : groups) find_folders("/sys/fs/cgroup", name, 4, now.cgroups);
  add_descendants(getpid(), now.processes);
  DIR* dir = opendir("/proc/self/fd");
  while (const dirent* entry = readdir(dir)) now.descriptors += Text(entry->d_name) + " ";
  closedir(dir);
  return now;
}

// The lines that one has and the other has not.
Text difference(const Text& before, const Text& after) {
  Text out;
  const auto old_lines = split(before, '\n');
  const auto new_lines = split(after, '\n');
  for (const auto& line : new_lines) {
    if (std::find(old_lines.begin(), old_lines.end(), line) == old_lines.end()) out += "  + " + line + "\n";
  }
  for (const auto& line : old_lines) {
    if (std::find(new_lines.begin(), new_lines.end(), line) == new_lines.end()) out += "  - " + line + "\n";
  }
  return out;
}

Text differences(const Picture& before, const Picture& after) {
  Text out;
  const Text mounts = difference(before.mounts, after.mounts);
  const Text names = difference(before.names, after.names);
  const Text cgroups = difference(before.cgroups, after.cgroups);
  const Text processes = difference(before.processes, after.processes);
  if (!mounts.empty()) out += " mounts:\n" + mounts;
  if (!names.empty()) out += " files:\n" + names;
  if (!cgroups.empty()) out += " cgroups:\n" + cgroups;
  if (!processes.empty()) out += " processes:\n" + processes;
  if (before.descriptors != after.descriptors)
    out += " descriptors: " + before.descriptors + "-> " + after.descriptors + "\n";
  return out;
}

void reap() {
  while (waitpid(-1, nullptr, WNOHANG | __WALL) > 0) {
  }
}

// ---- Running things.

pid_t start(const Words& words, bool traced, int output) {
  int gate[2];
  if (pipe2(gate, O_CLOEXEC) < 0) fail("pipe");
  const pid_t pid = fork();
  if (pid < 0) fail("fork");
  if (pid == 0) {
    const int null = open("/dev/null", O_RDWR);
    dup2(null, 0);
    dup2(output, 1);
    dup2(output, 2);
    if (null > 2) close(null);
    std::vector<char*> argv;
    for (const auto& word : words) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    close(gate[1]);
    char byte;
    if (read(gate[0], &byte, 1) < 0) _exit(126);
    execv(argv[0], argv.data());
    _exit(127);
  }
  if (traced && ptrace(PTRACE_SEIZE, pid, nullptr,
                       PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                           PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL) < 0) {
    fail("ptrace seize");
  }
  close(gate[0]);
  close(gate[1]);
  return pid;
}

// Runs without tracing; its wait status, or -1 where it took too long and was killed.
int run(const Words& words, int output) {
  const pid_t pid = start(words, false, output);
  const long deadline = now_ms() + kLimitMs;
  int status = 0;
  while (waitpid(pid, &status, WNOHANG) == 0) {
    if (now_ms() > deadline) {
      kill(pid, SIGKILL);
      waitpid(pid, &status, 0);
      return -1;
    }
    nap(1);
  }
  return status;
}

struct Point {
  int role = 0;  // 0: the parent; 1, 2 ...: children in order
  int number = 0;
  int error = 0;  // 0: SIGKILL
};

struct Outcome {
  bool reached = false, hung = false;
  int status = 0;
  long call = -1;
  std::map<int, int> counts;  // system calls of each role until the parent ended
  std::map<int, std::vector<long>> calls;
};

long kept_registers(pid_t pid, user_regs_struct& registers) {
  iovec part{&registers, sizeof registers};
  return ptrace(PTRACE_GETREGSET, pid, 1 /* NT_PRSTATUS */, &part);
}
void set_registers(pid_t pid, user_regs_struct& registers) {
  iovec part{&registers, sizeof registers};
  ptrace(PTRACE_SETREGSET, pid, 1, &part);
}

class Tracer {
 public:
  Tracer(pid_t parent, const Point* point) : parent_(parent), point_(point) { roles_[parent] = 0; }

  Outcome run() {
    const long deadline = now_ms() + kLimitMs;
    bool parent_ended = false;
    while (!parent_ended) {
      int status = 0;
      const pid_t pid = waitpid(-1, &status, __WALL);  // the timer ends it with EINTR
      if (pid < 0 && errno != EINTR) break;
      if (now_ms() > deadline) {
        out_.hung = true;
        // One that may never end by itself is ended here: what it leaves must be cleared all the same.
        kill(parent_, SIGKILL);
        while (waitpid(parent_, &out_.status, __WALL) == parent_ && WIFSTOPPED(out_.status)) {
        }
        break;
      }
      if (pid < 0) continue;
      if (WIFSTOPPED(status)) {
        stopped(pid, status);
      } else if (pid == parent_) {
        out_.status = status;
        parent_ended = true;
      } else {
        alive_.erase(pid);
      }
    }
    release();
    return out_;
  }

 private:
  void stopped(pid_t pid, int status) {
    alive_[pid] = true;
    const int signal_number = WSTOPSIG(status);
    const int event = status >> 16;
    long forward = 0;
    if (signal_number == (SIGTRAP | 0x80)) {
      system_call(pid);
    } else if (event == PTRACE_EVENT_CLONE || event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK) {
      unsigned long child = 0;
      ptrace(PTRACE_GETEVENTMSG, pid, nullptr, &child);
      role_of(static_cast<pid_t>(child));
    } else if (event == PTRACE_EVENT_EXEC) {
      exec_done_[pid] = true;
    } else if (event == PTRACE_EVENT_STOP) {
      if (signal_number == SIGSTOP || signal_number == SIGTSTP || signal_number == SIGTTIN ||
          signal_number == SIGTTOU) {
        ptrace(PTRACE_LISTEN, pid, nullptr, nullptr);
        return;
      }
    } else {
      forward = signal_number;
    }
    ptrace(PTRACE_SYSCALL, pid, nullptr, forward);
  }

  int role_of(pid_t pid) {
    const auto known = roles_.find(pid);
    if (known != roles_.end()) return known->second;
    const int role = static_cast<int>(roles_.size());
    roles_[pid] = role;
    alive_[pid] = true;
    return role;
  }

  void system_call(pid_t pid) {
    user_regs_struct registers{};
    if (kept_registers(pid, registers) < 0) return;
    // Which side of the call this stop is on cannot be counted: tracing may begin within one.
    __ptrace_syscall_info info{};
    if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof info, &info) < 0) return;
    const bool entering = info.op == PTRACE_SYSCALL_INFO_ENTRY;
    const int role = role_of(pid);
    // The parent counts from its program's first call, not from this driver's fork.
    if (role == 0 && !exec_done_[pid]) return;
    // What a child calls after its exec is the container's program's business.
    if (role > 0 && exec_done_[pid]) return;
    if (entering) {
      const int number = ++out_.counts[role];
      const long call = static_cast<long>(registers.orig_rax);
      out_.calls[role].push_back(call);
      if (!point_ || point_->role != role || point_->number != number) return;
      out_.call = call;
      if (point_->error == 0) {
        out_.reached = true;
        kill(pid, SIGKILL);
        return;
      }
      // close() is made all the same: on Linux the descriptor is gone whatever it returns.
      if (call != SYS_close) {
        registers.orig_rax = static_cast<unsigned long>(-1);
        set_registers(pid, registers);
      }
      failing_ = pid;
    } else if (failing_ == pid) {
      failing_ = 0;
      out_.reached = true;  // only now: the call was not made, and its result is the error
      registers.rax = static_cast<unsigned long>(-static_cast<long>(point_->error));
      set_registers(pid, registers);
    }
  }

  // Lets go of all that still run, so that they end, or wait, as they would by themselves.
  void release() {
    for (const auto& [pid, is_alive] : alive_) {
      if (pid == parent_ && out_.status != 0) continue;
      if (ptrace(PTRACE_INTERRUPT, pid, nullptr, nullptr) < 0) continue;
      const long deadline = now_ms() + 2000;
      for (;;) {
        int status = 0;
        const pid_t got = waitpid(pid, &status, WNOHANG | __WALL);
        if (got == pid && WIFSTOPPED(status)) {
          const int event = status >> 16;
          const int signal_number = WSTOPSIG(status);
          const bool real = event == 0 && signal_number != (SIGTRAP | 0x80) && signal_number != SIGTRAP;
          ptrace(PTRACE_DETACH, pid, nullptr, real ? signal_number : 0);
          break;
        }
        if (got != 0 || now_ms() > deadline) break;
        nap(0);
      }
    }
  }

  pid_t parent_;
  const Point* point_;
  Outcome out_;
  std::map<pid_t, int> roles_;
  std::map<pid_t, bool> exec_done_, alive_;
  pid_t failing_ = 0;
};

struct Tally {
  int tried = 0, not_reached = 0, bad = 0, hung = 0, succeeded = 0, unfailable = 0;
};

// Memory and thread set-up of the C library, which ends the program where these fail before main().
bool is_memory(long call) {
  return call == SYS_brk || call == SYS_mmap || call == SYS_munmap || call == SYS_mprotect || call == SYS_mremap ||
         call == SYS_arch_prctl || call == SYS_set_tid_address;
}

// What confines the container: a runtime that goes on where one of these failed has let something out. Only
// for EIO, which no kernel and no outer filter answers, so that there is no lawful way round it.
bool confines(long call) {
  switch (call) {
    case SYS_capset:
    case SYS_prctl:
    case SYS_seccomp:
    case SYS_setuid:
    case SYS_setgid:
    case SYS_setresuid:
    case SYS_setresgid:
    case SYS_setgroups:
    case SYS_mount:
    case SYS_move_mount:
    case SYS_mount_setattr:
    case SYS_pivot_root:
    case SYS_sethostname:
    case SYS_setdomainname:
    case SYS_unshare:
    case SYS_setns:
    case SYS_close_range:
    case SYS_setrlimit:
    case SYS_prlimit64:
    case SYS_setsid:
      return true;
    default:
      return false;
  }
}

bool cannot_fail(long call) { return call == SYS_exit || call == SYS_exit_group || call == SYS_rt_sigreturn; }

class Driver {
 public:
  explicit Driver(const Options& options) : options_(options) {
    output_ = open("/tmp", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
    if (output_ < 0) fail("tmpfile");
  }

  int all() {
    // Once unwatched, so that what is made once for ever (the state folder, mount points) is there.
    if (run(with_id(options_.create, "warm" + unique_), output_) != 0)
      fail("the undisturbed create does not work: " + said());
    clear("warm" + unique_);
    settle(Picture(look(options_, "warm" + unique_)).without_processes(), "warm" + unique_);
    const Outcome plain = measure();
    for (const auto& [role, count] : plain.counts) {
      printf("undisturbed create: %s makes %d system calls\n", name(role).c_str(), count);
    }
    int bad = 0;
    for (const auto& [role, count] : plain.counts) {
      if (role == 0 ? !options_.do_parent : !options_.do_child) continue;
      for (const int error : options_.errors) {
        if (options_.do_errors) bad += sweep(plain, role, count, error);
      }
      if (options_.do_kills) bad += sweep(plain, role, count, 0);
    }
    printf(bad ? "FAILED\n" : "ok: nothing was left at any point\n");
    return bad ? 1 : 0;
  }

 private:
  static constexpr int kRace = 2;

  static Text name(int role) { return role == 0 ? "parent" : "child" + std::to_string(role); }

  Text said() {
    Text text(2000, '\0');
    const ssize_t got = pread(output_, text.data(), text.size(), 0);
    text.resize(got > 0 ? static_cast<size_t>(got) : 0);
    return text;
  }

  void forget() {
    if (ftruncate(output_, 0) < 0) fail("ftruncate");
    lseek(output_, 0, SEEK_SET);
  }

  // delete --force; a name for what went wrong with it.
  Text clear(const Text& id) {
    const int status = run(with_id(options_.remove, id), output_);
    if (status == -1) return "delete --force hung";
    if (WIFSIGNALED(status)) return "delete --force died of signal " + std::to_string(WTERMSIG(status));
    if (WEXITSTATUS(status) != 0) return "delete --force ended with " + std::to_string(WEXITSTATUS(status));
    return "";
  }

  Outcome measure() {
    Outcome least;
    for (int i = 0; i < 3; ++i) {
      forget();
      const Text id = "plain" + std::to_string(i) + unique_;
      const Picture before = look(options_, id);
      Outcome one = Tracer(start(with_id(options_.create, id), true, output_), nullptr).run();
      if (one.status != 0) fail("the undisturbed create does not work under ptrace: " + said());
      const Text trouble = clear(id);
      if (!trouble.empty()) fail("undisturbed: " + trouble + said());
      const Text left = settle(before, id);
      if (!left.empty()) fail("undisturbed create and delete leave:\n" + left);
      // What the child does between its last word and its wait for start is a race: the least counts.
      if (i == 0) {
        least = one;
      } else {
        for (auto& [role, count] : least.counts) count = std::min(count, one.counts[role]);
      }
    }
    return least;
  }

  // What is left, when it no longer changes or after some seconds.
  Text settle(const Picture& before, const Text& id) {
    const long deadline = now_ms() + 3000;
    for (;;) {
      reap();
      const Text left = differences(before, look(options_, id));
      if (left.empty() || now_ms() > deadline) return left;
      nap(2);
    }
  }

  int sweep(const Outcome& plain, int role, int count, int error) {
    Tally tally;
    const long begin = now_ms();
    for (int number = std::max(1, options_.from); number <= std::min(count, options_.to); ++number) {
      const auto& calls = plain.calls.at(role);
      if (error && cannot_fail(calls[static_cast<size_t>(number - 1)])) {
        ++tally.unfailable;
        continue;
      }
      bool reached = false;
      for (int attempt = 0; attempt < 5 && !reached; ++attempt) reached = point({role, number, error}, tally);
      if (reached) {
        ++tally.tried;
      } else if (role > 0 && number > count - kRace) {
        // The child's last calls are those of a wait that is over sooner in one run than in another.
        ++tally.unfailable;
        printf("  %s %d: not made in these runs\n", name(role).c_str(), number);
      } else {
        ++tally.not_reached;
        printf("  %s %d: never reached\n", name(role).c_str(), number);
      }
    }
    const int wanted = std::min(count, options_.to) - std::max(1, options_.from) + 1 - tally.unfailable;
    printf("%s, %s at each call: %d of %d points tried", name(role).c_str(), error ? strerrorname_np(error) : "SIGKILL",
           tally.tried, wanted);
    if (tally.unfailable) printf(" (%d more cannot fail)", tally.unfailable);
    if (error) printf(", create succeeded all the same at %d", tally.succeeded);
    printf(", %d hung, %d left something; %.1f s\n", tally.hung, tally.bad,
           static_cast<double>(now_ms() - begin) / 1000);
    fflush(stdout);
    return tally.bad + tally.hung + tally.not_reached + (tally.tried < wanted ? 1 : 0);
  }

  bool point(const Point& point, Tally& tally) {
    const Text id = Text(point.error ? "e" : "k") + std::to_string(point.role) + "-" + std::to_string(point.number) +
                    "-" + std::to_string(++serial_) + unique_;
    forget();
    const Picture before = look(options_, id);
    const Outcome outcome = Tracer(start(with_id(options_.create, id), true, output_), &point).run();
    const Text first_words = said();
    if (outcome.hung && outcome.reached) ++tally.hung;
    if (point.error && outcome.reached && outcome.status == 0) ++tally.succeeded;
    Text trouble = clear(id);
    const Text left = settle(before, id);
    if (point.error == EIO && point.role > 0 && outcome.reached && outcome.status == 0 && confines(outcome.call)) {
      trouble += " succeeded though a call that confines failed";
    }
    if (outcome.hung && outcome.reached) trouble += trouble.empty() ? "create hung" : "; create hung";
    if (outcome.reached && WIFSIGNALED(outcome.status) && point.error && !is_memory(outcome.call)) {
      trouble += " create died of signal " + std::to_string(WTERMSIG(outcome.status));
    }
    if (!trouble.empty() || !left.empty()) {
      if (!outcome.hung || !left.empty()) ++tally.bad;
      printf("%s, call %d (number %ld), %s: %s\n%s", name(point.role).c_str(), point.number, outcome.call,
             point.error ? strerrorname_np(point.error) : "SIGKILL", trouble.c_str(), left.c_str());
      if (!said().empty()) printf("  said: %s\n", said().c_str());
      clean_up(id);
    } else if (options_.verbose) {
      printf("%s, call %d (number %ld), %s: status %x, %s\n", name(point.role).c_str(), point.number, outcome.call,
             point.error ? strerrorname_np(point.error) : "SIGKILL", static_cast<unsigned>(outcome.status),
             first_words.c_str());
    }
    fflush(stdout);
    return outcome.reached;
  }

  // After a fault was found: kill what is left, so that the next point starts from a clean machine.
  void clean_up(const Text& id) {
    for (int i = 0; i < 50; ++i) {
      Text left;
      add_descendants(getpid(), left);
      if (left.empty()) break;
      for (const auto& line : split(left, '\n')) kill(atoi(line.c_str()), SIGKILL);
      nap(5);
      reap();
    }
    Text groups;
    find_folders("/sys/fs/cgroup", id, 4, groups);
    for (const auto& group : options_.cgroups) find_folders("/sys/fs/cgroup", group, 4, groups);
    const auto lines = split(groups, '\n');
    for (auto line = lines.rbegin(); line != lines.rend(); ++line) rmdir(line->c_str());
  }

  Options options_;
  int output_ = -1;
  int serial_ = 0;
  // Two of these drivers at once must not meet in the cgroups.
  const Text unique_ = "-" + std::to_string(getpid());
};

void on_alarm(int) {}

Options parse(int argc, char** argv) {
  Options options;
  int at = 1;
  for (; at < argc && strcmp(argv[at], "--") != 0; ++at) {
    const Text word = argv[at];
    if (word == "--verbose") {
      options.verbose = true;
      continue;
    }
    if (at + 1 == argc) fail("option without a value: " + word);
    const Text value = argv[++at];
    if (word == "--delete")
      options.remove = split(value, ' ');
    else if (word == "--watch")
      options.watch.push_back(value);
    else if (word == "--cgroup")
      options.cgroups.push_back(value);
    else if (word == "--from")
      options.from = atoi(value.c_str());
    else if (word == "--to")
      options.to = atoi(value.c_str());
    else if (word == "--mode")
      options.do_errors = value != "kills", options.do_kills = value != "errors";
    else if (word == "--role")
      options.do_parent = value == "parent", options.do_child = value == "child";
    else if (word == "--errno")
      for (const auto& one : split(value, ',')) options.errors.push_back(errno_of(one));
    else
      fail("unknown option " + word);
  }
  for (++at; at < argc; ++at) options.create.push_back(argv[at]);
  if (options.create.empty() || options.remove.empty()) fail("usage: see the top of fault.cpp");
  if (options.errors.empty()) options.errors.push_back(EIO);
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0) fail("subreaper");
  if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) < 0)
    fail("mount namespace");
  struct sigaction action{};
  action.sa_handler = on_alarm;
  sigaction(SIGALRM, &action, nullptr);
  const itimerval each_half_second{{0, 500'000}, {0, 500'000}};
  setitimer(ITIMER_REAL, &each_half_second, nullptr);
  return Driver(options).all();
}
