// tare-work, the laboratory's worker inside a place: does batches of a workload as it is told over
// the kept socket, and says how long they took. The same file runs in every place.
//
//   tare-work serve    answers on descriptor 3 until it is told bye or the other end is gone
//   tare-work exit     exits at once (the program that the workload "exec" executes)
//   tare-work script, tare-work step NAME    the script workloads (script.cpp)
//
// Small, static and without constructors of global objects: what it costs to start and to fork is
// part of what it measures.
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lab/work/folder.hpp"
#include "lab/work/table.hpp"

namespace tare::lab {
namespace {

constexpr std::size_t kMostArguments = 4096;
constexpr std::size_t kMostCommands = 8;

char received[kMessageLimit + 1];
// The commands that were set, one behind the other.
char command_text[2 * kMessageLimit + 1];
char* command_argv[kMostArguments + kMostCommands];
Command commands[kMostCommands];
std::size_t commands_set = 0, text_used = 0, arguments_used = 0;

void answer(std::string_view text) noexcept {
  // The other end being gone shows at the next recv.
  (void)send(kSocketFd, text.data(), text.size(), MSG_NOSIGNAL);
}

void answer(const Fault& fault) noexcept {
  Message message;
  message.word("fail").word(fault.step).number(fault.errno_value).number(fault.status);
  answer(message.text());
}

std::int64_t string_bytes(char** strings) noexcept {
  std::int64_t sum = 0;
  for (; *strings != nullptr; ++strings) sum += static_cast<std::int64_t>(strlen(*strings)) + 1;
  return sum;
}

void hello() noexcept {
  rlimit files{}, stack{};
  getrlimit(RLIMIT_NOFILE, &files);
  getrlimit(RLIMIT_STACK, &stack);
  const auto speculation = [](unsigned long which) noexcept -> std::int64_t {
    const int state = prctl(PR_GET_SPECULATION_CTRL, which, 0, 0, 0);
    return state < 0 ? 9999 : state;  // 9999: this kernel doesn't say
  };
  Message message;
  message.word("hello").number(kProtocolVersion);
  message.pair("pid", getpid()).pair("ppid", getppid()).pair("uid", getuid()).pair("sid", getsid(0));
  message.pair("seccomp", prctl(PR_GET_SECCOMP, 0, 0, 0, 0));
  message.pair("store_bypass", speculation(PR_SPEC_STORE_BYPASS));
  message.pair("indirect_branch", speculation(PR_SPEC_INDIRECT_BRANCH));
  message.pair("nofile", static_cast<std::int64_t>(files.rlim_cur));
  message.pair("stack", static_cast<std::int64_t>(stack.rlim_cur));
  message.pair("environment_bytes", string_bytes(environ));
  message.pair("pids", visible_pids()).pair("files_on", files_file_system());
  answer(message.text());
}

// The words of a message, each ending with a zero byte as the message does.
class Words {
 public:
  Words(char* text, std::size_t size) noexcept : at_(text), end_(text + size + 1) {}
  char* next() noexcept {
    if (at_ >= end_) return nullptr;
    char* const word = at_;
    at_ += strlen(at_) + 1;
    return word;
  }

 private:
  char* at_;
  char* end_;
};

// "command\0NAME\0CWD\0ARG\0ARG..."
void set_command(std::size_t size) noexcept {
  if (commands_set == kMostCommands || text_used + size + 1 > sizeof command_text)
    return answer(Fault{"command", E2BIG});
  char* const text = command_text + text_used;
  memcpy(text, received, size + 1);
  Words words(text, size);
  words.next();
  const char* const name = words.next();
  const char* const cwd = words.next();
  char** const argv = command_argv + arguments_used;
  std::size_t n = 0;
  while (char* const argument = words.next()) {
    if (arguments_used + n >= kMostArguments) return answer(Fault{"command", E2BIG});
    argv[n++] = argument;
  }
  argv[n] = nullptr;
  if (n == 0) return answer(Fault{"command", EINVAL});
  if (chdir(cwd) != 0) return answer(Fault{"chdir", errno});
  commands[commands_set++] = {name, argv, environ};
  text_used += size + 1;
  arguments_used += n + 1;
  answer("ok");
}

// "shell\0CWD\0TEXT", for what is to be done around a batch and is not measured.
void run_shell(std::size_t size) noexcept {
  Words words(received, size);
  words.next();
  const char* const cwd = words.next();
  char* const text = words.next();
  if (text == nullptr) return answer(Fault{"shell", EINVAL});
  if (chdir(cwd) != 0) return answer(Fault{"chdir", errno});
  static char sh[] = "/bin/sh", option[] = "-c";
  char* argv[] = {sh, option, text, nullptr};
  const Command shell{"shell", argv, environ};
  RunResult result;
  Batch batch{1, 0};
  batch.command = &shell;
  Fault fault = run_command(batch, result);
  if (fault.step == nullptr) return answer("ok");
  if (fault.status != 0) fault.step = "shell";
  answer(fault);
}

Fault run(const RunRequest& request, RunResult& result) noexcept {
  Batch batch{request.count, request.delay, request.time_ns};
  for (std::size_t i = commands_set; i-- > 0;) {  // the last one set of that name
    if (commands[i].name != request.workload) continue;
    batch.command = &commands[i];
    return run_command(batch, result);
  }
  const Run workload = find_workload(request.workload);
  return workload != nullptr ? workload(batch, result) : Fault{"workload", ENOENT};
}

int serve() noexcept {
  // The first means against being left over is the end of file below; this is the second, for the
  // time in which a long command is waited for.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (;;) {
    const ssize_t n = recv(kSocketFd, received, kMessageLimit, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return 0;
    received[n] = '\0';
    const std::string_view message(received, static_cast<std::size_t>(n));
    RunRequest request;
    std::int64_t told_owner = 0;
    if (message == "bye") return 0;
    if (parse_hello(message, told_owner)) {
      set_owner(told_owner);
      hello();
    } else if (strcmp(received, "command") == 0) {
      set_command(static_cast<std::size_t>(n));
    } else if (strcmp(received, "shell") == 0) {
      run_shell(static_cast<std::size_t>(n));
    } else if (parse_run(message, request)) {
      RunResult result;
      const Fault fault = run(request, result);
      if (fault.step != nullptr) {
        answer(fault);
        continue;
      }
      Message done;
      done.word("done").number(result.wall_ns).number(result.cpu_ns).number(result.faults);
      done.number(result.voluntary).number(result.involuntary).number(result.count);
      answer(done.text());
    } else {
      answer(Fault{"message", EPROTO});
    }
  }
}

}  // namespace
}  // namespace tare::lab

int main(int argc, char** argv) {
  if (argc == 2 && strcmp(argv[1], "exit") == 0) _exit(0);
  if (argc == 2 && strcmp(argv[1], "serve") == 0) return tare::lab::serve();
  if (const int status = tare::lab::script_main(argc, argv); status >= 0) _exit(status);
  static constexpr char kUsage[] =
      "tare-work is the worker that tare-weigh puts into a place; it is of no use by hand\n";
  (void)!write(2, kUsage, sizeof kUsage - 1);
  return 125;
}
