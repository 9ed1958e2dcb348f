// The floor: the least program that does the kernel work of the default bundle, and nothing else.
//
//   floor run ROOTFS ID [CMD [ARG...]]   a container in ROOTFS whose cgroups are called ID; CMD: /bin/true
//   floor exec PID ID [CMD [ARG...]]     one more process in the running container of PID
//   floor state FILE PID                 what a `state` has to do at least: read its file, look at the process, print
//
// It is what a runtime's costs are compared with, so it must be as cheap as that work can be done: no C library
// (start-up and page faults), a vfork-style clone, everything hard-wired for the config.json that `tare spec` writes
// (see ../make-bundle) and for a hybrid cgroup layout with one hierarchy for each controller. It parses nothing, keeps
// no state, resolves no symbolic link safely and undoes nothing after a failure: never use it to run containers.
// What it leaves out is also said in README.md; the system calls it makes are frozen in SYSCALLS.txt.
//
// Exit status: that of CMD (128 + signal); 125 after "floor: line N: errno E" on stderr when a step failed.
#include <asm/unistd.h>
#include <linux/capability.h>
#include <linux/fcntl.h>
#include <linux/keyctl.h>
#include <linux/mount.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <stdint.h>

#ifndef __x86_64__
#error "the floor is written for x86_64"
#endif

// What the headers above do not define, or define only beside a C library.
enum { kOpenWrite = 01, kOpenPath = 010000000, kOpenDirectory = 0200000, kOpenCloexec = 02000000 };
enum { kMsRdonly = 1, kMsNosuid = 2, kMsNodev = 4, kMsNoexec = 8, kMsBind = 4096, kMsRec = 16384 };
enum { kMsPrivate = 1 << 18, kMsRelatime = 1 << 21, kMsStrictatime = 1 << 24, kMntDetach = 2 };
enum { kCharDevice = 0020000, kEnoent = 2, kSigchld = 17, kInterfaceUp = 0x1, kSiocsifflags = 0x8914 };

static inline long call6(long n, long a, long b, long c, long d, long e, long f) {
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}
#define CALL(n, a, b, c, d, e) call6(__NR_##n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), 0)

static char* put_text(char* to, const char* text) {
  while (*text) *to++ = *text++;
  return to;
}

static char* put_number(char* to, long number) {
  char digits[20];
  int n = 0;
  do digits[n++] = (char)('0' + number % 10);
  while ((number /= 10) > 0);
  while (n > 0) *to++ = digits[--n];
  return to;
}

static __attribute__((noreturn, noinline, cold)) void fail(long line, long result) {
  char text[96];
  char* end = put_number(put_text(text, "floor: line "), line);
  end = put_text(put_number(put_text(end, ": errno "), -result), "\n");
  CALL(write, 2, text, end - text, 0, 0);
  for (;;) CALL(exit_group, 125, 0, 0, 0, 0);
}

static inline long must_at(long line, long result) {
  if (result < 0) fail(line, result);
  return result;
}
#define MUST(...) must_at(__LINE__, CALL(__VA_ARGS__))

// The hierarchies a runtime must use here; the child joins them by itself, and the cgroup2 one by clone3.
static const char kHierarchies[8][8] = {"systemd", "pids", "memory", "devices", "freezer", "blkio", "cpuacct", "cpu"};
static const char kDevices[11][12] = {"c *:* m",   "b *:* m",   "c 1:3 rwm", "c 1:5 rwm", "c 1:7 rwm",  "c 1:8 rwm",
                                      "c 1:9 rwm", "c 5:0 rwm", "c 5:1 rwm", "c 5:2 rwm", "c 136:* rwm"};

static const char* cgroup_path(char* buffer, const char* hierarchy, const char* id, const char* file) {
  char* end = put_text(put_text(put_text(buffer, "/sys/fs/cgroup/"), hierarchy), "/");
  *put_text(put_text(end, id), file) = 0;
  return buffer;
}

static long length(const char* text) {
  long n = 0;
  while (text[n]) ++n;
  return n;
}

// A process that writes 0 to `tasks` moves itself alone, for which the kernel does not stop all forks of the machine,
// as it does for `cgroup.procs`; a process that has one thread is moved as a whole by either.
static int open_join_file(const char* hierarchy, const char* id) {
  char path[256];
  return (int)MUST(open, cgroup_path(path, hierarchy, id, "/tasks"), kOpenWrite | kOpenCloexec, 0, 0, 0);
}

static void make_cgroups(const char* id) {
  char path[256];
  for (int i = 0; i < 8; ++i) MUST(mkdir, cgroup_path(path, kHierarchies[i], id, ""), 0755, 0, 0, 0);
  MUST(mkdir, cgroup_path(path, "unified", id, ""), 0755, 0, 0, 0);
  long fd = MUST(open, cgroup_path(path, "devices", id, "/devices.deny"), kOpenWrite | kOpenCloexec, 0, 0, 0);
  MUST(write, fd, "a", 1, 0, 0);
  fd = MUST(open, cgroup_path(path, "devices", id, "/devices.allow"), kOpenWrite | kOpenCloexec, 0, 0, 0);
  for (int i = 0; i < 11; ++i) MUST(write, fd, kDevices[i], length(kDevices[i]), 0, 0);
}

static void remove_cgroups(const char* id) {
  char path[256];
  for (int i = 0; i < 8; ++i) MUST(rmdir, cgroup_path(path, kHierarchies[i], id, ""), 0, 0, 0, 0);
  MUST(rmdir, cgroup_path(path, "unified", id, ""), 0, 0, 0, 0);
}

static inline void mount_new(const char* type, const char* target, long flags, const char* data) {
  MUST(mount, type, target, type, flags, data);
}

// A masked or read-only path that does not exist is ignored; only the kernel can tell.
static inline void mount_if_there(const char* source, const char* target, const char* type, long flags) {
  const long result = CALL(mount, source, target, type, flags, 0);
  if (result < 0 && result != -kEnoent) fail(__LINE__, result);
}

static void set_attributes(const char* path, long flags, uint64_t set, uint64_t clear) {
  struct mount_attr attr = {.attr_set = set, .attr_clr = clear};
  MUST(mount_setattr, AT_FDCWD, path, flags, &attr, sizeof attr);
}

static void mount_cgroups(const char* id) {
  char source[256];
  mount_new("tmpfs", "sys/fs/cgroup", kMsNosuid | kMsNodev | kMsNoexec, "mode=755");
  for (int i = 0; i < 8; ++i) {
    char target[32];
    *put_text(put_text(target, "sys/fs/cgroup/"), kHierarchies[i]) = 0;
    MUST(mkdir, target, 0755, 0, 0, 0);
    MUST(mount, cgroup_path(source, kHierarchies[i], id, ""), target, 0, kMsBind, 0);
  }
  set_attributes("sys/fs/cgroup", AT_RECURSIVE,
                 MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC, 0);
}

static void mask_paths(void) {
  mount_if_there("tmpfs", "proc/acpi", "tmpfs", kMsRdonly);
  mount_if_there("/dev/null", "proc/asound", 0, kMsBind);
  mount_if_there("/dev/null", "proc/interrupts", 0, kMsBind);
  mount_if_there("/dev/null", "proc/kcore", 0, kMsBind);
  mount_if_there("/dev/null", "proc/keys", 0, kMsBind);
  mount_if_there("/dev/null", "proc/latency_stats", 0, kMsBind);
  mount_if_there("/dev/null", "proc/timer_list", 0, kMsBind);
  mount_if_there("/dev/null", "proc/timer_stats", 0, kMsBind);
  mount_if_there("/dev/null", "proc/sched_debug", 0, kMsBind);
  mount_if_there("tmpfs", "sys/devices/virtual/powercap", "tmpfs", kMsRdonly);
  mount_if_there("tmpfs", "sys/firmware", "tmpfs", kMsRdonly);
  mount_if_there("tmpfs", "proc/scsi", "tmpfs", kMsRdonly);
  mount_if_there("proc/bus", "proc/bus", 0, kMsBind | kMsRec);
  mount_if_there("proc/fs", "proc/fs", 0, kMsBind | kMsRec);
  mount_if_there("proc/irq", "proc/irq", 0, kMsBind | kMsRec);
  mount_if_there("proc/sys", "proc/sys", 0, kMsBind | kMsRec);
  mount_if_there("proc/sysrq-trigger", "proc/sysrq-trigger", 0, kMsBind | kMsRec);
}

static void make_dev(void) {
  mount_new("tmpfs", "dev", kMsNosuid | kMsStrictatime, "mode=755,size=65536k");
  MUST(mkdir, "dev/pts", 0755, 0, 0, 0);
  MUST(mkdir, "dev/shm", 0755, 0, 0, 0);
  MUST(mkdir, "dev/mqueue", 0755, 0, 0, 0);
  mount_new("devpts", "dev/pts", kMsNosuid | kMsNoexec, "newinstance,ptmxmode=0666,mode=0620,gid=5");
  MUST(mount, "shm", "dev/shm", "tmpfs", kMsNosuid | kMsNoexec | kMsNodev, "mode=1777,size=65536k");
  mount_new("mqueue", "dev/mqueue", kMsNosuid | kMsNoexec | kMsNodev, 0);
  MUST(mknod, "dev/null", kCharDevice | 0666, 0x103, 0, 0);
  MUST(mknod, "dev/zero", kCharDevice | 0666, 0x105, 0, 0);
  MUST(mknod, "dev/full", kCharDevice | 0666, 0x107, 0, 0);
  MUST(mknod, "dev/random", kCharDevice | 0666, 0x108, 0, 0);
  MUST(mknod, "dev/urandom", kCharDevice | 0666, 0x109, 0, 0);
  MUST(mknod, "dev/tty", kCharDevice | 0666, 0x500, 0, 0);
  MUST(symlink, "/proc/self/fd", "dev/fd", 0, 0, 0);
  MUST(symlink, "/proc/self/fd/0", "dev/stdin", 0, 0, 0);
  MUST(symlink, "/proc/self/fd/1", "dev/stdout", 0, 0, 0);
  MUST(symlink, "/proc/self/fd/2", "dev/stderr", 0, 0, 0);
  MUST(symlink, "pts/ptmx", "dev/ptmx", 0, 0, 0);
}

static void make_root(const char* rootfs, const char* id) {
  MUST(mount, 0, "/", 0, kMsRec | kMsPrivate, 0);
  MUST(mount, rootfs, rootfs, 0, kMsBind | kMsRec, 0);
  MUST(chdir, rootfs, 0, 0, 0, 0);
  mount_new("proc", "proc", 0, 0);
  mount_new("sysfs", "sys", kMsNosuid | kMsNodev | kMsNoexec | kMsRdonly, 0);
  mount_cgroups(id);
  mask_paths();
  // All mounts until here are to be read-only, but /proc: two calls instead of one for each.
  set_attributes(".", AT_RECURSIVE, MOUNT_ATTR_RDONLY, 0);
  set_attributes("proc", 0, 0, MOUNT_ATTR_RDONLY);
  make_dev();
  MUST(pivot_root, ".", ".", 0, 0, 0);
  MUST(umount2, ".", kMntDetach, 0, 0, 0);
}

static void bring_lo_up(void) {
  struct {
    char name[16];
    short flags;
    char rest[22];
  } request = {"lo", kInterfaceUp, ""};
  const long fd = MUST(socket, 2, 2 | kOpenCloexec, 0, 0, 0);
  MUST(ioctl, fd, kSiocsifflags, &request, 0, 0);
}

// What `run` and `exec` have in common: the rest of config.json's process, and the program.
static __attribute__((noreturn)) void become(char** argv, const char* id) {
  static const char* const kEnvironment[] = {"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                                             "TERM=xterm", 0};
  char keyring[64];
  *put_text(put_text(keyring, "_ses."), id) = 0;
  MUST(setsid, 0, 0, 0, 0, 0);
  MUST(keyctl, KEYCTL_JOIN_SESSION_KEYRING, keyring, 0, 0, 0);
  MUST(close_range, 3, ~0U, 4 /* CLOSE_RANGE_CLOEXEC */, 0, 0);
  const uint32_t caps = 1U << CAP_KILL | 1U << CAP_NET_BIND_SERVICE | 1U << CAP_AUDIT_WRITE;
  for (int cap = 0; cap <= CAP_LAST_CAP; ++cap) {
    if (cap > 31 || (caps >> cap & 1) == 0) MUST(prctl, PR_CAPBSET_DROP, cap, 0, 0, 0);
  }
  MUST(setgroups, 0, 0, 0, 0, 0);
  MUST(setresgid, 0, 0, 0, 0, 0);
  MUST(setresuid, 0, 0, 0, 0, 0);
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct data[2] = {{caps, caps, 0}, {0, 0, 0}};
  MUST(capset, &header, data, 0, 0, 0);
  MUST(prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  fail(__LINE__, CALL(execve, argv[0], argv, kEnvironment, 0, 0));
}

static __attribute__((noreturn, noinline)) void child_of_run(char** argv, const char* rootfs, const char* id) {
  for (int i = 0; i < 8; ++i) MUST(write, open_join_file(kHierarchies[i], id), "0", 1, 0, 0);
  MUST(umask, 0, 0, 0, 0, 0);
  make_root(rootfs, id);
  MUST(umask, 022, 0, 0, 0, 0);
  MUST(sethostname, "tare", 4, 0, 0, 0);
  bring_lo_up();
  become(argv, id);
}

static __attribute__((noreturn, noinline)) void child_of_exec(char** argv, const int* join, const char* id) {
  for (int i = 0; i < 8; ++i) MUST(write, join[i], "0", 1, 0, 0);
  become(argv, id);
}

// Clones as vfork does: on the parent's stack, below the frames of the parent, which sleeps until the execve.
#define CLONE_CHILD(flag_bits, cgroup_fd)                                                                     \
  must_at(__LINE__,                                                                                           \
          call6(__NR_clone3,                                                                                  \
                (long)&(struct clone_args){.flags = CLONE_VM | CLONE_VFORK | CLONE_INTO_CGROUP | (flag_bits), \
                                           .exit_signal = kSigchld,                                           \
                                           .cgroup = (uint64_t)(cgroup_fd)},                                  \
                sizeof(struct clone_args), 0, 0, 0, 0))

static long open_cgroup2(const char* id) {
  char path[256];
  return MUST(open, cgroup_path(path, "unified", id, ""), kOpenPath | kOpenDirectory | kOpenCloexec, 0, 0, 0);
}

static int wait_for(long child) {
  int status = 0;
  MUST(wait4, child, &status, 0, 0, 0);
  return (status & 0x7f) != 0 ? 128 + (status & 0x7f) : status >> 8 & 0xff;
}

static int run(char** argv, const char* rootfs, const char* id) {
  make_cgroups(id);
  const long cgroup2 = open_cgroup2(id);
  const long child = CLONE_CHILD(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWNET, cgroup2);
  if (child == 0) child_of_run(argv, rootfs, id);
  const int status = wait_for(child);
  remove_cgroups(id);
  return status;
}

static long parse_number(const char* text) {
  long number = 0;
  while (*text) number = number * 10 + (*text++ - '0');
  return number;
}

static int exec(char** argv, const char* pid, const char* id) {
  int join[8];
  for (int i = 0; i < 8; ++i) join[i] = open_join_file(kHierarchies[i], id);
  const long cgroup2 = open_cgroup2(id);
  const long target = MUST(pidfd_open, parse_number(pid), 0, 0, 0, 0);
  MUST(setns, target, CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWNET, 0, 0, 0);
  const long child = CLONE_CHILD(0, cgroup2);
  if (child == 0) child_of_exec(argv, join, id);
  return wait_for(child);
}

static int state(const char* file, const char* pid) {
  char text[2048];
  char path[64];
  *put_text(put_text(put_text(path, "/proc/"), pid), "/stat") = 0;
  const long fd = MUST(open, file, kOpenCloexec, 0, 0, 0);
  const long size = MUST(read, fd, text, sizeof text, 0, 0);
  // The state and the start time of the process, which tell "running" from "stopped" and from another's pid.
  char stat[512];
  MUST(read, MUST(open, path, kOpenCloexec, 0, 0, 0), stat, sizeof stat, 0, 0);
  MUST(write, 1, text, size, 0, 0);
  return 0;
}

__attribute__((noreturn, used)) void floor_main(long argc, char** argv) {
  static const char kTrue[] = "/bin/true";
  char* only_true[] = {(char*)(uintptr_t)kTrue, 0};
  char** command = argc > 4 ? argv + 4 : only_true;
  int status = 125;
  if (argc >= 4 && argv[1][0] == 'r') status = run(command, argv[2], argv[3]);
  if (argc >= 4 && argv[1][0] == 'e') status = exec(command, argv[2], argv[3]);
  if (argc >= 4 && argv[1][0] == 's') status = state(argv[2], argv[3]);
  for (;;) CALL(exit_group, status, 0, 0, 0, 0);
}

__asm__(
    ".globl _start\n_start:\n\txorl %ebp, %ebp\n\tmovq (%rsp), %rdi\n\tleaq 8(%rsp), %rsi\n\tandq $-16, %rsp\n"
    "\tcall floor_main\n");
