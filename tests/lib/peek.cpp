// The program that the tests run inside a container: it tells as JSON what it sees, and tries things.
//
// For: the behaviour tests. Static and dependent on nothing, so that it runs in an empty root, without
// /proc and under a strict filter. Not for: measuring, or use outside the tests.
//
//   peek                  one JSON object on stdout: ids, capabilities, limits, mounts, descriptors ...
//   peek ACTION...        the same, with "tried": {"ACTION": result}; a result is "ok", the name of the
//                         errno, or an object
//   peek -q ACTION...     only the actions, without the report
//
// Actions, their parts separated by colons:
//   r:PATH   w:PATH   create:PATH   write:PATH:TEXT   stat:PATH   ls:PATH   statfs:PATH   mkdir:PATH   rm:PATH
//   mknod:PATH:c|b|p:MAJOR:MINOR   mount:TYPE:TARGET   remountrw:PATH   umount:PATH   chroot:PATH
//   unshare:user|mnt|pid|net|uts|ipc|cgroup   setns:PATH   sethostname:NAME   setgroups   setuid:N   chown:PATH:U:G
//   sys:NUMBER[:ARG...]   socket:FAMILY:TYPE:PROTOCOL   alloc:BYTES   forks:MAX   sysctl:KEY   clock:NAME
//   sleep:MS   print:TEXT   cat (stdin to stdout)
// Actions that print the report first:   hold (until SIGTERM)   exit:N   raise:SIGNAL
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include <string>
#include <vector>

namespace {

using Text = std::string;

Text number(long long value) { return std::to_string(value); }

// JSON strings are UTF-8; bytes that are not stand as \u00XX, so that a test can still see them.
Text quote(const Text& raw) {
  Text out = "\"";
  for (size_t i = 0; i < raw.size(); ++i) {
    const auto byte = static_cast<unsigned char>(raw[i]);
    size_t length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc2 ? 2 : 1;
    bool whole = i + length <= raw.size();
    for (size_t k = 1; whole && k < length; ++k) whole = (static_cast<unsigned char>(raw[i + k]) & 0xc0) == 0x80;
    if (byte == '"' || byte == '\\') {
      out += '\\';
      out += raw[i];
    } else if (byte < 0x20 || byte == 0x7f || (byte >= 0x80 && (length == 1 || !whole))) {
      char buffer[8];
      snprintf(buffer, sizeof buffer, "\\u%04x", byte);
      out += buffer;
    } else {
      out.append(raw, i, length);
      i += length - 1;
    }
  }
  return out + "\"";
}

Text list(const std::vector<Text>& items) {
  Text out = "[";
  for (size_t i = 0; i < items.size(); ++i) out += (i ? "," : "") + items[i];
  return out + "]";
}

Text quoted_list(const std::vector<Text>& items) {
  std::vector<Text> quoted;
  for (const auto& item : items) quoted.push_back(quote(item));
  return list(quoted);
}

class Object {
 public:
  void add(const Text& key, const Text& json) { body_ += (body_.empty() ? "" : ",\n ") + quote(key) + ":" + json; }
  Text text() const { return "{" + body_ + "}"; }

 private:
  Text body_;
};

Text errno_name(int code) {
  const char* name = strerrorname_np(code);
  return quote(name ? name : number(code));
}

// "ok", or the errno's name.
Text outcome(long result) { return result < 0 ? errno_name(errno) : quote("ok"); }

bool read_file(const Text& path, Text& out, size_t most = 1 << 20) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return false;
  char buffer[4096];
  ssize_t got = 0;
  while (out.size() < most && (got = read(fd, buffer, sizeof buffer)) > 0) out.append(buffer, static_cast<size_t>(got));
  const int saved = errno;
  close(fd);
  errno = saved;
  return got >= 0;
}

Text trimmed(Text text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

Text file_json(const Text& path) {
  Text content;
  return read_file(path, content) ? quote(trimmed(content)) : "null";
}

std::vector<Text> split(const Text& text, char separator) {
  std::vector<Text> parts;
  size_t from = 0;
  for (size_t at; (at = text.find(separator, from)) != Text::npos; from = at + 1) {
    parts.push_back(text.substr(from, at - from));
  }
  parts.push_back(text.substr(from));
  return parts;
}

Text link_json(const Text& path) {
  char buffer[4096];
  const ssize_t length = readlink(path.c_str(), buffer, sizeof buffer);
  return length < 0 ? "null" : quote(Text(buffer, static_cast<size_t>(length)));
}

const char* const kCapabilities[] = {"CAP_CHOWN",
                                     "CAP_DAC_OVERRIDE",
                                     "CAP_DAC_READ_SEARCH",
                                     "CAP_FOWNER",
                                     "CAP_FSETID",
                                     "CAP_KILL",
                                     "CAP_SETGID",
                                     "CAP_SETUID",
                                     "CAP_SETPCAP",
                                     "CAP_LINUX_IMMUTABLE",
                                     "CAP_NET_BIND_SERVICE",
                                     "CAP_NET_BROADCAST",
                                     "CAP_NET_ADMIN",
                                     "CAP_NET_RAW",
                                     "CAP_IPC_LOCK",
                                     "CAP_IPC_OWNER",
                                     "CAP_SYS_MODULE",
                                     "CAP_SYS_RAWIO",
                                     "CAP_SYS_CHROOT",
                                     "CAP_SYS_PTRACE",
                                     "CAP_SYS_PACCT",
                                     "CAP_SYS_ADMIN",
                                     "CAP_SYS_BOOT",
                                     "CAP_SYS_NICE",
                                     "CAP_SYS_RESOURCE",
                                     "CAP_SYS_TIME",
                                     "CAP_SYS_TTY_CONFIG",
                                     "CAP_MKNOD",
                                     "CAP_LEASE",
                                     "CAP_AUDIT_WRITE",
                                     "CAP_AUDIT_CONTROL",
                                     "CAP_SETFCAP",
                                     "CAP_MAC_OVERRIDE",
                                     "CAP_MAC_ADMIN",
                                     "CAP_SYSLOG",
                                     "CAP_WAKE_ALARM",
                                     "CAP_BLOCK_SUSPEND",
                                     "CAP_AUDIT_READ",
                                     "CAP_PERFMON",
                                     "CAP_BPF",
                                     "CAP_CHECKPOINT_RESTORE"};
constexpr int kCapabilityCount = sizeof kCapabilities / sizeof *kCapabilities;

Text capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2]{};
  syscall(SYS_capget, &header, data);
  std::vector<Text> effective, permitted, inheritable, bounding, ambient;
  for (int cap = 0; cap < kCapabilityCount; ++cap) {
    const unsigned bit = 1U << (cap % 32);
    if (data[cap / 32].effective & bit) effective.push_back(kCapabilities[cap]);
    if (data[cap / 32].permitted & bit) permitted.push_back(kCapabilities[cap]);
    if (data[cap / 32].inheritable & bit) inheritable.push_back(kCapabilities[cap]);
    if (prctl(PR_CAPBSET_READ, cap, 0, 0, 0) == 1) bounding.push_back(kCapabilities[cap]);
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, cap, 0, 0) == 1) ambient.push_back(kCapabilities[cap]);
  }
  Object out;
  out.add("effective", quoted_list(effective));
  out.add("permitted", quoted_list(permitted));
  out.add("inheritable", quoted_list(inheritable));
  out.add("bounding", quoted_list(bounding));
  out.add("ambient", quoted_list(ambient));
  return out.text();
}

Text limits() {
  static const struct {
    const char* name;
    __rlimit_resource_t which;
  } kLimits[] = {{"AS", RLIMIT_AS},           {"CORE", RLIMIT_CORE},         {"CPU", RLIMIT_CPU},
                 {"DATA", RLIMIT_DATA},       {"FSIZE", RLIMIT_FSIZE},       {"LOCKS", RLIMIT_LOCKS},
                 {"MEMLOCK", RLIMIT_MEMLOCK}, {"MSGQUEUE", RLIMIT_MSGQUEUE}, {"NICE", RLIMIT_NICE},
                 {"NOFILE", RLIMIT_NOFILE},   {"NPROC", RLIMIT_NPROC},       {"RSS", RLIMIT_RSS},
                 {"RTPRIO", RLIMIT_RTPRIO},   {"RTTIME", RLIMIT_RTTIME},     {"SIGPENDING", RLIMIT_SIGPENDING},
                 {"STACK", RLIMIT_STACK}};
  Object out;
  for (const auto& limit : kLimits) {
    struct rlimit value{};
    getrlimit(limit.which, &value);
    auto one = [](rlim_t number_of) { return number_of == RLIM_INFINITY ? Text("-1") : std::to_string(number_of); };
    out.add(limit.name, "[" + one(value.rlim_cur) + "," + one(value.rlim_max) + "]");
  }
  return out.text();
}

Text signals() {
  std::vector<Text> ignored, handled, blocked;
  sigset_t mask;
  sigprocmask(SIG_SETMASK, nullptr, &mask);
  for (int signal_number = 1; signal_number < 65; ++signal_number) {
    // Raw: the library hides its own two signals.
    struct {
      void (*handler)(int);
      unsigned long flags;
      void (*restorer)();
      unsigned long mask;
    } action{};
    syscall(SYS_rt_sigaction, signal_number, nullptr, &action, 8);
    if (action.handler == SIG_IGN) ignored.push_back(number(signal_number));
    if (action.handler != SIG_IGN && action.handler != SIG_DFL) handled.push_back(number(signal_number));
    if (sigismember(&mask, signal_number) == 1) blocked.push_back(number(signal_number));
  }
  Object out;
  out.add("ignored", list(ignored));
  out.add("handled", list(handled));
  out.add("blocked", list(blocked));
  return out.text();
}

Text descriptors() {
  Object out;
  for (int fd = 0; fd < 1024; ++fd) {
    if (fcntl(fd, F_GETFD) < 0) continue;
    const Text target = link_json("/proc/self/fd/" + number(fd));
    out.add(number(fd), target == "null" ? quote("?") : target);
  }
  return out.text();
}

Text mounts() {
  Text content;
  if (!read_file("/proc/self/mountinfo", content, 8 << 20)) return "null";
  std::vector<Text> all;
  for (const auto& line : split(content, '\n')) {
    const auto words = split(line, ' ');
    size_t dash = 6;
    while (dash < words.size() && words[dash] != "-") ++dash;
    if (dash + 3 >= words.size()) continue;
    Object mount;
    mount.add("id", words[0]);
    mount.add("parent", words[1]);
    mount.add("dev", quote(words[2]));
    mount.add("root", quote(words[3]));
    mount.add("dest", quote(words[4]));
    mount.add("options", quoted_list(split(words[5], ',')));
    mount.add("propagation", quoted_list({words.begin() + 6, words.begin() + static_cast<long>(dash)}));
    mount.add("type", quote(words[dash + 1]));
    mount.add("source", quote(words[dash + 2]));
    mount.add("super", quoted_list(split(words[dash + 3], ',')));
    all.push_back(mount.text());
  }
  return list(all);
}

Text namespaces() {
  Object out;
  for (const char* type : {"cgroup", "ipc", "mnt", "net", "pid", "time", "user", "uts"}) {
    out.add(type, link_json(Text("/proc/self/ns/") + type));
  }
  return out.text();
}

Text terminal() {
  Object out;
  std::vector<Text> are;
  for (int fd = 0; fd < 3; ++fd) are.push_back(isatty(fd) ? "true" : "false");
  out.add("is", list(are));
  winsize size{};
  if (ioctl(0, TIOCGWINSZ, &size) == 0) out.add("size", "[" + number(size.ws_row) + "," + number(size.ws_col) + "]");
  const int controlling = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
  out.add("controlling", controlling >= 0 ? "true" : "false");
  if (controlling >= 0) {
    out.add("foreground", number(tcgetpgrp(controlling)));
    close(controlling);
  }
  struct stat st{};
  if (fstat(0, &st) == 0) out.add("owner", "[" + number(st.st_uid) + "," + number(st.st_gid) + "]");
  if (fstat(0, &st) == 0)
    out.add("mode", quote(number((st.st_mode & 0777) >> 6 & 7) + number(st.st_mode >> 3 & 7) + number(st.st_mode & 7)));
  return out.text();
}

Text session_keyring() {
  char buffer[512];
  const long length =
      syscall(SYS_keyctl, 6 /* KEYCTL_DESCRIBE */, -3 /* KEY_SPEC_SESSION_KEYRING */, buffer, sizeof buffer);
  return length < 0 ? "null" : quote(Text(buffer, strnlen(buffer, sizeof buffer)));
}

Text ids(int (*get)(unsigned*, unsigned*, unsigned*)) {
  unsigned real = 0, effective = 0, saved = 0;
  get(&real, &effective, &saved);
  return list({std::to_string(real), std::to_string(effective), std::to_string(saved)});
}

Text report(int argc, char** argv, char** envp) {
  Object out;
  out.add("fds", descriptors());  // first, before this program opens anything that stays
  out.add("pid", number(getpid()));
  out.add("ppid", number(getppid()));
  out.add("pgid", number(getpgid(0)));
  out.add("sid", number(getsid(0)));
  out.add("uid", ids(getresuid));
  out.add("gid", ids(getresgid));
  std::vector<gid_t> groups(65536);
  const int count = getgroups(65536, groups.data());
  std::vector<Text> group_texts;
  for (int i = 0; i < count; ++i) group_texts.push_back(std::to_string(groups[static_cast<size_t>(i)]));
  out.add("groups", list(group_texts));
  out.add("caps", capabilities());
  out.add("securebits", number(prctl(PR_GET_SECUREBITS, 0, 0, 0, 0)));
  out.add("nnp", number(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)));
  out.add("seccomp", number(prctl(PR_GET_SECCOMP, 0, 0, 0, 0)));
  out.add("dumpable", number(prctl(PR_GET_DUMPABLE, 0, 0, 0, 0)));
  int death_signal = 0;
  prctl(PR_GET_PDEATHSIG, &death_signal, 0, 0, 0);
  out.add("pdeathsig", number(death_signal));
  out.add("rlimits", limits());
  const mode_t mask = umask(0);
  umask(mask);
  char octal[8];
  snprintf(octal, sizeof octal, "%04o", mask);
  out.add("umask", quote(octal));
  char cwd[4096];
  out.add("cwd", syscall(SYS_getcwd, cwd, sizeof cwd) > 0 ? quote(cwd) : "null");
  std::vector<Text> env;
  for (char** one = envp; *one; ++one) env.push_back(*one);
  out.add("env", quoted_list(env));
  out.add("args", quoted_list({argv, argv + argc}));
  out.add("signals", signals());
  cpu_set_t cpus;
  std::vector<Text> affinity;
  if (sched_getaffinity(0, sizeof cpus, &cpus) == 0) {
    for (size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &cpus)) affinity.push_back(std::to_string(cpu));
    }
  }
  out.add("affinity", list(affinity));
  out.add("scheduler", number(sched_getscheduler(0)));
  errno = 0;
  out.add("nice", number(getpriority(PRIO_PROCESS, 0)));
  out.add("ioprio", number(syscall(SYS_ioprio_get, 1, 0)));
  out.add("personality", number(personality(0xffffffff)));
  out.add("tty", terminal());
  utsname names{};
  uname(&names);
  out.add("hostname", quote(names.nodename));
  char domain[65]{};
  out.add("domainname", getdomainname(domain, sizeof domain) == 0 ? quote(domain) : "null");
  out.add("mounts", mounts());
  out.add("namespaces", namespaces());
  Text cgroup;
  out.add("cgroup", read_file("/proc/self/cgroup", cgroup) ? quoted_list(split(trimmed(cgroup), '\n')) : "null");
  out.add("oom_score_adj", file_json("/proc/self/oom_score_adj"));
  out.add("uid_map", file_json("/proc/self/uid_map"));
  out.add("gid_map", file_json("/proc/self/gid_map"));
  out.add("setgroups", file_json("/proc/self/setgroups"));
  out.add("exe", link_json("/proc/self/exe"));
  out.add("keyring", session_keyring());
  return out.text();
}

Text stat_json(const Text& path) {
  struct stat st{};
  if (lstat(path.c_str(), &st) < 0) return errno_name(errno);
  const char* type = S_ISREG(st.st_mode)    ? "file"
                     : S_ISDIR(st.st_mode)  ? "dir"
                     : S_ISCHR(st.st_mode)  ? "c"
                     : S_ISBLK(st.st_mode)  ? "b"
                     : S_ISLNK(st.st_mode)  ? "link"
                     : S_ISFIFO(st.st_mode) ? "fifo"
                                            : "socket";
  char octal[8];
  snprintf(octal, sizeof octal, "%04o", st.st_mode & 07777);
  Object out;
  out.add("type", quote(type));
  out.add("mode", quote(octal));
  out.add("uid", std::to_string(st.st_uid));
  out.add("gid", std::to_string(st.st_gid));
  out.add("size", number(st.st_size));
  out.add("dev", quote(number(major(st.st_dev)) + ":" + number(minor(st.st_dev))));
  out.add("rdev", quote(number(major(st.st_rdev)) + ":" + number(minor(st.st_rdev))));
  if (S_ISLNK(st.st_mode)) out.add("target", link_json(path));
  return out.text();
}

Text ls_json(const Text& path) {
  DIR* dir = opendir(path.c_str());
  if (!dir) return errno_name(errno);
  std::vector<Text> names;
  while (const dirent* entry = readdir(dir)) {
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) names.push_back(entry->d_name);
  }
  closedir(dir);
  return quoted_list(names);
}

Text statfs_json(const Text& path) {
  struct statfs fs{};
  if (statfs(path.c_str(), &fs) < 0) return errno_name(errno);
  char hex[24];
  snprintf(hex, sizeof hex, "%lx", static_cast<unsigned long>(fs.f_type));
  Object out;
  out.add("magic", quote(hex));
  out.add("bytes", number(static_cast<long long>(fs.f_blocks) * fs.f_bsize));
  out.add("inodes", number(static_cast<long long>(fs.f_files)));
  out.add("flags", number(fs.f_flags));
  return out.text();
}

Text try_open(const Text& path, int flags) {
  const int fd = open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0644);
  if (fd < 0) return errno_name(errno);
  close(fd);
  return quote("ok");
}

Text try_write(const Text& path, const Text& text) {
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return errno_name(errno);
  const ssize_t written = write(fd, text.data(), text.size());
  const Text result = outcome(written);
  close(fd);
  return result;
}

// How many children can live at once, up to the asked number.
Text count_forks(long most) {
  std::vector<pid_t> children;
  Text stopped = quote("ok");
  while (static_cast<long>(children.size()) < most) {
    const pid_t pid = fork();
    if (pid == 0) {
      pause();
      _exit(0);
    }
    if (pid < 0) {
      stopped = errno_name(errno);
      break;
    }
    children.push_back(pid);
  }
  for (pid_t pid : children) {
    ::kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
  }
  return "[" + number(static_cast<long>(children.size())) + "," + stopped + "]";
}

Text allocate(size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (memory == MAP_FAILED) return errno_name(errno);
  memset(memory, 1, bytes);
  munmap(memory, bytes);
  return quote("ok");
}

int namespace_flag(const Text& name) {
  return name == "user"     ? CLONE_NEWUSER
         : name == "mnt"    ? CLONE_NEWNS
         : name == "pid"    ? CLONE_NEWPID
         : name == "net"    ? CLONE_NEWNET
         : name == "uts"    ? CLONE_NEWUTS
         : name == "ipc"    ? CLONE_NEWIPC
         : name == "cgroup" ? 0x02000000
                            : 0x00000080;
}

// In a child, so that the report and the later actions are not changed by it.
template <class Function>
Text in_child(Function function) {
  int pipe_fds[2];
  if (pipe2(pipe_fds, O_CLOEXEC) < 0) return errno_name(errno);
  const pid_t pid = fork();
  if (pid < 0) return errno_name(errno);
  if (pid == 0) {
    const Text result = function();
    const ssize_t ignored = write(pipe_fds[1], result.data(), result.size());
    static_cast<void>(ignored);
    _exit(0);
  }
  close(pipe_fds[1]);
  Text result;
  char buffer[512];
  for (ssize_t got; (got = read(pipe_fds[0], buffer, sizeof buffer)) > 0;)
    result.append(buffer, static_cast<size_t>(got));
  close(pipe_fds[0]);
  int status = 0;
  waitpid(pid, &status, 0);
  if (result.empty() && WIFSIGNALED(status)) return quote("signal " + number(WTERMSIG(status)));
  return result.empty() ? quote("nothing") : result;
}

void flush(const Text& text) {
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t written = write(1, text.data() + done, text.size() - done);
    if (written <= 0) return;
    done += static_cast<size_t>(written);
  }
}

volatile sig_atomic_t terminated = 0;
void on_term(int) { terminated = 1; }

Text hold() {
  struct sigaction action{};
  action.sa_handler = on_term;
  sigaction(SIGTERM, &action, nullptr);
  while (!terminated) {
    const timespec nap{0, 20'000'000};
    nanosleep(&nap, nullptr);
  }
  return quote("ok");
}

Text copy_input() {
  char buffer[4096];
  for (ssize_t got; (got = read(0, buffer, sizeof buffer)) > 0;) flush(Text(buffer, static_cast<size_t>(got)));
  return quote("ok");
}

long to_long(const std::vector<Text>& parts, size_t at) {
  return at < parts.size() ? strtol(parts[at].c_str(), nullptr, 0) : 0;
}

Text files(const Text& verb, const Text& path, const std::vector<Text>& parts, bool& known) {
  if (verb == "r") {
    Text content;
    return read_file(path, content, 4096) ? quote(content) : errno_name(errno);
  }
  if (verb == "w") return try_open(path, O_WRONLY);
  if (verb == "rw") return try_open(path, O_RDWR);
  if (verb == "create") return try_open(path, O_WRONLY | O_CREAT);
  if (verb == "write") return try_write(path, parts.size() > 2 ? parts[2] : "");
  if (verb == "stat") return stat_json(path);
  if (verb == "ls") return ls_json(path);
  if (verb == "statfs") return statfs_json(path);
  if (verb == "mkdir") return outcome(mkdir(path.c_str(), 0755));
  if (verb == "rm") return outcome(remove(path.c_str()));
  if (verb == "exec") {
    return in_child([&] {
      execl(path.c_str(), path.c_str(), nullptr);
      return errno_name(errno);
    });
  }
  if (verb == "chown") {
    return outcome(chown(path.c_str(), static_cast<uid_t>(to_long(parts, 2)), static_cast<gid_t>(to_long(parts, 3))));
  }
  if (verb == "mknod") {
    const mode_t type = parts.size() > 2 && parts[2] == "b"   ? S_IFBLK
                        : parts.size() > 2 && parts[2] == "p" ? S_IFIFO
                                                              : S_IFCHR;
    return outcome(mknod(path.c_str(), type | 0666,
                         makedev(static_cast<unsigned>(to_long(parts, 3)), static_cast<unsigned>(to_long(parts, 4)))));
  }
  if (verb == "sysctl") {
    Text file = "/proc/sys/" + path;
    for (size_t i = 10; i < file.size(); ++i) {
      if (file[i] == '.') file[i] = '/';
    }
    return file_json(file);
  }
  known = false;
  return "";
}

Text powers(const Text& verb, const Text& first, const std::vector<Text>& parts, bool& known) {
  if (verb == "mount") {
    return outcome(mount("none", parts.size() > 2 ? parts[2].c_str() : "/", first.c_str(), 0, nullptr));
  }
  if (verb == "remountrw") return outcome(mount("none", first.c_str(), nullptr, MS_REMOUNT | MS_BIND, nullptr));
  if (verb == "umount") return outcome(umount2(first.c_str(), MNT_DETACH));
  if (verb == "chroot") return in_child([&] { return outcome(chroot(first.c_str())); });
  if (verb == "unshare") return in_child([&] { return outcome(unshare(namespace_flag(first))); });
  if (verb == "setns") {
    return in_child([&] {
      const int fd = open(first.c_str(), O_RDONLY | O_CLOEXEC);
      return fd < 0 ? errno_name(errno) : outcome(setns(fd, 0));
    });
  }
  if (verb == "sethostname") return outcome(sethostname(first.c_str(), first.size()));
  if (verb == "setgroups") return in_child([] { return outcome(setgroups(0, nullptr)); });
  if (verb == "setuid") return in_child([&] { return outcome(setuid(static_cast<uid_t>(to_long(parts, 1)))); });
  if (verb == "socket") {
    return in_child([&] {
      return outcome(socket(static_cast<int>(to_long(parts, 1)), static_cast<int>(to_long(parts, 2)),
                            static_cast<int>(to_long(parts, 3))));
    });
  }
  if (verb == "sys") {
    return in_child([&] {
      return outcome(syscall(to_long(parts, 1), to_long(parts, 2), to_long(parts, 3), to_long(parts, 4),
                             to_long(parts, 5), to_long(parts, 6), to_long(parts, 7)));
    });
  }
  if (verb == "alloc") return in_child([&] { return allocate(strtoull(first.c_str(), nullptr, 0)); });
  if (verb == "forks") return count_forks(to_long(parts, 1));
  if (verb == "clock") {
    timespec now{};
    clock_gettime(first == "boottime" ? CLOCK_BOOTTIME : CLOCK_MONOTONIC, &now);
    return number(now.tv_sec);
  }
  known = false;
  return "";
}

Text act(const Text& action) {
  const auto parts = split(action, ':');
  const Text& verb = parts[0];
  const Text first = parts.size() > 1 ? parts[1] : "";
  bool known = true;
  Text result = files(verb, first, parts, known);
  if (known) return result;
  known = true;
  result = powers(verb, first, parts, known);
  if (known) return result;
  if (verb == "hold") return hold();
  if (verb == "cat") return copy_input();
  if (verb == "print") {
    flush(first + "\n");
    return quote("ok");
  }
  if (verb == "sleep") {
    const long ms = to_long(parts, 1);
    const timespec nap{ms / 1000, ms % 1000 * 1'000'000};
    nanosleep(&nap, nullptr);
    return quote("ok");
  }
  if (verb == "exit") _exit(static_cast<int>(to_long(parts, 1)));
  if (verb == "raise") {
    ::kill(getpid(), static_cast<int>(to_long(parts, 1)));
    return quote("ok");
  }
  return quote("unknown action");
}

// What is to be seen is printed before an action that does not come back.
bool ends(const Text& action) {
  return action == "hold" || action.rfind("exit:", 0) == 0 || action.rfind("raise:", 0) == 0;
}

}  // namespace

int main(int argc, char** argv, char** envp) {
  const bool quiet = argc > 1 && strcmp(argv[1], "-q") == 0;
  Text all = quiet ? "" : report(argc, argv, envp);
  if (!quiet) all.pop_back();
  Object tried;
  bool printed = false;
  auto print = [&] {
    const Text results = "\"tried\":" + tried.text() + "}\n";
    if (!printed && !quiet) flush(all + ",\n " + results);
    if (!printed && quiet && tried.text().size() > 2) flush("{" + results);
    printed = true;
  };
  for (int i = quiet ? 2 : 1; i < argc; ++i) {
    if (ends(argv[i])) print();
    const Text result = act(argv[i]);
    if (strncmp(argv[i], "print:", 6) != 0 && strcmp(argv[i], "cat") != 0) tried.add(argv[i], result);
  }
  print();
  return 0;
}
