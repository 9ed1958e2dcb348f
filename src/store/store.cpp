#include "store/store.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/error.hpp"
#include "base/text.hpp"
#include "store/record.hpp"
#include "sys/child.hpp"

namespace tare::store {
namespace {

constexpr int kLockTries = 1000;  // of 10 ms each
constexpr std::size_t kMostConfig = 64 << 20;
constexpr std::size_t kRecordSize = 4096;  // what a record usually needs

// containerd looks for these words.
Error no_such_container() { return Error(ErrorKind::not_found, "container does not exist", ENOENT); }

void make_root(const std::string& root) {
  // Every part of the way; others may pass through but not look around.
  for (std::size_t at = 1; at != std::string::npos;) {
    at = root.find('/', at);
    const std::string part = root.substr(0, at);
    if (::mkdir(part.c_str(), 0711) < 0 && errno != EEXIST) throw_errno(cat("mkdir ", part), errno);
    if (at != std::string::npos) ++at;
  }
}

void write_new_file(const sys::DirFd& folder, const std::string& name, std::string_view text) {
  sys::write_all(sys::open_at(folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600), text);
}

}  // namespace

bool Init::alive() const { return pid > 0 && start_time != 0 && sys::start_time(pid) == start_time; }

Slot::Slot(std::string root, std::string id)
    : root_(std::move(root)), id_(std::move(id)), path_(cat(root_, "/", id_)) {}

Slot::Slot(Slot&& other) noexcept
    : root_(std::move(other.root_)),
      id_(std::move(other.id_)),
      path_(std::move(other.path_)),
      folder_(std::move(other.folder_)),
      lock_(std::move(other.lock_)),
      plain_(other.plain_),
      recorded_(other.recorded_),
      reserved_(std::exchange(other.reserved_, false)) {}

Slot::~Slot() {
  if (!reserved_) return;
  try {
    remove();
  } catch (const Error&) {
    // Already failing for a reason of its own, which is the one to tell.
  }
}

Slot Slot::reserve(const std::string& root, const std::string& id) {
  Slot slot(root, id);
  if (::mkdir(slot.path_.c_str(), 0700) < 0) {
    if (errno == ENOENT) {
      make_root(root);
      if (::mkdir(slot.path_.c_str(), 0700) < 0) {
        if (errno == EEXIST) throw Error(ErrorKind::conflict, "container with given ID already exists", EEXIST);
        throw_errno(cat("mkdir ", slot.path_), errno);
      }
    } else if (errno == EEXIST) {
      throw Error(ErrorKind::conflict, "container with given ID already exists", EEXIST);
    } else {
      throw_errno(cat("mkdir ", slot.path_), errno);
    }
  }
  slot.reserved_ = slot.plain_ = true;
  slot.folder_ = sys::open_dir(slot.path_);
  slot.take_lock(false);
  return slot;
}

Slot Slot::open(const std::string& root, const std::string& id, bool lock) {
  Slot slot(root, id);
  try {
    slot.folder_ = sys::open_dir(slot.path_);
  } catch (const Error& error) {
    if (error.errno_value() == ENOENT || error.errno_value() == ENOTDIR) throw no_such_container();
    throw;
  }
  // What others may have written is not believed: hooks would run as it says.
  struct stat st{};
  if (::fstat(slot.folder_.get(), &st) < 0) throw_errno(cat("stat ", slot.path_), errno);
  if (st.st_uid != ::geteuid() || (st.st_mode & 022) != 0)
    throw Error(ErrorKind::conflict, cat(slot.path_, " is not a folder of this user alone"));
  if (lock) slot.take_lock(true);
  return slot;
}

void Slot::take_lock(bool wait) {
  // A POSIX lock: a child never inherits it, and the kernel tells who holds it (fcntl(2), "Advisory record locking").
  lock_ = sys::open_at(folder_, "init", O_RDWR | O_CREAT | O_NOFOLLOW, 0600);
  for (int tries = 0;; ++tries) {
    struct flock whole{};
    whole.l_type = F_WRLCK;
    if (::fcntl(lock_.get(), F_SETLK, &whole) == 0) break;
    if (errno != EAGAIN && errno != EACCES && errno != EINTR) throw_errno("fcntl F_SETLK", errno);
    if (tries >= (wait ? kLockTries : 1)) {
      whole.l_type = F_WRLCK;
      const bool known = ::fcntl(lock_.get(), F_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
      reserved_ = false;
      throw Error(ErrorKind::conflict, cat("another command is working on this container",
                                           known ? cat(" (process ", whole.l_pid, ")") : std::string()));
    }
    const timespec pause{0, 10'000'000};
    ::nanosleep(&pause, nullptr);
  }
  // Who held it before may have deleted the container.
  struct stat st{};
  if (wait && ::fstat(lock_.get(), &st) == 0 && st.st_nlink == 0) throw no_such_container();
}

void Slot::write_record(const Record& record, std::string_view config) {
  const std::string text = cat(to_json(record), "\n", config);
  if (reserved_ && !recorded_) {
    // Nobody has seen one yet; a write cut short counts as none.
    write_new_file(folder_, "state.json", text);
    recorded_ = true;
    return;
  }
  plain_ = false;
  write_new_file(folder_, "state.json.new", text);
  if (::renameat(folder_.get(), "state.json.new", folder_.get(), "state.json") < 0)
    throw_errno("rename state.json", errno);
}

std::optional<Record> Slot::read_record() const {
  const sys::Fd fd = sys::try_open_at(folder_, "state.json", O_RDONLY | O_NOFOLLOW);
  if (!fd) return std::nullopt;
  std::string text(kRecordSize, '\0');
  std::size_t used = 0;
  while (text.find('\n') >= used) {
    if (used == text.size()) text.resize(2 * used);
    const ssize_t n = ::read(fd.get(), text.data() + used, text.size() - used);
    if (n < 0) throw_errno(cat("read ", path_, "/state.json"), errno);
    if (n == 0) return std::nullopt;  // cut short: its writer died in the middle
    used += static_cast<std::size_t>(n);
  }
  text.resize(text.find('\n'));
  return record_from_json(std::move(text), cat(path_, "/state.json"));
}

std::string Slot::read_config() const {
  const std::string text = sys::read_file_at(folder_, "state.json", kMostConfig);
  return text.substr(std::min(text.find('\n'), text.size() - 1) + 1);
}

void Slot::write_init(const Init& init) {
  // Through the descriptor that holds the lock: closing another one of the same file would give it up.
  sys::write_all(lock_, cat(init.pid, " ", init.start_time, "\n"));
}

std::optional<Init> Slot::read_init() const {
  sys::Fd own;
  if (!lock_) own = sys::try_open_at(folder_, "init", O_RDONLY | O_NOFOLLOW);
  const int fd = lock_ ? lock_.get() : own.get();
  if (fd < 0) return std::nullopt;
  char bytes[64];
  const ssize_t n = ::pread(fd, bytes, sizeof bytes, 0);
  if (n < 0) throw_errno(cat("read ", path_, "/init"), errno);
  const std::string_view text(bytes, static_cast<std::size_t>(n));
  if (!text.ends_with('\n')) return std::nullopt;  // cut short: its writer died in the middle
  const auto parts = split(trim(text), ' ');
  if (parts.size() != 2) return std::nullopt;
  const auto pid = parse_number<pid_t>(parts[0]);
  const auto start = parse_number<std::uint64_t>(parts[1]);
  if (!pid || !start) return std::nullopt;
  return Init{*pid, *start};
}

Slot::Fifos Slot::make_fifos() {
  plain_ = false;
  for (const char* name : {"start.new", "result"})
    if (::mkfifoat(folder_.get(), name, 0600) < 0) throw_errno(cat("mkfifo ", name), errno);
  // For both directions, so that opening waits for nobody and the child's read for a byte, not an end.
  return {sys::open_at(folder_, "start.new", O_RDWR | O_NOFOLLOW),
          sys::open_at(folder_, "result", O_RDWR | O_NOFOLLOW)};
}

void Slot::commit_fifos() {
  if (::renameat(folder_.get(), "start.new", folder_.get(), "start") < 0) throw_errno("rename start", errno);
}

namespace {
bool exists(const sys::DirFd& folder, const char* name) {
  return ::faccessat(folder.get(), name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}
}  // namespace

bool Slot::has_record_file() const { return exists(folder_, "state.json"); }
bool Slot::being_created() const { return exists(folder_, "start.new"); }
bool Slot::waits_for_start() const { return exists(folder_, "start"); }

void Slot::remove_fifos() {
  for (const char* name : {"start", "result"})
    if (::unlinkat(folder_.get(), name, 0) < 0 && errno != ENOENT) throw_errno(cat("unlink ", name), errno);
}

std::string Slot::make_scratch() {
  plain_ = false;
  if (::mkdirat(folder_.get(), "scratch", 0700) < 0 && errno != EEXIST) throw_errno("mkdir scratch", errno);
  return path_ + "/scratch";
}

void Slot::remove() {
  const auto unlink = [&](const char* name, int flags = 0) {
    if (::unlinkat(folder_.get(), name, flags) < 0 && errno != ENOENT)
      throw_errno(cat("unlink ", path_, "/", name), errno);
  };
  if (!plain_) {
    for (const char* name : {"start", "start.new", "result", "state.json.new"}) unlink(name);
    unlink("scratch", AT_REMOVEDIR);
  }
  // The lock last: whoever waits for it sees an unlinked file and knows.
  for (const char* name : {"state.json", "init"}) unlink(name);
  int why = ::rmdir(path_.c_str()) < 0 ? errno : 0;
  // An update that was at work while a foreground `run` ended: it could write its record once more.
  for (int tries = 0; why == ENOTEMPTY && tries < 3; ++tries) {
    for (const char* name : {"state.json", "state.json.new"}) unlink(name);
    why = ::rmdir(path_.c_str()) < 0 ? errno : 0;
  }
  if (why != 0 && why != ENOENT) throw_errno(cat("rmdir ", path_), why);
  reserved_ = false;
}

std::vector<std::string> ids(const std::string& root) {
  sys::DirFd folder;
  try {
    folder = sys::open_dir(root);
  } catch (const Error& error) {
    if (error.errno_value() == ENOENT) return {};
    throw;
  }
  auto names = sys::list_dir(folder);
  std::erase_if(names, [](const std::string& name) { return name.starts_with('.'); });
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace tare::store
