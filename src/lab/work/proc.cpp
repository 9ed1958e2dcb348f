// Reading /proc: a pass over all processes as `ps -xaf` makes it, by an own reader of the same files
// (status, stat and cmdline of each), and /proc/self/cgroup, whose paths the cgroup namespace cuts.
//
// A pass is as long as there are pids in the /proc that the place shows: those of its pid namespace
// where /proc was mounted anew, and the host's where it was not. hello says how many.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lab/work/second.hpp"
#include "lab/work/table.hpp"

namespace tare::lab {

namespace {

// getdents64(2)'s record; opendir(3) would allocate.
struct Record {
  std::uint64_t inode;
  std::int64_t offset;
  unsigned short size;
  unsigned char type;
  char name[1];
};

constexpr std::size_t kNameAt = offsetof(Record, name);
char directory_entries[8192];
char contents[8192];

// Calls on_pid(name) for each folder of a process.
template <class OnPid>
Fault each_pid(int proc, OnPid&& on_pid) noexcept {
  for (;;) {
    const long n = syscall(SYS_getdents64, proc, directory_entries, sizeof directory_entries);
    if (n < 0) return {"getdents64", errno};
    if (n == 0) return {};
    for (long at = 0; at < n;) {
      unsigned short size = 0;
      memcpy(&size, directory_entries + at + offsetof(Record, size), sizeof size);
      const char* const name = directory_entries + at + kNameAt;
      at += size;
      if (*name < '1' || *name > '9') continue;
      if (const Fault fault = on_pid(name); fault.step != nullptr) return fault;
    }
  }
}

// A process may end between its name and its files: that is no fault, but its end.
Fault read_whole(int proc, const char* name, const char* file, std::int64_t& bytes) noexcept {
  char path[64];
  const std::size_t length = strlen(name);
  if (length > 20) return {"name-of-a-process"};
  // NOLINTNEXTLINE(bugprone-not-null-terminated-result): the next line goes on where it ends
  memcpy(path, name, length);
  strcpy(path + length, file);
  const End fd(openat(proc, path, O_RDONLY | O_CLOEXEC));
  if (!fd) return errno == ENOENT || errno == ESRCH ? Fault{} : Fault{"open", errno};
  for (;;) {
    const ssize_t n = read(fd.get(), contents, sizeof contents);
    if (n < 0) return errno == ESRCH ? Fault{} : Fault{"read", errno};
    if (n == 0) return {};
    bytes += n;
  }
}

}  // namespace

std::int64_t visible_pids() noexcept {
  const End proc(open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!proc) return 0;
  std::int64_t pids = 0;
  (void)each_pid(proc.get(), [&](const char*) noexcept {
    ++pids;
    return Fault{};
  });
  return pids;
}

Fault run_proc_walk(const Batch& batch, RunResult& result) noexcept {
  return measure(batch, result, 1, []() noexcept -> Fault {
    const End proc(open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!proc) return {"open", errno};
    std::int64_t pids = 0, bytes = 0;
    const Fault fault = each_pid(proc.get(), [&](const char* name) noexcept -> Fault {
      ++pids;
      for (const char* const file : {"/stat", "/status", "/cmdline"}) {
        if (const Fault one = read_whole(proc.get(), name, file, bytes); one.step != nullptr) return one;
      }
      return {};
    });
    if (fault.step != nullptr) return fault;
    if (pids == 0 || bytes == 0) return {"processes-in-proc"};
    return {};
  });
}

Fault run_cgroup_file(const Batch& batch, RunResult& result) noexcept {
  return measure(batch, result, 256, []() noexcept -> Fault {
    const End fd(open("/proc/self/cgroup", O_RDONLY | O_CLOEXEC));
    if (!fd) return {"open", errno};
    const ssize_t n = read(fd.get(), contents, sizeof contents);
    if (n < 0) return {"read", errno};
    if (n < 4) return {"lines-of-the-file"};
    return {};
  });
}

}  // namespace tare::lab
