// What the tests need on the host's side and a shell cannot do. One static program, one word a task.
//
// clang-format off
//   tool console SOCKET [STEP...]   listens on SOCKET as an engine does, takes one pty master, then plays the steps on it
//   tool pty [STEP...] -- CMD...    runs CMD on a new controlling terminal and plays the steps; status is CMD's
//   tool recvfd SOCKET              takes one descriptor and prints its link and its fdinfo
//   tool notify SOCKET [ERRNO]      takes a seccomp listener, prints the state sent with it, answers calls until none come
//   tool swap A B MS                exchanges two paths as fast as it can for that time; prints how often
//   tool block SIGNAL... -- CMD...  runs CMD with these signals blocked
//   tool ignore SIGNAL... -- CMD... runs CMD with these signals, the C library's own 32 and 33 too, ignored and no others
//   tool exewatch MS                tries all that time to write to /proc/PID/exe of every process; prints what it could open
//   tool fdwatch MS                 looks all that time for descriptors of folders that other processes have; prints them,
//                                   and how many processes it saw
//   tool mountwatch PREFIX MS       watches mountinfo all that time; prints each mount point below PREFIX
// Steps of a terminal: --size ROWSxCOLS  --wait TEXT  --send TEXT (\n \r \t \xNN)  --sleep MS  --close  --limit MS (whole)
// All output of the terminal goes to stdout. Status 99 and a line on stderr: what was waited for never came.
// clang-format on
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace {

using Text = std::string;

[[noreturn]] void fail(const Text& what) {
  fprintf(stderr, "tool: %s: %s\n", what.c_str(), strerror(errno));
  exit(99);
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

Text read_link(const Text& path) {
  char buffer[4096];
  const ssize_t length = readlink(path.c_str(), buffer, sizeof buffer);
  return length < 0 ? Text() : Text(buffer, static_cast<size_t>(length));
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

Text unescape(const Text& text) {
  Text out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    switch (text[++i]) {
      case 'n':
        out += '\n';
        break;
      case 'r':
        out += '\r';
        break;
      case 't':
        out += '\t';
        break;
      case 'x':
        out += static_cast<char>(strtol(text.substr(i + 1, 2).c_str(), nullptr, 16));
        i += 2;
        break;
      default:
        out += text[i];
    }
  }
  return out;
}

struct Step {
  enum Kind { size, wait, send, sleep, hangup, limit } kind;
  Text text;
};

std::vector<Step> parse_steps(char** argv, int& at, int argc) {
  std::vector<Step> steps;
  while (at < argc && strcmp(argv[at], "--") != 0) {
    const Text word = argv[at++];
    if (word == "--close") {
      steps.push_back({Step::hangup, ""});
      continue;
    }
    if (at == argc) fail("step without a value: " + word);
    const Step::Kind kind = word == "--size"    ? Step::size
                            : word == "--wait"  ? Step::wait
                            : word == "--send"  ? Step::send
                            : word == "--sleep" ? Step::sleep
                                                : Step::limit;
    steps.push_back({kind, unescape(argv[at++])});
  }
  return steps;
}

void set_size(int fd, const Text& text) {
  winsize size{};
  size.ws_row = static_cast<unsigned short>(atoi(text.c_str()));
  size.ws_col = static_cast<unsigned short>(atoi(text.c_str() + text.find('x') + 1));
  if (ioctl(fd, TIOCSWINSZ, &size) < 0) fail("TIOCSWINSZ");
}

// A master being read; what came out since the last match is kept for the next --wait.
class Terminal {
 public:
  explicit Terminal(int master) : master_(master) {}

  // Reads what comes within ms; false at the end.
  bool pump(long ms) {
    pollfd one{master_, POLLIN, 0};
    if (poll(&one, 1, static_cast<int>(ms)) <= 0) return true;
    char buffer[4096];
    const ssize_t got = read(master_, buffer, sizeof buffer);
    if (got <= 0) return false;
    seen_.append(buffer, static_cast<size_t>(got));
    const ssize_t ignored = write(1, buffer, static_cast<size_t>(got));
    static_cast<void>(ignored);
    return true;
  }

  bool play(const std::vector<Step>& steps, long& deadline) {
    for (const auto& step : steps) {
      switch (step.kind) {
        case Step::limit:
          deadline = now_ms() + atol(step.text.c_str());
          break;
        case Step::size:
          set_size(master_, step.text);
          break;
        case Step::hangup:
          close(master_);
          return true;
        case Step::send:
          if (write(master_, step.text.data(), step.text.size()) < 0) fail("write to the terminal");
          break;
        case Step::sleep:
          for (const long until = now_ms() + atol(step.text.c_str()); now_ms() < until;) {
            if (!pump(until - now_ms())) nap(10);
          }
          break;
        case Step::wait:
          while (seen_.find(step.text) == Text::npos) {
            if (!pump(100) || now_ms() > deadline) {
              fprintf(stderr, "tool: the terminal never showed: %s\n", step.text.c_str());
              return false;
            }
          }
          seen_.erase(0, seen_.find(step.text) + step.text.size());
          break;
      }
    }
    while (pump(100)) {
      if (now_ms() > deadline) {
        fprintf(stderr, "tool: the terminal was not closed in time\n");
        return false;
      }
    }
    return true;
  }

 private:
  int master_;
  Text seen_;
};

int listen_on(const Text& path) {
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // Through the folder, since a whole path may be longer than the 107 bytes of an address.
  const size_t slash = path.rfind('/');
  if (slash != Text::npos && chdir(path.substr(0, slash).c_str()) < 0) fail("chdir");
  const Text name = path.substr(slash == Text::npos ? 0 : slash + 1);
  unlink(name.c_str());
  strncpy(address.sun_path, name.c_str(), sizeof address.sun_path - 1);
  if (bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) < 0) fail("bind " + path);
  if (listen(fd, 8) < 0) fail("listen");
  return fd;
}

// The first descriptor that comes; text is what came with it.
int receive(int listener, Text& text) {
  pollfd one{listener, POLLIN, 0};
  if (poll(&one, 1, 30'000) <= 0) fail("nobody connected");
  const int peer = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
  if (peer < 0) fail("accept");
  char buffer[65536];
  char control[256];
  iovec part{buffer, sizeof buffer};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t got = recvmsg(peer, &message, MSG_CMSG_CLOEXEC);
  if (got < 0) fail("recvmsg");
  text.assign(buffer, static_cast<size_t>(got));
  int fd = -1;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS) memcpy(&fd, CMSG_DATA(header), sizeof fd);
  }
  if (fd < 0) fail("no descriptor came");
  for (ssize_t more; (more = recv(peer, buffer, sizeof buffer, MSG_DONTWAIT)) > 0;) {
    text.append(buffer, static_cast<size_t>(more));
  }
  close(peer);
  return fd;
}

int console(int argc, char** argv) {
  int at = 3;
  const auto steps = parse_steps(argv, at, argc);
  Text name;
  const int master = receive(listen_on(argv[2]), name);
  fprintf(stderr, "name=%s\n", name.c_str());
  long deadline = now_ms() + 20'000;
  return Terminal(master).play(steps, deadline) ? 0 : 99;
}

int pty(int argc, char** argv) {
  int at = 2;
  const auto steps = parse_steps(argv, at, argc);
  if (at + 1 >= argc) fail("pty: no command");
  const int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0) fail("pty");
  size_t first = 0;
  if (!steps.empty() && steps[0].kind == Step::size) set_size(master, steps[first++].text);
  char name[64];
  if (ptsname_r(master, name, sizeof name) != 0) fail("ptsname");
  const pid_t pid = fork();
  if (pid == 0) {
    setsid();
    const int slave = open(name, O_RDWR);
    ioctl(slave, TIOCSCTTY, 0);
    for (int fd = 0; fd < 3; ++fd) dup2(slave, fd);
    if (slave > 2) close(slave);
    execvp(argv[at + 1], argv + at + 1);
    _exit(127);
  }
  long deadline = now_ms() + 20'000;
  const bool played = Terminal(master).play({steps.begin() + static_cast<long>(first), steps.end()}, deadline);
  int status = 0;
  while (waitpid(pid, &status, WNOHANG) == 0) {
    if (now_ms() > deadline || !played) {
      kill(pid, SIGKILL);
      waitpid(pid, &status, 0);
      return 99;
    }
    nap(5);
  }
  if (!played) return 99;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int recvfd(char** argv) {
  Text text;
  const int fd = receive(listen_on(argv[2]), text);
  printf("link: %s\n%s", read_link("/proc/self/fd/" + std::to_string(fd)).c_str(),
         read_all("/proc/self/fdinfo/" + std::to_string(fd)).c_str());
  return 0;
}

int notify(int argc, char** argv) {
  Text text;
  const int fd = receive(listen_on(argv[2]), text);
  printf("%s\n", text.c_str());
  fflush(stdout);
  const int code = argc > 3 ? atoi(argv[3]) : EPERM;
  for (;;) {
    pollfd one{fd, POLLIN, 0};
    if (poll(&one, 1, 20'000) <= 0 || (one.revents & POLLHUP)) return 0;
    seccomp_notif call{};
    if (ioctl(fd, SECCOMP_IOCTL_NOTIF_RECV, &call) < 0) return 0;
    seccomp_notif_resp answer{};
    answer.id = call.id;
    answer.error = -code;
    ioctl(fd, SECCOMP_IOCTL_NOTIF_SEND, &answer);
  }
}

int swap(char** argv) {
  long count = 0;
  for (const long until = now_ms() + atol(argv[4]); now_ms() < until;) {
    for (int i = 0; i < 64; ++i) {
      if (syscall(SYS_renameat2, AT_FDCWD, argv[2], AT_FDCWD, argv[3], 2 /* RENAME_EXCHANGE */) == 0) ++count;
    }
    sched_yield();
  }
  printf("%ld\n", count);
  return count > 0 ? 0 : 99;
}

int block(int argc, char** argv) {
  sigset_t mask;
  sigemptyset(&mask);
  int at = 2;
  for (; at < argc && strcmp(argv[at], "--") != 0; ++at) sigaddset(&mask, atoi(argv[at]));
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  execvp(argv[at + 1], argv + at + 1);
  fail("exec");
}

int ignore(int argc, char** argv) {
  struct {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)();
    unsigned long mask;
  } action{};
  for (int signal = 1; signal <= 64; ++signal) {
    action.handler = SIG_DFL;
    for (int i = 2; i < argc && strcmp(argv[i], "--") != 0; ++i)
      if (atoi(argv[i]) == signal) action.handler = SIG_IGN;
    if (signal != SIGKILL && signal != SIGSTOP) syscall(SYS_rt_sigaction, signal, &action, nullptr, sizeof action.mask);
  }
  int at = 2;
  while (at < argc && strcmp(argv[at], "--") != 0) ++at;
  execvp(argv[at + 1], argv + at + 1);
  fail("exec");
}

int exewatch(char** argv) {
  std::set<Text> found;
  for (const long until = now_ms() + atol(argv[2]); now_ms() < until;) {
    DIR* proc = opendir("/proc");
    if (!proc) fail("opendir /proc");
    while (const dirent* entry = readdir(proc)) {
      if (entry->d_name[0] < '1' || entry->d_name[0] > '9' || atoi(entry->d_name) == getpid()) continue;
      const Text exe = Text("/proc/") + entry->d_name + "/exe";
      const Text target = read_link(exe);
      // Keep it open over its exit, as the attack does: busy now, writable later.
      const int held = open(exe.c_str(), O_PATH | O_CLOEXEC);
      if (held < 0) continue;
      const int fd = open(("/proc/self/fd/" + std::to_string(held)).c_str(), O_WRONLY | O_CLOEXEC);
      struct stat st{};
      fstat(held, &st);
      found.insert((fd >= 0 ? Text("WRITABLE ") : Text(strerrorname_np(errno)) + " ") + target + " inode " +
                   std::to_string(st.st_ino));
      if (fd >= 0) close(fd);
      static std::vector<int> kept;
      if (kept.size() < 200) {
        kept.push_back(held);
      } else {
        close(held);
      }
      for (int old : kept) {
        const int again = open(("/proc/self/fd/" + std::to_string(old)).c_str(), O_WRONLY | O_CLOEXEC);
        if (again < 0) continue;
        found.insert("WRITABLE later " + read_link("/proc/self/fd/" + std::to_string(old)));
        close(again);
      }
    }
    closedir(proc);
  }
  for (const auto& line : found) printf("%s\n", line.c_str());
  return 0;
}

// A folder's descriptor of the runtime's leads to all of the host, by "..".
int fdwatch(char** argv) {
  std::set<Text> found;
  std::set<int> seen;
  for (const long until = now_ms() + atol(argv[2]); now_ms() < until;) {
    DIR* proc = opendir("/proc");
    if (!proc) fail("opendir /proc");
    while (const dirent* entry = readdir(proc)) {
      const int pid = atoi(entry->d_name);
      if (pid <= 1 || pid == getpid()) continue;
      const Text folder = Text("/proc/") + entry->d_name + "/fd";
      DIR* fds = opendir(folder.c_str());
      if (!fds) continue;
      seen.insert(pid);
      while (const dirent* fd = readdir(fds)) {
        struct stat st{};
        const Text path = folder + "/" + fd->d_name;
        if (fd->d_name[0] != '.' && stat(path.c_str(), &st) == 0 && S_ISDIR(st.st_mode))
          found.insert("FOLDER " + Text(fd->d_name) + " " + read_link(path));
      }
      closedir(fds);
    }
    closedir(proc);
  }
  for (const auto& line : found) printf("%s\n", line.c_str());
  printf("processes %zu\n", seen.size());
  return 0;
}

struct Mount {
  Text id, parent, device, root, point;
};

std::vector<Mount> read_mounts(const Text& path) {
  std::vector<Mount> out;
  const Text all = read_all(path);
  for (size_t at = 0; at < all.size();) {
    const size_t end = std::min(all.find('\n', at), all.size());
    Text words[5];
    size_t from = at;
    for (auto& word : words) {
      const size_t blank = std::min(all.find(' ', from), end);
      word = all.substr(from, blank - from);
      from = blank + 1;
    }
    out.push_back({words[0], words[1], words[2], words[3], words[4]});
    at = end + 1;
  }
  return out;
}

// Where a path that lies on this mount is in the file system itself, whoever's root it was named from.
Text within(const Mount& mount, const Text& path) {
  const Text rest = mount.point == "/" ? path : path.substr(mount.point.size());
  return mount.device + " " + (mount.root == "/" ? "" : mount.root) + rest;
}

bool lies_on(const Mount& mount, const Text& path) {
  return mount.point == "/" || path == mount.point || path.rfind(mount.point + "/", 0) == 0;
}

int mountwatch(char** argv) {
  const Text prefix = Text(argv[2]);
  Text real;
  size_t longest = 0;
  for (const auto& mount : read_mounts("/proc/self/mountinfo")) {
    if (lies_on(mount, prefix) && mount.point.size() >= longest) {
      real = within(mount, prefix);
      longest = mount.point.size();
    }
  }
  std::set<Text> found;
  for (const long until = now_ms() + atol(argv[3]); now_ms() < until;) {
    DIR* proc = opendir("/proc");
    std::set<Text> seen_namespaces;
    while (const dirent* entry = proc ? readdir(proc) : nullptr) {
      if (entry->d_name[0] < '1' || entry->d_name[0] > '9') continue;
      const Text dir = Text("/proc/") + entry->d_name;
      if (!seen_namespaces.insert(read_link(dir + "/ns/mnt")).second) continue;
      const auto mounts = read_mounts(dir + "/mountinfo");
      for (const auto& mount : mounts) {
        for (const auto& parent : mounts) {
          if (parent.id != mount.parent || !lies_on(parent, mount.point)) continue;
          const Text place = within(parent, mount.point);
          if (place == real || place.rfind(real + "/", 0) == 0) found.insert(place);
        }
      }
    }
    if (proc) closedir(proc);
    nap(1);
  }
  for (const auto& line : found) printf("%s\n", line.c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const Text task = argc > 1 ? argv[1] : "";
  if (task == "console" && argc > 2) return console(argc, argv);
  if (task == "pty" && argc > 3) return pty(argc, argv);
  if (task == "recvfd" && argc > 2) return recvfd(argv);
  if (task == "notify" && argc > 2) return notify(argc, argv);
  if (task == "swap" && argc > 4) return swap(argv);
  if (task == "block" && argc > 3) return block(argc, argv);
  if (task == "ignore" && argc > 3) return ignore(argc, argv);
  if (task == "exewatch" && argc > 2) return exewatch(argv);
  if (task == "fdwatch" && argc > 2) return fdwatch(argv);
  if (task == "mountwatch" && argc > 3) return mountwatch(argv);
  fprintf(stderr, "tool: unknown task\n");
  return 99;
}
