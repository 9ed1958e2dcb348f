// open, fstat and close of /etc/passwd, as the place's own root shows it: with a root of its own,
// the place's file system is part of what is weighed.
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "lab/work/second.hpp"
#include "lab/work/table.hpp"

namespace tare::lab {

Fault run_open(const Batch& batch, RunResult& result) noexcept {
  return measure(batch, result, 512, []() noexcept -> Fault {
    const End fd(open("/etc/passwd", O_RDONLY | O_CLOEXEC));
    if (!fd) return {"open", errno};
    struct stat st;
    if (fstat(fd.get(), &st) != 0) return {"fstat", errno};
    return {};
  });
}

}  // namespace tare::lab
