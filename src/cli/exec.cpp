// exec.
#include "base/error.hpp"
#include "base/text.hpp"
#include "cli/commands.hpp"

namespace tare::cli {
namespace {

constexpr Option kOptions[] = {
    {Opt::process, 'p', "process", "FILE", "the whole process object of config.json, instead of a command"},
    {Opt::cwd, 0, "cwd", "DIR", "start in this folder of the container"},
    {Opt::env, 'e', "env", "NAME=VALUE", "add to the container's environment (repeatable)"},
    {Opt::tty, 't', "tty", nullptr, "with a terminal of its own"},
    {Opt::user, 'u', "user", "UID[:GID]", "as this user"},
    {Opt::additional_gids, 'g', "additional-gids", "GID", "a supplementary group (repeatable)"},
    {Opt::cap, 'c', "cap", "CAP", "a further capability (repeatable)"},
    {Opt::no_new_privs, 0, "no-new-privs", nullptr, "without gaining privileges by setuid programs"},
    {Opt::apparmor, 0, "apparmor", "PROFILE", "under this AppArmor profile"},
    {Opt::process_label, 0, "process-label", "LABEL", "under this SELinux label"},
    {Opt::cgroup, 0, "cgroup", "PATH", "in this existing sub-cgroup of the container's: [CONTROLLER:]PATH"},
    {Opt::detach, 'd', "detach", nullptr, "return as soon as it runs"},
    {Opt::console_socket, 0, "console-socket", "PATH", "AF_UNIX socket that gets the master end of the terminal"},
    {Opt::pidfd_socket, 0, "pidfd-socket", "PATH", "AF_UNIX socket that gets a pidfd of the process"},
    {Opt::pid_file, 0, "pid-file", "FILE", "write the process's pid to this file"},
    {Opt::preserve_fds, 0, "preserve-fds", "N", "pass N more descriptors, from 3 on"},
    {Opt::ignore_paused, 0, "ignore-paused", nullptr, "also where the container is paused; it runs when that ends"},
};

std::vector<std::uint32_t> groups(const Parsed& parsed) {
  std::vector<std::uint32_t> out;
  for (const std::string& list : parsed.all(Opt::additional_gids)) {
    for (const std::string_view word : split(list, ',')) {
      const std::optional<std::uint32_t> gid = parse_number<std::uint32_t>(word);
      // 2^32-1 means "no change" to the kernel.
      if (!gid || *gid == UINT32_MAX) throw Error(ErrorKind::usage, cat("--additional-gids: ", quoted(word)));
      out.push_back(*gid);
    }
  }
  return out;
}

void check_env(const std::vector<std::string>& env) {
  for (const std::string& e : env) {
    const std::size_t sign = e.find('=');
    if (sign == std::string::npos || sign == 0) {
      throw Error(ErrorKind::usage, cat("--env: ", quoted(e), " is not NAME=VALUE"));
    }
  }
}

}  // namespace

constexpr Command kExec = {"exec",
                           "CONTAINER COMMAND [ARGUMENT...]",
                           "run another program in a running container",
                           "Ends with the program's exit status, 128 + the signal that ended it, or 255 where tare\n"
                           "itself failed. Options stand before CONTAINER: what follows is the program's.",
                           kOptions,
                           Order::first_word,
                           1,
                           kAnyNumber};

runtime::ExecRequest make_exec_request(const Parsed& parsed) {
  runtime::ExecRequest request;
  request.id = parsed.words.at(0);
  request.args.assign(parsed.words.begin() + 1, parsed.words.end());
  // "exec web1 -- ls": no program is called "--".
  if (!request.args.empty() && request.args.front() == "--") request.args.erase(request.args.begin());
  request.process_file = parsed.last(Opt::process);
  if (request.args.empty() && request.process_file.empty()) {
    throw Error(ErrorKind::usage, "needs a command or --process FILE");
  }
  request.env = parsed.all(Opt::env);
  check_env(request.env);
  if (parsed.has(Opt::cwd)) request.cwd = parsed.last(Opt::cwd);
  if (parsed.has(Opt::user)) request.user = parsed.last(Opt::user);
  request.additional_gids = groups(parsed);
  request.capabilities = parsed.all(Opt::cap);
  if (parsed.has(Opt::apparmor)) request.apparmor = parsed.last(Opt::apparmor);
  if (parsed.has(Opt::process_label)) request.process_label = parsed.last(Opt::process_label);
  request.no_new_privs = parsed.on(Opt::no_new_privs);
  request.tty = parsed.on(Opt::tty);
  request.detach = parsed.on(Opt::detach);
  request.console_socket = parsed.last(Opt::console_socket);
  request.pidfd_socket = parsed.last(Opt::pidfd_socket);
  request.pid_file = parsed.last(Opt::pid_file);
  request.preserve_fds = static_cast<int>(number_of(parsed, Opt::preserve_fds, "preserve-fds", 0, 65535, 0));
  request.cgroup = parsed.last(Opt::cgroup);
  request.ignore_paused = parsed.on(Opt::ignore_paused);
  return request;
}

int do_exec(const Session& session, const Parsed& parsed) {
  const runtime::RunResult result = runtime::exec(session.context, make_exec_request(parsed));
  session.warn(result.warnings);
  return result.status;
}

}  // namespace tare::cli
