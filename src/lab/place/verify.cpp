#include "lab/place/verify.hpp"

#include <errno.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "base/error.hpp"
#include "base/text.hpp"
#include "lab/place/plans.hpp"
#include "oci/names.hpp"

namespace tare::lab {

namespace {

constexpr const char* kNamespaces[] = {"pid", "mnt", "uts", "ipc", "net", "user", "cgroup", "time"};

std::string field(const std::string& status, std::string_view key) {
  for (const std::string_view line : split(status, '\n')) {
    if (line.starts_with(key) && line.size() > key.size() && line[key.size()] == ':') {
      return std::string(trim(line.substr(key.size() + 1)));
    }
  }
  return {};
}

std::uint64_t inode(const std::string& path) {
  struct stat st{};
  if (stat(path.c_str(), &st) != 0) throw_errno(cat("stat ", path), errno);
  return st.st_ino;
}

struct Mount {
  std::string root, point, options, type, source;
};

std::vector<Mount> mounts_of(const std::string& process) {
  std::vector<Mount> out;
  const std::string text = sys::read_file(process + "/mountinfo");
  for (const std::string_view line : split(text, '\n')) {
    const auto words = split(line, ' ');
    const auto dash = std::find(words.begin(), words.end(), "-");
    if (words.size() < 6 || words.end() - dash < 3) continue;
    out.push_back({std::string(words[3]), std::string(words[4]), std::string(words[5]), std::string(dash[1]),
                   std::string(dash[2])});
  }
  return out;
}

bool has_word(std::string_view list, std::string_view word) {
  const auto words = split(list, ',');
  return std::find(words.begin(), words.end(), word) != words.end();
}

class Check {
 public:
  Check(const Place& place, pid_t pid, const cgroup::Location& location, const oci::Spec* container)
      : place_(place),
        process_(cat("/proc/", pid)),
        location_(location),
        container_(container),
        own_(sys::read_file("/proc/self/status")),
        status_(sys::read_file(process_ + "/status")),
        whole_(place.kind == PlaceKind::container || place.kind == PlaceKind::siblings) {}

  void namespaces();
  void depth();
  void privileges();
  void root();
  void masks();
  void interfaces();
  void cgroups(pid_t pid);

 private:
  void same(std::string_view what, const std::string& expected, const std::string& found) const {
    if (expected == found) return;
    throw Error(ErrorKind::child, cat("the place is not what it claims: ", what, " should be ",
                                      expected.empty() ? "none" : expected, ", not ", found.empty() ? "none" : found));
  }
  bool layer(std::string_view name) const { return place_.kind == PlaceKind::layer && place_.layer == name; }
  bool foreign() const { return place_.kind == PlaceKind::foreign; }
  std::vector<std::string> expected_namespaces() const;
  std::optional<Mount> root_of(const std::vector<Mount>& mounts) const;

  const Place& place_;
  std::string process_;
  const cgroup::Location& location_;
  const oci::Spec* container_;
  std::string own_, status_;
  bool whole_;
};

std::vector<std::string> Check::expected_namespaces() const {
  if (!whole_ && !foreign()) return place_.namespaces;
  std::vector<std::string> out;
  for (const char* name : kNamespaces) {
    const std::uint64_t flag = clone_flag(name);
    for (const oci::Namespace& n : container_->linux_.namespaces) {
      if (oci::namespace_clone_flag(n.type) == flag) out.emplace_back(name);
    }
  }
  return out;
}

void Check::namespaces() {
  std::vector<std::string> found, expected;
  const std::vector<std::string> wanted = expected_namespaces();
  for (const char* name : kNamespaces) {  // both in this order
    if (inode(cat(process_, "/ns/", name)) != inode(cat("/proc/self/ns/", name))) found.emplace_back(name);
    if (std::find(wanted.begin(), wanted.end(), name) != wanted.end()) expected.emplace_back(name);
  }
  same("the namespaces that differ from the laboratory's", join(expected, " "), join(found, " "));
}

void Check::depth() {
  const auto levels = [](const std::string& status) {
    const std::string pids = field(status, "NSpid");
    return 1 + std::count(pids.begin(), pids.end(), '\t');
  };
  const bool nested = place_.kind == PlaceKind::nested;
  const auto amount_of = [&](const char* name) -> std::int64_t {
    const std::vector<std::string> all = expected_namespaces();
    if (std::find(all.begin(), all.end(), name) == all.end()) return 0;
    return nested ? place_.amount : 1;
  };
  same("the depth of its pid namespace", cat(amount_of("pid")), cat(levels(status_) - levels(own_)));
  // ioctl_ns(2): the parent of the first namespace, and of ours, is out of reach.
  const std::uint64_t ours = inode("/proc/self/ns/user");
  sys::Fd at = sys::open(process_ + "/ns/user", O_RDONLY);
  std::int64_t user = 0;
  struct stat st{};
  while (at && fstat(at.get(), &st) == 0 && st.st_ino != ours) {
    ++user;
    at = sys::Fd(ioctl(at.get(), NS_GET_PARENT));
  }
  same("the depth of its user namespace", cat(amount_of("user")), cat(user));
}

void Check::privileges() {
  const bool filtered =
      whole_ || place_.layer == "seccomp" || layer("seccomp-default") || (foreign() && place_.layer != "unshare");
  const auto filters = [](const std::string& status) {
    return parse_number<int>(field(status, "Seccomp_filters")).value_or(0);
  };
  same("the number of its seccomp filters", cat(filters(own_) + (filtered ? 1 : 0)), cat(filters(status_)));
  same("its seccomp mode", filtered ? "2" : field(own_, "Seccomp"), field(status_, "Seccomp"));
  const bool no_new = whole_ || layer("no-new-privs") || (foreign() && place_.layer != "unshare");
  same("its no_new_privs", no_new ? "1" : field(own_, "NoNewPrivs"), field(status_, "NoNewPrivs"));
  const bool in_user_namespace =
      std::find(place_.namespaces.begin(), place_.namespaces.end(), "user") != place_.namespaces.end();
  if (in_user_namespace) return;  // there the sets are full by nature
  const auto& few = container_ != nullptr ? container_->process->capabilities : std::nullopt;
  const auto set = [](const std::string& status, const char* name) {
    return parse_number<std::uint64_t>(field(status, name), 16).value_or(0);
  };
  const bool dropped = whole_ || layer("caps") || (foreign() && place_.layer != "unshare");
  const auto expected = [&](const char* name, std::uint64_t mask) {
    return in_base(set(own_, name) & (dropped ? mask : ~std::uint64_t{0}), 16);
  };
  same("its effective capabilities", expected("CapEff", few ? few->effective : 0), in_base(set(status_, "CapEff"), 16));
  if (place_.layer == "bwrap" && foreign()) return;  // which leaves the bounding set as it is
  same("its bounding set", expected("CapBnd", few ? few->bounding : 0), in_base(set(status_, "CapBnd"), 16));
}

std::optional<Mount> Check::root_of(const std::vector<Mount>& mounts) const {
  std::optional<Mount> found;
  for (const Mount& m : mounts) {
    if (m.point == "/") found = m;
  }
  return found;
}

void Check::root() {
  const auto own = root_of(mounts_of("/proc/self"));
  const auto theirs = root_of(mounts_of(process_));
  if (!own || !theirs) throw Error(ErrorKind::child, "the place has no root mount");
  const bool overlay =
      whole_ || layer("overlay") || layer("mounts") || layer("masked") || (foreign() && place_.layer != "unshare");
  same("its root file system", overlay ? "overlay" : own->type, theirs->type);
  if (overlay) return;
  const auto is = [](bool yes) { return std::string(yes ? "yes" : "no"); };
  same("whether its root is read-only", is(layer("ro-bind") || has_word(own->options, "ro")),
       is(has_word(theirs->options, "ro")));
  same("whether the ids of its root are mapped", is(layer("idmap") || has_word(own->options, "idmapped")),
       is(has_word(theirs->options, "idmapped")));
}

void Check::masks() {
  const bool masked = whole_ || layer("masked");
  if (!masked && !layer("mounts")) return;
  const std::vector<Mount> mounts = mounts_of(process_);
  const auto covered = [&](const std::string& path) {
    return std::any_of(mounts.begin(), mounts.end(), [&](const Mount& m) { return m.point == path; });
  };
  std::vector<std::string> hidden, expected;
  for (const std::string& path : container_->linux_.masked_paths) {
    if (covered(path)) hidden.push_back(path);
    // What the host doesn't have needs no mask; links lead elsewhere, and mounts of the container hide more.
    struct stat st{};
    if (masked && lstat(path.c_str(), &st) == 0 && !S_ISLNK(st.st_mode)) expected.push_back(path);
  }
  same("its masked paths", join(expected, " "), join(hidden, " "));
}

void Check::interfaces() {
  const std::vector<std::string> all = expected_namespaces();
  if (std::find(all.begin(), all.end(), "net") == all.end()) return;
  std::vector<std::string> names;
  const std::string text = sys::read_file(process_ + "/net/dev");
  for (const std::string_view line : split(text, '\n')) {
    const auto colon = line.find(':');
    if (colon != std::string_view::npos) names.emplace_back(trim(line.substr(0, colon)));
  }
  std::sort(names.begin(), names.end());
  same("its interfaces", has_interface(place_) ? "eth0 lo" : "lo", join(names, " "));
}

void Check::cgroups(pid_t pid) {
  cgroup::verify(location_, pid);
  const auto file = [&](const char* controller, const char* name) -> std::string {
    const cgroup::Entry* entry = location_.find(controller);
    if (entry == nullptr) return "no such controller";
    try {
      return std::string(trim(sys::read_file(cat(entry->directory(), "/", name))));
    } catch (const Error&) {
      return "no such file";
    }
  };
  const cgroup::Entry* const memory = location_.find("memory");
  const bool default_limits = whole_ || foreign() || layer("limits-default");
  if (default_limits && container_->linux_.resources && container_->linux_.resources->pids_limit) {
    same("its limit on processes", cat(*container_->linux_.resources->pids_limit), file("pids", "pids.max"));
  }
  if (!layer("limits")) return;
  same("its limit on processes", "4096", file("pids", "pids.max"));
  const bool v2 = memory != nullptr && memory->v2;
  same("its limit on memory", cat(std::int64_t{2} << 30), file("memory", v2 ? "memory.max" : "memory.limit_in_bytes"));
}

}  // namespace

void verify(const Place& place, pid_t pid, const cgroup::Location& location, const oci::Spec* container) {
  Check check(place, pid, location, container);
  check.namespaces();
  check.depth();
  check.privileges();
  check.root();
  check.masks();
  check.interfaces();
  check.cgroups(pid);
}

}  // namespace tare::lab
