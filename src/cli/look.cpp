// state, list, and ps of one container as engines call it: what is there.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/view.hpp"
#include "sys/fd.hpp"

namespace tare::cli {
namespace {

constexpr Option kFormatOption = {Opt::format, 'f', "format", "FORMAT", "table (default) or json"};
constexpr Option kListOptions[] = {kFormatOption, {Opt::quiet, 'q', "quiet", nullptr, "the ids only, one a line"}};

constexpr std::size_t kMostPsOutput = 64 << 20;

void write_state(json::Writer& writer, const runtime::ContainerState& s) {
  writer.begin_object();
  writer.key("ociVersion").string(s.oci_version);
  writer.key("id").string(s.id);
  writer.key("pid").number(static_cast<std::int64_t>(s.pid));
  writer.key("status").string(runtime::status_name(s.status));
  writer.key("bundle").string(s.bundle);
  writer.key("rootfs").string(s.rootfs);
  writer.key("created").string(s.created);
  if (!s.annotations.empty()) {
    writer.key("annotations").begin_object();
    for (const auto& [key, value] : s.annotations) writer.key(key).string(value);
    writer.end_object();
  }
  writer.key("owner").string(s.owner);
  writer.end_object();
}

// What `ps ARGS` prints. Its exit status counts: it is 1 for wrong arguments.
std::string run_ps(std::vector<std::string> args) {
  if (args.empty()) args = {"-ef"};
  args.insert(args.begin(), "ps");
  std::vector<char*> argv;
  for (std::string& a : args) argv.push_back(a.data());
  argv.push_back(nullptr);

  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw_errno("pipe2", errno);
  const sys::Fd from(ends[0]);
  sys::Fd to(ends[1]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, to.get(), STDOUT_FILENO);
  pid_t pid = 0;
  const int rc = posix_spawnp(&pid, "ps", &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (rc != 0) {
    throw Error(ErrorKind::kernel, cat("run ps: ", errno_text(rc)), rc)
        .hint("\"ps --format json\" needs no ps program");
  }
  to.reset();
  std::string output = sys::read_all(from, kMostPsOutput);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) throw_errno("waitpid", errno);
  }
  if (status != 0) throw Error(ErrorKind::kernel, "ps failed");
  return output;
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (const std::string_view word : split(line, ' ')) {
    if (!trim(word).empty()) words.push_back(trim(word));
  }
  return words;
}

}  // namespace

bool wants_json(const Parsed& parsed) {
  const std::string_view format = parsed.last(Opt::format, "table");
  if (format != "table" && format != "json") {
    throw Error(ErrorKind::usage, cat("--format: ", quoted(format), " is neither table nor json"));
  }
  return format == "json";
}

constexpr Command kState = {"state", "CONTAINER", "print a container's state as JSON", "", {}, Order::anywhere, 1, 1};
constexpr Command kList = {"list", "", "list the containers", "", kListOptions, Order::anywhere, 0, 0};

std::string state_json(const runtime::ContainerState& state, int indent) {
  json::Writer writer(indent);
  write_state(writer, state);
  return writer.take();
}

std::string list_json(std::span<const runtime::ContainerState> states) {
  if (states.empty()) return "null";  // as runc does
  json::Writer writer;
  writer.begin_array();
  for (const auto& s : states) write_state(writer, s);
  writer.end_array();
  return writer.take();
}

std::string list_table(std::span<const runtime::ContainerState> states) {
  constexpr std::size_t kColumns = 6, kNarrowest = 12, kGap = 3;
  std::vector<std::array<std::string, kColumns>> rows = {{"ID", "PID", "STATUS", "BUNDLE", "CREATED", "OWNER"}};
  for (const auto& s : states) {
    rows.push_back({shown(s.id), cat(s.pid), std::string(runtime::status_name(s.status)), shown(s.bundle), s.created,
                    shown(s.owner)});
  }
  std::string out;
  std::array<std::size_t, kColumns> widths{};
  for (std::size_t c = 0; c + 1 < kColumns; ++c) {
    widths[c] = kNarrowest;
    for (const auto& row : rows) widths[c] = std::max(widths[c], row[c].size() + kGap);
  }
  for (const auto& row : rows) {
    for (std::size_t c = 0; c < kColumns; ++c) {
      out += row[c];
      if (c + 1 < kColumns) out.append(widths[c] - row[c].size(), ' ');
    }
    out += '\n';
  }
  return out;
}

std::string ps_table(std::string_view ps_output, std::span<const pid_t> wanted) {
  std::string out;
  std::size_t column = 0;
  bool header = true;
  for (const std::string_view line : split(ps_output, '\n')) {
    if (trim(line).empty()) continue;
    const std::vector<std::string_view> words = words_of(line);
    if (header) {
      const auto at = std::find(words.begin(), words.end(), "PID");
      if (at == words.end()) throw Error(ErrorKind::kernel, "ps prints no PID column with these options");
      column = static_cast<std::size_t>(at - words.begin());
      header = false;
    } else {
      const std::optional<pid_t> pid = column < words.size() ? parse_number<pid_t>(words[column]) : std::nullopt;
      if (!pid || std::find(wanted.begin(), wanted.end(), *pid) == wanted.end()) continue;
    }
    out += cat(line, "\n");
  }
  return out;
}

int do_state(const Session& session, const Parsed& parsed) {
  print(cat(state_json(runtime::state(session.context, parsed.words.at(0)), 2), "\n"));
  return 0;
}

int do_list(const Session& session, const Parsed& parsed) {
  const bool as_json = wants_json(parsed);
  runtime::Warnings warnings;
  const std::vector<runtime::ContainerState> states = runtime::list(session.context, warnings);
  session.warn(warnings);
  if (parsed.on(Opt::quiet)) {
    std::string out;
    for (const auto& s : states) out += cat(s.id, "\n");
    print(out);
    return 0;
  }
  print(as_json ? cat(list_json(states), "\n") : list_table(states));
  return 0;
}

int ps_of_container(const Session& session, const Parsed& parsed) {
  const bool as_json = wants_json(parsed);
  const std::vector<pid_t> pids = runtime::ps(session.context, parsed.words.at(0));
  if (!as_json) {
    print(ps_table(run_ps({parsed.words.begin() + 1, parsed.words.end()}), pids));
    return 0;
  }
  json::Writer writer;
  writer.begin_array();
  for (const pid_t pid : pids) writer.number(static_cast<std::int64_t>(pid));
  writer.end_array();
  print(cat(writer.take(), "\n"));
  return 0;
}

}  // namespace tare::cli
