// child: the container's terminal.
#include <asm/ioctls.h>
#include <asm/termbits.h>
#include <linux/magic.h>
#include <sys/mount.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>

#include "isolate/calls.hpp"

namespace tare::isolate {
namespace {

struct Size {  // struct winsize; its header clashes with termbits
  unsigned short rows, columns, x, y;
};

// The multiplexer of the devpts that is mounted in the container, and nothing that an image put there.
long open_multiplexer(State& state) noexcept {
  const long master =
      open_below(state.pivoted || state.root < 0 ? AT_FDCWD : state.root, "/dev/pts/ptmx", O_RDWR | O_NOCTTY);
  if (master < 0) {
    note(state, "a terminal wants a devpts mounted on /dev/pts");
    return master;
  }
  struct statfs fs{};
  struct stat st{};
  if (call(SYS_fstatfs, master, word(&fs)) < 0 || fs.f_type != DEVPTS_SUPER_MAGIC || stat_fd(master, &st) < 0 ||
      !S_ISCHR(st.st_mode) || st.st_rdev != makedev(5, 2)) {
    done_with(master);
    note(state, "what is on /dev/pts is not a devpts");
    return -ENOTTY;
  }
  return master;
}

Fault bind_console(State& state) noexcept {
  const long place = reach(state.root, "/dev/console", Make::file);
  if (place < 0) return fault("openat2", place);
  const long tree =
      call(SYS_open_tree, state.console_slave, word(""), AT_EMPTY_PATH | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
  if (tree < 0) return fault("open_tree", tree);
  const long r =
      call(SYS_move_mount, tree, word(""), place, word(""), MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);
  done_with(tree);
  done_with(place);
  return r < 0 ? fault("move_mount", r) : kNoFault;
}

}  // namespace

Fault open_console(const plan::ConsoleOp& op, State& state) noexcept {
  const long master = open_multiplexer(state);
  if (master < 0) return fault("open", master);
  int unlocked = 0;
  long r = call(SYS_ioctl, master, TIOCSPTLCK, word(&unlocked));
  if (r < 0) return fault("ioctl TIOCSPTLCK", r);
  const long slave = call(SYS_ioctl, master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (slave < 0) return fault("ioctl TIOCGPTPEER", slave);
  state.console_master = static_cast<int>(master);
  state.console_slave = static_cast<int>(slave);
  if (op.rows != 0 || op.columns != 0) {
    const Size size{op.rows, op.columns, 0, 0};
    r = call(SYS_ioctl, master, TIOCSWINSZ, word(&size));
    if (r < 0) return fault("ioctl TIOCSWINSZ", r);
  }
  // Its group stays what devpts made it (tty); an owner that is not mapped is no reason to fail.
  r = call(SYS_fchown, slave, op.owner, static_cast<std::uint32_t>(-1));
  if (r < 0 && r != -EPERM && r != -EINVAL) return fault("fchown", r);
  return op.bind_dev_console ? bind_console(state) : kNoFault;
}

Fault use_console(State& state) noexcept {
  for (long fd = 0; fd < 3; ++fd) {
    const long r = call(SYS_dup3, state.console_slave, fd, 0);
    if (r < 0) return fault("dup3", r);
  }
  const long r = call(SYS_ioctl, 0, TIOCSCTTY, 0);
  return r < 0 ? fault("ioctl TIOCSCTTY", r) : kNoFault;
}

}  // namespace tare::isolate
