// child: file systems and binds, attached below the container's root by descriptor.
#include <linux/magic.h>
#include <sys/mount.h>
#include <sys/statfs.h>

#include "isolate/calls.hpp"

namespace tare::isolate {
namespace {

constexpr std::size_t kDataSize = 4096;

Fault set_attributes(long tree, const plan::MountOp& op) noexcept {
  // Recursive ones first: what was said of this mount alone has the last word on it.
  if ((op.rec_attr_set | op.rec_attr_clr) != 0) {
    mount_attr attr{};
    attr.attr_set = op.rec_attr_set;
    attr.attr_clr = op.rec_attr_clr;
    const long r = call(SYS_mount_setattr, tree, word(""), AT_EMPTY_PATH | AT_RECURSIVE, word(&attr), sizeof attr);
    if (r < 0) return fault("mount_setattr", r);
  }
  if ((op.attr_set | op.attr_clr) != 0) {
    mount_attr attr{};
    attr.attr_set = op.attr_set;
    attr.attr_clr = op.attr_clr;
    const long r = call(SYS_mount_setattr, tree, word(""), AT_EMPTY_PATH, word(&attr), sizeof attr);
    if (r < 0) return fault("mount_setattr", r);
  }
  return kNoFault;
}

Fault set_mount_propagation(long tree, const plan::MountOp& op) noexcept {
  for (std::uint32_t i = 0; i < op.n_propagation; ++i) {
    mount_attr attr{};
    attr.propagation = op.propagation[i] & ~static_cast<std::uint32_t>(MS_REC);
    const long flags = AT_EMPTY_PATH | ((op.propagation[i] & MS_REC) != 0 ? AT_RECURSIVE : 0);
    const long r = call(SYS_mount_setattr, tree, word(""), flags, word(&attr), sizeof attr);
    if (r < 0) return fault("mount_setattr", r);
  }
  return kNoFault;
}

// mount(2) says EINVAL and no more. The same through fsopen(2), to learn which option it was and what
// the file system has to say about it.
Fault explain_refusal(const plan::MountOp& op, Fault refused, State& state) noexcept {
  const long fs = call(SYS_fsopen, word(op.type), FSOPEN_CLOEXEC);
  if (fs == -ENODEV) {
    note(state, "this kernel does not have that file system");
    return fault("fsopen", fs);
  }
  if (fs < 0) return refused;
  call(SYS_fsconfig, fs, FSCONFIG_SET_STRING, word("source"), word(op.source), 0);
  Buffer<256> text;
  for (std::uint32_t i = 0; i < op.n_params; ++i) {
    const plan::Param& p = op.params[i];
    const long r = p.value == nullptr ? call(SYS_fsconfig, fs, FSCONFIG_SET_FLAG, word(p.key), 0, 0)
                                      : call(SYS_fsconfig, fs, FSCONFIG_SET_STRING, word(p.key), word(p.value), 0);
    if (r >= 0) continue;
    text.add("option ").add(p.key);
    if (p.value != nullptr) text.add("=").add(p.value);
    refused = fault("fsconfig", r);
    break;
  }
  char log[160];
  const long n = call(SYS_read, fs, word(log), sizeof log - 1);
  if (n > 2) {  // "e " before the message
    text.add(text.used > 0 ? ": " : "");
    std::size_t size = static_cast<std::size_t>(n) - 2;
    if (log[size + 1] == '\n') --size;
    text.add(log + 2, size);
  }
  done_with(fs);
  if (text.used > 0) note(state, text.text);
  return refused;
}

Fault mount_on(long place, const plan::MountOp& op, const char* data, State& state) noexcept {
  const FdPath target(place);
  const long r = call(SYS_mount, word(op.source), word(target.path.text), word(op.type), op.sb_flags, word(data));
  return r < 0 ? explain_refusal(op, fault("mount", r), state) : kNoFault;
}

Fault kinds_differ(bool source_is_folder, State& state) noexcept {
  note(state, source_is_folder ? "the source is a folder, the destination is not"
                               : "the source is not a folder, the destination is one");
  return {"", ENOTDIR};
}

// A folder right below a /dev that was just made here holds nothing of the image's, so there is nothing to
// resolve: make it, open it. -errno where that does not work out; then the general way will do or tell.
long reach_in_fresh_dev(const char* path, State& state) noexcept {
  const bool in_dev = path[0] == '/' && path[1] == 'd' && path[2] == 'e' && path[3] == 'v' && path[4] == '/';
  if (!state.fresh_dev || !in_dev) return -ENOENT;
  const char* name = path + 5;
  for (const char* p = name; *p != '\0'; ++p)
    if (*p == '/') return -ENOENT;
  if (state.dev < 0) state.dev = static_cast<int>(open_below(state.root, "/dev", O_PATH | O_DIRECTORY));
  if (state.dev < 0) return state.dev;
  const long made = call(SYS_mkdirat, state.dev, word(name), 0755);
  if (made < 0) return made;
  return call(SYS_openat, state.dev, word(name), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
}

// What is remembered of /dev holds until something covers it.
void forget_dev(const char* covered, State& state) noexcept {
  if (!equal(covered, "/") && !equal(covered, "/dev")) return;
  state.dev = -1;
  state.fresh_dev = false;
}

// CVE-2019-19921: what hides parts of /proc and /sys must go onto the file systems mounted there, also
// where the image's folders are exchanged meanwhile.
Fault remember_kernel_mount(const plan::MountOp& op, State& state) noexcept {
  const bool proc = equal(op.dest, "/proc") && equal(op.type, "proc");
  const bool sys = equal(op.dest, "/sys") && equal(op.type, "sysfs");
  if (!proc && !sys) return kNoFault;
  const long mounted = open_below(state.root, op.dest, O_PATH | O_DIRECTORY, RESOLVE_NO_SYMLINKS);
  if (mounted < 0) return fault("openat2", mounted);
  struct statfs fs{};
  const long r = call(SYS_fstatfs, mounted, word(&fs));
  if (r < 0) return fault("fstatfs", r);
  if (fs.f_type != (proc ? PROC_SUPER_MAGIC : SYSFS_MAGIC)) {
    note(state, "somebody exchanged the folder while it was mounted");
    return {"", EBUSY};
  }
  (proc ? state.mounted_proc : state.mounted_sys) = static_cast<int>(mounted);
  return kNoFault;
}

}  // namespace

Fault mount_fs(const plan::MountOp& op, State& state) noexcept {
  long place = reach_in_fresh_dev(op.dest, state);
  if (place < 0)
    place =
        reach(state.root, op.dest, Make::folder, op.no_symlinks ? static_cast<std::uint64_t>(RESOLVE_NO_SYMLINKS) : 0);
  if (place < 0) {
    if (place == -ELOOP && op.no_symlinks) note(state, "the image has a symbolic link there, which is refused");
    return fault("openat2", place);
  }
  const char* data = op.data;
  if (length(data) >= kDataSize - 16) {
    note(state, "the options for the file system are longer than the kernel takes");
    return {"", E2BIG};
  }
  Buffer<kDataSize> with_mode;
  struct stat st{};
  if (op.inherit_mode && stat_fd(place, &st) >= 0) {
    with_mode.add(data).add(*data != '\0' ? ",mode=" : "mode=").add_number(st.st_mode & 07777, 8);
    if (!with_mode.full) data = with_mode.text;
  }
  if (Fault f = mount_on(place, op, data, state)) return f;
  forget_dev(op.dest, state);
  if (Fault f = remember_kernel_mount(op, state)) return f;
  state.fresh_dev = state.fresh_dev || (equal(op.dest, "/dev") && equal(op.type, "tmpfs") && !op.copy_up);
  const bool more = (op.rec_attr_set | op.rec_attr_clr) != 0 || op.n_propagation > 0 || op.copy_up;
  if (!more) return kNoFault;
  // The place's own path again, which now leads to the mount that covers it.
  const long mounted = open_below(state.root, op.dest, O_PATH | O_DIRECTORY);
  if (mounted < 0) return fault("openat2", mounted);
  if (op.copy_up) {
    const long from = call(SYS_openat, place, word("."), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (from < 0) return fault("open", from);
    if (Fault f = copy_tree(static_cast<int>(from), static_cast<int>(mounted), 0)) return f;
    done_with(from);
  }
  plan::MountOp recursive_only = op;
  recursive_only.attr_set = recursive_only.attr_clr = 0;
  if (Fault f = set_attributes(mounted, recursive_only)) return f;
  return set_mount_propagation(mounted, op);
}

Fault open_source(const plan::MountOp& op, State& state) noexcept {
  const long flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | (op.recursive ? AT_RECURSIVE : 0);
  const long tree = call(SYS_open_tree, AT_FDCWD, word(op.source), flags);
  if (tree < 0) return fault("open_tree", tree);
  state.slots[op.slot] = static_cast<int>(tree);
  return kNoFault;
}

Fault mount_bind(const plan::MountOp& op, State& state) noexcept {
  long tree = op.slot >= 0 ? state.slots[op.slot] : -1;
  if (tree < 0) {
    const long flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | (op.recursive ? AT_RECURSIVE : 0);
    tree = call(SYS_open_tree, AT_FDCWD, word(op.source), flags);
    if (tree < 0) return fault("open_tree", tree);
  }
  // Attributes before it can be seen: a read-only bind is never writable, not even for a moment.
  if (Fault f = set_attributes(tree, op)) return f;
  struct stat source{};
  long r = stat_fd(tree, &source);
  if (r < 0) return fault("stat", r);
  const bool folder = S_ISDIR(source.st_mode);
  const long place = reach(state.root, op.dest, folder ? Make::folder : Make::file);
  if (place < 0) return fault("openat2", place);
  struct stat dest{};
  r = stat_fd(place, &dest);
  if (r < 0) return fault("stat", r);
  if (S_ISDIR(dest.st_mode) != folder) return kinds_differ(folder, state);
  r = call(SYS_move_mount, tree, word(""), place, word(""), MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);
  if (r < 0) return fault("move_mount", r);
  done_with(place);
  forget_dev(op.dest, state);
  if (Fault f = set_mount_propagation(tree, op)) return f;
  if (op.dest[0] == '/' && op.dest[1] == '\0')
    state.root = static_cast<int>(tree);  // the root is what was mounted over it
  else
    done_with(tree);
  return kNoFault;
}

Fault mount_cgroup_v1(const plan::CgroupMountOp& op, State& state) noexcept {
  const long place = reach(state.root, op.dest, Make::folder);
  if (place < 0) return fault("openat2", place);
  constexpr long kFlags = MS_NOSUID | MS_NODEV | MS_NOEXEC;
  const FdPath target(place);
  long r = call(SYS_mount, word("tmpfs"), word(target.path.text), word("tmpfs"), kFlags, word("mode=0755"));
  if (r < 0) return fault("mount", r);
  const long tmpfs = open_below(state.root, op.dest, O_PATH | O_DIRECTORY);
  if (tmpfs < 0) return fault("openat2", tmpfs);
  const long read_only = op.read_only ? MS_RDONLY : 0;
  // Names in the tmpfs just made, in which nobody else has put anything.
  for (std::uint32_t i = 0; i < op.n; ++i) {
    const plan::Param& h = op.hierarchies[i];
    r = call(SYS_mkdirat, tmpfs, word(h.key), 0755);
    if (r < 0) return fault("mkdir", r);
    Buffer<320> on;
    on.add(FdPath(tmpfs).path.text).add("/").add(h.key);
    if (on.full) return fault("mount", -ENAMETOOLONG);
    if (op.bind) {
      r = call(SYS_mount, word(h.value), word(on.text), 0, MS_BIND, 0);
    } else {
      const char* type = h.value == nullptr ? "cgroup2" : "cgroup";
      r = call(SYS_mount, word(type), word(on.text), word(type), kFlags | read_only, word(h.value));
    }
    if (r < 0) {
      note(state, h.key);
      return fault("mount", r);
    }
  }
  for (std::uint32_t i = 0; i < op.n_links; ++i) {
    r = call(SYS_symlinkat, word(op.links[i].value), tmpfs, word(op.links[i].key));
    if (r < 0 && r != -EEXIST) return fault("symlink", r);
  }
  // The tmpfs and all binds below it with one call.
  mount_attr attr{};
  attr.attr_set = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC | (op.read_only ? MOUNT_ATTR_RDONLY : 0);
  r = call(SYS_mount_setattr, tmpfs, word(""), AT_EMPTY_PATH | AT_RECURSIVE, word(&attr), sizeof attr);
  return r < 0 ? fault("mount_setattr", r) : kNoFault;
}

}  // namespace tare::isolate
