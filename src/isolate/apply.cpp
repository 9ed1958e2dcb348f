// child: from an operation to its code.
#include <linux/keyctl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>

#include "isolate/calls.hpp"

namespace tare::isolate {
namespace {

using plan::Code;

Fault checked(const char* name, long result) noexcept { return result < 0 ? fault(name, result) : kNoFault; }

Fault join_keyring(const plan::TextOp& op) noexcept {
  // A kernel or an outer filter without keyrings is no reason not to start; anything else would leave
  // the caller's keys within reach.
  const long r = call(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, word(op.a));
  return r < 0 && r != -ENOSYS && r != -EPERM ? fault("keyctl", r) : kNoFault;
}

Fault set_affinity() noexcept {
  std::uint8_t all[1024];
  for (auto& byte : all) byte = 0xFF;
  // The kernel cuts it down to what the cpuset allows.
  call(SYS_sched_setaffinity, 0, sizeof all, word(all));
  return kNoFault;
}

struct SchedAttr {  // struct sched_attr, without what glibc 2.36 lacks
  std::uint32_t size, policy;
  std::uint64_t flags;
  std::int32_t nice;
  std::uint32_t priority;
  std::uint64_t runtime, deadline, period;
};

Fault set_scheduler(const plan::SchedulerOp& op) noexcept {
  const SchedAttr attr{sizeof(SchedAttr), op.policy,  op.flags,    op.nice,
                       op.priority,       op.runtime, op.deadline, op.period};
  return checked("sched_setattr", call(SYS_sched_setattr, 0, word(&attr), 0));
}

Fault set_rlimit(const plan::RlimitOp& op) noexcept {
  const std::uint64_t limit[2] = {op.soft, op.hard};
  return checked("prlimit64", call(SYS_prlimit64, 0, op.type, word(limit), 0));
}

// The kernel's struct sigaction, which is not glibc's.
struct KernelSigaction {
  void (*handler)(int);
  unsigned long flags;
  void (*restorer)();
  std::uint64_t mask;
};

Fault reset_signals(std::uint64_t ignored) noexcept {
  const KernelSigaction by_default{};
  for (int signal = 1; signal <= 64; ++signal) {
    if ((ignored >> (signal - 1) & 1) == 0) continue;
    const long r = call(SYS_rt_sigaction, signal, word(&by_default), 0, 8);
    if (r < 0) return fault("rt_sigaction", r);
  }
  const std::uint64_t none = 0;
  return checked("rt_sigprocmask", call(SYS_rt_sigprocmask, SIG_SETMASK, word(&none), 0, 8));
}

Fault apply_before_pivot(const plan::Op& op, State& state) noexcept {
  switch (op.code) {
    case Code::set_oom_score_adj:
      return set_oom_score_adj(op.number.value);
    case Code::join_cgroup:
      return join_cgroup(op.text);
    case Code::drop_groups:
      return checked("setgroups", call(SYS_setgroups, 0, 0));
    case Code::undumpable:
      return checked("prctl PR_SET_DUMPABLE", call(SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0));
    case Code::new_session:
      return checked("setsid", call(SYS_setsid));
    case Code::join_keyring:
      return join_keyring(op.text);
    case Code::unshare_namespaces:
      return checked("unshare", call(SYS_unshare, op.number.value));
    case Code::write_time_offsets:
      return write_time_offsets(op.text);
    case Code::set_propagation:
      return set_propagation(op.propagation, state);
    case Code::open_source:
      return open_source(op.mount, state);
    case Code::become_root:
      return become_root();
    case Code::host_mkdir:
      return host_mkdir(op.text);
    case Code::host_mount:
      return host_mount(op.mount);
    case Code::open_root:
      return open_root(op.root, state);
    case Code::open_proc:
      return open_proc(state);
    case Code::mount_fs:
      return mount_fs(op.mount, state);
    case Code::mount_bind:
      return mount_bind(op.mount, state);
    case Code::mount_cgroup_v1:
      return mount_cgroup_v1(op.cgroup_mount, state);
    case Code::make_device:
      return make_device(op.device, state);
    case Code::bind_device:
      return bind_device(op.device, state);
    case Code::make_symlink:
      return make_symlink(op.text, state);
    case Code::open_console:
      return open_console(op.console, state);
    case Code::mask_path:
      return mask_path(op.text, state);
    case Code::read_only_path:
      return read_only_path(op.text, state);
    case Code::make_cwd:
      return make_cwd(op.text, state);
    case Code::set_root_attributes:
      return set_root_attributes(op.mount, state);
    case Code::pivot:
      return pivot(op.number.value != 0, state);
    default:
      return {"unknown operation", EINVAL};
  }
}

}  // namespace

Fault apply(const plan::Op& op, State& state) noexcept {
  switch (op.code) {
    case Code::assert_root:
      return assert_root(op.number.value != 0, state);
    case Code::bring_up_loopback:
      return bring_up_loopback();
    case Code::set_hostname:
      return checked("sethostname", call(SYS_sethostname, word(op.text.a), static_cast<long>(length(op.text.a))));
    case Code::set_domainname:
      return checked("setdomainname", call(SYS_setdomainname, word(op.text.a), static_cast<long>(length(op.text.a))));
    case Code::set_sysctl:
      return set_sysctl(op.text, state);
    case Code::set_apparmor_profile:
      return set_apparmor_profile(op.text, state);
    case Code::set_affinity:
      return set_affinity();
    case Code::set_scheduler:
      return set_scheduler(op.scheduler);
    case Code::set_io_priority:
      return checked("ioprio_set", call(SYS_ioprio_set, 1, 0, op.number.value));
    case Code::set_personality:
      return checked("personality", call(SYS_personality, op.number.value));
    case Code::set_rlimit:
      return set_rlimit(op.rlimit);
    case Code::use_console:
      return use_console(state);
    case Code::enter_cwd:
      return enter_cwd(op.text, state);
    case Code::no_new_privileges:
      return checked("prctl PR_SET_NO_NEW_PRIVS", call(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
    case Code::load_seccomp:
      return load_seccomp(op.seccomp);
    case Code::drop_bounding:
      return drop_bounding(op.capabilities);
    case Code::become_user:
      return become_user(op.user);
    case Code::set_capabilities:
      return set_capabilities(op.capabilities);
    case Code::set_umask:
      call(SYS_umask, op.number.value < 0 ? state.caller_umask : static_cast<long>(op.number.value));
      return kNoFault;
    case Code::find_program:
      return find_program(op.program, state);
    case Code::close_descriptors:
      return checked("close_range", call(SYS_close_range, op.close.first, ~0U, 4));  // CLOSE_RANGE_CLOEXEC
    case Code::reset_signals:
      return reset_signals(static_cast<std::uint64_t>(op.number.value));
    default:
      return apply_before_pivot(op, state);
  }
}

}  // namespace tare::isolate
