// tare weigh pidspace: the command line, and a process of its own for each launch.
#include "lab/cli/pidspace.hpp"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <optional>

#include "base/error.hpp"
#include "base/text.hpp"
#include "lab/cli/options.hpp"
#include "lab/observe/machine.hpp"
#include "lab/pidspace/model.hpp"
#include "lab/report/report.hpp"
#include "lab/run/sink.hpp"
#include "sys/fd.hpp"

namespace tare::lab {

namespace {

constexpr int kLeast = 8;  // launches: fewer give no interval for twelve claims together

struct Asked {
  std::int64_t time_ns = 300'000'000'000;
  std::uint64_t seed = 0;
  bool seed_given = false, dry_run = false, help = false, small = false;
  std::string samples, json;
  std::vector<std::string> analyse;
  int launch = -1;  // >= 0: this process is that launch
};

constexpr const char* kHelp =
    R"(tare weigh pidspace: six designs of the pid namespace on one base

usage: tare weigh pidspace [options]
       tare weigh pidspace analyse FILE  the page of an earlier run's samples

Times what each way of keeping a process's numbers costs (no namespaces, flat, nested with a list or a hash, a fixed array, today's
kernel's), by depth and number of live pids, hot and cold, with one thread and two, and the mixes of them that spawn, execl, shell and
ps are. Prints a page in Markdown. The structures are in user space (src/pidspace): no root, no kernel of that time is needed.

  --time T         how long in all (default 5m); eight launches are made in any case
  --small          few and shallow scenes only: some seconds a launch
  --seed N         of the order; printed, chosen by the clock where not given
  -o, --samples F  where the raw samples go (default: as tare weigh)
  --json F         writes every cell as JSON, too
  --dry-run        lists what would be weighed
)";

Asked parse(const std::vector<std::string>& args) {
  Asked out;
  std::size_t i = 0;
  const auto value = [&](const std::string& name) -> const std::string& {
    if (i + 1 >= args.size()) throw Error(ErrorKind::usage, cat(name, " needs a value"));
    return args[++i];
  };
  const auto number = [&](const std::string& name) {
    const std::string& text = value(name);
    const auto n = parse_number<std::uint64_t>(text);
    if (!n) throw Error(ErrorKind::usage, cat(name, ": ", quoted(text), " is not a number"));
    return *n;
  };
  for (; i < args.size(); ++i) {
    const std::string& arg = args[i];
    if (arg == "--help" || arg == "-h") {
      out.help = true;
    } else if (arg == "--time") {
      out.time_ns = parse_duration(value(arg));
    } else if (arg == "--seed") {
      out.seed = number(arg);
      out.seed_given = true;
    } else if (arg == "--samples" || arg == "-o") {
      out.samples = value(arg);
    } else if (arg == "--json") {
      out.json = value(arg);
    } else if (arg == "--dry-run") {
      out.dry_run = true;
    } else if (arg == "--small") {
      out.small = true;
    } else if (arg == "--launch") {  // not in the help: how this program starts itself
      out.launch = static_cast<int>(number(arg));
    } else if (arg == "analyse" && i + 1 < args.size()) {
      out.analyse.assign(args.begin() + static_cast<std::ptrdiff_t>(i) + 1, args.end());
      if (out.analyse.size() > 1 && out.analyse[1] == "--json" && out.analyse.size() == 3) out.json = out.analyse[2];
      out.analyse.resize(1);
      break;
    } else {
      throw Error(ErrorKind::usage, cat("unknown argument ", quoted(arg))).hint("see tare weigh pidspace --help");
    }
  }
  return out;
}

void put(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

std::int64_t now_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

std::string dry_run() {
  std::string out = "scenes (levels deep, live pids):";
  for (const Scene& scene : pidspace_scenes()) out += cat(" ", scene.level, "/", scene.live);
  out += "\ndesigns:";
  for (const std::string& design : pidspace_designs()) out += cat(" ", design, ";");
  out += "\noperations:\n";
  for (const Operation& operation : pidspace_operations())
    out += cat("  ", operation.name, ": ", operation.describes, "\n");
  return out;
}

// The launch's own process, with memory laid out afresh; what it writes goes to the sink line by line.
void launch(const Asked& asked, int number, Sink& sink, std::string& all) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw_errno("pipe2", errno);
  const std::string self = "/proc/self/exe", n = std::to_string(number), seed = std::to_string(asked.seed);
  const pid_t pid = fork();
  if (pid < 0) throw_errno("fork", errno);
  if (pid == 0) {
    dup2(ends[1], 1);
    const char* const argv[] = {
        "tare-weigh", "pidspace", "--launch", n.c_str(), "--seed", seed.c_str(), asked.small ? "--small" : nullptr,
        nullptr};
    execv(self.c_str(), const_cast<char* const*>(argv));
    _exit(127);
  }
  close(ends[1]);
  const sys::Fd from(ends[0]);
  std::string text = sys::read_all(from, kMostSamples);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    throw Error(ErrorKind::child,
                cat("launch ", number, WIFSIGNALED(status) ? " was killed by signal " : " ended with status ",
                    WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status)));
  }
  sink.append(text);
  all += text;
}

void write_json(const std::string& path, const PidspaceData& data) {
  if (path.empty()) return;
  if (path == "-") return put(1, pidspace_json(data));
  const sys::Fd fd = sys::open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  sys::write_all(fd, pidspace_json(data));
}

}  // namespace

int weigh_pidspace(const std::vector<std::string>& args) {
  Asked asked = parse(args);
  if (asked.help || asked.dry_run) {
    put(1, asked.help ? std::string(kHelp) : dry_run());
    return 0;
  }
  if (asked.launch >= 0) {
    pidspace_launch(asked.launch, asked.seed, asked.small, [](const std::string& line) { put(1, line); });
    return 0;
  }
  if (!asked.analyse.empty()) {
    const PidspaceData data =
        with_intent(asked.analyse[0], [&] { return parse_pidspace(sys::read_file(asked.analyse[0], kMostSamples)); });
    if (asked.json != "-") put(1, pidspace_page(data));
    write_json(asked.json, data);
    return 0;
  }
  if (!asked.seed_given) asked.seed = static_cast<std::uint64_t>(now_ns()) % 4'294'967'296;
  Sink sink(asked.samples.empty() ? default_sample_path(asked.seed) : asked.samples);
  std::string all = pidspace_head(asked.seed, TARE_VERSION, now_text(), machine_description());
  sink.append(all);
  const std::int64_t begin = now_ns();
  std::int64_t longest = 0;
  for (int number = 0; number < kLeast || now_ns() - begin + longest <= asked.time_ns; ++number) {
    const std::int64_t before = now_ns();
    launch(asked, number, sink, all);
    longest = std::max(longest, now_ns() - before);
    put(2, cat("tare weigh pidspace: launch ", number + 1, ", ", (now_ns() - begin) / 1'000'000'000, " s of ",
               asked.time_ns / 1'000'000'000, "\n"));
  }
  const PidspaceData data = parse_pidspace(all);
  if (asked.json != "-") put(1, pidspace_page(data));
  write_json(asked.json, data);
  put(2, cat("samples: ", sink.path(), "\n"));
  return 0;
}

}  // namespace tare::lab
