// Mappings made and removed, and page faults on anonymous memory.
#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lab/work/table.hpp"

namespace tare::lab {

namespace {

constexpr std::size_t kMapped = 64 * 1024;
constexpr std::size_t kPages = 512;

std::int64_t own_faults() noexcept {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  return use.ru_minflt + use.ru_majflt;
}

}  // namespace

Fault run_mmap(const Batch& batch, RunResult& result) noexcept {
  return measure(batch, result, 512, []() noexcept -> Fault {
    void* const at = mmap(nullptr, kMapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) return {"mmap", errno};
    if (munmap(at, kMapped) != 0) return {"munmap", errno};
    return {};
  });
}

// A page touched for the first time an operation; after 512 of them they are given back (madvise(2)), which
// is part of the operation: so memory is charged to the cgroup and uncharged.
Fault run_fault(const Batch& batch, RunResult& result) noexcept {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const at = mmap(nullptr, kPages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return {"mmap", errno};
  // One fault a page, not one a huge page; kernels without those refuse, and need not be asked.
  madvise(at, kPages * page, MADV_NOHUGEPAGE);
  auto* const bytes = static_cast<volatile char*>(at);
  std::size_t next = 0;
  const std::int64_t before = own_faults();
  Fault fault = measure(batch, result, 1024, [&]() noexcept -> Fault {
    bytes[next * page] = 1;
    if (++next < kPages) return {};
    next = 0;
    if (madvise(at, kPages * page, MADV_DONTNEED) != 0) return {"madvise", errno};
    return {};
  });
  if (fault.step == nullptr && own_faults() - before < result.count) fault = {"number-of-faults"};
  munmap(at, kPages * page);
  return fault;
}

}  // namespace tare::lab
