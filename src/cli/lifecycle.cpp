// create, run, start, kill, delete, pause, resume.
#include <climits>
#include <csignal>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "oci/names.hpp"

namespace tare::cli {
namespace {

constexpr Option kBundleOption = {Opt::bundle, 'b', "bundle", "DIR",
                                  "the folder with config.json and the root file system (default: the current one)"};
constexpr Option kConfigOption = {Opt::config, 'f', "config", "FILE", "another file than config.json in the bundle"};
constexpr Option kConsoleOption = {Opt::console_socket, 0, "console-socket", "PATH",
                                   "AF_UNIX socket that gets the master end of the container's terminal"};
constexpr Option kPidfdOption = {Opt::pidfd_socket, 0, "pidfd-socket", "PATH",
                                 "AF_UNIX socket that gets a pidfd of the container's first process"};
constexpr Option kPidFileOption = {Opt::pid_file, 0, "pid-file", "FILE", "write the process's pid to this file"};
constexpr Option kNoPivotOption = {Opt::no_pivot, 0, "no-pivot", nullptr,
                                   "enter the root without pivot_root(2), as on a ramdisk; less safe"};
constexpr Option kNoKeyringOption = {Opt::no_new_keyring, 0, "no-new-keyring", nullptr,
                                     "keep the caller's session keyring"};
constexpr Option kPreserveOption = {Opt::preserve_fds, 0, "preserve-fds", "N",
                                    "pass N more descriptors, from 3 (and those of LISTEN_FDS) on"};
constexpr Option kNoSubreaperOption = {Opt::no_subreaper, 0, "no-subreaper", nullptr,
                                       "don't adopt processes that the container's first one leaves behind"};

constexpr Option kCreateOptions[] = {kBundleOption,    kConfigOption,   kConsoleOption,
                                     kPidfdOption,     kPidFileOption,  kNoPivotOption,
                                     kNoKeyringOption, kPreserveOption, kNoSubreaperOption};
constexpr Option kRunOptions[] = {kBundleOption,
                                  kConfigOption,
                                  kConsoleOption,
                                  {Opt::detach, 'd', "detach", nullptr, "return as soon as the container runs"},
                                  {Opt::keep, 0, "keep", nullptr, "leave its state and cgroups when it has ended"},
                                  kPidfdOption,
                                  kPidFileOption,
                                  kNoPivotOption,
                                  kNoKeyringOption,
                                  kPreserveOption,
                                  kNoSubreaperOption};
constexpr Option kKillOptions[] = {{Opt::all, 'a', "all", nullptr, "send it to every process of the container"},
                                   {Opt::regex, 'r', "regex", nullptr, "refused: name the containers"}};
constexpr Option kDeleteOptions[] = {
    {Opt::force, 'f', "force", nullptr, "kill it first where it still runs; an absent one is no error"},
    {Opt::regex, 'r', "regex", nullptr, "refused: name the containers"}};

void refuse_regex(const Parsed& parsed) {
  if (parsed.on(Opt::regex)) throw Error(ErrorKind::usage, "--regex is not supported");
}

}  // namespace

constexpr Command kCreate = {"create",
                             "CONTAINER",
                             "make a container from a bundle, without starting its program",
                             "The program is started by \"tare start CONTAINER\". The container's standard input,\n"
                             "output and error are those of this command.",
                             kCreateOptions,
                             Order::anywhere,
                             1,
                             1};
constexpr Command kRun = {"run",
                          "CONTAINER",
                          "make a container from a bundle and run it",
                          "Ends with the program's exit status, or 128 + the signal that ended it.",
                          kRunOptions,
                          Order::anywhere,
                          1,
                          1};
constexpr Command kStart = {
    "start", "CONTAINER", "start the program of a created container", "", {}, Order::anywhere, 1, 1};
constexpr Command kKill = {"kill",
                           "CONTAINER [SIGNAL]",
                           "send a signal (TERM) to a container's first process",
                           "SIGNAL is a name with or without SIG, in either case, or a number.",
                           kKillOptions,
                           Order::anywhere,
                           1,
                           2};
constexpr Command kDelete = {
    "delete", "CONTAINER", "remove what a stopped container left", "", kDeleteOptions, Order::anywhere, 1, 1};
constexpr Command kPause = {"pause", "CONTAINER", "freeze all processes of a container", "", {}, Order::anywhere, 1, 1};
constexpr Command kResume = {"resume", "CONTAINER", "let a paused container go on", "", {}, Order::anywhere, 1, 1};

runtime::RunRequest make_run_request(const Parsed& parsed) {
  runtime::RunRequest request;
  request.id = parsed.words.at(0);
  request.bundle = parsed.last(Opt::bundle, ".");
  request.config = parsed.last(Opt::config);
  request.console_socket = parsed.last(Opt::console_socket);
  request.pidfd_socket = parsed.last(Opt::pidfd_socket);
  request.pid_file = parsed.last(Opt::pid_file);
  request.preserve_fds = static_cast<int>(number_of(parsed, Opt::preserve_fds, "preserve-fds", 0, 65535, 0));
  request.no_pivot = parsed.on(Opt::no_pivot);
  request.no_new_keyring = parsed.on(Opt::no_new_keyring);
  request.detach = parsed.on(Opt::detach);
  request.keep = parsed.on(Opt::keep);
  request.no_subreaper = parsed.on(Opt::no_subreaper);
  return request;
}

int do_create(const Session& session, const Parsed& parsed) {
  session.warn(runtime::create(session.context, make_run_request(parsed)));
  return 0;
}

int do_run(const Session& session, const Parsed& parsed) {
  const runtime::RunResult result = runtime::run(session.context, make_run_request(parsed));
  session.warn(result.warnings);
  return result.status;
}

int do_start(const Session& session, const Parsed& parsed) {
  session.warn(runtime::start(session.context, parsed.words.at(0)));
  return 0;
}

int do_kill(const Session& session, const Parsed& parsed) {
  refuse_regex(parsed);
  int number = SIGTERM;
  if (parsed.words.size() > 1) {
    const std::optional<int> named = oci::signal_number(parsed.words[1]);
    if (!named) throw Error(ErrorKind::usage, cat("unknown signal ", quoted(parsed.words[1])));
    number = *named;
  }
  runtime::kill(session.context, parsed.words.at(0), number, parsed.on(Opt::all));
  return 0;
}

int do_delete(const Session& session, const Parsed& parsed) {
  refuse_regex(parsed);
  session.warn(runtime::remove(session.context, parsed.words.at(0), parsed.on(Opt::force)));
  return 0;
}

int do_pause(const Session& session, const Parsed& parsed) {
  runtime::pause(session.context, parsed.words.at(0));
  return 0;
}

int do_resume(const Session& session, const Parsed& parsed) {
  runtime::resume(session.context, parsed.words.at(0));
  return 0;
}

}  // namespace tare::cli
