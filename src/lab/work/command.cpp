// Programs of the place: the user's own command, ps and sh. vfork, execvpe, waitpid; each must end with
// status 0; its output goes where the worker's does, to /dev/null.
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab/work/table.hpp"

namespace tare::lab {

namespace {

Fault run_program(const char* step, char** argv, char** environment) noexcept {
  const pid_t child = vfork();
  if (child == 0) {
    execvpe(argv[0], argv, environment);
    _exit(errno == ENOENT ? 127 : 126);
  }
  if (child < 0) return {"vfork", errno};
  int status = 0;
  if (waitpid(child, &status, 0) != child) return {"waitpid", errno};
  if (status != 0) return {step, 0, status};
  return {};
}

char ps[] = "ps";
char ps_options[] = "-xaf";
char* ps_argv[] = {ps, ps_options, nullptr};

// What UnixBench's shell scripts do (sort, od, grep, tee and wc on a file), with what any POSIX shell has
// built in, so that the programs of the place matter as little as can be: subshells, a pipe, a
// command substitution, a loop, no file. $1 of them at once.
char sh[] = "/bin/sh";
char sh_c[] = "-c";
char sh_script[] = R"sh(
one() {
  sum=0
  for word in The quick brown fox jumps over the lazy dog; do
    case $word in *o*) sum=$((sum + ${#word}));; esac
  done
  echo "$sum" | { read -r got; [ "$got" = 15 ] || exit 3; }
  [ "$(echo "$sum")" = 15 ] || exit 4
  (exit 5) && exit 6
  return 0
}
pids=
n=0
while [ "$n" -lt "$1" ]; do
  (one) & pids="$pids $!"
  n=$((n + 1))
done
for pid in $pids; do wait "$pid" || exit 7; done
exit 0
)sh";
char sh_one[] = "1";
char sh_eight[] = "8";
char* sh1_argv[] = {sh, sh_c, sh_script, sh, sh_one, nullptr};
char* sh8_argv[] = {sh, sh_c, sh_script, sh, sh_eight, nullptr};

}  // namespace

Fault run_command(const Batch& batch, RunResult& result) noexcept {
  if (batch.command == nullptr || batch.command->argv == nullptr) return {"command", EINVAL};
  const Command& command = *batch.command;
  return measure(batch, result, 1,
                 [&]() noexcept { return run_program("command", command.argv, command.environment); });
}

Fault run_ps(const Batch& batch, RunResult& result) noexcept {
  return measure(batch, result, 1, []() noexcept { return run_program("ps", ps_argv, environ); });
}

Fault run_sh1(const Batch& batch, RunResult& result) noexcept {
  return measure(batch, result, 1, []() noexcept { return run_program("sh", sh1_argv, environ); });
}

Fault run_sh8(const Batch& batch, RunResult& result) noexcept {
  return measure(batch, result, 1, []() noexcept { return run_program("sh", sh8_argv, environ); });
}

}  // namespace tare::lab
