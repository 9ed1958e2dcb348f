// Permissions: access(2) to a file and its folders, setresuid(2) to the ids that one has, and with a change
// of the effective user id there and back.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lab/work/table.hpp"

namespace tare::lab {

namespace {

// glibc's setresuid would look for other threads first; there are none.
long set_ids(uid_t real, uid_t effective, uid_t saved) noexcept {
  return syscall(SYS_setresuid, real, effective, saved);
}

constexpr uid_t kKeep = ~uid_t{0};
constexpr uid_t kOther = 1;

}  // namespace

Fault run_access(const Batch& batch, RunResult& result) noexcept {
  return measure(batch, result, 2048, []() noexcept -> Fault {
    if (access("/etc/passwd", R_OK) != 0) return {"access", errno};
    return {};
  });
}

Fault run_setuid(const Batch& batch, RunResult& result) noexcept {
  uid_t real, effective, saved;
  if (getresuid(&real, &effective, &saved) != 0) return {"getresuid", errno};
  return measure(batch, result, 8192, [&]() noexcept -> Fault {
    if (set_ids(real, effective, saved) != 0) return {"setresuid", errno};
    return {};
  });
}

Fault run_seteuid(const Batch& batch, RunResult& result) noexcept {
  const uid_t own = geteuid();
  Fault fault = measure(batch, result, 1024, [&]() noexcept -> Fault {
    if (set_ids(kKeep, kOther, kKeep) != 0) return {"setresuid", errno};
    if (set_ids(kKeep, own, kKeep) != 0) return {"setresuid-back", errno};
    return {};
  });
  // The kernel takes both away where the effective id changes (commit_creds).
  prctl(PR_SET_DUMPABLE, 1);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (fault.step == nullptr && geteuid() != own) fault = {"effective-user-id"};
  return fault;
}

}  // namespace tare::lab
