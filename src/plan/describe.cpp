#include <sys/mount.h>

#include "base/text.hpp"
#include "oci/names.hpp"
#include "plan/plan.hpp"

namespace tare::plan {
namespace {

std::string describe_device(const Op& op) {
  return cat(op.code == Code::bind_device ? "bind the host's device " : "make device ", quoted(op.device.path));
}

std::string describe_mount(const Op& op) {
  const MountOp& m = op.mount;
  switch (op.code) {
    case Code::open_source:
      return cat("mounts: open source ", quoted(m.source));
    case Code::host_mount:
      return cat("mount ", m.type, " on ", quoted(m.dest), " for the root");
    case Code::mount_bind:
      return cat("mounts: bind ", quoted(m.source), " on ", quoted(m.dest));
    case Code::mount_fs:
      return cat("mounts: mount ", quoted(m.type), " on ", quoted(m.dest));
    default:
      if (std::string_view(m.dest) == "/") return "root.readonly: make the root read-only";
      return cat("make ", quoted(m.dest), " read-only");
  }
}

std::string describe_sysctl(const TextOp& text) {
  std::string key = std::string(text.a).substr(4);  // behind "sys/"
  for (char& c : key)
    if (c == '/') c = '.';
  return cat("linux.sysctl[", quoted(key), "]: write ", quoted(text.b));
}

std::string describe_simple(Code code) {
  switch (code) {
    case Code::drop_groups:
      return "give up the caller's groups";
    case Code::new_session:
      return "start a session";
    case Code::wait_for_maps:
      return "linux.uidMappings: wait for the id maps";
    case Code::undumpable:
      return "hide from tracers";
    case Code::become_root:
      return "become root inside the user namespace";
    case Code::set_propagation:
      return "linux.rootfsPropagation: set mount propagation";
    case Code::open_proc:
      return "open a private /proc";
    case Code::open_console:
      return "process.terminal: open a terminal";
    case Code::use_console:
      return "process.terminal: make the terminal the process's own";
    case Code::wait_for_hooks:
      return "hooks.createRuntime: wait";
    case Code::pivot:
      return "make the root file system the root";
    case Code::assert_root:
      return "check the new root";
    case Code::bring_up_loopback:
      return "bring up the loopback device";
    case Code::set_affinity:
      return "set the CPU affinity";
    case Code::set_scheduler:
      return "process.scheduler: set the scheduling policy";
    case Code::set_io_priority:
      return "process.ioPriority: set the I/O priority";
    case Code::set_personality:
      return "linux.personality: set the execution domain";
    case Code::no_new_privileges:
      return "process.noNewPrivileges: set no_new_privs";
    case Code::load_seccomp:
      return "linux.seccomp: load the filter";
    case Code::drop_bounding:
      return "process.capabilities.bounding: drop capabilities";
    case Code::set_capabilities:
      return "process.capabilities: set capabilities";
    case Code::set_umask:
      return "process.user.umask: set the umask";
    case Code::close_descriptors:
      return "close descriptors at exec";
    case Code::report_ready:
      return "report";
    case Code::wait_for_start:
      return "wait for start";
    case Code::reset_signals:
      return "reset signals";
    default:
      return "an operation";
  }
}

}  // namespace

std::string describe(const Op& op) {
  switch (op.code) {
    case Code::set_oom_score_adj:
      return cat("process.oomScoreAdj: set ", op.number.value);
    case Code::join_cgroup:
      return cat("join cgroup ", op.text.a);
    case Code::join_keyring:
      return cat("join session keyring ", op.text.a);
    case Code::unshare_namespaces:
      return "linux.namespaces: unshare cgroup and time namespaces";
    case Code::write_time_offsets:
      return "linux.timeOffsets: set the clocks' offsets";
    case Code::host_mkdir:
      return cat("make folder ", op.text.a);
    case Code::open_root:
      return cat("root.path: open ", quoted(op.root.path));
    case Code::open_source:
    case Code::host_mount:
    case Code::mount_fs:
    case Code::mount_bind:
    case Code::set_root_attributes:
      return describe_mount(op);
    case Code::mount_cgroup_v1:
      return cat("mounts: mount the cgroup hierarchies on ", quoted(op.cgroup_mount.dest));
    case Code::make_device:
    case Code::bind_device:
      return describe_device(op);
    case Code::make_symlink:
      return cat("make link ", op.text.b);
    case Code::mask_path:
      return cat("linux.maskedPaths: mask ", quoted(op.text.a));
    case Code::read_only_path:
      return cat("linux.readonlyPaths: make ", quoted(op.text.a), " read-only");
    case Code::make_cwd:
      return cat("process.cwd: make ", quoted(op.text.a));
    case Code::run_hook:
      return cat("hook ", quoted(op.hook.path));
    case Code::set_hostname:
      return cat("hostname: set ", quoted(op.text.a));
    case Code::set_domainname:
      return cat("domainname: set ", quoted(op.text.a));
    case Code::set_sysctl:
      return describe_sysctl(op.text);
    case Code::set_apparmor_profile:
      return cat("process.apparmorProfile: set ", quoted(op.text.a));
    case Code::set_rlimit:
      return cat("process.rlimits: set ", oci::rlimit_name(op.rlimit.type), " to ", op.rlimit.soft, " and ",
                 op.rlimit.hard);
    case Code::enter_cwd:
      return cat("process.cwd: enter ", quoted(op.text.a));
    case Code::become_user:
      return cat("process.user: become ", op.user.uid, ":", op.user.gid);
    case Code::find_program:
    case Code::exec_program:
      return cat("exec: ",
                 op.program.argv == nullptr || op.program.argv[0] == nullptr ? "\"\"" : quoted(op.program.argv[0]));
    default:
      return describe_simple(op.code);
  }
}

}  // namespace tare::plan
