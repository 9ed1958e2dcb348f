// The host's names: uname(2), and sethostname(2) to the name that is there already. (Who renames the host
// at the very moment of such a batch is overruled.)
#include <errno.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "lab/work/table.hpp"

namespace tare::lab {

Fault run_uname(const Batch& batch, RunResult& result) noexcept {
  return measure(batch, result, 4096, []() noexcept -> Fault {
    utsname names;
    if (uname(&names) != 0) return {"uname", errno};
    if (names.sysname[0] != 'L') [[unlikely]] {
      return {"name-of-the-system"};
    }
    return {};
  });
}

Fault run_sethostname(const Batch& batch, RunResult& result) noexcept {
  utsname before, after;
  if (uname(&before) != 0) return {"uname", errno};
  const std::size_t size = strlen(before.nodename);
  const Fault fault = measure(batch, result, 4096, [&]() noexcept -> Fault {
    if (sethostname(before.nodename, size) != 0) return {"sethostname", errno};
    return {};
  });
  if (fault.step != nullptr) return fault;
  if (uname(&after) != 0 || strcmp(before.nodename, after.nodename) != 0) return {"name-of-the-host"};
  return {};
}

}  // namespace tare::lab
