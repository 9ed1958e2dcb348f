// child: device nodes and links in the container's /dev.
#include <sys/mount.h>
#include <sys/sysmacros.h>

#include "isolate/calls.hpp"

namespace tare::isolate {
namespace {

// The folder of /dev is reached once; devices elsewhere are reached each by itself.
long folder_of(const char* path, const char** name, State& state) noexcept {
  const bool in_dev = path[0] == '/' && path[1] == 'd' && path[2] == 'e' && path[3] == 'v' && path[4] == '/';
  std::size_t slashes = 0;
  for (const char* p = path; *p != '\0'; ++p) slashes += *p == '/' ? 1 : 0;
  if (!in_dev || slashes != 2) return reach_parent(state.root, path, name);
  *name = path + 5;
  if (state.dev < 0) state.dev = static_cast<int>(reach(state.root, "/dev", Make::folder));
  return state.dev;
}

bool same_node(long folder, const char* name, const plan::DeviceOp& op) noexcept {
  struct stat st{};
  if (call(SYS_newfstatat, folder, word(name), word(&st), AT_SYMLINK_NOFOLLOW) < 0) return false;
  if ((st.st_mode & S_IFMT) != (op.mode & S_IFMT)) return false;
  return S_ISFIFO(st.st_mode) || st.st_rdev == op.dev;
}

}  // namespace

Fault make_device(const plan::DeviceOp& op, State& state) noexcept {
  const char* name = nullptr;
  const long folder = folder_of(op.path, &name, state);
  if (folder < 0) return fault("openat2", folder);
  const long r = call(SYS_mknodat, folder, word(name), op.mode, static_cast<long>(op.dev));
  if (r == -EEXIST) {
    if (same_node(folder, name, op)) return kNoFault;
    note(state, "the image has something else there");
  }
  if (r < 0) return fault("mknod", r);
  if (op.uid == 0 && op.gid == 0) return kNoFault;
  const long c = call(SYS_fchownat, folder, word(name), op.uid, op.gid, AT_SYMLINK_NOFOLLOW);
  return c < 0 ? fault("chown", c) : kNoFault;
}

Fault bind_device(const plan::DeviceOp& op, State& state) noexcept {
  const long tree = call(SYS_open_tree, AT_FDCWD, word(op.source), OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
  if (tree < 0) return fault("open_tree", tree);
  struct stat st{};
  long r = stat_fd(tree, &st);
  if (r < 0) return fault("stat", r);
  if ((st.st_mode & S_IFMT) != (op.mode & S_IFMT) || st.st_rdev != op.dev) {
    note(state, "the host's node of that name is another device");
    return {"", ENODEV};
  }
  const long place = reach(state.root, op.path, Make::file);
  if (place < 0) return fault("openat2", place);
  r = call(SYS_move_mount, tree, word(""), place, word(""), MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);
  if (r < 0) return fault("move_mount", r);
  done_with(place);
  done_with(tree);
  return kNoFault;
}

Fault make_symlink(const plan::TextOp& op, State& state) noexcept {
  const char* name = nullptr;
  const long folder = folder_of(op.b, &name, state);
  if (folder < 0) return fault("openat2", folder);
  long r = call(SYS_symlinkat, word(op.a), folder, word(name));
  if (r != -EEXIST) return r < 0 ? fault("symlink", r) : kNoFault;
  // An image's own link or file of that name stays, but for ptmx: the image's would be another terminal multiplexer.
  if (!equal(name, "ptmx")) return kNoFault;
  char target[16];
  const long n = call(SYS_readlinkat, folder, word(name), word(target), sizeof target - 1);
  if (n > 0) {
    target[n] = '\0';
    if (equal(target, op.a)) return kNoFault;
  }
  r = call(SYS_unlinkat, folder, word(name), 0);
  if (r < 0) return fault("unlink", r);
  r = call(SYS_symlinkat, word(op.a), folder, word(name));
  return r < 0 ? fault("symlink", r) : kNoFault;
}

}  // namespace tare::isolate
