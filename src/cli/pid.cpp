// pid: a process's numbers in pid namespaces.
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/view.hpp"
#include "nsview/namespaces.hpp"
#include "nsview/text.hpp"
#include "nsview/translate.hpp"

namespace tare::cli {
namespace {

constexpr Option kOptions[] = {
    {Opt::in, 0, "in", "ID|PID", "print only the number in the pid namespace of this container or process"},
    {Opt::from, 0, "from", "ID|PID", "NUMBER is one of the pid namespace of this container or process"},
    {Opt::format, 'f', "format", "FORMAT", "table (default) or json"},
};

std::string name_of_namespace(std::uint64_t inode) { return inode == 0 ? "?" : cat("pid:[", inode, "]"); }

std::string table_of(const nsview::Numbers& numbers, const nsview::ContainerKey* key, const std::string& name) {
  Table table({{"LEVEL", true}, {"NUMBER", true}, {"NAMESPACE"}});
  for (std::size_t i = 0; i < numbers.levels.size(); ++i) {
    const nsview::Level& level = numbers.levels[i];
    table.add({cat(i), cat(level.number), name_of_namespace(level.ns)});
  }
  std::string out = table.text(0);
  out += cat("command:   ", nsview::visible(numbers.process.name), "\n");
  if (numbers.leader != numbers.pid) out += cat("thread of: ", numbers.leader, "\n");
  if (key != nullptr) out += cat("container: ", short_name(key, name), " (", key->engine, ")\n");
  return out;
}

std::string json_of(const nsview::Numbers& numbers, const nsview::ContainerKey* key, const std::string& name) {
  json::Writer writer;
  writer.begin_object().key("pid").number(numbers.pid).key("process").number(numbers.leader);
  writer.key("levels").begin_array();
  for (const nsview::Level& level : numbers.levels) {
    writer.begin_object().key("namespace");
    if (level.ns == 0) {
      writer.null();
    } else {
      writer.number(level.ns);
    }
    writer.key("number").number(level.number).end_object();
  }
  writer.end_array().key("name").raw(nsview::json_string(numbers.process.name));
  write_container(writer, key, name);
  writer.end_object();
  return cat(writer.take(), "\n");
}

}  // namespace

constexpr Command kPid = {
    "pid",
    "NUMBER",
    "a process's number in every pid namespace that sees it",
    "NUMBER is one of tare's own pid namespace unless --from says of which. It may be a thread's.\n"
    "Without --in all levels are listed, the outermost first.",
    kOptions,
    Order::anywhere,
    1,
    1};

int do_pid(const Session& session, const Parsed& parsed) {
  const bool as_json = wants_json(parsed);
  const std::string& word = parsed.words.at(0);
  pid_t pid = parse_number<pid_t>(word).value_or(0);
  if (pid <= 0) throw Error(ErrorKind::usage, cat(quoted(word), " is no number of a process"));
  if (parsed.has(Opt::from)) {
    const std::string whose(parsed.last(Opt::from));
    const sys::Fd ns = nsview::pid_namespace_of(process_meant(session, whose));
    const pid_t number = pid;
    pid = nsview::from_namespace(ns, number);
    if (pid == 0) {
      throw Error(ErrorKind::not_found,
                  cat("no process has the number ", number, " in ", name_of_namespace(nsview::inode_of(ns)),
                      ", the namespace of ", shown(whose)));
    }
  }
  if (parsed.has(Opt::in)) {
    const std::string whose(parsed.last(Opt::in));
    const sys::Fd ns = nsview::pid_namespace_of(process_meant(session, whose));
    const pid_t number = nsview::in_namespace(ns, pid);
    if (number == 0) {
      nsview::numbers_of(pid);  // says so where there is no such process at all
      throw Error(ErrorKind::not_found,
                  cat("process ", pid, " is not seen in ", name_of_namespace(nsview::inode_of(ns)),
                      ", the namespace of ", shown(whose)));
    }
    print(as_json ? cat("{\"number\":", number, "}\n") : cat(number, "\n"));
    return 0;
  }
  const nsview::Numbers numbers = nsview::numbers_of(pid);
  const auto key = nsview::container_of(numbers.cgroup, known_containers(session));
  const std::string name = key ? nsview::Names().of(*key) : "";
  const nsview::ContainerKey* container = key ? &*key : nullptr;
  print(as_json ? json_of(numbers, container, name) : table_of(numbers, container, name));
  return 0;
}

}  // namespace tare::cli
