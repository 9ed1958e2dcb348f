// The workloads that have names: what tare-work does (src/lab/work).
//
// "enters" names the places whose code the work can enter, as docs/METHOD.md explains; whether it does on
// this kernel is for the evidence to tell.
#include <algorithm>
#include <initializer_list>

#include "lab/model/model.hpp"
#include "lab/model/take.hpp"

namespace tare::lab {

namespace {

using Names = std::vector<std::string>;

// What every system call passes, and what every name of a file is looked up through.
const Names kCall{"seccomp"};
const Names kPath{"mnt", "overlay", "ro-bind", "idmapped", "user", "seccomp"};
const Names kNewProcess{"pid", "user", "cgroup", "limits", "seccomp"};
const Names kExec{"pid",     "user",    "cgroup", "limits", "seccomp",      "mnt",
                  "overlay", "ro-bind", "time",   "caps",   "no-new-privs", "idmapped"};
const Names kIpc{"ipc", "user", "seccomp"};
const Names kNet{"net", "limits", "seccomp"};

Names with(Names names, std::initializer_list<const char*> more) {
  names.insert(names.end(), more.begin(), more.end());
  return names;
}

struct Group {
  const char* name;
  std::vector<Workload> workloads;
};

Workload make(std::string name, std::string describes, const char* unit, Names enters) {
  Workload workload;
  workload.name = std::move(name);
  workload.describes = std::move(describes);
  workload.unit = unit;
  workload.enters = std::move(enters);
  return workload;
}

std::vector<Workload> processes() {
  return {
      make("spawn", "fork, exit, wait", "process", kNewProcess),
      make("exec", "vfork, exec, exit, wait", "process", kExec),
      make("exec-fork", "fork, exec, exit, wait", "process", kExec),
      make("script1", "a script of five programs, by tare-work itself", "script", kExec),
      make("script8", "eight such scripts at once", "eight scripts", kExec),
      make("sh1", "a script by /bin/sh of the place", "script", with(kExec, {"masked"})),
      make("sh8", "eight such scripts at once", "eight scripts", with(kExec, {"masked"})),
      make("proc-walk", "stat, status and cmdline of all processes", "pass",
           {"pid", "user", "mnt", "masked", "seccomp"}),
      make("ps", "ps -xaf of the place", "run", with(kExec, {"masked"})),
  };
}

std::vector<Workload> kernel_entry() {
  return {
      make("syscall", "getppid", "call", {"pid", "seccomp"}),
      make("clock", "the monotonic clock, by the vDSO", "reading", {"time"}),
      make("uname", "uname", "call", {"uts", "seccomp"}),
      make("sethostname", "sethostname, to the same name", "call", {"uts", "user", "caps", "seccomp"}),
      make("access", "access to /etc/passwd", "call", with(kPath, {"caps"})),
      make("setuid", "setresuid, to the same ids", "call", {"user", "caps", "seccomp"}),
      make("seteuid", "effective user id changed and changed back", "there and back", {"user", "caps", "seccomp"}),
      make("signal", "a signal to itself, handled", "signal", {"pid", "user", "limits", "seccomp"}),
  };
}

std::vector<Workload> switches() {
  return {
      make("pipe", "a byte to another process and back", "there and back", {"cgroup", "limits", "seccomp"}),
      make("switch", "two processes wake each other by futex", "there and back", {"cgroup", "limits", "seccomp"}),
      make("signal-pair", "a signal to another process and one back", "there and back",
           {"pid", "user", "cgroup", "limits", "seccomp"}),
  };
}

std::vector<Workload> memory() {
  return {
      make("mmap", "mmap and munmap of 64 KiB", "mapping", {"limits", "seccomp"}),
      make("fault", "first touch of a page", "page", {"cgroup", "limits"}),
  };
}

std::vector<Workload> copies() {
  const Names enters = {"overlay", "cgroup", "limits", "seccomp"};
  return {
      make("copy-256", "file copied by 256 bytes", "block", enters),
      make("copy-1024", "file copied by 1024 bytes", "block", enters),
      make("copy-4096", "file copied by 4096 bytes", "block", enters),
  };
}

std::vector<Workload> paths() {
  std::vector<Workload> out{make("open", "open, fstat, close of /etc/passwd", "file", kPath)};
  for (const char* depth : {"1", "4", "16"}) {
    const std::string below = cat(depth, std::string_view(depth) == "1" ? " folder deep" : " folders deep");
    out.push_back(make(cat("stat-", depth), cat("stat of a file ", below), "call", kPath));
    out.push_back(make(cat("open-", depth), cat("open and close of a file ", below), "file", kPath));
    out.push_back(make(cat("create-", depth), cat("create, close and unlink of a file ", below), "file",
                       with(kPath, {"cgroup", "limits"})));
  }
  out.push_back(make("cgroup-file", "/proc/self/cgroup read", "file", {"cgroup", "pid", "mnt", "seccomp"}));
  return out;
}

std::vector<Workload> ipc() {
  return {
      make("sysv-msg", "System V message sent and received", "message", kIpc),
      make("sysv-sem", "System V semaphore up and down", "up and down", kIpc),
      make("sysv-shm", "System V memory made, attached, touched, removed", "segment", with(kIpc, {"cgroup", "limits"})),
      make("posix-mq", "POSIX message sent and received", "message", {"seccomp"}),
      make("mq-open", "POSIX message queue made and removed", "queue", kIpc),
      make("posix-shm", "POSIX memory made, mapped, touched, removed", "segment",
           {"mnt", "cgroup", "limits", "seccomp"}),
      make("posix-sem", "two processes wake each other by semaphores", "there and back",
           {"cgroup", "limits", "seccomp"}),
  };
}

std::vector<Workload> network() {
  return {
      make("tcp-rr", "TCP, a byte to another process and back", "there and back", kNet),
      make("tcp-stream", "TCP, 16 KiB to another process", "block", kNet),
      make("tcp-connect", "TCP, connect, accept, close", "connection", kNet),
      make("udp-rr", "UDP, a byte to another process and back", "there and back", kNet),
      make("udp-stream", "UDP, 1 KiB to another process", "datagram", kNet),
      make("unix-rr", "AF_UNIX, a byte to another process and back", "there and back", {"cgroup", "limits", "seccomp"}),
      make("unix-stream", "AF_UNIX, 16 KiB to another process", "block", {"cgroup", "limits", "seccomp"}),
      make("unix-connect", "AF_UNIX, connect, accept, close by an abstract name", "connection", kNet),
  };
}

std::vector<Workload> cpu() {
  return {
      make("cpu-int", "integers, 1024 steps", "block", {}),
      make("cpu-float", "floating point, 1024 steps", "block", {}),
  };
}

// By `tare` itself, which the worker starts: {tare}, {bundle} and {state} are put in where the place starts
// (lab/place/bundle.hpp). Of use in bare above all: what is weighed is the runtime, not the place.
std::vector<Workload> host() {
  const Names enters = with(kExec, {"uts", "ipc", "net", "masked", "container"});
  Workload start = make("container-start", "a default container from its start to its end", "container", enters);
  start.command = {"{tare}", "--root", "{state}", "run", "--bundle", "{bundle}", "start"};
  Workload enter = make("container-exec", "exec into a container that runs, to its end", "exec", enters);
  enter.setup = {"exec {tare} --root {state} run --detach --bundle {bundle} --config {bundle}/idle.json idle"};
  enter.command = {"{tare}", "--root", "{state}", "exec", "idle", "/bin/true"};
  enter.cleanup = {"exec {tare} --root {state} delete --force idle"};
  return {start, enter};
}

// What UnixBench has, as its index counts it.
const Names kUnixBench{"cpu-int", "cpu-float", "exec",  "copy-256", "copy-1024", "copy-4096",
                       "syscall", "pipe",      "spawn", "script1",  "script8"};
const Names kDefault{"spawn", "exec", "syscall", "pipe", "open"};

std::vector<Group> groups() {
  return {{"processes", processes()},
          {"kernel", kernel_entry()},
          {"switches", switches()},
          {"memory", memory()},
          {"copies", copies()},
          {"paths", paths()},
          {"ipc", ipc()},
          {"network", network()},
          {"cpu", cpu()}};
}

std::vector<Workload> all() {
  std::vector<Workload> out;
  for (Group& group : groups()) out.insert(out.end(), group.workloads.begin(), group.workloads.end());
  return out;
}

std::vector<Workload> all_and_host() {
  std::vector<Workload> out = all();
  for (Workload& workload : host()) out.push_back(std::move(workload));
  return out;
}

std::vector<Workload> of_names(const std::vector<Workload>& known, const Names& names) {
  std::vector<Workload> out;
  for (const std::string& name : names) out.push_back(take(known, name, "workload"));
  return out;
}

std::string group_names() {
  std::string names;
  for (const Group& group : groups()) names += cat(names.empty() ? "" : ", ", group.name);
  return names;
}

// One name stands for one workload or for a group of them.
std::vector<Workload> named(const std::string& name) {
  const std::vector<Workload> known = all_and_host();
  if (name == "all") return all();
  if (name == "host") return host();
  if (name == "unixbench") return of_names(known, kUnixBench);
  std::vector<Workload> files;
  for (Group& group : groups()) {
    if (group.name == name) return group.workloads;
    const std::string_view kind = group.name;
    if (kind == "copies" || kind == "paths") files.insert(files.end(), group.workloads.begin(), group.workloads.end());
  }
  if (name == "files") return files;
  try {
    return {take(known, name, "workload")};
  } catch (const Error& error) {
    throw Error(error.kind(), error.text())
        .hint(cat(error.hint(), "; groups: all, unixbench, files, host, ", group_names()));
  }
}

}  // namespace

std::vector<Workload> default_workloads() { return of_names(all(), kDefault); }

std::vector<Workload> named_workloads(const std::vector<std::string>& names) {
  std::vector<Workload> workloads;
  for (const std::string& name : names) {
    for (Workload& workload : named(name)) {
      const bool there =
          std::any_of(workloads.begin(), workloads.end(), [&](const Workload& w) { return w.name == workload.name; });
      if (!there) workloads.push_back(std::move(workload));
    }
  }
  return workloads;
}

}  // namespace tare::lab
