// The plan: what makes a container, as an ordered list of plain operations, made without touching
// the kernel.
//
// For: runtime (a config.json becomes a plan), the laboratory (a place to measure in is a plan with
// operations left out; "bare" is the empty plan), and everything that speaks about a start without
// doing it. The child executes the operations as they stand here, so they are plain data: strings
// live in the plan's arena, nothing is allocated between clone and exec, and the plan must outlive
// the launch.
// Not for: doing anything (isolate has each operation's code, launch the processes).
#pragma once

#include <linux/filter.h>
#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "facts/facts.hpp"
#include "oci/spec.hpp"

namespace tare::plan {

// In the order in which `make` uses them. A slot is a descriptor made by one operation and used by
// a later one.
enum class Code : std::uint8_t {
  set_oom_score_adj,
  join_cgroup,
  drop_groups,
  set_personality,
  new_session,
  join_keyring,
  wait_for_maps,
  undumpable,
  unshare_namespaces,
  write_time_offsets,
  open_source,
  become_root,
  set_propagation,
  host_mkdir,
  host_mount,
  open_root,
  open_proc,
  mount_fs,
  mount_bind,
  mount_cgroup_v1,
  make_device,
  bind_device,
  make_symlink,
  open_console,
  mask_path,
  read_only_path,
  make_cwd,
  wait_for_hooks,
  run_hook,
  set_root_attributes,
  pivot,
  assert_root,
  bring_up_loopback,
  set_hostname,
  set_domainname,
  set_sysctl,
  set_apparmor_profile,
  set_affinity,
  set_scheduler,
  set_io_priority,
  set_rlimit,
  use_console,
  enter_cwd,
  no_new_privileges,
  load_seccomp,
  drop_bounding,
  become_user,
  set_capabilities,
  set_umask,
  find_program,
  close_descriptors,
  report_ready,
  wait_for_start,
  reset_signals,
  exec_program,
};

struct Param {  // one fsconfig(2) key; value nullptr: a flag
  const char* key;
  const char* value;
};

// A time before or after which nothing is known is 0. All pointers reach into the plan's arena.
struct MountOp {
  const char* type;
  const char* source;   // host path of a bind, or the source text of a file system
  const char* dest;     // below the root
  const char* data;     // comma-joined, as mount(2) takes it
  const Param* params;  // the same, one by one
  std::uint32_t n_params;
  std::uint32_t sb_flags;            // MS_*: of the superblock
  std::uint64_t attr_set, attr_clr;  // MOUNT_ATTR_*
  std::uint64_t rec_attr_set, rec_attr_clr;
  const std::uint32_t* propagation;  // MS_SHARED ..., MS_REC where recursive, in order
  std::uint32_t n_propagation;
  std::int16_t slot;  // where open_source put the tree; -1: opened here
  bool recursive;
  bool no_symlinks;   // refuse a link anywhere on the way (proc, sysfs)
  bool inherit_mode;  // tmpfs: takes the mode of what it covers
  bool copy_up;       // tmpcopyup
};
struct CgroupMountOp {
  const char* dest;
  const Param* hierarchies;  // key: name below dest, value: mount data ("memory") or, without a cgroup namespace, the
                             // host path to bind
  std::uint32_t n;
  const Param* links;  // key: name, value: target
  std::uint32_t n_links;
  bool bind;
  bool read_only;
};
struct DeviceOp {
  const char* path;    // below the root
  const char* source;  // host path, for bind_device
  std::uint64_t dev;   // dev_t
  mode_t mode;         // with S_IFCHR and so on
  uid_t uid;
  gid_t gid;
};
struct TextOp {  // one or two strings
  const char* a;
  const char* b;
};
struct PropagationOp {
  std::uint64_t flags;  // MS_*
};
struct RlimitOp {
  int type;
  std::uint64_t soft, hard;
};
struct NumberOp {
  std::int64_t value;
};
struct RootOp {
  const char* path;
  bool recursive;
  int user_namespace;  // a descriptor: the root's file ids are mapped as there; 0: none. Only the laboratory asks for
                       // it
};
struct UserOp {
  uid_t uid;
  gid_t gid;
  const gid_t* groups;
  std::uint32_t n_groups;
  bool keep_capabilities;
  bool groups_may_be_denied;  // an empty list was set before a namespace was joined that may deny it
  bool set_groups;            // false where setgroups(2) is denied (a single mapping made without privilege)
};
struct CapabilitiesOp {
  std::uint64_t bounding, effective, permitted, inheritable, ambient;
  int last;  // the highest capability that the kernel knows
};
struct SeccompOp {
  const sock_filter* program;
  std::uint16_t length;
  std::uint32_t flags;
};
struct SchedulerOp {  // struct sched_attr
  std::uint32_t policy;
  std::int32_t nice;
  std::uint32_t priority;
  std::uint64_t flags, runtime, deadline, period;
};
struct ConsoleOp {
  std::uint16_t rows, columns;
  uid_t owner;
  bool bind_dev_console;
};
struct HookOp {
  const char* path;
  const char* const* argv;
  const char* const* envp;
  const char* state_before_pid;  // the state JSON in two parts around the pid
  const char* state_after_pid;
  const char* cwd;
  std::int32_t timeout;  // seconds; 0: none
};
struct ProgramOp {
  const char* const* argv;
  const char* const* envp;
  const char* path_list;  // PATH of envp
  int fd;                 // >= 0: this descriptor is the program
  bool init;              // a reaper stays as PID 1
};
struct CloseOp {
  std::uint32_t first;  // from this number on all are closed at exec
};

struct Op {
  Code code;
  union {
    MountOp mount;
    CgroupMountOp cgroup_mount;
    DeviceOp device;
    TextOp text;
    PropagationOp propagation;
    RlimitOp rlimit;
    NumberOp number;
    RootOp root;
    UserOp user;
    CapabilitiesOp capabilities;
    SeccompOp seccomp;
    SchedulerOp scheduler;
    ConsoleOp console;
    HookOp hook;
    ProgramOp program;
    CloseOp close;
  };
};

// A namespace that exists already.
struct Join {
  int clone_flag;  // CLONE_NEW*
  std::string path;
  const char* field;  // "linux.namespaces[2].path"
};

class Plan {
 public:
  // Namespaces made by clone3(2) itself, as CLONE_NEW* bits.
  std::uint64_t clone_flags = 0;
  std::vector<Join> joins;
  // Memory is shared with the launcher until exec, as vfork(2) does, unless something wants a child with
  // memory of its own (decision 0006).
  bool share_memory = true;

  // Id maps, written by the parent while the child waits in wait_for_maps.
  std::vector<oci::IdMapping> uid_mappings, gid_mappings;

  // Done before any namespace is joined, while the host's paths are in sight; then the rest.
  std::vector<Op> outer, ops;
  std::int16_t n_slots = 0;

  Plan();
  Plan(Plan&&) noexcept;
  Plan& operator=(Plan&&) noexcept;
  ~Plan();

  // Copies into the arena.
  const char* keep(std::string_view text);
  const char* const* keep(const std::vector<std::string>& texts);  // nullptr at the end
  template <class T>
  const T* keep(const std::vector<T>& items) {
    return static_cast<const T*>(keep_bytes(items.data(), items.size() * sizeof(T)));
  }

 private:
  const void* keep_bytes(const void* bytes, std::size_t size);
  struct Arena;
  std::unique_ptr<Arena> arena_;
};

// What one operation does, in words, for errors and explanations: "mount proc on /proc".
std::string describe(const Op& op);

// What the caller of the runtime asks for beside the spec.
struct Options {
  std::string rootfs;  // absolute, links resolved
  std::string bundle;  // absolute
  std::string id;
  std::string scratch;                         // a host folder of the container's own, for the overlay annotation
  std::vector<std::string> overlay_lowers;     // mount points below root.path "/" that get an overlay each
  std::vector<std::string> cgroup_join_files;  // v1: see cgroup::join_files
  // v1 hierarchies for a cgroup mount: where each is for the container.
  struct CgroupMount {
    std::string name;       // "cpu,cpuacct", "memory", "systemd"
    std::string data;       // mount data: "cpu,cpuacct", "none,name=systemd"
    std::string host_path;  // the container's directory on the host
    bool v2 = false;
  };
  std::vector<CgroupMount> cgroup_mounts;
  const std::vector<sock_filter>* seccomp = nullptr;
  std::uint32_t seccomp_flags = 0;
  std::string state_before_pid, state_after_pid;  // JSON for the hooks inside
  int preserve_fds = 0;
  bool wait_for_start = false;  // create: the program waits for start
  bool pivot = true;
  bool keyring = true;
  bool init = false;
  bool setgroups_denied = false;
  bool enters_user_namespace = false;  // exec: the container has one
};

// The whole start of a container, in order; each push says why it stands where it stands.
// facts.kernel counts only where a time namespace is wanted.
// Throws unsupported where these facts can't give what the spec asks for.
Plan make(const oci::Spec& spec, const facts::Facts& facts, const Options& options);

// A further process in a running container; the joins come from the launcher.
Plan make_exec(const oci::Process& process, const facts::Facts& facts, const Options& options);

}  // namespace tare::plan
