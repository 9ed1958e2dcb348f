// child: the root file system: opened, made the root, checked.
#include <linux/magic.h>
#include <sys/mount.h>
#include <sys/statfs.h>

#include "isolate/calls.hpp"

namespace tare::isolate {

Fault set_propagation(const plan::PropagationOp& op, State&) noexcept {
  const long r = call(SYS_mount, 0, word("/"), 0, static_cast<long>(op.flags), 0);
  return r < 0 ? fault("mount", r) : kNoFault;
}

Fault open_root(const plan::RootOp& op, State& state) noexcept {
  // pivot_root(2) wants a mount point, so the root becomes a mount of itself; a clone that is
  // attached again rather than a bind, since the clone's descriptor is then the root for all that follows.
  const long place = open_host(op.path, O_PATH | O_DIRECTORY);
  if (place < 0) return fault("open", place);
  const long flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | (op.recursive ? AT_RECURSIVE : 0);
  const long tree = call(SYS_open_tree, place, word(""), flags);
  if (tree < 0) return fault("open_tree", tree);
  if (op.user_namespace > 0) {
    // mount_setattr(2): only a mount that is nowhere yet can get a mapping.
    mount_attr attr{};
    attr.attr_set = MOUNT_ATTR_IDMAP;
    attr.userns_fd = static_cast<__u64>(op.user_namespace);
    const long r = call(SYS_mount_setattr, tree, word(""), AT_EMPTY_PATH, word(&attr), sizeof attr);
    if (r < 0) return fault("mount_setattr", r);
  }
  // It is a slave as all mounts here are by now; pivot_root(2) would refuse a shared one.
  const long r =
      call(SYS_move_mount, tree, word(""), place, word(""), MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);
  if (r < 0) return fault("move_mount", r);
  done_with(place);
  state.root = static_cast<int>(tree);
  return kNoFault;
}

Fault pivot(bool by_pivot_root, State& state) noexcept {
  long r = call(SYS_fchdir, state.root);
  if (r < 0) return fault("fchdir", r);
  if (by_pivot_root) {
    // pivot_root(2), NOTES: the old root ends up on top of the new one and is taken off at once.
    r = call(SYS_pivot_root, word("."), word("."));
    if (r < 0) return fault("pivot_root", r);
    // The working directory stays the new root.
    r = call(SYS_umount2, word("."), MNT_DETACH);
    if (r < 0) return fault("umount2", r);
  } else {
    r = call(SYS_mount, word("."), word("/"), 0, MS_MOVE, 0);
    if (r < 0) return fault("mount", r);
    r = call(SYS_chroot, word("."));
    if (r < 0) return fault("chroot", r);
    r = call(SYS_chdir, word("/"));
    if (r < 0) return fault("chdir", r);
  }
  state.pivoted = true;
  return kNoFault;
}

Fault assert_root(bool read_only, State& state) noexcept {
  if (!read_only) return kNoFault;
  struct statfs fs{};
  const long r = call(SYS_statfs, word("/"), word(&fs));
  if (r < 0) return fault("statfs", r);
  if ((fs.f_flags & 1) == 0) {  // ST_RDONLY
    note(state, "root.readonly was asked for, and the root can be written to");
    return {"", EPERM};
  }
  return kNoFault;
}

Fault host_mkdir(const plan::TextOp& op) noexcept {
  const long r = call(SYS_mkdirat, AT_FDCWD, word(op.a), 0755);
  return r < 0 && r != -EEXIST ? fault("mkdir", r) : kNoFault;
}

Fault host_mount(const plan::MountOp& op) noexcept {
  const long r = call(SYS_mount, word(op.source), word(op.dest), word(op.type), op.sb_flags, word(op.data));
  return r < 0 ? fault("mount", r) : kNoFault;
}

Fault set_root_attributes(const plan::MountOp& op, State& state) noexcept {
  const bool is_root = op.dest[0] == '/' && op.dest[1] == '\0';
  const long place = is_root ? state.root : open_below(state.root, op.dest, O_PATH);
  if (place < 0) return fault("openat2", place);
  mount_attr attr{};
  attr.attr_set = op.attr_set;
  attr.attr_clr = op.attr_clr;
  const long r = call(SYS_mount_setattr, place, word(""), AT_EMPTY_PATH, word(&attr), sizeof attr);
  return r < 0 ? fault("mount_setattr", r) : kNoFault;
}

}  // namespace tare::isolate
