// child: who the process is and what it may: ids, capabilities, the seccomp filter.
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

#include "isolate/calls.hpp"

namespace tare::isolate {

Fault become_root() noexcept {
  long r = call(SYS_setresgid, 0, 0, 0);
  if (r < 0) return fault("setresgid", r);
  r = call(SYS_setresuid, 0, 0, 0);
  return r < 0 ? fault("setresuid", r) : kNoFault;
}

Fault become_user(const plan::UserOp& op) noexcept {
  long r = 0;
  if (op.keep_capabilities) {
    r = call(SYS_prctl, PR_SET_KEEPCAPS, 1, 0, 0, 0);
    if (r < 0) return fault("prctl PR_SET_KEEPCAPS", r);
  }
  if (op.set_groups) {
    // Exactly what was asked for: the caller's groups are none of the container's.
    r = call(SYS_setgroups, op.n_groups, word(op.groups));
    const bool had_none = r == -EPERM && op.groups_may_be_denied && op.n_groups == 0;
    if (r < 0 && !had_none) return fault("setgroups", r);
  }
  r = call(SYS_setresgid, op.gid, op.gid, op.gid);
  if (r < 0) return fault("setresgid", r);
  r = call(SYS_setresuid, op.uid, op.uid, op.uid);
  return r < 0 ? fault("setresuid", r) : kNoFault;
}

Fault drop_bounding(const plan::CapabilitiesOp& op) noexcept {
  for (int cap = 0; cap <= op.last; ++cap) {
    if ((op.bounding >> cap & 1) != 0) continue;
    const long r = call(SYS_prctl, PR_CAPBSET_DROP, cap, 0, 0, 0);
    if (r < 0) return fault("prctl PR_CAPBSET_DROP", r);
  }
  return kNoFault;
}

Fault set_capabilities(const plan::CapabilitiesOp& op) noexcept {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2]{};
  for (int half = 0; half < 2; ++half) {
    data[half].effective = static_cast<std::uint32_t>(op.effective >> (32 * half));
    data[half].permitted = static_cast<std::uint32_t>(op.permitted >> (32 * half));
    data[half].inheritable = static_cast<std::uint32_t>(op.inheritable >> (32 * half));
  }
  long r = call(SYS_capset, word(&header), word(data));
  if (r < 0) return fault("capset", r);
  for (int cap = 0; cap <= op.last; ++cap) {
    if ((op.ambient >> cap & 1) == 0) continue;
    r = call(SYS_prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, cap, 0, 0);
    if (r < 0) return fault("prctl PR_CAP_AMBIENT", r);
  }
  return kNoFault;
}

Fault load_seccomp(const plan::SeccompOp& op) noexcept {
  const sock_fprog program{op.length, const_cast<sock_filter*>(op.program)};
  const long r = call(SYS_seccomp, SECCOMP_SET_MODE_FILTER, op.flags, word(&program));
  return r < 0 ? fault("seccomp", r) : kNoFault;
}

}  // namespace tare::isolate
