// ps: the processes of this machine, with their containers, namespaces and numbers at each level.
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <optional>
#include <unordered_map>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/view.hpp"
#include "nsview/text.hpp"
#include "sys/fd.hpp"

namespace tare::cli {
namespace {

constexpr Option kOptions[] = {
    {Opt::format, 'f', "format", "FORMAT", "table (default) or json"},
    {Opt::all, 'A', "all", nullptr, "all processes, not only those of containers"},
    {Opt::tree, 0, "tree", nullptr, "children below their parents"},
    {Opt::columns, 'o', "columns", "NAME,...",
     "these columns of: pid, ppid, pgid, sid, user, uid, s, threads, tty, "
     "stime, time, rss, vsz, comm, cmd, container, id, engine, numbers, "
     "level, differs, cgroup, and a kind of namespace each"},
};

using nsview::Process;
using nsview::Snapshot;

// What all rows need to know.
struct View {
  const Snapshot& snapshot;
  std::vector<std::string> names;  // of snapshot.containers
  std::unordered_map<std::uint32_t, std::string> users;
  std::time_t boot = 0, now = 0;
  std::uint64_t ticks = 100;

  explicit View(const Snapshot& of) : snapshot(of) {
    nsview::Names lookup;
    for (const nsview::ContainerKey& key : snapshot.containers) names.push_back(lookup.of(key));
    ticks = static_cast<std::uint64_t>(std::max(1L, ::sysconf(_SC_CLK_TCK)));
    now = std::time(nullptr);
    const std::string stat = sys::read_file("/proc/stat");
    const std::size_t at = stat.find("\nbtime ");
    if (at != std::string::npos) {
      const std::string_view rest = std::string_view(stat).substr(at + 7);
      boot = static_cast<std::time_t>(parse_number<std::int64_t>(rest.substr(0, rest.find('\n'))).value_or(0));
    }
    read_users();
  }

  std::string container_name(const Process& p) const {
    const nsview::ContainerKey* key = snapshot.container_of(p);
    return key == nullptr ? std::string() : names[static_cast<std::size_t>(key - snapshot.containers.data())];
  }
  std::string user(const Process& p) const {
    const auto at = users.find(p.uid);
    return at == users.end() ? cat(p.uid) : at->second;
  }
  std::time_t start(const Process& p) const { return boot + static_cast<std::time_t>(p.start / ticks); }

 private:
  void read_users() {
    try {
      const std::string passwd = sys::read_regular_file("/etc/passwd", 16 << 20);
      for (const std::string_view line : split(passwd, '\n')) {
        const auto fields = split(line, ':');
        if (fields.size() < 3) continue;
        if (const auto uid = parse_number<std::uint32_t>(fields[2])) users.try_emplace(*uid, fields[0]);
      }
    } catch (const Error&) {
      // Numbers will do.
    }
  }
};

std::string two(std::uint64_t n) { return n < 10 ? cat('0', n) : cat(n); }

// The hour for what started today, else the day: as ps does.
std::string start_text(const View& view, const Process& p) {
  std::tm then{}, today{};
  const std::time_t start = view.start(p);
  ::localtime_r(&start, &then);
  ::localtime_r(&view.now, &today);
  std::array<char, 32> text{};
  const bool same_day = then.tm_year == today.tm_year && then.tm_yday == today.tm_yday;
  const char* form = same_day ? "%H:%M" : then.tm_year == today.tm_year ? "%b%d" : "%Y";
  return {text.data(), std::strftime(text.data(), text.size(), form, &then)};
}

std::string time_text(std::uint64_t seconds) {
  const std::string clock = cat(two(seconds / 3600 % 24), ":", two(seconds / 60 % 60), ":", two(seconds % 60));
  return seconds >= 86400 ? cat(seconds / 86400, "-", clock) : clock;
}

// Source: Documentation/admin-guide/devices.txt.
std::string tty_text(int device) {
  const auto number = static_cast<dev_t>(static_cast<unsigned>(device));
  const unsigned kind = major(number), unit = minor(number);
  if (device == 0) return "?";
  if (kind >= 136 && kind <= 143) return cat("pts/", (kind - 136) * 256 + unit);
  if (kind == 4) return unit < 64 ? cat("tty", unit) : cat("ttyS", unit - 64);
  return cat(kind, ":", unit);
}

std::string command_text(const Process& p) {
  if (p.closed) return "?";
  std::string_view words = p.command;
  while (!words.empty() && words.back() == '\0') words.remove_suffix(1);
  if (words.empty()) return cat("[", nsview::visible(p.name), "]", p.state == 'Z' ? " <defunct>" : "");
  std::string line(words);
  std::replace(line.begin(), line.end(), '\0', ' ');
  return nsview::visible(line);
}

std::vector<std::string_view> command_words(const Process& p) {
  std::string_view text = p.command;
  if (text.empty()) return {};
  if (text.back() == '\0') text.remove_suffix(1);
  return split(text, '\0');
}

// "7,2,1": the number at each level.
std::string numbers_text(const Process& p) {
  std::string out;
  for (const pid_t number : p.numbers) out += out.empty() ? cat(number) : cat(",", number);
  return out;
}

bool differs(const View& view, const Process& p, std::size_t kind) {
  return p.namespaces[kind] != 0 && p.namespaces[kind] != view.snapshot.host[kind];
}

// The kinds of namespaces that are not process 1's; "?" where some can't be read. A zombie has left most.
std::string differing(const View& view, const Process& p) {
  std::string out;
  bool unknown = false;
  for (std::size_t i = 0; i < nsview::kKinds; ++i) {
    unknown = unknown || (p.namespaces[i] == 0 && p.state != 'Z');
    if (differs(view, p, i)) out += out.empty() ? nsview::kKindInfo[i].name : cat(",", nsview::kKindInfo[i].name);
  }
  if (unknown) out += out.empty() ? "?" : ",?";
  return out.empty() ? "-" : out;
}

struct Column {
  const char* name;
  const char* head;
  bool right;
  std::string (*text)(const View& view, const Process& p);
};

template <nsview::Kind kind>
std::string inode_text(const View&, const Process& p) {
  const std::uint64_t inode = p.namespaces[nsview::index_of(kind)];
  return inode == 0 ? "?" : cat(inode);
}

constexpr Column kColumns[] = {
    {"pid", "PID", true, [](const View&, const Process& p) { return cat(p.pid); }},
    {"ppid", "PPID", true, [](const View&, const Process& p) { return cat(p.ppid); }},
    {"pgid", "PGID", true, [](const View&, const Process& p) { return cat(p.group); }},
    {"sid", "SID", true, [](const View&, const Process& p) { return cat(p.session); }},
    {"user", "USER", false, [](const View& view, const Process& p) { return view.user(p); }},
    {"uid", "UID", true, [](const View&, const Process& p) { return cat(p.uid); }},
    {"s", "S", false, [](const View&, const Process& p) { return std::string(1, p.state); }},
    {"threads", "THREADS", true, [](const View&, const Process& p) { return cat(p.threads); }},
    {"tty", "TTY", false, [](const View&, const Process& p) { return tty_text(p.tty); }},
    {"stime", "STIME", false, start_text},
    {"time", "TIME", true,
     [](const View& view, const Process& p) { return time_text((p.user_ticks + p.system_ticks) / view.ticks); }},
    {"rss", "RSS", true, [](const View&, const Process& p) { return cat(p.resident / 1024); }},
    {"vsz", "VSZ", true, [](const View&, const Process& p) { return cat(p.virtual_bytes / 1024); }},
    {"comm", "COMMAND", false,
     [](const View&, const Process& p) { return p.closed ? std::string("?") : nsview::visible(p.name); }},
    {"cmd", "CMD", false, [](const View&, const Process& p) { return command_text(p); }},
    {"container", "CONTAINER", false,
     [](const View& view, const Process& p) {
       return short_name(view.snapshot.container_of(p), view.container_name(p));
     }},
    {"id", "ID", false,
     [](const View& view, const Process& p) {
       const nsview::ContainerKey* key = view.snapshot.container_of(p);
       return key == nullptr ? std::string("-") : nsview::visible(key->id);
     }},
    {"engine", "ENGINE", false,
     [](const View& view, const Process& p) {
       const nsview::ContainerKey* key = view.snapshot.container_of(p);
       return key == nullptr ? std::string("-") : key->engine;
     }},
    {"numbers", "NUMBERS", false, [](const View&, const Process& p) { return numbers_text(p); }},
    {"level", "LEVEL", true, [](const View&, const Process& p) { return cat(p.numbers.size() - 1); }},
    {"differs", "DIFFERS", false, differing},
    {"cgroup", "CGROUP", false,
     [](const View& view, const Process& p) {
       if (p.cgroup < 0) return std::string("?");
       std::string text = view.snapshot.cgroups[static_cast<std::size_t>(p.cgroup)].text;
       while (text.ends_with('\n')) text.pop_back();
       std::replace(text.begin(), text.end(), '\n', ' ');
       return nsview::visible(text);
     }},
    {"cgroupns", "CGROUPNS", true, inode_text<nsview::Kind::cgroup>},
    {"ipc", "IPC", true, inode_text<nsview::Kind::ipc>},
    {"mnt", "MNT", true, inode_text<nsview::Kind::mnt>},
    {"net", "NET", true, inode_text<nsview::Kind::net>},
    {"pidns", "PIDNS", true, inode_text<nsview::Kind::pid>},
    {"timens", "TIMENS", true, inode_text<nsview::Kind::time>},
    {"userns", "USERNS", true, inode_text<nsview::Kind::user>},
    {"uts", "UTS", true, inode_text<nsview::Kind::uts>},
};
constexpr std::string_view kUsual = "user,pid,ppid,container,numbers,differs,stime,tty,time,cmd";

std::vector<const Column*> columns_of(std::string_view list) {
  std::vector<const Column*> chosen;
  for (const std::string_view name : split(list, ',')) {
    const auto* at =
        std::find_if(std::begin(kColumns), std::end(kColumns), [&](const Column& c) { return c.name == name; });
    if (at == std::end(kColumns)) {
      std::vector<std::string_view> names;
      for (const Column& c : kColumns) names.emplace_back(c.name);
      Error error(ErrorKind::usage, cat("--columns: there is no column ", quoted(name)));
      const std::string_view meant = closest(name, names);
      throw error.hint(meant.empty() ? "\"tare ps --help\" names them" : cat("did you mean \"", meant, "\"?"));
    }
    chosen.push_back(at);
  }
  return chosen;
}

// Deeper ones are not moved further: a chain of processes could make lines of any length.
constexpr std::size_t kDeepest = 40;

struct Row {
  const Process* process;
  std::size_t depth = 0;
};

// Children below their parents. What a parent that is not among them left is at the top.
std::vector<Row> in_tree(const std::vector<Row>& rows) {
  std::map<pid_t, std::vector<const Process*>> children;
  std::unordered_map<pid_t, bool> there;
  for (const Row& row : rows) there[row.process->pid] = true;
  std::vector<Row> stack, out;
  for (auto row = rows.rbegin(); row != rows.rend(); ++row) {
    const Process* p = row->process;
    if (p->ppid != p->pid && there.contains(p->ppid)) {
      children[p->ppid].push_back(p);
    } else {
      stack.push_back({p, 0});
    }
  }
  while (!stack.empty()) {
    const Row row = stack.back();
    stack.pop_back();
    out.push_back(row);
    // Taken out: each is listed once, even if numbers were used anew while they were read.
    if (const auto below = children.extract(row.process->pid); !below.empty())
      for (const Process* p : below.mapped()) stack.push_back({p, row.depth + 1});
  }
  return out;
}

void write_process(json::Writer& writer, const View& view, const Process& p) {
  writer.begin_object().key("pid").number(p.pid).key("ppid").number(p.ppid);
  writer.key("uid").number(p.uid).key("user").raw(nsview::json_string(view.user(p)));
  writer.key("state").string({&p.state, 1}).key("threads").number(p.threads);
  writer.key("numbers").begin_array();
  for (const pid_t number : p.numbers) writer.number(number);
  writer.end_array().key("namespaces").begin_object();
  for (std::size_t i = 0; i < nsview::kKinds; ++i)
    if (p.namespaces[i] != 0) writer.key(nsview::kKindInfo[i].name).number(p.namespaces[i]);
  writer.end_object().key("differs").begin_array();
  for (std::size_t i = 0; i < nsview::kKinds; ++i)
    if (differs(view, p, i)) writer.string(nsview::kKindInfo[i].name);
  writer.end_array();
  write_container(writer, view.snapshot.container_of(p), view.container_name(p));
  writer.key("started").number(std::int64_t{view.start(p)});
  writer.key("cpuSeconds").number((p.user_ticks + p.system_ticks) / view.ticks);
  writer.key("rss").number(p.resident).key("closed").boolean(p.closed);
  writer.key("name").raw(nsview::json_string(p.name)).key("command").begin_array();
  for (const std::string_view word : command_words(p)) writer.raw(nsview::json_string(word));
  writer.end_array().end_object();
}

bool wanted(const View& view, const Process& p, const Parsed& parsed) {
  if (parsed.on(Opt::all)) return true;
  const nsview::ContainerKey* key = view.snapshot.container_of(p);
  if (key == nullptr) return false;
  const std::string name = view.container_name(p);
  return parsed.words.empty() || std::any_of(parsed.words.begin(), parsed.words.end(),
                                             [&](const std::string& word) { return means(word, *key, name); });
}

bool is_known(const std::vector<nsview::Known>& known, const std::string& word) {
  return std::any_of(known.begin(), known.end(), [&](const nsview::Known& k) { return k.id == word; });
}

bool is_seen(const View& view, const std::string& word) {
  for (std::size_t i = 0; i < view.names.size(); ++i)
    if (means(word, view.snapshot.containers[i], view.names[i])) return true;
  return false;
}

// "ps web1", "ps web1 -ef", "ps web1 aux": as engines call it.
bool asks_as_engines_do(const Parsed& parsed, const std::vector<nsview::Known>& known) {
  if (parsed.words.empty() || parsed.has(Opt::all) || parsed.has(Opt::tree) || parsed.has(Opt::columns)) return false;
  if (!is_known(known, parsed.words.front())) return false;
  return parsed.words.size() == 1 || !std::all_of(parsed.words.begin(), parsed.words.end(),
                                                  [&](const std::string& word) { return is_known(known, word); });
}

}  // namespace

constexpr Command kPs = {
    "ps",
    "[CONTAINER] [PS-OPTION... | CONTAINER...]",
    "list processes, with their containers, namespaces and numbers at each level",
    "With one CONTAINER the table is that of ps(1) with these options (-ef), with the host's pids.\n"
    "Without, or with options of tare, which stand before CONTAINER, or with several containers,\n"
    "also of podman, docker, CRI-O and containerd: tare's own table of those containers'\n"
    "processes, or of all with -A. NUMBERS are the process's pids, the outermost namespace's\n"
    "first; DIFFERS names the kinds of namespaces that are not those of process 1.",
    kOptions,
    Order::first_word,
    0,
    kAnyNumber};

int do_ps(const Session& session, const Parsed& parsed) {
  const bool as_json = wants_json(parsed);
  const std::vector<nsview::Known> known = known_containers(session);
  if (asks_as_engines_do(parsed, known)) return ps_of_container(session, parsed);
  const std::vector<const Column*> columns = columns_of(parsed.last(Opt::columns, kUsual));
  const Snapshot snapshot = nsview::take({.command = true, .namespaces = true, .cgroup = true}, known);
  const View view(snapshot);
  for (const std::string& word : parsed.words) {
    if (is_known(known, word) || is_seen(view, word)) continue;
    if (&word == parsed.words.data()) return ps_of_container(session, parsed);  // which says what is wrong
    throw Error(ErrorKind::not_found, cat("no container ", quoted(word), " has a process that is seen"));
  }
  if (!snapshot.hidden.empty() && ::geteuid() != 0) {
    session.reporter.warning(
        cat("/proc is mounted with ", snapshot.hidden, ": processes of others are not seen, or not all of them"));
  }
  std::vector<Row> rows;
  for (const Process& p : snapshot.processes)
    if (wanted(view, p, parsed)) rows.push_back({&p});
  if (parsed.on(Opt::tree)) rows = in_tree(rows);
  if (as_json) {
    json::Writer writer;
    writer.begin_array();
    for (const Row& row : rows) write_process(writer, view, *row.process);
    writer.end_array();
    print(cat(writer.take(), "\n"));
    return 0;
  }
  std::vector<Table::Column> heads;
  for (const Column* column : columns) heads.push_back({column->head, column->right});
  Table table(std::move(heads));
  for (const Row& row : rows) {
    std::vector<std::string> cells;
    for (const Column* column : columns) {
      const bool command = column->name == std::string_view("cmd") || column->name == std::string_view("comm");
      cells.push_back(command && row.depth > 0
                          ? cat(std::string(std::min(row.depth, kDeepest) * 2, ' '), column->text(view, *row.process))
                          : column->text(view, *row.process));
    }
    table.add(std::move(cells));
  }
  print(table.text(terminal_width()));
  return 0;
}

}  // namespace tare::cli
