#include "lab/place/plans.hpp"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/error.hpp"
#include "base/text.hpp"
#include "lab/place/launcher.hpp"
#include "lab/place/program.hpp"
#include "launch/launch.hpp"
#include "oci/parse.hpp"

namespace tare::lab {

namespace {

using plan::Code;
using plan::Op;

Op& push(std::vector<Op>& ops, Code code) {
  ops.emplace_back();
  ops.back().code = code;
  return ops.back();
}

void push_text(plan::Plan& plan, Code code, std::string_view a, std::string_view b = {}) {
  const plan::TextOp text{plan.keep(a), plan.keep(b)};
  push(plan.ops, code).text = text;
}

bool is_mount_point(const std::string& path) {
  const std::string text = sys::read_file("/proc/self/mountinfo");
  for (const std::string_view line : split(text, '\n')) {
    const auto words = split(line, ' ');
    if (words.size() > 4 && words[4] == path) return true;
  }
  return false;
}

// The hierarchies that the container's cgroup mount shows, each with the container's folder in it.
std::vector<plan::Options::CgroupMount> cgroup_mounts(const facts::Cgroups& cgroups, const cgroup::Location& location) {
  std::vector<plan::Options::CgroupMount> mounts;
  for (const facts::Hierarchy& hierarchy : cgroups.hierarchies) {
    plan::Options::CgroupMount mount;
    const std::string controllers = join(hierarchy.controllers, ",");
    const bool named = controllers.starts_with("name=");
    mount.v2 = hierarchy.v2;
    mount.name = hierarchy.v2 ? "unified" : named ? controllers.substr(5) : controllers;
    mount.data = named ? cat("none,", controllers) : controllers;
    mount.host_path = hierarchy.mount_point;
    for (const cgroup::Entry& entry : location.entries) {
      if (entry.mount_point == hierarchy.mount_point) mount.host_path = entry.directory();
    }
    mounts.push_back(std::move(mount));
  }
  return mounts;
}

// Limits that nobody reaches: what is weighed is that the kernel keeps account of them.
oci::Resources wide_limits() {
  oci::Resources r;
  r.pids_limit = 4096;
  r.memory.emplace();
  r.memory->limit = std::int64_t{2} << 30;
  r.cpu.emplace();
  r.cpu->period = 100'000;
  r.cpu->quota = 200'000;  // two CPUs' worth for workers that are kept on one
  return r;
}

}  // namespace

std::uint64_t clone_flag(const std::string& name) {
  if (name == "pid") return CLONE_NEWPID;
  if (name == "mnt") return CLONE_NEWNS;
  if (name == "uts") return CLONE_NEWUTS;
  if (name == "ipc") return CLONE_NEWIPC;
  if (name == "net") return CLONE_NEWNET;
  if (name == "user") return CLONE_NEWUSER;
  if (name == "cgroup") return CLONE_NEWCGROUP;
  if (name == "time") return CLONE_NEWTIME;
  throw Error(ErrorKind::bug, cat("no namespace is called ", name));
}

std::vector<std::string> worker_environment() {
  const auto variable = [](const char* name, const char* otherwise) {
    const char* const value = std::getenv(name);
    return cat(name, "=", value != nullptr ? value : otherwise);
  };
  return {variable("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"), variable("HOME", "/"),
          "LANG=C.UTF-8"};
}

bool has_interface(const Place& place) {
  return place.kind == PlaceKind::layer &&
         (place.layer == "veth" || place.layer == "bridge" || place.layer == "macvlan");
}

seccomp::Filter filter_of_rules(std::int64_t rules) {
  // Without a rule libseccomp has nothing to compile: the shortest filter that there is.
  if (rules == 0) return {{BPF_STMT(BPF_RET | BPF_K, 0x7fff0000U)}, 0};  // SECCOMP_RET_ALLOW
  static constexpr const char* kCalls[] = {"getppid", "read",  "write",      "close",  "openat",   "open",  "fstat",
                                           "fork",    "vfork", "clone",      "wait4",  "execve",   "mmap",  "munmap",
                                           "futex",   "dup2",  "exit_group", "unlink", "execveat", "sendto"};
  oci::Seccomp profile;
  profile.default_action = "SCMP_ACT_ALLOW";
  for (std::int64_t i = 0; i < rules; ++i) {
    oci::SeccompRule rule;
    rule.names = {kCalls[static_cast<std::size_t>(i) % std::size(kCalls)]};
    rule.action = "SCMP_ACT_ERRNO";
    oci::SeccompArg arg;
    arg.index = 5;  // none of these calls has a sixth argument, so that none of the values is ever met but by chance
    arg.value = ((0x7461'7265U + static_cast<std::uint64_t>(i)) << 32) | 0x4000'0000U;
    arg.op = "SCMP_CMP_EQ";
    rule.args.push_back(arg);
    profile.syscalls.push_back(std::move(rule));
  }
  return seccomp::compile(profile);
}

Plans::Plans(const facts::Facts& facts, std::string directory, std::string scratch)
    : facts_(facts),
      directory_(std::move(directory)),
      scratch_(std::move(scratch)),
      environment_(worker_environment()) {}

void Plans::set_program(plan::Plan& plan) const {
  plan::ProgramOp program{};
  program.argv = plan.keep(std::vector<std::string>{"tare-work", "serve"});
  program.envp = plan.keep(environment_);
  program.path_list = plan.keep("");
  program.fd = kProgramFd;
  for (Op& op : plan.ops) {
    if (op.code == Code::find_program || op.code == Code::exec_program) op.program = program;
  }
}

const oci::Spec& Plans::container_spec() {
  if (spec_) return *spec_;
  oci::Warnings warnings;
  std::vector<std::string> argv{find_program("tare"), "box", "--tty=false", "--print-spec"};
  if (directory_ != "/") argv.push_back(cat("--bind=", directory_, ":", directory_));
  argv.insert(argv.end(), {"--", "tare-work"});
  oci::Spec spec = oci::parse_spec(output_of(argv), "tare box --print-spec", warnings);
  spec.process->terminal = false;
  spec.process->cwd = "/";
  spec.process->user.umask = 022;
  if (spec.linux_.seccomp) filter_ = seccomp::compile(*spec.linux_.seccomp);
  spec_ = std::move(spec);
  return *spec_;
}

const seccomp::Filter& Plans::container_filter() {
  (void)container_spec();
  return filter_;
}

std::optional<oci::Resources> Plans::resources(const Place& place) {
  const bool whole = place.kind == PlaceKind::container || place.kind == PlaceKind::siblings ||
                     place.kind == PlaceKind::foreign || place.layer == "limits-default";
  if (whole) return container_spec().linux_.resources.value_or(oci::Resources{});
  if (place.layer == "limits") return wide_limits();
  return std::nullopt;
}

// A user namespace that maps every id to itself: a mount with such a mapping goes through the translation of ids and
// shows the same files with the same owners.
int Plans::identity_namespace() {
  if (identity_) return identity_.get();
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw_errno("pipe2", errno);
  sys::Fd out(ends[0]), in(ends[1]);
  const pid_t pid = fork();
  if (pid < 0) throw_errno("fork", errno);
  if (pid == 0) {
    const char ok = unshare(CLONE_NEWUSER) == 0 ? 'y' : 'n';
    (void)!write(in.get(), &ok, 1);
    for (;;) pause();
  }
  const sys::Child child(pid, sys::Fd());
  char ok = 'n';
  if (read(out.get(), &ok, 1) != 1 || ok != 'y')
    throw Error(ErrorKind::kernel, "no user namespace for idmapped mounts");
  const std::vector<oci::IdMapping> maps{{0, 0, 4294967295U}};
  launch::write_id_maps(pid, maps, maps);
  identity_ = sys::open(cat("/proc/", pid, "/ns/user"), O_RDONLY);
  return identity_.get();
}

// The root anew: a bind of the host's root file system alone, or an overlay on it; the kernel's own file systems and
// the working directory are bound into it as the host has them.
void Plans::add_root(plan::Plan& plan, const std::string& layer) {
  push(plan.ops, Code::set_propagation).propagation.flags = MS_SLAVE | MS_REC;
  const auto mount = [&](std::string_view type, std::string_view source, const std::string& target,
                         std::string_view data, std::uint32_t flags) {
    Op op{};
    op.code = Code::host_mount;
    op.mount.type = plan.keep(type);
    op.mount.source = plan.keep(source);
    op.mount.dest = plan.keep(target);
    op.mount.data = plan.keep(data);
    op.mount.sb_flags = flags;
    plan.ops.push_back(op);
  };
  std::string root = scratch_;
  if (layer == "overlay") {  // as Maker::overlay_root in plan/make.cpp does
    mount("tmpfs", "tmpfs", scratch_, "mode=0755", MS_NOSUID | MS_NODEV);
    for (const char* name : {"/root", "/upper0", "/work0"}) push_text(plan, Code::host_mkdir, cat(scratch_, name));
    root = scratch_ + "/root";
    mount("overlay", "overlay", root, cat("lowerdir=/,upperdir=", scratch_, "/upper0,workdir=", scratch_, "/work0"), 0);
  } else {
    mount("none", "/", scratch_, "", MS_BIND);
  }
  const plan::RootOp op{plan.keep(root), false, layer == "idmap" ? identity_namespace() : 0};
  push(plan.ops, Code::open_root).root = op;
  std::vector<std::string> binds{"/proc", "/sys", "/dev"};
  std::erase_if(binds, [](const std::string& path) { return !is_mount_point(path); });
  if (directory_ != "/") binds.push_back(directory_);
  for (const std::string& path : binds) {
    Op bind{};
    bind.code = Code::mount_bind;
    bind.mount.source = bind.mount.dest = plan.keep(path);
    bind.mount.recursive = true;
    bind.mount.slot = -1;
    plan.ops.push_back(bind);
  }
  if (layer == "ro-bind") {
    Op read_only{};
    read_only.code = Code::set_root_attributes;
    read_only.mount.dest = plan.keep("/");
    read_only.mount.attr_set = MOUNT_ATTR_RDONLY;
    plan.ops.push_back(read_only);
  }
  push(plan.ops, Code::pivot).number.value = 1;
}

void Plans::add_capabilities(plan::Plan& plan) {
  const auto& caps = container_spec().process->capabilities;
  if (!caps) throw Error(ErrorKind::bug, "the default container drops no capabilities");
  const plan::CapabilitiesOp op{caps->bounding,    caps->effective, caps->permitted,
                                caps->inheritable, caps->ambient,   facts_.last_capability};
  push(plan.ops, Code::drop_bounding).capabilities = op;
  push(plan.ops, Code::set_capabilities).capabilities = op;
}

void Plans::add_filter(plan::Plan& plan, const Place& place) {
  const seccomp::Filter filter = place.layer == "seccomp" ? filter_of_rules(place.amount) : container_filter();
  const plan::SeccompOp op{plan.keep(filter.program), static_cast<std::uint16_t>(filter.program.size()), filter.flags};
  push(plan.ops, Code::load_seccomp).seccomp = op;
}

// Bare is this plan without namespaces and layers. The operations are those that every container's plan has too.
plan::Plan Plans::small_plan(const Place& place, const cgroup::Location& location, bool maps_from_outside) {
  plan::Plan plan;
  const std::string& layer = place.layer;
  std::uint64_t flags = 0;
  for (const std::string& name : place.namespaces) flags |= clone_flag(name);
  // As plan::make does: these two are entered by unshare(2), the others are clone3(2)'s.
  const std::uint64_t unshared = flags & (CLONE_NEWCGROUP | CLONE_NEWTIME);
  plan.clone_flags = flags & ~unshared;
  // Entered at exec from Linux 6.2 on; before, by setns(2), which wants memory that nobody shares: then
  // for all places.
  const bool late_time = facts_.kernel.at_least(6, 2);
  plan.share_memory = late_time;
  for (const std::string& file : cgroup::join_files(location)) {
    const plan::TextOp text{plan.keep(file), nullptr};
    push(plan.outer, Code::join_cgroup).text = text;
  }
  if ((flags & CLONE_NEWUSER) != 0) {
    if (!maps_from_outside) plan.uid_mappings = plan.gid_mappings = {{0, 0, 65536}};  // as `tare box --userns` has it
    push(plan.ops, maps_from_outside ? Code::wait_for_hooks : Code::wait_for_maps);
  }
  push(plan.ops, Code::new_session);
  if (unshared != 0) push(plan.ops, Code::unshare_namespaces).number.value = static_cast<std::int64_t>(unshared);
  if ((flags & CLONE_NEWTIME) != 0) push_text(plan, Code::write_time_offsets, "", late_time ? "" : "enter");
  if (place.kind == PlaceKind::layer && (flags & CLONE_NEWNS) != 0) add_root(plan, layer);
  // A network namespace without its loopback device is of no use, and no container is left with one.
  if ((flags & CLONE_NEWNET) != 0) push(plan.ops, Code::bring_up_loopback);
  if (has_interface(place)) push(plan.ops, Code::wait_for_hooks);
  push(plan.ops, Code::set_affinity).number.value = -1;
  push_text(plan, Code::enter_cwd, "/", "root");
  push(plan.ops, Code::reset_signals);
  push(plan.ops, Code::close_descriptors).close.first = kLastFd + 1;
  if (layer == "caps") add_capabilities(plan);
  push(plan.ops, Code::set_umask).number.value = 022;
  push(plan.ops, Code::find_program);
  if (layer == "no-new-privs") push(plan.ops, Code::no_new_privileges);
  if (layer == "seccomp" || layer == "seccomp-default") add_filter(plan, place);
  push(plan.ops, Code::report_ready);
  push(plan.ops, Code::exec_program);
  set_program(plan);
  return plan;
}

plan::Options Plans::options(const cgroup::Location& location) const {
  plan::Options options;
  options.rootfs = spec_->root.path;
  options.bundle = "/";
  options.id = "tare-weigh";
  options.scratch = scratch_;
  options.cgroup_join_files = cgroup::join_files(location);
  options.cgroup_mounts = cgroup_mounts(facts_.cgroups, location);
  options.preserve_fds = kKept;
  return options;
}

plan::Plan Plans::container_plan(const cgroup::Location& location) {
  const oci::Spec& spec = container_spec();
  plan::Options wanted = options(location);
  wanted.seccomp = &filter_.program;
  wanted.seccomp_flags = filter_.flags;
  plan::Plan plan = plan::make(spec, facts_, wanted);
  if (!facts_.kernel.at_least(6, 2)) plan.share_memory = false;  // as in the other places
  set_program(plan);
  return plan;
}

// What the runtime itself makes of the default container's spec when nothing is left of it but the root, the mounts and
// devices, and (masked) the masked and read-only paths.
plan::Plan Plans::mounts_plan(const cgroup::Location& location, bool masked) {
  oci::Spec spec = container_spec();
  std::erase_if(spec.linux_.namespaces, [](const oci::Namespace& n) { return n.type != oci::NamespaceType::mount; });
  spec.hostname.clear();
  spec.linux_.sysctl.clear();
  spec.process->no_new_privileges = false;
  if (!masked) {
    spec.linux_.masked_paths.clear();
    spec.linux_.readonly_paths.clear();
  }
  plan::Options wanted = options(location);
  wanted.keyring = false;
  plan::Plan plan = plan::make(spec, facts_, wanted);
  const auto foreign = [](const Op& op) {
    return op.code == Code::undumpable || op.code == Code::drop_bounding || op.code == Code::become_user ||
           op.code == Code::set_capabilities;
  };
  std::erase_if(plan.outer, foreign);
  std::erase_if(plan.ops, foreign);
  if (!facts_.kernel.at_least(6, 2)) plan.share_memory = false;
  set_program(plan);
  return plan;
}

plan::Plan Plans::make(const Place& place, const cgroup::Location& location, bool maps_from_outside) {
  if (place.kind == PlaceKind::container || place.kind == PlaceKind::siblings) return container_plan(location);
  if (place.layer == "mounts" || place.layer == "masked") return mounts_plan(location, place.layer == "masked");
  return small_plan(place, location, maps_from_outside);
}

}  // namespace tare::lab
