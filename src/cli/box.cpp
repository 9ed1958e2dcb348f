// box: its options, its help and its exit status.
#include "cli/box.hpp"

#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "oci/validate.hpp"
#include "oci/write.hpp"

namespace tare::cli {
namespace {

constexpr Option kOptions[] = {
    {Opt::rootfs, 0, "rootfs", "DIR",
     "this folder is the root, written to directly (default: the host's files, see above)"},
    {Opt::bind, 0, "bind", "SRC:DST[:ro]", "show a file or folder of the host at DST (repeatable)"},
    {Opt::memory, 'm', "memory", "SIZE", "at most this much memory: 512M, 2G"},
    {Opt::cpus, 0, "cpus", "N", "at most this much CPU time: 1.5 is one and a half CPUs"},
    {Opt::pids, 0, "pids", "N",
     "at most so many processes and threads (default: 4096 for root, else no limit); 0: no limit"},
    {Opt::hostname, 0, "hostname", "NAME", "the host name inside (default: box)"},
    {Opt::user, 'u', "user", "USER[:GROUP]", "names of the root's /etc/passwd or numbers (default: 0:0)"},
    {Opt::env, 'e', "env", "NAME[=VALUE]", "set a variable, or pass the caller's on (repeatable)"},
    {Opt::cwd, 'w', "workdir", "DIR", "start in this folder (default: /)"},
    {Opt::userns, 0, "userns", nullptr,
     "in a user namespace: root inside holds no power over the host (always so for an "
     "ordinary user)"},
    {Opt::net, 0, "net", "host|none", "none (default): only a loopback device; host: the host's network"},
    {Opt::tty, 't', "tty", nullptr,
     "with a terminal of its own (default where input and output are terminals; =false: not)"},
    {Opt::init, 0, "init", nullptr,
     "a small first process reaps the dead and passes signals on (the default with a terminal; --init=false)"},
    {Opt::read_only, 0, "read-only", nullptr, "the root can't be written to"},
    {Opt::seccomp, 0, "seccomp", "FILE|default|off", "the filter of system calls; FILE holds a linux.seccomp object"},
    {Opt::show_secrets, 0, "show-secrets", nullptr, "hide nothing of the host's files"},
    {Opt::name, 0, "name", "ID", "the container's id (default: box- and a random number)"},
    {Opt::print_spec, 0, "print-spec", nullptr, "print the config.json that would be run, and run nothing"},
};

constexpr const char* kText =
    "Without --rootfs, CMD sees this machine's own files: its programs and libraries, /etc, /var,\n"
    "/opt and what else lies in \"/\". Nothing it writes reaches the host:\n"
    "  root:           writes go to a tmpfs above the files and are gone at the end.\n"
    "  with --userns:  the files are read-only; /tmp, /var/tmp, /var/log, /run, /root and\n"
    "                  /home can be written, in memory. Ordinary users get this always, and are\n"
    "                  the only user there is inside. Named pipes and sockets that are shown\n"
    "                  stay the host's: who may write to them outside can do so inside.\n"
    "Hidden unless --show-secrets is given: the contents of /root, /home and all other homes, /run,\n"
    "/tmp, /var/tmp, /var/log, /mnt, /media, /srv and /boot; passwords (/etc/shadow and its like),\n"
    "private and host keys, stored network and cloud credentials; mail, crontabs, backups; databases;\n"
    "the stores and sockets of docker, podman, containerd and their like.\n"
    "Everything else that is readable on the host is readable inside, by root as by root: what else\n"
    "you keep in /etc, /opt or /var is shown.\n"
    "\n"
    "It gets its own pid, mount, network, ipc, uts and cgroup namespaces, the capabilities engines\n"
    "usually leave, no_new_privs and a filter of system calls. Of the caller's environment only TERM\n"
    "and LANG come along.\n"
    "\n"
    "Without CMD a shell is run. Ends with the program's exit status; 125: tare failed, 126: CMD\n"
    "can't be executed, 127: CMD not found.";

std::string random_name() {
  std::uint32_t n = 0;
  if (getrandom(&n, sizeof n, 0) != static_cast<ssize_t>(sizeof n)) throw_errno("getrandom", errno);
  const std::string digits = in_base(n, 16);
  return cat("box-", std::string(8 - digits.size(), '0'), digits);
}

std::vector<std::string> make_env(const Parsed& parsed) {
  std::vector<std::string> env;
  for (const std::string& e : parsed.all(Opt::env)) {
    const std::size_t sign = e.find('=');
    if (sign == 0 || e.empty()) throw Error(ErrorKind::usage, cat("--env: ", quoted(e), " is not NAME or NAME=VALUE"));
    if (sign != std::string::npos) {
      env.push_back(e);
    } else if (const char* value = std::getenv(e.c_str())) {
      env.push_back(cat(e, "=", value));
    }
  }
  return env;
}

std::string absolute(std::string_view path, std::string_view folder) {
  return path.starts_with('/') ? std::string(path) : cat(folder, "/", path);
}

}  // namespace

constexpr Command kBox = {"box",
                          "[--] [CMD [ARGUMENT...]]",
                          "run a program in a container of this machine's own files",
                          kText,
                          kOptions,
                          Order::first_word,
                          0,
                          kAnyNumber};

std::int64_t parse_size(std::string_view text, std::string_view option) {
  std::string_view digits = text;
  std::int64_t unit = 1;
  for (const std::string_view tail : {"iB", "B", "b"}) {
    if (digits.ends_with(tail) && digits.size() > tail.size()) {
      digits.remove_suffix(tail.size());
      break;
    }
  }
  if (!digits.empty()) {
    const std::string_view units = "kmgt";
    const std::size_t at = units.find(static_cast<char>(digits.back() | 0x20));
    if (at != std::string_view::npos) {
      unit = std::int64_t{1} << (10 * (at + 1));
      digits.remove_suffix(1);
    }
  }
  const std::optional<std::int64_t> n = parse_number<std::int64_t>(digits);
  if (!n || *n <= 0 || *n > INT64_MAX / unit) {
    throw Error(ErrorKind::usage, cat("--", option, ": ", quoted(text), " is not a size such as 512M"));
  }
  return *n * unit;
}

std::int64_t parse_cpus(std::string_view text) {
  const std::size_t dot = text.find('.');
  std::string fraction = dot == std::string_view::npos ? "" : std::string(text.substr(dot + 1));
  const std::optional<std::int64_t> whole = parse_number<std::int64_t>(text.substr(0, dot));
  const bool good = whole && *whole >= 0 && *whole <= 100000 && fraction.size() <= 3 &&
                    (dot == std::string_view::npos || !fraction.empty());
  fraction.resize(3, '0');
  const std::optional<std::int64_t> thousandths = parse_number<std::int64_t>(fraction);
  // 0.01: the kernel takes no quota below 1 ms of 100.
  if (!good || !thousandths || *thousandths < 0 || *whole * 1000 + *thousandths < 10) {
    throw Error(ErrorKind::usage,
                cat("--cpus: ", quoted(text), " is not a number of CPUs such as 1.5 (at least 0.01)"));
  }
  return *whole * 1000 + *thousandths;
}

BoxBind parse_bind(std::string_view text, std::string_view folder) {
  const std::vector<std::string_view> parts = split(text, ':');
  const bool good = (parts.size() == 2 || (parts.size() == 3 && (parts[2] == "ro" || parts[2] == "rw"))) &&
                    !parts[0].empty() && parts[1].starts_with('/');
  if (!good) throw Error(ErrorKind::usage, cat("--bind: ", quoted(text), " is not SRC:DST[:ro] with an absolute DST"));
  return {absolute(parts[0], folder), std::string(parts[1]), parts.size() == 3 && parts[2] == "ro"};
}

BoxOptions make_box_options(const Parsed& parsed, const HostView& view) {
  BoxOptions o;
  o.name = parsed.last(Opt::name);
  if (parsed.has(Opt::rootfs) && parsed.last(Opt::rootfs).empty()) throw Error(ErrorKind::usage, "--rootfs: empty");
  if (parsed.has(Opt::rootfs)) o.rootfs = absolute(parsed.last(Opt::rootfs), view.current_folder);
  for (const std::string& b : parsed.all(Opt::bind)) o.binds.push_back(parse_bind(b, view.current_folder));
  if (parsed.has(Opt::memory)) o.memory = parse_size(parsed.last(Opt::memory), "memory");
  if (parsed.has(Opt::cpus)) o.cpus = parse_cpus(parsed.last(Opt::cpus));
  if (parsed.has(Opt::pids)) o.pids = number_of(parsed, Opt::pids, "pids", 0, INT_MAX, 0);
  o.hostname = parsed.last(Opt::hostname, o.hostname);
  o.user = parsed.last(Opt::user);
  o.env = make_env(parsed);
  o.workdir = parsed.last(Opt::cwd, o.workdir);
  if (!o.workdir.starts_with('/')) throw Error(ErrorKind::usage, "--workdir: must be absolute");
  o.userns = parsed.on(Opt::userns) || view.euid != 0;
  if (view.euid != 0 && !o.user.empty() && o.user != "0" && o.user != "0:0") {
    throw Error(ErrorKind::usage, "--user: an ordinary user can be nobody else inside")
        .hint("inside, you are the user 0, who is yourself outside");
  }
  const std::string_view net = parsed.last(Opt::net, "none");
  if (net != "none" && net != "host")
    throw Error(ErrorKind::usage, cat("--net: ", quoted(net), " is neither host nor none"));
  o.host_net = net == "host";
  o.tty = parsed.has(Opt::tty) ? parsed.on(Opt::tty) : view.tty;
  // PID 1 gets no signal it has no handler for: under a terminal, Ctrl-C would not end a plain program.
  o.init = parsed.has(Opt::init) ? parsed.on(Opt::init) : o.tty;
  o.read_only = parsed.on(Opt::read_only);
  o.seccomp = parsed.last(Opt::seccomp, o.seccomp);
  o.print_spec = parsed.on(Opt::print_spec);
  o.show_secrets = parsed.on(Opt::show_secrets);
  o.args = parsed.words;
  return o;
}

int do_box(const Session& session, const Parsed& parsed) {
  HostView view = look_at_caller();
  const BoxOptions options = make_box_options(parsed, view);
  look_at_root(view, options);
  oci::Spec spec = make_box_spec(options, view);
  oci::Warnings warnings;
  oci::normalize(*spec.process, warnings);
  session.warn(warnings);
  if (options.print_spec) {
    print(oci::write_spec(spec) + "\n");
    return 0;
  }
  runtime::RunRequest request;
  request.id = options.name.empty() ? random_name() : options.name;
  request.init = options.init;
  request.spec = std::move(spec);
  const runtime::RunResult result = runtime::run(session.context, request);
  session.warn(result.warnings);
  return result.status;
}

int box_status(const Error& error) {
  // The program's own failure to start is always told as `exec: "PROGRAM": reason`.
  if (error.text().find("exec: \"") == std::string::npos) return 125;
  const bool absent = error.errno_value() == ENOENT || error.text().ends_with("not found in $PATH") ||
                      error.text().ends_with(errno_text(ENOENT));
  return absent ? 127 : 126;
}

}  // namespace tare::cli
