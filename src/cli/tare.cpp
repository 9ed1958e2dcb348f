// All of the command line: global options, the command, its report, its exit status.
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <exception>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "launch/self.hpp"

namespace tare::cli {
namespace {

constexpr Option kGlobals[] = {
    {Opt::root, 0, "root", "DIR",
     "the folder that keeps the containers' state (default: /run/tare, or "
     "$XDG_RUNTIME_DIR/tare for an ordinary user)"},
    {Opt::log, 0, "log", "PATH", "write messages to this file, too; file:PATH is the same"},
    {Opt::log_format, 0, "log-format", "FORMAT", "of that file: text (default) or json, one object a line"},
    {Opt::log_level, 0, "log-level", "LEVEL", "debug is as --debug; error and warning are accepted and change nothing"},
    {Opt::debug, 0, "debug", nullptr, "also tell what is run and how it ends"},
    {Opt::systemd_cgroup, 0, "systemd-cgroup", nullptr, "refused: cgroups through systemd are not supported yet"},
    {Opt::cgroup_manager, 0, "cgroup-manager", "MANAGER", "cgroupfs; systemd and disabled are refused"},
    {Opt::rootless, 0, "rootless", "BOOL", "true, false or auto: accepted and ignored, tare looks for itself"},
    {Opt::criu, 0, "criu", "PATH", "accepted and ignored: there is no checkpoint yet"},
};
constexpr Option kGlobalOptions[] = {kGlobals[0],
                                     kGlobals[1],
                                     kGlobals[2],
                                     kGlobals[3],
                                     kGlobals[4],
                                     kGlobals[5],
                                     kGlobals[6],
                                     kGlobals[7],
                                     kGlobals[8],
                                     {Opt::version, 'v', "version", nullptr, "print the version"},
                                     {Opt::version, 'V', "version", nullptr, "print the version"}};
constexpr Command kTare = {"", "COMMAND ...", "", "", kGlobalOptions, Order::first_word, 0, kAnyNumber};

constexpr Entry kEntries[] = {
    {&kBox, do_box, 125},     {&kWeigh, do_weigh, 1},       {&kRun, do_run, 1},
    {&kCreate, do_create, 1}, {&kStart, do_start, 1},       {&kExec, do_exec, 255},
    {&kState, do_state, 1},   {&kList, do_list, 1},         {&kPs, do_ps, 1},
    {&kKill, do_kill, 1},     {&kPause, do_pause, 1},       {&kResume, do_resume, 1},
    {&kUpdate, do_update, 1}, {&kEvents, do_events, 1},     {&kDelete, do_delete, 1},
    {&kSpec, do_spec, 1},     {&kFeatures, do_features, 1}, {&kPid, do_pid, 1},
    {&kTree, do_tree, 1},     {&kEnter, do_enter, 255},     {&kTop, do_top, 1},
};

std::string default_root() {
  if (getauxval(AT_EUID) == 0) return "/run/tare";
  const char* runtime_dir = std::getenv("XDG_RUNTIME_DIR");
  if (runtime_dir != nullptr && *runtime_dir == '/') return cat(runtime_dir, "/tare");
  // Anyone may have made that folder before us: only our own, closed to others, will do.
  const std::string folder = cat("/tmp/tare-", geteuid());
  struct stat status{};
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) throw_errno(cat("mkdir ", folder), errno);
  if (lstat(folder.c_str(), &status) != 0) throw_errno(cat("lstat ", folder), errno);
  if (!S_ISDIR(status.st_mode) || status.st_uid != geteuid() || (status.st_mode & 077) != 0) {
    throw Error(ErrorKind::conflict, cat(folder, " is not a folder of this user alone"))
        .hint("set XDG_RUNTIME_DIR, or use --root DIR");
  }
  return folder;
}

void refuse_managers(const Parsed& globals) {
  const std::string_view manager = globals.last(Opt::cgroup_manager, "cgroupfs");
  if (globals.on(Opt::systemd_cgroup) || manager == "systemd") {
    throw Error(ErrorKind::unsupported, "cgroups through systemd are not supported yet")
        .hint("podman: --cgroup-manager cgroupfs; containerd: SystemdCgroup = false");
  }
  if (manager != "cgroupfs") {
    throw Error(ErrorKind::unsupported, cat("--cgroup-manager: ", quoted(manager), " is not supported, cgroupfs is"));
  }
}

LogFormat log_format(const Parsed& globals) {
  const std::string_view format = globals.last(Opt::log_format, "text");
  if (format != "text" && format != "json") {
    throw Error(ErrorKind::usage, cat("--log-format: ", quoted(format), " is neither text nor json"));
  }
  return format == "json" ? LogFormat::json : LogFormat::text;
}

const Entry& find_command(const std::string& name) {
  std::vector<std::string_view> names;
  for (const Entry& e : kEntries) {
    if (name == e.command->name) return e;
    names.emplace_back(e.command->name);
  }
  Error error(ErrorKind::usage, cat("unknown command ", quoted(name)));
  const std::string_view meant = closest(name, names);
  throw error.hint(meant.empty() ? "\"tare --help\" lists the commands" : cat("did you mean \"", meant, "\"?"));
}

bool puts_a_process_into_a_container(std::string_view name) {
  return name == "create" || name == "run" || name == "exec" || name == "box" || name == "enter";
}

std::string help_of_all() {
  std::vector<const Command*> commands;
  for (const Entry& e : kEntries) commands.push_back(e.command);
  return help_text(commands, kGlobals);
}

void print_usage(const char* line) {
  const std::string text = cat(line, "\n");
  if (write(STDERR_FILENO, text.data(), text.size()) < 0) return;  // nobody left to tell
}

// A verb says itself which container it is about; where it doesn't, that is put in front.
void put_in_front(Error& error, const Command& command, const Parsed& parsed) {
  std::string intent = command.name;
  if (command.least > 0 && !parsed.words.empty()) intent += cat(" ", shown(parsed.words[0]));
  if (!error.text().starts_with(intent)) error.in_front(error.kind() == ErrorKind::usage ? command.name : intent);
}

int run_command(const Entry& entry, const Session& session, int argc, char** argv) {
  Parsed parsed;
  try {
    if (entry.command == &kWeigh) {  // every option is tare-weigh's
      parsed.words.assign(argv + 1, argv + argc);
    } else {
      parsed = parse(*entry.command, argc, argv);
    }
    if (parsed.on(Opt::help)) {
      print(help_text(*entry.command));
      return 0;
    }
    std::string words;
    for (int i = 0; i < argc; ++i) words += cat(" ", shown(argv[i]));
    session.reporter.debug(cat("tare ", TARE_VERSION, ", state in ", shown(session.context.root), ":", words));
    const int status = entry.run(session, parsed);
    session.reporter.debug(cat(entry.command->name, ": status ", status));
    return status;
  } catch (Error& error) {
    const bool usage = error.kind() == ErrorKind::usage;
    put_in_front(error, *entry.command, parsed);
    session.reporter.error(error);
    if (usage) print_usage(usage_line(*entry.command).c_str());
    if (entry.command == &kBox) return box_status(error);
    return entry.own_failure;
  }
}

int dispatch(Reporter& reporter, int argc, char** argv) {
  const Parsed globals = parse(kTare, argc, argv);
  if (globals.on(Opt::help) || (globals.words.size() == 1 && globals.words[0] == "help")) {
    print(help_of_all());
    return 0;
  }
  if (globals.on(Opt::version)) {
    print(version_text());
    return 0;
  }
  if (globals.words.empty()) {
    print_usage(help_of_all().c_str());
    return 1;
  }
  // Before anything costly is done, since it starts the program afresh.
  if (puts_a_process_into_a_container(globals.words[0])) launch::protect_own_file(argv);
  reporter.open_log(globals.last(Opt::log), log_format(globals),
                    globals.on(Opt::debug) || globals.last(Opt::log_level) == "debug");
  const bool help = globals.words[0] == "help";  // "tare help run" is "tare run --help"
  const Entry& entry = find_command(globals.words[help ? 1 : 0]);
  const int shift = static_cast<int>(globals.used);
  char help_word[] = "--help";
  char* help_argv[] = {argv[0], help_word, nullptr};
  refuse_managers(globals);
  Session session{{}, reporter};
  session.context.root = globals.last(Opt::root, "");
  if (session.context.root.empty()) session.context.root = default_root();
  return help ? run_command(entry, session, 2, help_argv) : run_command(entry, session, argc - shift, argv + shift);
}

}  // namespace

std::span<const Entry> entries() { return kEntries; }
std::span<const Option> global_options() { return kGlobalOptions; }

int main_of(int argc, char** argv) {
  Reporter reporter;
  try {
    return dispatch(reporter, argc, argv);
  } catch (const Error& error) {
    reporter.error(error);
    if (error.kind() == ErrorKind::usage) print_usage("usage: tare [global options] COMMAND [options] [arguments]");
    return 1;
  } catch (const std::exception& error) {
    reporter.error(Error(ErrorKind::bug, error.what()));
    return 1;
  }
}

}  // namespace tare::cli
