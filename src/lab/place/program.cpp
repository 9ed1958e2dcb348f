#include "lab/place/program.hpp"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "base/error.hpp"
#include "base/text.hpp"
#include "lab/place/launcher.hpp"

namespace tare::lab {

namespace {

void put(int from, int to, int flags) {
  if (dup3(from, to, flags) < 0) throw_errno("dup3", errno);
}

}  // namespace

std::string find_program(const std::string& name) {
  char self[PATH_MAX];
  const ssize_t n = readlink("/proc/self/exe", self, sizeof self);
  if (n <= 0) throw Error(ErrorKind::not_found, "can't read /proc/self/exe");
  const std::string path(self, static_cast<std::size_t>(n));
  const std::string folder = path.substr(0, path.rfind('/'));
  for (const char* where : {"/", "/../libexec/tare/", "/../../bin/"}) {
    std::string candidate = cat(folder, where, name);
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  throw Error(ErrorKind::not_found, cat(name, " is not beside ", path));
}

void reserve_descriptors() {
  sys::Fd null = sys::open("/dev/null", O_RDWR);
  // Away from the numbers themselves, which it has where the caller left them free.
  const sys::Fd above(fcntl(null.get(), F_DUPFD_CLOEXEC, kLastFd + 1));
  if (!above) throw_errno("fcntl F_DUPFD_CLOEXEC", errno);
  null.reset();
  for (int fd = kSocketFd; fd <= kLastFd; ++fd) put(above.get(), fd, O_CLOEXEC);
}

std::string output_of(const std::vector<std::string>& argv) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw_errno("pipe2", errno);
  sys::Fd out(ends[0]), in(ends[1]);
  std::vector<char*> args;
  for (const std::string& arg : argv) args.push_back(const_cast<char*>(arg.c_str()));
  args.push_back(nullptr);
  const pid_t pid = vfork();
  if (pid < 0) throw_errno("vfork", errno);
  if (pid == 0) {
    dup2(in.get(), 1);
    execv(args[0], args.data());
    _exit(127);
  }
  sys::Child child(pid, sys::Fd());
  in.reset();
  std::string text = sys::read_all(out, 16 << 20);
  const sys::ExitStatus status = child.wait();
  if (status.as_shell() != 0) throw Error(ErrorKind::child, cat(argv[0], " ", argv[1], ": status ", status.as_shell()));
  return text;
}

pid_t pid_behind(const sys::Fd& socket) {
  const int yes = 1, no = 0;
  if (setsockopt(socket.get(), SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) != 0) throw_errno("setsockopt", errno);
  char bytes[1024];
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(ucred))];
  iovec text{bytes, sizeof bytes};
  msghdr message{};
  message.msg_iov = &text;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  pollfd answers{socket.get(), POLLIN, 0};
  constexpr int kLongest = 30'000;  // ms
  const std::string hello = cat("hello ", getpid());
  if (send(socket.get(), hello.data(), hello.size(), MSG_NOSIGNAL) < 0 || poll(&answers, 1, kLongest) <= 0 ||
      recvmsg(socket.get(), &message, 0) <= 0) {
    return 0;
  }
  setsockopt(socket.get(), SOL_SOCKET, SO_PASSCRED, &no, sizeof no);
  const cmsghdr* const head = CMSG_FIRSTHDR(&message);
  if (head == nullptr || head->cmsg_type != SCM_CREDENTIALS) return 0;
  ucred who{};
  std::memcpy(&who, CMSG_DATA(head), sizeof who);
  return who.pid;
}

Inherited::Inherited(int null, int socket, int program, int far_tcp, int far_udp) : null_(null) {
  for (int fd = 0; fd < 3; ++fd) {
    kept_[fd] = fcntl(fd, F_DUPFD_CLOEXEC, kLastFd + 1);  // -1 where the caller had closed it
    put(null, fd, 0);
  }
  put(socket, kSocketFd, 0);
  put(program, kProgramFd, 0);
  put(far_tcp >= 0 ? far_tcp : null, kFarTcpFd, 0);
  put(far_udp >= 0 ? far_udp : null, kFarUdpFd, 0);
}

Inherited::~Inherited() {
  for (int fd = 0; fd < 3; ++fd) {
    if (kept_[fd] < 0) {
      close(fd);
      continue;
    }
    dup2(kept_[fd], fd);
    close(kept_[fd]);
  }
  for (int fd = kSocketFd; fd <= kLastFd; ++fd) dup3(null_, fd, O_CLOEXEC);
}

}  // namespace tare::lab
