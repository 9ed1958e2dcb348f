#include "launch/hooks.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include "base/error.hpp"
#include "base/text.hpp"
#include "sys/fd.hpp"

namespace tare::launch {
namespace {

constexpr std::size_t kStderrTail = 1024;

sys::Fd memory_file(const char* name) {
  const int fd = ::memfd_create(name, MFD_CLOEXEC);
  if (fd < 0) throw_errno("memfd_create", errno);
  return sys::Fd(fd);
}

// A file in memory, not a pipe: it needs no reader, and nobody can hold it open against us.
std::string tail(const sys::Fd& file) {
  const off_t size = ::lseek(file.get(), 0, SEEK_END);
  if (size <= 0) return {};
  const auto wanted = std::min(static_cast<std::size_t>(size), kStderrTail);
  std::string text(wanted, '\0');
  const ssize_t n = ::pread(file.get(), text.data(), wanted, size - static_cast<off_t>(wanted));
  text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return std::string(trim(text));
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (const auto& text : texts) list.push_back(const_cast<char*>(text.c_str()));
  list.push_back(nullptr);
  return list;
}

class Attributes {
 public:
  Attributes() {
    ::posix_spawnattr_init(&attributes_);
    sigset_t none, all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  Attributes(const Attributes&) = delete;
  ~Attributes() { ::posix_spawnattr_destroy(&attributes_); }
  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_;
};

class Actions {
 public:
  Actions(int in, int err, const std::string& cwd) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawn_file_actions_adddup2(&actions_, in, 0);
    ::posix_spawn_file_actions_addopen(&actions_, 1, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions_, err, 2);
    ::posix_spawn_file_actions_addclosefrom_np(&actions_, 3);
    ::posix_spawn_file_actions_addchdir_np(&actions_, cwd.c_str());
  }
  Actions(const Actions&) = delete;
  ~Actions() { ::posix_spawn_file_actions_destroy(&actions_); }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

bool wait_until_end(pid_t pid, int timeout_seconds) {
  if (timeout_seconds <= 0) return true;
  const sys::Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  pollfd ended{pidfd.get(), POLLIN, 0};
  int r = -1;
  do r = ::poll(&ended, 1, std::min(timeout_seconds, INT_MAX / 1000) * 1000);
  while (r < 0 && errno == EINTR);
  return r != 0;
}

}  // namespace

void run_hook(const oci::Hook& hook, std::string_view state_json, const std::string& bundle, const std::string& field) {
  const auto name = cat(field, ": hook ", quoted(hook.path));
  with_intent(name, [&] {
    const sys::Fd in = memory_file("state");
    sys::write_all(in, state_json);
    ::lseek(in.get(), 0, SEEK_SET);
    const sys::Fd err = memory_file("stderr");
    const Attributes attributes;
    const Actions actions(in.get(), err.get(), bundle);
    const auto args = hook.args.empty() ? std::vector<std::string>{hook.path} : hook.args;
    auto argv = pointers(args);
    auto envp = pointers(hook.env);
    pid_t pid = 0;
    const int failed =
        ::posix_spawn(&pid, hook.path.c_str(), actions.get(), attributes.get(), argv.data(), envp.data());
    if (failed != 0) throw_errno("exec", failed);
    const bool in_time = wait_until_end(pid, hook.timeout.value_or(0));
    if (!in_time) ::kill(-pid, SIGKILL);
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (in_time && status == 0) return;
    std::string text;
    if (!in_time)
      text = cat("did not end within ", hook.timeout.value_or(0), " s and was killed");
    else if (WIFSIGNALED(status))
      text = cat("was ended by signal ", WTERMSIG(status));
    else
      text = cat("exit status ", WEXITSTATUS(status));
    if (const auto last_words = tail(err); !last_words.empty()) text += cat(", stderr: ", quoted(last_words));
    throw Error(ErrorKind::child, text);
  });
}

}  // namespace tare::launch
