#include "lab/place/foreign.hpp"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/error.hpp"
#include "base/text.hpp"
#include "lab/place/launcher.hpp"
#include "lab/place/plans.hpp"
#include "lab/place/program.hpp"
#include "oci/names.hpp"
#include "oci/write.hpp"

namespace tare::lab {

namespace {

using Words = std::vector<std::string>;

constexpr const char* kWorkInside = "/tare-work";

std::string installed(const std::string& name) {
  for (const char* folder : {"/usr/local/bin/", "/usr/local/sbin/", "/usr/bin/", "/usr/sbin/", "/bin/", "/sbin/"}) {
    std::string path = cat(folder, name);
    if (access(path.c_str(), X_OK) == 0) return path;
  }
  throw Error(ErrorKind::not_found, cat(name, " is not installed"));
}

Words capabilities_of(const oci::Spec& spec) {
  Words out;
  for (int cap = 0; cap < 64; ++cap) {
    if ((spec.process->capabilities->bounding >> cap & 1) != 0) out.emplace_back(oci::capability_name(cap));
  }
  return out;
}

Words empty_folders(const oci::Spec& spec) {
  Words out;
  for (const oci::Mount& m : spec.mounts) {
    if (m.type == "tmpfs" && !m.destination.starts_with("/dev")) out.push_back(m.destination);
  }
  return out;
}

// Everything below runs in the process that becomes the program.

void mount_or_throw(const char* source, const std::string& target, const char* type, unsigned long flags,
                    const std::string& data) {
  if (mount(source, target.c_str(), type, flags, data.c_str()) != 0) throw_errno(cat("mount on ", target), errno);
}

void write_text(const std::string& path, std::string_view text) {
  sys::write_all(sys::open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644), text);
}

void prepare_mounts(const std::string& scratch, bool own_shared_memory) {
  if (unshare(CLONE_NEWNS) != 0) throw_errno("unshare", errno);
  mount_or_throw("none", "/", nullptr, MS_SLAVE | MS_REC, "");
  mount_or_throw("tmpfs", scratch, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755");
  for (const char* name : {"/root", "/upper", "/work", "/bundle", "/state"}) {
    if (mkdir(cat(scratch, name).c_str(), 0755) != 0) throw_errno(cat("mkdir ", scratch, name), errno);
  }
  mount_or_throw("overlay", scratch + "/root", "overlay", 0,
                 cat("lowerdir=/,upperdir=", scratch, "/upper,workdir=", scratch, "/work"));
  // Podman keeps its locks there.
  if (own_shared_memory) mount_or_throw("tmpfs", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777");
  // A v1 layout is what is left of a hybrid one.
  constexpr const char* kUnified = "/sys/fs/cgroup/unified";
  if (access(kUnified, F_OK) == 0) mount_or_throw("tmpfs", kUnified, "tmpfs", MS_RDONLY, "");
}

void join_cgroup(const cgroup::Location& location, bool beside) {
  for (const cgroup::Entry& entry : location.entries) {
    std::string directory = entry.directory();
    // runc makes its container's cgroup below the one that it is in, on the v1 hierarchies, which are all that it uses.
    if (beside && !entry.v2) directory.resize(directory.rfind('/'));
    write_text(directory + "/cgroup.procs", "0");
  }
}

void write_bundle(const ForeignLaunch& l) {
  oci::Spec spec = l.spec;
  spec.annotations.clear();
  spec.oci_version = "1.0.2";  // which Debian's know, and which has all that this spec says
  spec.root.path = l.scratch + "/root";
  spec.process->args = {kWorkInside, "serve"};
  spec.process->env = worker_environment();
  oci::Mount work;
  work.destination = kWorkInside;
  work.type = "bind";
  work.source = find_program("tare-work");
  work.options = {"bind", "ro"};
  spec.mounts.push_back(work);
  const cgroup::Entry* const any = l.location.entries.empty() ? nullptr : &l.location.entries.front();
  if (any != nullptr) spec.linux_.cgroups_path = any->path.substr(any->path.rfind('/') + 1);
  write_text(l.scratch + "/bundle/config.json", oci::write_spec(spec));
}

// The limits that podman would otherwise raise to its own liking, which root without CAP_SYS_RESOURCE may not. It has
// lowered its own limit on processes to 32768 by then.
std::string limit_for(const char* name, __rlimit_resource_t which, rlim_t most) {
  rlimit limit{};
  getrlimit(which, &limit);
  const auto word = [](rlim_t n) { return n == RLIM_INFINITY ? std::string("-1") : cat(n); };
  return cat(name, "=", word(std::min(limit.rlim_cur, most)), ":", word(std::min(limit.rlim_max, most)));
}

int filter_file(const seccomp::Filter& filter) {
  const int fd = memfd_create("filter", 0);
  const auto size = filter.program.size() * sizeof(sock_filter);
  if (fd < 0 || write(fd, filter.program.data(), size) != static_cast<ssize_t>(size))
    throw_errno("memfd_create", errno);
  lseek(fd, 0, SEEK_SET);
  return fd;
}

Words words_for(const ForeignLaunch& l, const std::string& log) {
  const std::string& name = l.program;
  const std::string root = l.scratch + "/root", state = l.scratch + "/state", work = find_program("tare-work");
  const std::string id = cat("tare-weigh-", getpid()), kept = cat("--preserve-fds=", kKept);
  if (name == "crun") {
    write_bundle(l);
    return {"crun",     "--root",
            state,      "--log",
            log,        "--cgroup-manager=disabled",
            "run",      kept,
            "--bundle", l.scratch + "/bundle",
            id};
  }
  if (name == "runc") {
    write_bundle(l);
    return {"runc", "--root", state, "--log", log, "run", kept, "--bundle", l.scratch + "/bundle", id};
  }
  if (name == "unshare") {
    return {"unshare",  "--mount", "--uts",        "--ipc", "--net", "--pid",
            "--cgroup", "--fork",  "--kill-child", work,    "serve"};
  }
  Words words;
  if (name == "bwrap") {
    words = {"bwrap",
             "--unshare-pid",
             "--unshare-ipc",
             "--unshare-uts",
             "--unshare-net",
             "--unshare-cgroup",
             "--as-pid-1",
             "--hostname",
             l.spec.hostname,
             "--bind",
             root,
             "/",
             "--proc",
             "/proc",
             "--dev",
             "/dev",
             "--ro-bind",
             "/sys",
             "/sys",
             "--ro-bind",
             work,
             kWorkInside};
    for (const std::string& folder : empty_folders(l.spec)) words.insert(words.end(), {"--tmpfs", folder});
    if (l.directory != "/") words.insert(words.end(), {"--bind", l.directory, l.directory});
    words.insert(words.end(), {"--cap-drop", "ALL"});
    for (const std::string& cap : capabilities_of(l.spec)) words.insert(words.end(), {"--cap-add", cap});
    words.insert(words.end(), {"--seccomp", cat(filter_file(l.filter)), "--chdir", "/"});
  } else if (name == "podman") {
    // All that is podman's own lies in the scratch folder.
    words = {"podman",
             "--root",
             state + "/root",
             "--runroot",
             state + "/run",
             "--tmpdir",
             state + "/tmp",
             "--storage-driver",
             "vfs",
             "--cgroup-manager",
             "cgroupfs",
             "--events-backend",
             "none",
             "--runtime",
             "crun",
             "run",
             "--rm",
             "--log-driver",
             "none",
             "--cgroups",
             "disabled",
             "--cgroupns",
             "private",
             "--network",
             "none",
             kept,
             "--security-opt",
             "no-new-privileges",
             "--hostname",
             l.spec.hostname,
             "--workdir",
             "/",
             "--ulimit",
             limit_for("nofile", RLIMIT_NOFILE, RLIM_INFINITY),
             "--ulimit",
             limit_for("nproc", RLIMIT_NPROC, 32768),
             "--volume",
             cat(work, ":", kWorkInside, ":ro"),
             "--unsetenv-all",
             "--cap-drop",
             "all"};
    for (const std::string& cap : capabilities_of(l.spec)) words.insert(words.end(), {"--cap-add", cap});
    for (const std::string& folder : empty_folders(l.spec))
      words.insert(words.end(), {"--tmpfs", folder + ":notmpcopyup"});
    if (l.directory != "/") words.insert(words.end(), {"--volume", cat(l.directory, ":", l.directory)});
    for (const std::string& variable : worker_environment()) words.insert(words.end(), {"--env", variable});
    words.insert(words.end(), {"--rootfs", root});
  } else {
    throw Error(ErrorKind::bug, cat("no foreign program is called ", name));
  }
  words.insert(words.end(), {kWorkInside, "serve"});
  return words;
}

[[noreturn]] void become(const ForeignLaunch& l, const std::string& path, int log_fd, const std::string& log) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setsid();
  umask(022);
  if (chdir("/") != 0) throw_errno("chdir", errno);
  join_cgroup(l.location, l.program == "runc");
  prepare_mounts(l.scratch, l.program == "podman");
  Words words = words_for(l, log), environment = worker_environment();
  std::vector<char*> argv, envp;
  for (std::string& word : words) argv.push_back(word.data());
  for (std::string& word : environment) envp.push_back(word.data());
  argv.push_back(nullptr);
  envp.push_back(nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  // Its worker gets pipes from podman in any case; of the others the worker would inherit this.
  if (l.program == "podman") dup2(log_fd, 2);
  execve(path.c_str(), argv.data(), envp.data());
  throw_errno(cat("exec ", path), errno);
}

// The last line, without what a log puts in front.
std::string last_words(const sys::Fd& log) {
  lseek(log.get(), 0, SEEK_SET);
  const std::string text = sys::read_all(log, 1 << 20);
  const auto lines = split(trim(text), '\n');
  return std::string(lines.back());
}

}  // namespace

Foreign start_foreign_program(const ForeignLaunch& l, int not_theirs) {
  const std::string path = installed(l.program);
  sys::Fd log(memfd_create("log", MFD_CLOEXEC));
  if (!log) throw_errno("memfd_create", errno);
  const std::string log_path = cat("/proc/", getpid(), "/fd/", log.get());
  const pid_t pid = fork();
  if (pid < 0) throw_errno("fork", errno);
  if (pid == 0) {
    close(not_theirs);
    try {
      become(l, path, log.get(), log_path);
    } catch (const Error& error) {
      (void)!write(log.get(), error.text().data(), error.text().size());
    }
    _exit(127);
  }
  return {sys::Child(pid, sys::Fd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)))), std::move(log)};
}

pid_t worker_of(sys::Child& child, const sys::Fd& socket, const std::string& program, const sys::Fd& log) {
  if (const pid_t pid = pid_behind(socket)) return pid;
  child.kill(SIGKILL);
  const sys::ExitStatus status = child.wait();
  const std::string words = last_words(log);
  throw Error(ErrorKind::child,
              cat(program, ": ", words.empty() ? cat("ended with status ", status.as_shell()) : words));
}

}  // namespace tare::lab
