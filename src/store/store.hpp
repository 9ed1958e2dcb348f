// One container's state on disk: a folder ROOT/ID.
//
//   init         "PID START\n" of the first process, START as in sys::start_time; empty before it exists.
//                Every verb that changes the container holds a POSIX lock on it
//   state.json   the Record on one line, and below it the configuration as it was at create, byte for
//                byte; written before the first process exists, so that whatever happens, `delete
//                --force` finds what was made
//   start, result  fifos while a created container waits (launch/protocol.hpp); `start` is named
//                `start.new` until everything is set up
//   scratch      where the layers of an overlay root are mounted, in the container's namespace only
//
// A Slot reserves the id; unless kept, its destruction takes the folder away again.
// Errors: not_found "container does not exist", conflict where the id is taken or the lock is held.
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cgroup/cgroup.hpp"
#include "sys/fd.hpp"

namespace tare::store {

// Raised whenever an older tare could not read what is written; older versions stay readable.
inline constexpr int kVersion = 1;

struct Record {
  int version = kVersion;
  std::string oci_version, id, bundle, rootfs;
  std::string created;  // RFC 3339 with nanoseconds
  uid_t owner = 0;
  std::map<std::string, std::string> annotations;
  cgroup::Location cgroups;
};

struct Init {
  pid_t pid = 0;
  std::uint64_t start_time = 0;
  bool alive() const;  // that very process, and not a later one with its pid
};

class Slot {
 public:
  // Makes the folder and takes the lock.
  static Slot reserve(const std::string& root, const std::string& id);
  // Opens an existing one; with `lock`, waits a bounded time for it.
  static Slot open(const std::string& root, const std::string& id, bool lock);

  Slot(Slot&&) noexcept;
  Slot& operator=(Slot&&) = delete;
  ~Slot();

  const sys::DirFd& folder() const { return folder_; }
  const std::string& path() const { return path_; }

  void write_record(const Record& record, std::string_view config);
  // A folder whose creation was cut short may have none.
  std::optional<Record> read_record() const;
  bool has_record_file() const;
  std::string read_config() const;
  void write_init(const Init& init);
  std::optional<Init> read_init() const;

  // The fifos of `create`, opened for reading and writing.
  struct Fifos {
    sys::Fd start, result;
  };
  Fifos make_fifos();
  void commit_fifos();
  bool being_created() const;  // the fifo is not committed yet
  bool waits_for_start() const;
  void remove_fifos();
  std::string make_scratch();  // its absolute path

  void keep() noexcept { reserved_ = false; }
  void unlock() noexcept { lock_.reset(); }
  void remove();  // the folder and all in it

 private:
  Slot(std::string root, std::string id);
  void take_lock(bool wait);
  std::string root_, id_, path_;
  sys::DirFd folder_;
  sys::Fd lock_;
  bool plain_ = false;  // this process made it, and no fifos and no scratch folder
  bool recorded_ = false;
  bool reserved_ = false;
};

// The ids below root, sorted; an absent root has none.
std::vector<std::string> ids(const std::string& root);

}  // namespace tare::store
