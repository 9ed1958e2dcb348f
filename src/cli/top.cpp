// top: what the containers use, again and again.
#include "nsview/top.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/view.hpp"
#include "host/host.hpp"
#include "nsview/text.hpp"

namespace tare::cli {
namespace {

constexpr Option kOptions[] = {
    {Opt::batch, 'b', "batch", nullptr, "print one table below the other; so it is where the output is no terminal"},
    {Opt::rounds, 'n', "rounds", "N", "end after so many"},
    {Opt::interval, 'd', "interval", "TIME", "between two counts (default: 2s)"},
    {Opt::sort, 'o', "sort", "COLUMN", "cpu (default), memory, tasks, read, write or name"},
    {Opt::format, 'f', "format", "FORMAT", "table (default) or json, an array a line"},
};

constexpr std::string_view kOrders[] = {"cpu", "memory", "tasks", "read", "write", "name"};

struct Row {
  nsview::ContainerKey key;
  std::string name;
  nsview::Counts counts;
  nsview::Load load;
};

std::string shown_name(const Row& row) { return short_name(&row.key, row.name); }

bool before(const Row& a, const Row& b, std::string_view order) {
  if (order == "cpu" && a.load.cpu != b.load.cpu) return a.load.cpu > b.load.cpu;
  if (order == "memory" && a.load.memory != b.load.memory) return a.load.memory > b.load.memory;
  if (order == "tasks" && a.load.tasks != b.load.tasks) return a.load.tasks > b.load.tasks;
  if (order == "read" && a.load.read != b.load.read) return a.load.read > b.load.read;
  if (order == "write" && a.load.written != b.load.written) return a.load.written > b.load.written;
  return shown_name(a) < shown_name(b);
}

// With one decimal.
std::string decimal(double value) {
  const auto tenths = static_cast<std::uint64_t>(std::llround(value * 10));
  return cat(tenths / 10, ".", tenths % 10);
}

std::string bytes_text(double bytes) {
  constexpr std::string_view kUnits[] = {"B", "K", "M", "G", "T", "P"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < std::size(kUnits); ++unit) bytes /= 1024;
  return cat(unit == 0 ? cat(static_cast<std::uint64_t>(bytes)) : decimal(bytes), kUnits[unit]);
}

// Counts, and what they were a round before.
class Sampler {
 public:
  explicit Sampler(const Session& session) : session_(session), cgroups_(host::cgroups()) {}

  std::vector<Row> rows(std::string_view order) {
    std::vector<Row> rows;
    std::map<std::string, nsview::Counts> now;
    const std::vector<nsview::Place> places = nsview::places(cgroups_, known_containers(session_));
    for (const nsview::Place& place : places) {
      const std::string id = cat(place.key.engine, " ", place.key.id);
      const nsview::Counts counts = nsview::counts(place);
      const auto earlier = last_.find(id);
      rows.push_back({place.key, names_.of(place.key), counts,
                      nsview::load(earlier == last_.end() ? counts : earlier->second, counts)});
      now[id] = counts;
    }
    last_ = std::move(now);
    std::stable_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) { return before(a, b, order); });
    return rows;
  }

 private:
  const Session& session_;
  facts::Cgroups cgroups_;
  nsview::Names names_;
  std::map<std::string, nsview::Counts> last_;
};

std::string table_of(const std::vector<Row>& rows, std::size_t width) {
  Table table({{"CONTAINER"},
               {"ENGINE"},
               {"CPU%", true},
               {"MEMORY", true},
               {"TASKS", true},
               {"READ/s", true},
               {"WRITE/s", true},
               {"STALL-CPU%", true},
               {"STALL-MEM%", true},
               {"STALL-IO%", true}});
  for (const Row& row : rows) {
    table.add({shown_name(row), row.key.engine, decimal(row.load.cpu), bytes_text(static_cast<double>(row.load.memory)),
               cat(row.load.tasks), bytes_text(row.load.read), bytes_text(row.load.written),
               row.counts.cpu_pressure.value_or("-"), row.counts.memory_pressure.value_or("-"),
               row.counts.io_pressure.value_or("-")});
  }
  return table.text(width);
}

std::string json_of(const std::vector<Row>& rows) {
  json::Writer writer;
  writer.begin_array();
  for (const Row& row : rows) {
    writer.begin_object();
    write_container(writer, &row.key, row.name);
    writer.key("cpuPercent").raw(decimal(row.load.cpu)).key("cpuNanoseconds").number(row.counts.cpu);
    writer.key("memory").number(row.load.memory).key("tasks").number(row.load.tasks);
    writer.key("readBytes").number(row.counts.read).key("writtenBytes").number(row.counts.written);
    writer.key("readPerSecond").number(static_cast<std::uint64_t>(row.load.read));
    writer.key("writtenPerSecond").number(static_cast<std::uint64_t>(row.load.written));
    writer.key("stallPercent").begin_object();
    for (const auto& [key, value] :
         {std::pair{"cpu", &row.counts.cpu_pressure}, std::pair{"memory", &row.counts.memory_pressure},
          std::pair{"io", &row.counts.io_pressure}}) {
      if (*value) writer.key(key).raw(**value);
    }
    writer.end_object().end_object();
  }
  writer.end_array();
  return cat(writer.take(), "\n");
}

// The terminal while the table is drawn in place: keys come at once and are not shown; put back at the end.
class Screen {
 public:
  Screen() {
    ::sigemptyset(&signals_);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH}) ::sigaddset(&signals_, signal);
    ::sigprocmask(SIG_BLOCK, &signals_, nullptr);
    arrived_ = sys::Fd(::signalfd(-1, &signals_, SFD_CLOEXEC));
    changed_ = ::tcgetattr(STDIN_FILENO, &saved_) == 0;
    if (!changed_) return;
    termios quiet = saved_;
    quiet.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    ::tcsetattr(STDIN_FILENO, TCSANOW, &quiet);
  }
  Screen(const Screen&) = delete;
  ~Screen() {
    if (changed_) ::tcsetattr(STDIN_FILENO, TCSANOW, &saved_);
  }

  void draw(const std::string& text, std::string_view order) {
    winsize size{};
    const bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 3;
    std::string out = cat("\x1b[H\x1b[2J", "sorted by ", order, "; keys: c m t r w n sort, q ends\n\n");
    std::size_t lines = known ? size.ws_row - 3U : 1000;
    for (const std::string_view line : split(text, '\n')) {
      if (lines-- == 0) break;
      out += cat(line, "\n");
    }
    print(out);
  }

  // Waits; a key, '\0' when the time is over, 'q' for a signal that ends.
  char wait(std::chrono::milliseconds time) {
    pollfd fds[] = {{arrived_.get(), POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
    if (::poll(fds, changed_ ? 2 : 1, static_cast<int>(time.count())) <= 0) return '\0';
    if ((fds[0].revents & POLLIN) != 0) {
      signalfd_siginfo info{};
      if (::read(arrived_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info) && info.ssi_signo != SIGWINCH)
        return 'q';
      return '\0';
    }
    char key = 'q';
    return ::read(STDIN_FILENO, &key, 1) == 1 ? key : 'q';
  }

 private:
  sigset_t signals_{};
  sys::Fd arrived_;
  termios saved_{};
  bool changed_ = false;
};

std::string_view order_of(std::string_view word) {
  const auto* at = std::find(std::begin(kOrders), std::end(kOrders), word);
  if (at == std::end(kOrders)) throw Error(ErrorKind::usage, cat("--sort: ", quoted(word), " is no column of top"));
  return *at;
}

void pause_for(std::chrono::milliseconds time) { ::poll(nullptr, 0, static_cast<int>(time.count())); }

// What the screen shows, until somebody has seen enough.
void show(Sampler& sampler, std::string_view order, std::chrono::milliseconds interval, long long rounds) {
  Screen screen;
  for (long long round = 0; round != rounds; ++round) {
    screen.draw(table_of(sampler.rows(order), terminal_width()), order);
    const char key = screen.wait(interval);
    if (key == 'q') return;
    for (const std::string_view name : kOrders)
      if (name.front() == key) order = name;
  }
}

}  // namespace

constexpr Command kTop = {
    "top",
    "",
    "what the containers use: processor, memory, tasks, input and output, stalls",
    "From the containers' cgroups, v1 and v2, also those of podman, docker, CRI-O and containerd.\n"
    "100 % is one processor. STALL is the share of the last 10 s in which some task waited for that.",
    kOptions,
    Order::anywhere,
    0,
    0};

int do_top(const Session& session, const Parsed& parsed) {
  const bool as_json = wants_json(parsed);
  const std::string_view order = order_of(parsed.last(Opt::sort, "cpu"));
  const auto interval = parse_duration(parsed.last(Opt::interval, "2s"), "--interval");
  const long long rounds = number_of(parsed, Opt::rounds, "rounds", 1, 1'000'000'000, -1);
  Sampler sampler(session);
  sampler.rows(order);
  if (!as_json && !parsed.on(Opt::batch) && terminal_width() > 0) {
    show(sampler, order, interval, rounds);
    return 0;
  }
  for (long long round = 0; round != rounds; ++round) {
    pause_for(interval);
    const std::vector<Row> rows = sampler.rows(order);
    print(as_json ? json_of(rows) : cat(round > 0 ? "\n" : "", table_of(rows, 0)));
  }
  return 0;
}

}  // namespace tare::cli
