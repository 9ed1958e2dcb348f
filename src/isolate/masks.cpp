// child: masked and read-only paths.
#include <sys/mount.h>
#include <sys/sysmacros.h>

#include "isolate/calls.hpp"

namespace tare::isolate {
namespace {

// CVE-2025-31133: not the container's /dev/null but the host's, and only if it is one.
long host_null(State& state) noexcept {
  if (state.null_device >= 0) return state.null_device;
  const long tree = call(SYS_open_tree, AT_FDCWD, word("/dev/null"), OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
  if (tree < 0) return tree;
  struct stat st{};
  const long r = stat_fd(tree, &st);
  if (r < 0) return r;
  if (!S_ISCHR(st.st_mode) || st.st_rdev != makedev(1, 3)) return -ENODEV;
  state.null_device = static_cast<int>(tree);
  return tree;
}

// One read-only tmpfs for all masked folders.
long empty_folder(State& state) noexcept {
  if (state.empty_folder >= 0) return state.empty_folder;
  const long fs = call(SYS_fsopen, word("tmpfs"), FSOPEN_CLOEXEC);
  if (fs < 0) return fs;
  const long r = call(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, 0, 0, 0);
  if (r < 0) return r;
  const long tree = call(SYS_fsmount, fs, FSMOUNT_CLOEXEC,
                         MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
  done_with(fs);
  if (tree >= 0) state.empty_folder = static_cast<int>(tree);
  return tree;
}

// The first place gets the mount itself, the others copies of it: before Linux 6.15 a mount that is
// nowhere yet can't be copied (EINVAL).
Fault cover(long place, long source, bool& placed) noexcept {
  long tree = source;
  if (placed) {
    tree = call(SYS_open_tree, source, word(""), AT_EMPTY_PATH | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
    if (tree < 0) return fault("open_tree", tree);
  }
  const long r =
      call(SYS_move_mount, tree, word(""), place, word(""), MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);
  if (placed) done_with(tree);
  if (r < 0) return fault("move_mount", r);
  placed = true;
  return kNoFault;
}

Fault cover_as(bool folder, long place, State& state) noexcept {
  const long source = folder ? empty_folder(state) : host_null(state);
  return source < 0 ? fault("open", source) : cover(place, source, folder ? state.folder_placed : state.null_placed);
}

// Which of the two to try first: no more than a guess, by the paths that engines mask.
bool likely_folder(const char* path) noexcept {
  const char* name = path;
  for (const char* at = path; *at != '\0'; ++at)
    if (*at == '/') name = at + 1;
  for (const char* known : {"acpi", "asound", "scsi", "firmware", "powercap", "thermal_throttle"})
    if (isolate::equal(name, known)) return true;
  return false;
}

// Below /proc and /sys from what was mounted there, not by the path.
long open_hidden(const char* path, long flags, State& state) noexcept {
  const auto below = [&](const char* top, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i)
      if (path[i] != top[i]) return false;
    return path[size] == '/';
  };
  if (state.mounted_proc >= 0 && below("/proc", 5)) return open_below(state.mounted_proc, path + 6, flags);
  if (state.mounted_sys >= 0 && below("/sys", 4)) return open_below(state.mounted_sys, path + 5, flags);
  return open_below(state.root, path, flags);
}

}  // namespace

Fault mask_path(const plan::TextOp& op, State& state) noexcept {
  const long place = open_hidden(op.a, O_PATH, state);
  // config-linux.md: a path that isn't there needs no mask.
  if (place == -ENOENT || place == -ENOTDIR) return kNoFault;
  if (place < 0) return fault("openat2", place);
  const bool folder = likely_folder(op.a);
  Fault f = cover_as(folder, place, state);
  // The kernel puts files on files and folders on folders only (EINVAL of do_move_mount), whatever they have become
  // meanwhile.
  if (f.error == EINVAL || f.error == ENOTDIR) f = cover_as(!folder, place, state);
  done_with(place);
  return f;
}

Fault read_only_path(const plan::TextOp& op, State& state) noexcept {
  const long place = open_hidden(op.a, O_PATH, state);
  if (place == -ENOENT || place == -ENOTDIR) return kNoFault;
  if (place < 0) return fault("openat2", place);
  const long flags = AT_EMPTY_PATH | AT_RECURSIVE | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC;
  const long tree = call(SYS_open_tree, place, word(""), flags);
  if (tree < 0) return fault("open_tree", tree);
  mount_attr attr{};
  attr.attr_set = MOUNT_ATTR_RDONLY;
  long r = call(SYS_mount_setattr, tree, word(""), AT_EMPTY_PATH | AT_RECURSIVE, word(&attr), sizeof attr);
  if (r < 0) return fault("mount_setattr", r);
  r = call(SYS_move_mount, tree, word(""), place, word(""), MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);
  done_with(tree);
  done_with(place);
  return r < 0 ? fault("move_mount", r) : kNoFault;
}

}  // namespace tare::isolate
