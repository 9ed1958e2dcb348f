// enter: a program in the namespaces of a container or a process.
#include "base/error.hpp"
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/view.hpp"
#include "nsview/kind.hpp"

namespace tare::cli {
namespace {

constexpr Option kOptions[] = {
    {Opt::all, 'a', "all", nullptr, "all namespaces (default where no kind is named)"},
    {Opt::cgroup, 'C', "cgroup", nullptr, "the cgroup namespace"},
    {Opt::ipc, 'i', "ipc", nullptr, "the IPC namespace"},
    {Opt::mount, 'm', "mount", nullptr, "the mount namespace, and the target's root in it"},
    {Opt::net, 'n', "net", nullptr, "the network namespace"},
    {Opt::pid, 'p', "pid", nullptr, "the pid namespace"},
    {Opt::time, 'T', "time", nullptr, "the time namespace"},
    {Opt::user, 'U', "user", nullptr, "the user namespace, as its user and group 0"},
    {Opt::uts, 'u', "uts", nullptr, "the UTS namespace"},
    {Opt::root, 'r', "root", nullptr, "the target's root (always with --mount)"},
    {Opt::cwd, 'w', "cwd", nullptr, "the target's working directory, instead of /"},
    {Opt::env, 'e', "env", nullptr, "the target's environment, instead of tare's"},
    {Opt::join_cgroup, 0, "join-cgroup", nullptr, "run in the target's cgroups"},
    {Opt::keep_ids, 0, "keep-ids", nullptr, "keep user, group and groups as they are in the user namespace"},
    {Opt::no_proc, 0, "no-proc", nullptr, "leave /proc as it is where it is that of another pid namespace"},
};

struct Choice {
  Opt option;
  nsview::Kind kind;
};
constexpr Choice kChoices[] = {{Opt::cgroup, nsview::Kind::cgroup}, {Opt::ipc, nsview::Kind::ipc},
                               {Opt::mount, nsview::Kind::mnt},     {Opt::net, nsview::Kind::net},
                               {Opt::pid, nsview::Kind::pid},       {Opt::time, nsview::Kind::time},
                               {Opt::user, nsview::Kind::user},     {Opt::uts, nsview::Kind::uts}};

int kinds_of(const Parsed& parsed) {
  int chosen = 0, all = 0;
  for (const Choice& choice : kChoices) {
    const int flag = nsview::kKindInfo[nsview::index_of(choice.kind)].flag;
    all |= flag;
    if (parsed.on(choice.option)) chosen |= flag;
  }
  return parsed.on(Opt::all) || chosen == 0 ? all : chosen;
}

}  // namespace

constexpr Command kEnter = {
    "enter",
    "ID|PID [options] [--] [COMMAND [ARGUMENT...]]",
    "run a program (/bin/sh) in the namespaces of a container or a process",
    "Ends as the program does, or with 255 where tare itself failed. Where /proc is not that of\n"
    "the pid namespace entered, the program sees one that is. Unlike exec it has tare's own\n"
    "capabilities and none of the container's limits and filters: it is a tool for root.",
    kOptions,
    Order::first_word,
    1,
    kAnyNumber};

// Options may also stand between the target and its command: "enter web1 --pid --mount -- ps".
Parsed with_options_after(Parsed parsed, std::vector<std::string>& kept) {
  if (parsed.words.size() < 2 || !parsed.words[1].starts_with('-')) return parsed;
  kept = {"enter"};
  kept.insert(kept.end(), parsed.words.begin() + 1, parsed.words.end());
  std::vector<char*> argv;
  for (std::string& word : kept) argv.push_back(word.data());
  argv.push_back(nullptr);
  Command after = kEnter;
  after.least = 0;
  Parsed more = parse(after, static_cast<int>(kept.size()), argv.data());
  parsed.options.insert(parsed.options.end(), more.options.begin(), more.options.end());
  parsed.words.resize(1);
  parsed.words.insert(parsed.words.end(), more.words.begin(), more.words.end());
  return parsed;
}

int do_enter(const Session& session, const Parsed& given) {
  std::vector<std::string> kept;
  const Parsed parsed = with_options_after(given, kept);
  if (parsed.has(Opt::help)) {
    print(help_text(kEnter));
    return 0;
  }
  launch::EnterRequest request;
  request.args.assign(parsed.words.begin() + 1, parsed.words.end());
  if (request.args.empty()) request.args = {"/bin/sh"};
  request.kinds = kinds_of(parsed);
  request.root = parsed.on(Opt::root);
  request.cwd = parsed.on(Opt::cwd);
  request.environment = parsed.on(Opt::env);
  request.join_cgroup = parsed.on(Opt::join_cgroup);
  request.keep_ids = parsed.on(Opt::keep_ids);
  request.fit_proc = !parsed.on(Opt::no_proc);
  request.pid = process_meant(session, parsed.words.at(0));
  const runtime::RunResult result = runtime::enter(request);
  session.warn(result.warnings);
  return result.status;
}

}  // namespace tare::cli
