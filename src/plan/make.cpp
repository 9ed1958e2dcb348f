// The order of a start. Each push says why it stands where it stands.
#include <linux/fs.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/text.hpp"
#include "oci/names.hpp"
#include "oci/validate.hpp"
#include "plan/mounts.hpp"
#include "plan/plan.hpp"

namespace tare::plan {
namespace {

using oci::NamespaceType;

bool confined(const oci::Process& process) {
  // A process of an unconfined runtime is unconfined.
  return !process.apparmor_profile.empty() && process.apparmor_profile != "unconfined";
}

class Maker {
 public:
  Maker(const facts::Facts& facts, const Options& options) : facts_(facts), options_(options) {}

  Plan container(const oci::Spec& spec);
  Plan further_process(const oci::Process& process);

 private:
  // What must be done where the host's paths still lead to the host's files.
  Op& push_outer(Code code) {
    plan_.outer.emplace_back();
    plan_.outer.back().code = code;
    return plan_.outer.back();
  }
  Op& push(Code code) {
    plan_.ops.emplace_back();
    plan_.ops.back().code = code;
    return plan_.ops.back();
  }
  void push_text(Code code, std::string_view a, std::string_view b = {}) {
    const TextOp text{plan_.keep(a), plan_.keep(b)};
    push(code).text = text;
  }
  void push_number(Code code, std::int64_t value) { push(code).number.value = value; }

  void namespaces(const oci::Spec& spec);
  void outer(const oci::Process* process);
  bool maps_by_an_ordinary_user() const { return new_user_namespace_ && facts_.euid != 0; }
  void before_the_root(const oci::Spec& spec);
  void root(const oci::Spec& spec);
  void overlay_root(const oci::Spec& spec);
  void devices(const oci::Spec& spec);
  void one_device(const oci::Device& device, bool bind);
  void hooks_and_masks(const oci::Spec& spec);
  void hook(const oci::Hook& hook);
  void inside(const oci::Spec& spec);
  void process(const oci::Process& process, const oci::Linux* linux_part, const std::vector<oci::Hook>* start_hooks);

  const facts::Facts& facts_;
  const Options& options_;
  Plan plan_;
  bool new_user_namespace_ = false;
  bool user_namespace_ = false;  // new, or joined
};

void Maker::namespaces(const oci::Spec& spec) {
  static constexpr const char* kFields[] = {
      "linux.namespaces[0].path", "linux.namespaces[1].path", "linux.namespaces[2].path", "linux.namespaces[3].path",
      "linux.namespaces[4].path", "linux.namespaces[5].path", "linux.namespaces[6].path", "linux.namespaces[7].path"};
  for (std::size_t i = 0; i < spec.linux_.namespaces.size(); ++i) {
    const auto& entry = spec.linux_.namespaces[i];
    const auto flag = oci::namespace_clone_flag(entry.type);
    if (!entry.path.empty()) {
      plan_.joins.push_back({static_cast<int>(flag), entry.path, kFields[std::min<std::size_t>(i, 7)]});
      if (entry.type == NamespaceType::time) plan_.share_memory = false;
    } else if (entry.type == NamespaceType::time) {
      // Entered at exec since 6.2; before, by setns(2), which wants memory that nobody shares.
      if (!facts_.kernel.at_least(6, 2)) plan_.share_memory = false;
    } else if (entry.type != NamespaceType::cgroup) {
      plan_.clone_flags |= flag;
    }
  }
  // The kernel kills whoever shares the memory of a process that it kills for a cgroup's limit: with a
  // limit so small that setting up alone may reach it, that would be the runtime.
  constexpr std::int64_t kEnoughToSetUp = 8 << 20;
  const auto& resources = spec.linux_.resources;
  if (resources && resources->memory && resources->memory->limit.value_or(0) > 0 &&
      *resources->memory->limit < kEnoughToSetUp)
    plan_.share_memory = false;
  // The same holds for an init, which stays; and oom_score_adj belongs to the memory, so that with shared
  // memory the runtime would get it, too (of a create's short life that is no matter).
  const bool own_score = spec.process && spec.process->oom_score_adj && !options_.wait_for_start;
  if (options_.init || own_score) plan_.share_memory = false;
  new_user_namespace_ = spec.has_new_namespace(NamespaceType::user);
  user_namespace_ = spec.find_namespace(NamespaceType::user) != nullptr;
  plan_.uid_mappings = spec.linux_.uid_mappings;
  plan_.gid_mappings = spec.linux_.gid_mappings;
}

void Maker::outer(const oci::Process* process) {
  // Through the host's /proc, while it is still the one in sight.
  if (process != nullptr && process->oom_score_adj)
    push_outer(Code::set_oom_score_adj).number.value = *process->oom_score_adj;
  // Before the cgroup namespace, whose root is where the process is at that moment, and before
  // anything that costs memory or time.
  for (const auto& file : options_.cgroup_join_files) {
    const TextOp text{plan_.keep(file), nullptr};
    push_outer(Code::join_cgroup).text = text;
  }
  // Before any namespace of others is joined: from here on nobody inside may trace this process or read
  // its memory. But an ordinary user's parent could not write the maps of a process that isn't dumpable.
  if (!maps_by_an_ordinary_user()) push_outer(Code::undumpable);
  // A user namespace of somebody else's may forbid setgroups(2): the caller's groups go before it is entered.
  if (user_namespace_ && !new_user_namespace_ && facts_.euid == 0) push_outer(Code::drop_groups);
}

void Maker::before_the_root(const oci::Spec& spec) {
  const auto& process = spec.process;
  outer(process ? &*process : nullptr);
  // Ids mean nothing before they are mapped.
  if (new_user_namespace_) push(Code::wait_for_maps);
  if (maps_by_an_ordinary_user()) push(Code::undumpable);
  push(Code::new_session);
  if (options_.keyring) push_text(Code::join_keyring, cat("_ses.", options_.id));

  std::int64_t unshare = 0;
  if (spec.has_new_namespace(NamespaceType::cgroup)) unshare |= CLONE_NEWCGROUP;
  if (spec.has_new_namespace(NamespaceType::time)) unshare |= CLONE_NEWTIME;
  if (unshare != 0) push_number(Code::unshare_namespaces, unshare);
  if (spec.has_new_namespace(NamespaceType::time)) {
    // time_namespaces(7): the offsets can't change once a process is inside.
    std::string offsets;
    if (spec.linux_.monotonic_offset)
      offsets +=
          cat("monotonic ", spec.linux_.monotonic_offset->secs, " ", spec.linux_.monotonic_offset->nanosecs, "\n");
    if (spec.linux_.boottime_offset)
      offsets += cat("boottime ", spec.linux_.boottime_offset->secs, " ", spec.linux_.boottime_offset->nanosecs, "\n");
    push_text(Code::write_time_offsets, offsets, facts_.kernel.at_least(6, 2) ? "" : "enter");
  }
}

void Maker::root(const oci::Spec& spec) {
  // Nothing mounted from here on reaches the host; what the host unmounts still goes away here.
  push(Code::set_propagation).propagation.flags = MS_SLAVE | MS_REC;
  MountSlots slots;
  if (user_namespace_) {
    // Opened while the process is still its caller outside, whose groups may be what makes them readable.
    slots = open_sources(plan_, spec, options_);
    push(Code::become_root);
  }
  if (spec.annotations.contains(oci::kAnnotationRootOverlay)) {
    overlay_root(spec);
  } else {
    const RootOp op{plan_.keep(options_.rootfs), true, 0};
    push(Code::open_root).root = op;
  }
  // Opened before anything of the container is touched, so that no mount of its own can stand in.
  if (!spec.linux_.sysctl.empty() || confined(*spec.process)) push(Code::open_proc);
  push_mounts(plan_, spec, facts_, options_, slots);
}

void Maker::overlay_root(const oci::Spec& spec) {
  if (spec.annotations.at(oci::kAnnotationRootOverlay) != "tmpfs")
    throw Error(ErrorKind::invalid_spec,
                cat("annotations[", oci::kAnnotationRootOverlay, "]: only \"tmpfs\" is known"));
  if (new_user_namespace_ && facts_.euid != 0)
    throw Error(ErrorKind::unsupported, cat("annotations[", oci::kAnnotationRootOverlay,
                                            "]: the kernel lets only root put an overlay over \"/\""));
  const auto mount = [&](std::string_view type, std::string_view target, std::string_view data, std::uint32_t flags) {
    Op op{};
    op.code = Code::host_mount;
    op.mount.type = plan_.keep(type);
    op.mount.source = op.mount.type;
    op.mount.dest = plan_.keep(target);
    op.mount.data = plan_.keep(data);
    op.mount.sb_flags = flags;
    plan_.ops.push_back(op);
  };
  const auto& scratch = options_.scratch;
  mount("tmpfs", scratch, "mode=0755", MS_NOSUID | MS_NODEV);
  std::vector<std::string> lowers{options_.rootfs};
  lowers.insert(lowers.end(), options_.overlay_lowers.begin(), options_.overlay_lowers.end());
  push_text(Code::host_mkdir, cat(scratch, "/root"));
  for (std::size_t i = 0; i < lowers.size(); ++i) {
    const auto upper = cat(scratch, "/upper", i);
    const auto work = cat(scratch, "/work", i);
    push_text(Code::host_mkdir, upper);
    push_text(Code::host_mkdir, work);
    const auto target = i == 0 ? cat(scratch, "/root") : cat(scratch, "/root", lowers[i]);
    mount("overlay", target, cat("lowerdir=", lowers[i], ",upperdir=", upper, ",workdir=", work), 0);
  }
  const RootOp op{plan_.keep(cat(scratch, "/root")), true, 0};
  push(Code::open_root).root = op;
}

void Maker::one_device(const oci::Device& device, bool bind) {
  DeviceOp op{};
  op.path = plan_.keep(oci::clean_path(device.path));
  op.source = plan_.keep(device.path);
  op.mode = device.file_mode.value_or(0666) & 07777;
  if (device.type == 'b') op.mode |= S_IFBLK;
  if (device.type == 'c' || device.type == 'u') op.mode |= S_IFCHR;
  if (device.type == 'p') op.mode |= S_IFIFO;
  op.dev = device.type == 'p' ? 0 : makedev(static_cast<unsigned>(device.major), static_cast<unsigned>(device.minor));
  op.uid = device.uid.value_or(0);
  op.gid = device.gid.value_or(0);
  push(bind ? Code::bind_device : Code::make_device).device = op;
}

void Maker::devices(const oci::Spec& spec) {
  // A /dev that was bound from elsewhere is somebody's own: nothing is put into it.
  bool own_dev = true;
  for (const auto& mount : spec.mounts) {
    if (oci::clean_path(mount.destination) != "/dev") continue;
    own_dev = std::none_of(mount.options.begin(), mount.options.end(),
                           [](const auto& o) { return o == "bind" || o == "rbind"; });
  }
  if (!own_dev) return;
  static constexpr struct {
    const char* path;
    int major, minor;
  } kDefaults[] = {{"/dev/null", 1, 3},   {"/dev/zero", 1, 5},    {"/dev/full", 1, 7},
                   {"/dev/random", 1, 8}, {"/dev/urandom", 1, 9}, {"/dev/tty", 5, 0}};
  // mknod(2) of a device is refused inside a user namespace; the host's node is bound instead.
  const bool bind = user_namespace_ || !facts_.in_initial_userns;
  for (const auto& d : kDefaults) {
    const bool given = std::any_of(spec.linux_.devices.begin(), spec.linux_.devices.end(),
                                   [&](const auto& device) { return oci::clean_path(device.path) == d.path; });
    oci::Device device;
    device.path = d.path;
    device.major = d.major;
    device.minor = d.minor;
    if (!given) one_device(device, bind);
  }
  for (const auto& device : spec.linux_.devices) one_device(device, bind && device.type != 'p');
  push_text(Code::make_symlink, "/proc/self/fd", "/dev/fd");
  push_text(Code::make_symlink, "/proc/self/fd/0", "/dev/stdin");
  push_text(Code::make_symlink, "/proc/self/fd/1", "/dev/stdout");
  push_text(Code::make_symlink, "/proc/self/fd/2", "/dev/stderr");
  push_text(Code::make_symlink, "pts/ptmx", "/dev/ptmx");
}

void Maker::hook(const oci::Hook& hook) {
  HookOp op{};
  op.path = plan_.keep(hook.path);
  op.argv = plan_.keep(hook.args.empty() ? std::vector<std::string>{hook.path} : hook.args);
  op.envp = plan_.keep(hook.env);
  op.state_before_pid = plan_.keep(options_.state_before_pid);
  op.state_after_pid = plan_.keep(options_.state_after_pid);
  op.cwd = plan_.keep(options_.bundle);
  op.timeout = hook.timeout.value_or(0);
  push(Code::run_hook).hook = op;
}

void Maker::hooks_and_masks(const oci::Spec& spec) {
  // A working directory that must be made is made while the root can still be written to.
  if (spec.process && spec.process->cwd != "/") push_text(Code::make_cwd, spec.process->cwd);
  // runtime.md: prestart and createRuntime run when the namespaces exist, before pivot_root; with
  // the mounts in place and the root still writable, as other runtimes do.
  if (!spec.hooks.prestart.empty() || !spec.hooks.create_runtime.empty()) push(Code::wait_for_hooks);
  for (const auto& h : spec.hooks.create_container) hook(h);
  for (const auto& path : spec.linux_.masked_paths) push_text(Code::mask_path, oci::clean_path(path));
  for (const auto& path : spec.linux_.readonly_paths) push_text(Code::read_only_path, oci::clean_path(path));
  push_late_read_only(plan_, spec);
  if (spec.root.readonly) {
    // Last of all that writes below the root.
    MountOp op{};
    op.dest = plan_.keep("/");
    op.attr_set = MOUNT_ATTR_RDONLY;
    push(Code::set_root_attributes).mount = op;
  }
}

std::uint64_t propagation_flags(const std::string& name) {
  std::uint64_t flags = 0;
  std::string_view rest = name;
  if (rest.starts_with('r')) {
    flags = MS_REC;
    rest.remove_prefix(1);
  }
  if (rest == "shared") return flags | MS_SHARED;
  if (rest == "slave") return flags | MS_SLAVE;
  if (rest == "private") return flags | MS_PRIVATE;
  return flags | MS_UNBINDABLE;
}

void Maker::inside(const oci::Spec& spec) {
  push_number(Code::pivot, options_.pivot ? 1 : 0);
  if (!spec.linux_.rootfs_propagation.empty()) {
    // After the pivot: before, it would make mounts go out to the host, or keep pivot_root(2) from working.
    push(Code::set_propagation).propagation.flags = propagation_flags(spec.linux_.rootfs_propagation);
  }
  push_number(Code::assert_root, spec.root.readonly ? 1 : 0);
  if (spec.has_new_namespace(NamespaceType::network)) push(Code::bring_up_loopback);
  if (!spec.hostname.empty()) push_text(Code::set_hostname, spec.hostname);
  if (!spec.domainname.empty()) push_text(Code::set_domainname, spec.domainname);
  for (const auto& [key, value] : spec.linux_.sysctl) {
    // sysctl.d(5): dots and slashes separate; the first one that occurs says which is which.
    std::string path = key;
    const auto first = path.find_first_of("./");
    if (first != std::string::npos && path[first] == '.')
      for (char& c : path) c = c == '.' ? '/' : (c == '/' ? '.' : c);
    push_text(Code::set_sysctl, cat("sys/", path), value);
  }
}

std::string path_list(const std::vector<std::string>& env) {
  std::string found;
  for (const auto& entry : env)
    if (entry.starts_with("PATH=")) found = entry.substr(5);
  return found;
}

void Maker::process(const oci::Process& process, const oci::Linux* linux_part,
                    const std::vector<oci::Hook>* start_hooks) {
  if (linux_part != nullptr && linux_part->personality)
    push_number(Code::set_personality, linux_part->personality->domain);
  // The engine's pinning is not the container's: all that the cpuset allows.
  push_number(Code::set_affinity, -1);
  if (process.scheduler) {
    const auto& s = *process.scheduler;
    const SchedulerOp op{s.policy, s.nice, s.priority, s.flags, s.runtime, s.deadline, s.period};
    push(Code::set_scheduler).scheduler = op;
  }
  if (process.io_priority)
    push_number(Code::set_io_priority, (process.io_priority->io_class << 13) | process.io_priority->priority);
  // Raising a hard limit wants a capability, so before they go.
  for (const auto& limit : process.rlimits) {
    const RlimitOp op{limit.type, limit.soft, limit.hard};
    push(Code::set_rlimit).rlimit = op;
  }
  if (process.terminal) push(Code::use_console);
  // As root, so that a directory only root may enter is no obstacle; again as the user below.
  if (process.cwd != "/") push_text(Code::enter_cwd, process.cwd, "root");
  const auto filter = [&] {
    if (options_.seccomp == nullptr || options_.seccomp->empty()) return;
    const SeccompOp op{plan_.keep(*options_.seccomp), static_cast<std::uint16_t>(options_.seccomp->size()),
                       options_.seccomp_flags};
    push(Code::load_seccomp).seccomp = op;
  };
  // Takes effect at exec; written while no filter can be in the way.
  if (confined(process)) push_text(Code::set_apparmor_profile, process.apparmor_profile);
  // Before a filter that might not allow it.
  push_number(Code::reset_signals, static_cast<std::int64_t>(facts_.ignored_signals));
  push(Code::close_descriptors).close.first = static_cast<std::uint32_t>(3 + options_.preserve_fds);
  // Without no_new_privs a filter needs CAP_SYS_ADMIN; with it, last, so that it need not allow our own calls.
  if (!process.no_new_privileges) filter();
  const auto capabilities = process.capabilities.value_or(oci::Capabilities{});
  const CapabilitiesOp caps{capabilities.bounding,    capabilities.effective, capabilities.permitted,
                            capabilities.inheritable, capabilities.ambient,   facts_.last_capability};
  // The bounding set first: shrinking it needs CAP_SETPCAP.
  push(Code::drop_bounding).capabilities = caps;
  UserOp user{};
  user.uid = process.user.uid;
  user.gid = process.user.gid;
  user.groups = plan_.keep(process.user.additional_gids);
  user.n_groups = static_cast<std::uint32_t>(process.user.additional_gids.size());
  user.keep_capabilities = process.user.uid != 0;
  user.set_groups = !options_.setgroups_denied;
  user.groups_may_be_denied = user_namespace_ && !new_user_namespace_;
  push(Code::become_user).user = user;
  push(Code::set_capabilities).capabilities = caps;
  // -1: the caller's, as the specification has it where none is given.
  push_number(Code::set_umask, process.user.umask ? static_cast<std::int64_t>(*process.user.umask) : -1);
  if ((process.user.uid != 0 || user_namespace_) && process.cwd != "/") push_text(Code::enter_cwd, process.cwd, "user");
  // As the user: what root could run may be out of the user's reach. Before `ready`, so that create
  // itself tells of a program that isn't there.
  ProgramOp program{};
  program.argv = plan_.keep(process.args);
  program.envp = plan_.keep(process.env);
  program.path_list = plan_.keep(path_list(process.env));
  program.fd = -1;
  program.init = options_.init;
  // A path that is executed at once needs no look before: execve(2) says the same.
  if (options_.wait_for_start || process.args.front().find('/') == std::string::npos)
    push(Code::find_program).program = program;
  if (process.no_new_privileges) {
    push(Code::no_new_privileges);
    filter();
  }
  // From here on a filter may be in force: read, write and execve are all that is needed of it.
  push(Code::report_ready);
  if (options_.wait_for_start) push(Code::wait_for_start);
  if (start_hooks != nullptr)
    for (const auto& h : *start_hooks) hook(h);
  push(Code::exec_program).program = program;
}

Plan Maker::container(const oci::Spec& spec) {
  if (!spec.process) throw Error(ErrorKind::invalid_spec, "process: missing");
  namespaces(spec);
  if (spec.find_namespace(NamespaceType::mount) == nullptr)
    throw Error(ErrorKind::unsupported, "linux.namespaces: a container needs a mount namespace of its own or by path");
  before_the_root(spec);
  root(spec);
  devices(spec);
  if (spec.process->terminal) {
    ConsoleOp console{};
    if (spec.process->console_size) {
      console.rows = spec.process->console_size->height;
      console.columns = spec.process->console_size->width;
    }
    console.owner = spec.process->user.uid;
    console.bind_dev_console = true;
    push(Code::open_console).console = console;
  }
  hooks_and_masks(spec);
  inside(spec);
  process(*spec.process, &spec.linux_, &spec.hooks.start_container);
  return std::move(plan_);
}

Plan Maker::further_process(const oci::Process& process_) {
  user_namespace_ = options_.enters_user_namespace;
  outer(&process_);
  // Until it is somebody inside, the process owns nothing that could be made there.
  if (user_namespace_) push(Code::become_root);
  push(Code::new_session);
  if (options_.keyring) push_text(Code::join_keyring, cat("_ses.", options_.id));
  if (confined(process_)) push(Code::open_proc);
  if (process_.terminal) {
    ConsoleOp console{};
    if (process_.console_size) {
      console.rows = process_.console_size->height;
      console.columns = process_.console_size->width;
    }
    console.owner = process_.user.uid;
    push(Code::open_console).console = console;
  }
  if (process_.cwd != "/") push_text(Code::make_cwd, process_.cwd);
  process(process_, nullptr, nullptr);
  return std::move(plan_);
}

}  // namespace

Plan make(const oci::Spec& spec, const facts::Facts& facts, const Options& options) {
  return Maker(facts, options).container(spec);
}

Plan make_exec(const oci::Process& process, const facts::Facts& facts, const Options& options) {
  return Maker(facts, options).further_process(process);
}

}  // namespace tare::plan
