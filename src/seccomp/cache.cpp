#include "seccomp/cache.hpp"

#include <fcntl.h>
#include <seccomp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <vector>

#include "base/error.hpp"
#include "base/text.hpp"
#include "sys/fd.hpp"

namespace tare::seccomp {
namespace {

constexpr std::string_view kMagic = "tareBPF1";
constexpr std::string_view kTemporary = ".new-";
constexpr std::size_t kMostBytes = 4 << 20;

// In front of the input text and the instructions. The machine's own byte order: the file never
// leaves it, and another architecture's has another input text.
struct Header {
  char magic[8];
  std::uint64_t checksum;  // of all that follows it
  std::uint32_t input_size;
  std::uint32_t instructions;
  std::uint32_t flags;
  std::uint32_t zero;
};
static_assert(sizeof(Header) == 32);
constexpr std::size_t kChecked = offsetof(Header, input_size);

// Eight bytes at a time, multiplied and folded. It picks a file's name and notices torn files; it
// guards against nobody, which is why the whole input is compared as well.
std::uint64_t hash(std::string_view bytes) {
  constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15;
  std::uint64_t h = bytes.size() * kMultiplier;
  while (!bytes.empty()) {
    std::uint64_t word = 0;
    const std::size_t n = std::min(bytes.size(), sizeof word);
    std::memcpy(&word, bytes.data(), n);
    h = (h ^ word) * kMultiplier;
    h ^= h >> 32;
    bytes.remove_prefix(n);
  }
  return h;
}

// All that decides the program.
std::string cache_input(const oci::Seccomp& profile) {
  return cat("revision ", kCompileRevision, " libseccomp ", libseccomp_version(), " machine ", seccomp_arch_native(),
             "\n", serialise(profile));
}

std::optional<Filter> decode(const std::string& bytes, std::string_view input) {
  Header header{};
  if (bytes.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::string_view(header.magic, sizeof header.magic) != kMagic) return std::nullopt;
  if (header.instructions > BPF_MAXINSNS || header.input_size != input.size()) return std::nullopt;
  const std::size_t program_size = header.instructions * sizeof(sock_filter);
  if (bytes.size() != sizeof header + input.size() + program_size) return std::nullopt;
  const std::string_view all(bytes);
  if (all.substr(sizeof header, input.size()) != input) return std::nullopt;
  if (hash(all.substr(kChecked)) != header.checksum) return std::nullopt;
  Filter filter;
  filter.flags = header.flags;
  filter.program.resize(header.instructions);
  std::memcpy(filter.program.data(), bytes.data() + sizeof header + input.size(), program_size);
  return filter;
}

std::string encode(const Filter& filter, std::string_view input) {
  Header header{};
  std::memcpy(header.magic, kMagic.data(), sizeof header.magic);
  header.input_size = static_cast<std::uint32_t>(input.size());
  header.instructions = static_cast<std::uint32_t>(filter.program.size());
  header.flags = filter.flags;
  const std::size_t program_size = filter.program.size() * sizeof(sock_filter);
  std::string bytes(sizeof header + input.size() + program_size, '\0');
  std::memcpy(bytes.data(), &header, sizeof header);
  std::memcpy(bytes.data() + sizeof header, input.data(), input.size());
  std::memcpy(bytes.data() + sizeof header + input.size(), filter.program.data(), program_size);
  header.checksum = hash(std::string_view(bytes).substr(kChecked));
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

// openat, fstat, read, close: the whole cost of a hit.
std::optional<Filter> read_entry(const std::string& path, std::string_view input) {
  // O_NONBLOCK: a FIFO put in the file's place must not hold a start up.
  const sys::Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  if (!file) return std::nullopt;
  struct stat status{};
  if (fstat(file.get(), &status) != 0) return std::nullopt;
  if (!S_ISREG(status.st_mode) || status.st_uid != geteuid() || (status.st_mode & 077) != 0) return std::nullopt;
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size < sizeof(Header) + input.size() || size > kMostBytes) return std::nullopt;
  std::string bytes(size, '\0');
  if (read(file.get(), bytes.data(), size) != static_cast<ssize_t>(size)) return std::nullopt;
  return decode(bytes, input);
}

// Makes room: of kCacheEntries and more, the oldest go. Temporary files of runs that died go when
// they are the oldest, too.
void evict(const sys::DirFd& dir) {
  struct Entry {
    timespec time;
    std::string name;
  };
  std::vector<Entry> entries;
  for (std::string& name : sys::list_dir(dir)) {
    struct stat status{};
    if (fstatat(dir.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    entries.push_back({status.st_mtim, std::move(name)});
  }
  if (entries.size() < kCacheEntries) return;
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return a.time.tv_sec != b.time.tv_sec ? a.time.tv_sec < b.time.tv_sec : a.time.tv_nsec < b.time.tv_nsec;
  });
  const std::size_t surplus = entries.size() - kCacheEntries + 1;
  for (std::size_t i = 0; i < surplus; ++i) unlinkat(dir.get(), entries[i].name.c_str(), 0);
}

void write_entry(const std::string& folder, const std::string& name, std::string_view bytes) {
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) throw_errno(cat("mkdir ", folder), errno);
  const sys::DirFd dir(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!dir) throw_errno(cat("open ", folder), errno);
  struct stat status{};
  if (fstat(dir.get(), &status) != 0) throw_errno(cat("fstat ", folder), errno);
  if (status.st_uid != geteuid() || (status.st_mode & 022) != 0) {
    throw Error(ErrorKind::kernel, cat(folder, " can be written by others"));
  }
  evict(dir);
  const std::string temporary = cat(kTemporary, name, "-", getpid());
  unlinkat(dir.get(), temporary.c_str(), 0);  // of a dead process that had our pid
  const sys::Fd file = sys::open_at(dir, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
  try {
    sys::write_all(file, bytes);
    // Where a stranger put a folder of that name, rename fails and the entry stays uncached.
    if (renameat(dir.get(), temporary.c_str(), dir.get(), name.c_str()) != 0) throw_errno("rename", errno);
  } catch (...) {
    unlinkat(dir.get(), temporary.c_str(), 0);
    throw;
  }
}

}  // namespace

Filter compile_cached(const oci::Seccomp& profile, const std::string& folder, bool* hit) {
  const std::string input = cache_input(profile);
  const std::string name = in_base(hash(input), 16);
  std::optional<Filter> found = read_entry(cat(folder, "/", name), input);
  if (hit != nullptr) *hit = found.has_value();
  if (found) return *std::move(found);
  Filter filter = compile(profile);
  try {
    write_entry(folder, name, encode(filter, input));
  } catch (const Error&) {
    // A read-only or foreign folder costs the next start some milliseconds; this one goes on.
  }
  return filter;
}

}  // namespace tare::seccomp
