// Commands and their options as constant tables.
//
// For: one description of each option, from which parsing, --help and "did you mean" are made.
// Not for: what a command does (commands.hpp).
// Source: the command lines of runc and crun, which engines use.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tare::cli {

// One for each meaning; commands share them.
enum class Opt : int {
  help = 1,
  version,
  usage,
  // Global.
  debug,
  log,
  log_format,
  log_level,
  root,
  systemd_cgroup,
  cgroup_manager,
  rootless,
  criu,
  // Commands.
  additional_gids,
  all,
  apparmor,
  bind,
  blkio_weight,
  bundle,
  batch,
  cap,
  cgroup,
  columns,
  config,
  console_socket,
  cpu_burst,
  cpu_idle,
  cpu_period,
  cpu_quota,
  cpu_rt_period,
  cpu_rt_runtime,
  cpu_share,
  cpus,
  cpuset_cpus,
  cpuset_mems,
  cwd,
  descriptors,
  detach,
  env,
  force,
  format,
  from,
  hostname,
  ignore_paused,
  in,
  init,
  interval,
  ipc,
  join_cgroup,
  keep,
  keep_ids,
  kernel_memory,
  kernel_memory_tcp,
  l3_cache_schema,
  mem_bw_schema,
  memory,
  memory_reservation,
  memory_swap,
  mount,
  name,
  net,
  no_new_keyring,
  no_new_privs,
  no_pivot,
  no_proc,
  no_subreaper,
  pid,
  pid_file,
  pidfd_socket,
  pids,
  pids_limit,
  preserve_fds,
  print_spec,
  process,
  process_label,
  quiet,
  read_only,
  regex,
  resources,
  rootfs,
  rootless_spec,
  rounds,
  seccomp,
  show_secrets,
  sort,
  stats,
  time,
  tree,
  tty,
  user,
  userns,
  uts,
};

struct Option {
  Opt id;
  char letter;        // 0: none
  const char* name;   // without "--"
  const char* value;  // what its value is called in --help; nullptr: a switch, which also takes =true and =false
  const char* help;
};

// Where the words that are no options begin.
enum class Order {
  anywhere,    // options may come before and after the other words
  first_word,  // the first other word ends the options: what follows is another program's
};

struct Command {
  const char* name;
  const char* words;    // of the usage line: "CONTAINER [SIGNAL]"
  const char* summary;  // one line, for the list of commands
  const char* text;     // more, for --help; may be ""
  std::span<const Option> options;
  Order order;
  std::size_t least, most;  // other words
};
inline constexpr std::size_t kAnyNumber = static_cast<std::size_t>(-1);

struct Given {
  Opt id;
  const char* value;  // nullptr: a switch without a value
};

// A command line, taken apart. Values point into argv.
struct Parsed {
  std::vector<Given> options;  // in the order given
  std::vector<std::string> words;
  std::size_t used = 0;  // of argv, up to where parsing stopped (first_word)

  bool has(Opt id) const;
  bool on(Opt id) const;  // a switch; the last one given wins
  std::string_view last(Opt id, std::string_view otherwise = "") const;
  std::vector<std::string> all(Opt id) const;
};

// argv[0] is not looked at. Throws Error of kind usage, with a hint where a name was mistyped:
// unknown options, missing values, too many or too few words, a switch that is neither true nor false.
Parsed parse(const Command& command, int argc, char** argv);

// "usage: tare kill [options] CONTAINER [SIGNAL]"
std::string usage_line(const Command& command);
// What --help prints for a command, and for tare itself.
std::string help_text(const Command& command);
std::string help_text(std::span<const Command* const> commands, std::span<const Option> globals);

// The name that was most likely meant: at most two slips away (one for short words); "" for none.
std::string_view closest(std::string_view word, std::span<const std::string_view> names);

// A number option's value; the error names the option.
long long number_of(const Parsed& parsed, Opt id, std::string_view name, long long least, long long most,
                    long long otherwise);

}  // namespace tare::cli
