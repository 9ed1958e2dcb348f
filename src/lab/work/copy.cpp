// Copying a file of 256 blocks into another, over and over, with the block sizes of UnixBench's three file
// copies. The files have no names and lie in the page cache; an operation is a block read and written.
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lab/work/folder.hpp"
#include "lab/work/table.hpp"

namespace tare::lab {

namespace {

constexpr std::int64_t kBlocks = 256;
char buffer[4096];

Fault fill(int fd, std::size_t size) noexcept {
  for (std::size_t i = 0; i < size; ++i) buffer[i] = static_cast<char>('a' + i % 26);
  for (std::int64_t i = 0; i < kBlocks; ++i) {
    if (write(fd, buffer, size) != static_cast<ssize_t>(size)) return {"write", errno};
  }
  if (lseek(fd, 0, SEEK_SET) != 0) return {"lseek", errno};
  return {};
}

Fault copy(const Batch& batch, RunResult& result, std::size_t size, std::int64_t chunk) noexcept {
  End from, to;
  if (const Fault fault = nameless(from); fault.step != nullptr) return fault;
  if (const Fault fault = nameless(to); fault.step != nullptr) return fault;
  if (const Fault fault = fill(from.get(), size); fault.step != nullptr) return fault;
  const auto whole = static_cast<ssize_t>(size);
  std::int64_t at = 0;
  Fault fault = measure(batch, result, chunk, [&]() noexcept -> Fault {
    if (read(from.get(), buffer, size) != whole) return {"read", errno};
    if (write(to.get(), buffer, size) != whole) return {"write", errno};
    if (++at < kBlocks) return {};
    at = 0;
    if (lseek(from.get(), 0, SEEK_SET) != 0 || lseek(to.get(), 0, SEEK_SET) != 0) return {"lseek", errno};
    return {};
  });
  if (fault.step != nullptr) return fault;
  // The copy is as long as what was copied, and ends as the block does.
  struct stat st;
  const std::int64_t copied = result.count < kBlocks ? result.count : kBlocks;
  if (fstat(to.get(), &st) != 0) return {"fstat", errno};
  if (st.st_size != copied * static_cast<std::int64_t>(size)) return {"size-of-the-copy"};
  char last = 0;
  if (pread(to.get(), &last, 1, st.st_size - 1) != 1 || last != buffer[size - 1]) return {"contents-of-the-copy"};
  return {};
}

}  // namespace

Fault run_copy_256(const Batch& batch, RunResult& result) noexcept { return copy(batch, result, 256, 1024); }
Fault run_copy_1024(const Batch& batch, RunResult& result) noexcept { return copy(batch, result, 1024, 1024); }
Fault run_copy_4096(const Batch& batch, RunResult& result) noexcept { return copy(batch, result, 4096, 512); }

}  // namespace tare::lab
