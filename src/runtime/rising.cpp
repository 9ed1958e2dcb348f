// From a request to a running (or waiting) container, with everything undone where it fails.
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

#include "base/error.hpp"
#include "base/text.hpp"
#include "host/host.hpp"
#include "launch/hooks.hpp"
#include "oci/names.hpp"
#include "oci/parse.hpp"
#include "oci/validate.hpp"
#include "oci/write.hpp"
#include "runtime/container.hpp"
#include "seccomp/cache.hpp"
#include "sys/child.hpp"

namespace tare::runtime {
namespace {

constexpr std::size_t kMostConfig = 64 << 20;

std::string now() {
  timespec t{};
  ::clock_gettime(CLOCK_REALTIME, &t);
  // gmtime_r(3) would read /etc/localtime for a time that has no zone.
  using namespace std::chrono;
  const sys_seconds second{seconds{t.tv_sec}};
  const sys_days day = floor<days>(second);
  const year_month_day date{day};
  const hh_mm_ss clock{second - day};
  const auto padded = [](long n, std::size_t width) {
    std::string digits = cat(n);
    return std::string(width - std::min(width, digits.size()), '0') + digits;
  };
  return cat(padded(int{date.year()}, 4), "-", padded(unsigned{date.month()}, 2), "-", padded(unsigned{date.day()}, 2),
             "T", padded(clock.hours().count(), 2), ":", padded(clock.minutes().count(), 2), ":",
             padded(clock.seconds().count(), 2), ".", padded(t.tv_nsec, 9), "Z");
}

std::string resolve_rootfs(const std::string& bundle, const oci::Spec& spec) {
  const auto path = spec.root.path.starts_with('/') ? spec.root.path : cat(bundle, "/", spec.root.path);
  return path;
}

// The hierarchies that a mount of type cgroup shows, each with the container's folder in it.
std::vector<plan::Options::CgroupMount> cgroup_mounts(const facts::Cgroups& cgroups, const cgroup::Location& location) {
  std::vector<plan::Options::CgroupMount> mounts;
  for (const auto& hierarchy : cgroups.hierarchies) {
    plan::Options::CgroupMount mount;
    mount.v2 = hierarchy.v2;
    std::string joined = join(hierarchy.controllers, ",");
    const bool named = joined.starts_with("name=");
    mount.name = hierarchy.v2 ? "unified" : named ? joined.substr(5) : joined;
    mount.data = named ? cat("none,", joined) : joined;
    mount.host_path = hierarchy.mount_point;
    if (hierarchy.own_path != "/") mount.host_path += hierarchy.own_path;
    for (const auto& entry : location.entries)
      if (entry.mount_point == hierarchy.mount_point) mount.host_path = entry.directory();
    mounts.push_back(std::move(mount));
  }
  return mounts;
}

// A path may lead to the very namespace that this process is in: what is set there is set for the host.
void refuse_settings_for_the_host(const oci::Spec& spec) {
  for (std::size_t i = 0; i < spec.linux_.namespaces.size(); ++i) {
    const auto& entry = spec.linux_.namespaces[i];
    if (entry.path.empty()) continue;
    const bool names = entry.type == oci::NamespaceType::uts && !(spec.hostname.empty() && spec.domainname.empty());
    const bool sysctls = (entry.type == oci::NamespaceType::network || entry.type == oci::NamespaceType::ipc) &&
                         !spec.linux_.sysctl.empty();
    if (!names && !sysctls) continue;
    struct stat own{}, joined{};
    const auto own_path = cat("/proc/self/ns/", oci::namespace_proc_name(entry.type));
    if (::stat(own_path.c_str(), &own) == 0 && ::stat(entry.path.c_str(), &joined) == 0 && own.st_ino == joined.st_ino)
      throw Error(ErrorKind::invalid_spec,
                  cat("linux.namespaces[", i, "].path: it is the runtime's own namespace, where ",
                      names ? "a hostname or domainname" : "linux.sysctl", " would be set for the host"));
  }
}

bool has_cgroup_mount(const oci::Spec& spec) {
  for (const auto& mount : spec.mounts)
    if (mount.type == "cgroup" || mount.type == "cgroup2") return true;
  return false;
}

}  // namespace

std::string absolute_path(const std::string& path) {
  // The kernel has it all in one: realpath(3) asks about each part of it.
  const sys::Fd handle(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!handle) throw_errno(path, errno);
  char resolved[PATH_MAX];
  const ssize_t n = ::readlink(cat("/proc/self/fd/", handle.get()).c_str(), resolved, sizeof resolved);
  if (n < 0) throw_errno(path, errno);
  return std::string(resolved, static_cast<std::size_t>(n));
}

Rising::Rising(const Context& context, const CreateRequest& request, bool wait_for_start)
    : context_(context),
      slot_((oci::check_id(request.id), load(request), store::Slot::reserve(context.root, request.id))),
      wait_for_start_(wait_for_start) {
  try {
    record_.oci_version = spec_.oci_version;
    record_.id = request.id;
    record_.bundle = request.spec ? slot_.path() : bundle_;
    record_.rootfs = resolve_rootfs(record_.bundle, spec_);
    record_.created = now();
    record_.owner = facts_.euid;
    record_.annotations = spec_.annotations;
    if (facts_.cgroups.layout != facts::CgroupLayout::none)
      record_.cgroups = cgroup::locate(facts_.cgroups, spec_.linux_.cgroups_path, request.id,
                                       spec_.linux_.resources ? &*spec_.linux_.resources : nullptr);
    complete_spec(request);
    if (request.spec) config_text_ = oci::write_spec(spec_, 0);
    // Before anything else is made: as a rule the last part of each cgroup's path is new.
    for (auto& entry : record_.cgroups.entries) entry.made = 1;
    slot_.write_record(record_, config_text_);
    cgroups_made_ = true;
    for (auto& entry : record_.cgroups.entries) entry.made = 0;
    cgroup::create(record_.cgroups, facts_.euid != 0 || !facts_.in_initial_userns);
    bool as_foreseen = true;
    for (const auto& entry : record_.cgroups.entries) as_foreseen = as_foreseen && entry.made == 1;
    if (!as_foreseen) slot_.write_record(record_, config_text_);
    cgroup::apply(record_.cgroups, spec_.linux_.resources.value_or(oci::Resources{}));
    make_plan(request, wait_for_start);
  } catch (...) {
    // No destructor runs for an object that was never whole.
    if (cgroups_made_) {
      try {
        cgroup::remove(record_.cgroups);
      } catch (const Error&) {
      }
    }
    throw;
  }
}

void Rising::load(const CreateRequest& request) {
  facts_ = host::facts();
  if (request.spec) {
    spec_ = *request.spec;
  } else {
    bundle_ = with_intent("bundle", [&] { return absolute_path(request.bundle); });
    const auto file = request.config.empty() ? cat(bundle_, "/config.json") : request.config;
    config_text_ = sys::read_regular_file(file, kMostConfig);
    spec_ = oci::parse_spec(config_text_, "config.json", warnings_);
  }
  if (spec_.find_namespace(oci::NamespaceType::time) != nullptr) facts_.kernel = host::kernel_version();
  oci::validate(spec_, warnings_);
  refuse_settings_for_the_host(spec_);
  if (!spec_.process) throw Error(ErrorKind::invalid_spec, "process: missing");
  preserve_fds_ = request.preserve_fds + take_listen_fds(*spec_.process);
  check_preserved(preserve_fds_);
  const bool console_elsewhere = !request.console_socket.empty();
  if (console_elsewhere && !spec_.process->terminal)
    throw Error(ErrorKind::usage, "--console-socket was given, and process.terminal is false");
  if (spec_.linux_.seccomp) {
    if (context_.root.empty()) throw Error(ErrorKind::bug, "no state folder");
    filter_ = seccomp::compile_cached(*spec_.linux_.seccomp, context_.root + "/.seccomp");
  }
}

void Rising::complete_spec(const CreateRequest& request) {
  // A terminal that is to stand in for the caller's has its size before the program can look.
  auto& process = *spec_.process;
  winsize size{};
  if (process.terminal && request.console_socket.empty() && !process.console_size && ::ioctl(0, TIOCGWINSZ, &size) == 0)
    process.console_size = oci::ConsoleSize{size.ws_row, size.ws_col};
  complete_home(*spec_.process, [&] {
    // The usual image without users costs one call: where no link is on the way, nothing leads elsewhere.
    int error = 0;
    const sys::Fd passwd = sys::open_without_links(record_.rootfs + "/etc/passwd", error);
    if (error == ENOENT) return std::string("/");
    return home_of(sys::open_dir(record_.rootfs), spec_.process->user.uid);
  });
}

void Rising::make_plan(const CreateRequest& request, bool wait_for_start) {
  plan::Options options;
  options.rootfs = record_.rootfs;
  options.bundle = record_.bundle;
  options.id = record_.id;
  if (spec_.annotations.contains(oci::kAnnotationRootOverlay)) {
    options.scratch = slot_.make_scratch();
    if (record_.rootfs == "/") options.overlay_lowers = data_mounts(sys::read_file("/proc/self/mountinfo"));
  }
  options.cgroup_join_files = cgroup::join_files(record_.cgroups);
  if (has_cgroup_mount(spec_)) options.cgroup_mounts = cgroup_mounts(facts_.cgroups, record_.cgroups);
  options.seccomp = &filter_.program;
  options.seccomp_flags = filter_.flags;
  if (!spec_.hooks.create_container.empty() || !spec_.hooks.start_container.empty())
    std::tie(options.state_before_pid, options.state_after_pid) = hook_state_parts(record_, "created");
  options.preserve_fds = preserve_fds_;
  options.wait_for_start = wait_for_start;
  options.pivot = !request.no_pivot;
  options.keyring = !request.no_new_keyring;
  options.setgroups_denied = spec_.has_new_namespace(oci::NamespaceType::user) &&
                             launch::maps_need_setgroups_denied(spec_.linux_.gid_mappings, facts_.euid, facts_.egid);
  options.init = request.init;
  *plan_ = plan::make(spec_, facts_, options);
}

launch::Started Rising::launch(std::function<void(sys::Fd)> on_console) {
  launch::Request wanted;
  const sys::DirFd v2 = cgroup::open_v2(record_.cgroups);
  wanted.cgroup_fd = v2.get();
  if (wait_for_start_) {
    fifos_ = slot_.make_fifos();
    wanted.start_fifo = fifos_.start.get();
    wanted.result_fifo = fifos_.result.get();
  }
  wanted.preserve_fds = preserve_fds_;
  wanted.on_console = std::move(on_console);
  wanted.on_cloned = [this](pid_t pid) { slot_.write_init({pid, sys::start_time(pid)}); };
  wanted.on_hooks = [this](pid_t pid) {
    hooks_reached_ = true;
    const auto state = hook_state(record_, "creating", pid);
    const auto run_all = [&](const std::vector<oci::Hook>& hooks, std::string_view name) {
      for (std::size_t i = 0; i < hooks.size(); ++i)
        launch::run_hook(hooks[i], state, record_.bundle, cat("hooks.", name, "[", i, "]"));
    };
    run_all(spec_.hooks.prestart, "prestart");
    run_all(spec_.hooks.create_runtime, "createRuntime");
  };
  hooks_reached_ = !spec_.hooks.create_container.empty();
  launch::Started started = launch::start(*plan_, wanted);
  // A created container waits, perhaps for days, in memory that it shares with this process: what it reads
  // then must still be there when this process has gone, and so is never freed.
  if (wait_for_start_) {
    [[maybe_unused]] const auto* kept = plan_.release();
  }
  hooks_reached_ = true;
  if (wait_for_start_) {
    cgroup::verify(record_.cgroups, started.child.pid());
    slot_.commit_fifos();
  }
  return started;
}

Rising::~Rising() {
  if (!undo_) return;
  // The process was killed by its owner already (sys::Child), or by launch.
  try {
    cgroup::kill_all(record_.cgroups);
    cgroup::remove(record_.cgroups);
    if (hooks_reached_) run_poststop(spec_, record_, warnings_);
  } catch (const Error&) {
    // The state stays, so that `delete --force` can try again.
    slot_.keep();
  }
}

}  // namespace tare::runtime
