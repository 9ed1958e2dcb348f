// spec, features, version, weigh: what needs no container.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <climits>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "oci/write.hpp"
#include "seccomp/compile.hpp"
#include "sys/fd.hpp"

#ifndef TARE_COMMIT
#define TARE_COMMIT "unknown"
#endif

namespace tare::cli {
namespace {

constexpr Option kSpecOptions[] = {
    {Opt::bundle, 'b', "bundle", "DIR", "the folder to write config.json to (default: the current one)"},
    {Opt::rootless_spec, 0, "rootless", nullptr, "for a container that an ordinary user starts"}};

}  // namespace

constexpr Command kSpec = {"spec",
                           "",
                           "write a config.json to start from",
                           "It runs a shell in the folder \"rootfs\" of the bundle. An existing config.json stays.",
                           kSpecOptions,
                           Order::anywhere,
                           0,
                           0};
constexpr Command kFeatures = {"features", "", "print what this runtime knows, as JSON", "", {}, Order::anywhere, 0, 0};
constexpr Command kWeigh = {"weigh",
                            "[OPTION...] [-- CMD]",
                            "measure what isolation costs",
                            "All options are those of tare-weigh; see \"tare weigh --help\".",
                            {},
                            Order::first_word,
                            0,
                            kAnyNumber};

int do_spec(const Session&, const Parsed& parsed) {
  const std::string path = cat(parsed.last(Opt::bundle, "."), "/config.json");
  const bool rootless = parsed.on(Opt::rootless_spec);
  const oci::Spec spec = oci::default_spec(rootless, geteuid(), getegid());
  // O_EXCL: what exists stays, be it a link to nowhere.
  const sys::Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!file && errno == EEXIST) {
    throw Error(ErrorKind::conflict, cat("file ", path, " exists"), EEXIST).hint("remove it first");
  }
  if (!file) throw_errno(cat("open ", path), errno);
  sys::write_all(file, oci::write_spec(spec) + "\n");
  return 0;
}

int do_features(const Session&, const Parsed&) {
  print(oci::features_json() + "\n");
  return 0;
}

std::string version_text() {
  return cat("tare version ", TARE_VERSION, "\ncommit: ", TARE_COMMIT,
             "\nspec: 1.3.0\nlibseccomp: ", seccomp::libseccomp_version(), "\n");
}

std::string own_folder() {
  char path[PATH_MAX];
  const ssize_t n = readlink("/proc/self/exe", path, sizeof path);
  if (n <= 0 || n == sizeof path) throw_errno("readlink /proc/self/exe", n < 0 ? errno : ENAMETOOLONG);
  const std::string_view whole(path, static_cast<std::size_t>(n));
  return std::string(whole.substr(0, whole.rfind('/')));
}

// The laboratory is another program, so that the runtime stays small. It is never looked for in PATH.
int do_weigh(const Session&, const Parsed& parsed) {
  const std::string folder = own_folder();
  std::vector<std::string> args = {"tare-weigh"};
  args.insert(args.end(), parsed.words.begin(), parsed.words.end());
  std::vector<char*> argv;
  for (std::string& a : args) argv.push_back(a.data());
  argv.push_back(nullptr);
  const std::string places[] = {folder + "/tare-weigh", folder + "/../libexec/tare/tare-weigh"};
  for (const std::string& place : places) {
    execve(place.c_str(), argv.data(), environ);
    if (errno != ENOENT) throw_errno(cat("exec ", place), errno);
  }
  throw Error(ErrorKind::not_found, cat("no tare-weigh at ", places[0], " or ", places[1]), ENOENT)
      .hint("build it with \"make build\"");
}

}  // namespace tare::cli
