#include "seccomp/default_profile.hpp"

#include <sched.h>
#include <sys/socket.h>

#include <cerrno>
#include <string_view>

#include "base/text.hpp"
#include "oci/names.hpp"

namespace tare::seccomp {
namespace {

using Names = std::string_view;  // words with one blank between

// What a program does with files it may open. Permissions, mounts and capabilities decide what it
// reaches; forbidding the calls would add nothing. Not here: open_by_handle_at, which reaches files
// past every directory, and vmsplice, which hands pages to the kernel that can be changed afterwards.
constexpr Names kFiles =
    "open openat openat2 creat close close_range read readv pread64 preadv preadv2 write writev pwrite64 pwritev "
    "pwritev2 lseek _llseek sendfile sendfile64 copy_file_range splice tee readahead fadvise64 fadvise64_64 "
    "arm_fadvise64_64 sync_file_range sync_file_range2 arm_sync_file_range sync syncfs fsync fdatasync flock "
    "fcntl fcntl64 dup dup2 dup3 ioctl fallocate ftruncate ftruncate64 truncate truncate64 access faccessat "
    "faccessat2 stat stat64 lstat lstat64 fstat fstat64 fstatat64 newfstatat statx statfs statfs64 fstatfs "
    "fstatfs64 readlink readlinkat getdents getdents64 readdir mkdir mkdirat rmdir rename renameat renameat2 link "
    "linkat symlink symlinkat unlink unlinkat mknod mknodat chmod fchmod fchmodat fchmodat2 chown chown32 lchown "
    "lchown32 fchown fchown32 fchownat utime utimes futimesat utimensat utimensat_time64 umask chdir fchdir "
    "getcwd getxattr lgetxattr fgetxattr getxattrat setxattr lsetxattr fsetxattr setxattrat listxattr llistxattr "
    "flistxattr listxattrat removexattr lremovexattr fremovexattr removexattrat inotify_init inotify_init1 "
    "inotify_add_watch inotify_rm_watch name_to_handle_at fanotify_mark cachestat";

// Waiting for files, and files that stand for something else (counters, timers, signals). The
// kernel's old asynchronous I/O is small and databases need it. Not here: io_uring, a second and
// fast-growing entrance to most of the kernel that seccomp can't look into; programs go on without
// it when told ENOSYS.
constexpr Names kWaiting =
    "poll ppoll ppoll_time64 select _newselect pselect6 pselect6_time64 epoll_create epoll_create1 epoll_ctl "
    "epoll_wait epoll_pwait epoll_pwait2 eventfd eventfd2 signalfd signalfd4 timerfd_create timerfd_settime "
    "timerfd_settime64 timerfd_gettime timerfd_gettime64 pipe pipe2 io_setup io_submit io_getevents io_pgetevents "
    "io_pgetevents_time64 io_cancel io_destroy";

// A process's own memory. Not here: userfaultfd, which stops the kernel in the middle of a copy and
// so makes races in it easy to win; move_pages and migrate_pages, which reach other processes.
constexpr Names kMemory =
    "brk mmap mmap2 munmap mremap mprotect madvise mincore msync mlock mlock2 munlock mlockall munlockall "
    "remap_file_pages membarrier memfd_create memfd_secret pkey_alloc pkey_free pkey_mprotect mseal "
    "map_shadow_stack get_mempolicy set_mempolicy mbind set_mempolicy_home_node cacheflush riscv_flush_icache";

// Processes and threads of the container. Debuggers are as useful inside as outside: ptrace and its
// kin ask the kernel, which allows them within the pid namespace and between equals only. clone is
// below, with a condition.
constexpr Names kProcesses =
    "fork vfork execve execveat exit exit_group wait4 waitid waitpid getpid getppid gettid getpgid setpgid "
    "getpgrp getsid setsid set_tid_address set_robust_list get_robust_list futex futex_time64 futex_waitv "
    "futex_wait futex_wake futex_requeue rseq restart_syscall prctl arch_prctl set_thread_area get_thread_area "
    "set_tls get_tls breakpoint ptrace process_vm_readv process_vm_writev pidfd_open pidfd_send_signal "
    "pidfd_getfd process_mrelease";

// Identity and its confinement: what a program may become is the affair of its capabilities; that
// it may give up more (seccomp, landlock) is welcome.
constexpr Names kIdentity =
    "getuid getuid32 geteuid geteuid32 getgid getgid32 getegid getegid32 getresuid getresuid32 getresgid "
    "getresgid32 getgroups getgroups32 setuid setuid32 setgid setgid32 setreuid setreuid32 setregid setregid32 "
    "setresuid setresuid32 setresgid setresgid32 setfsuid setfsuid32 setfsgid setfsgid32 setgroups setgroups32 "
    "capget capset seccomp landlock_create_ruleset landlock_add_rule landlock_restrict_self";

// Scheduling and limits: cgroups bound what the whole container takes.
constexpr Names kLimits =
    "sched_yield sched_getaffinity sched_setaffinity sched_getparam sched_setparam sched_getscheduler "
    "sched_setscheduler sched_getattr sched_setattr sched_get_priority_max sched_get_priority_min "
    "sched_rr_get_interval sched_rr_get_interval_time64 getpriority setpriority nice ioprio_get ioprio_set "
    "getrlimit ugetrlimit setrlimit prlimit64 getrusage times getcpu";

constexpr Names kSignals =
    "rt_sigaction rt_sigprocmask rt_sigpending rt_sigreturn rt_sigsuspend rt_sigtimedwait rt_sigtimedwait_time64 "
    "rt_sigqueueinfo rt_tgsigqueueinfo sigaction sigprocmask sigpending sigreturn sigsuspend signal sigaltstack "
    "kill tkill tgkill pause alarm getitimer setitimer";

// Reading clocks and waiting for them. adjtimex and clock_adjtime report the clock's state; setting
// needs CAP_SYS_TIME, which the kernel asks for.
constexpr Names kTime =
    "time gettimeofday clock_gettime clock_gettime64 clock_getres clock_getres_time64 nanosleep clock_nanosleep "
    "clock_nanosleep_time64 timer_create timer_delete timer_getoverrun timer_gettime timer_gettime64 "
    "timer_settime timer_settime64 adjtimex clock_adjtime clock_adjtime64";

// Sockets, once made: see kFamilies.
constexpr Names kSockets =
    "socketpair bind connect listen accept accept4 getsockname getpeername send sendto sendmsg sendmmsg recv "
    "recvfrom recvmsg recvmmsg recvmmsg_time64 shutdown getsockopt setsockopt";

// System V and POSIX queues, semaphores and shared memory: of the ipc namespace.
constexpr Names kIpc =
    "ipc shmget shmat shmdt shmctl semget semop semtimedop semtimedop_time64 semctl msgget msgsnd msgrcv msgctl "
    "mq_open mq_unlink mq_timedsend mq_timedsend_time64 mq_timedreceive mq_timedreceive_time64 mq_notify "
    "mq_getsetattr";

constexpr Names kSystem = "uname sysinfo getrandom";

// Calls that serve whoever runs the machine. Each is allowed with its capability, as `tare box`
// gives none of them, and fails with EPERM without: the caller shall know that it is forbidden.
struct Privileged {
  Names capabilities;  // any of them
  Names names;
};
constexpr Privileged kPrivileged[] = {
    // Reaches any file of a mounted file system by its inode: the way out that "shocker" took.
    {"CAP_DAC_READ_SEARCH", "open_by_handle_at"},
    // Mounts and namespaces: each new user namespace opens parts of the kernel that were written
    // for root alone, and most of its privilege escalations of late began there.
    {"CAP_SYS_ADMIN",
     "mount umount umount2 pivot_root open_tree move_mount fsopen fsconfig fsmount fspick mount_setattr setns"},
    // The whole system's names, quotas, event queues.
    {"CAP_SYS_ADMIN", "sethostname setdomainname quotactl quotactl_fd fanotify_init lookup_dcookie swapon swapoff"},
    {"CAP_SYS_ADMIN CAP_BPF", "bpf"},
    {"CAP_SYS_ADMIN CAP_PERFMON", "perf_event_open"},
    // The host's kernel log: addresses, and what other containers did.
    {"CAP_SYSLOG CAP_SYS_ADMIN", "syslog"},
    {"CAP_SYS_BOOT", "reboot kexec_load kexec_file_load"},
    {"CAP_SYS_CHROOT", "chroot"},
    {"CAP_SYS_MODULE", "init_module finit_module delete_module create_module query_module"},
    {"CAP_SYS_PACCT", "acct"},
    {"CAP_SYS_PTRACE", "kcmp process_madvise"},
    {"CAP_SYS_RAWIO", "iopl ioperm"},
    {"CAP_SYS_TIME", "clock_settime clock_settime64 settimeofday stime"},
    {"CAP_SYS_TTY_CONFIG", "vhangup"},
    // With no capability at all: they reach other processes' memory, stop the kernel half way, or
    // are leftovers that nothing needs and few have looked at for years.
    {"", "move_pages migrate_pages userfaultfd vmsplice uselib ustat sysfs nfsservctl bdflush vm86 vm86old"},
};

// Address families a program may open sockets of: this machine's processes, IP, and the kernel's
// own messages. The others are refused as a kernel without them would (EAFNOSUPPORT): AF_ALG,
// AF_VSOCK, AF_CAN, AF_RDS and the like are seldom needed and were the entrance of many an exploit.
constexpr int kFamilies[] = {AF_UNIX, AF_INET, AF_INET6};
constexpr std::uint64_t kAuditProtocol = 9;  // NETLINK_AUDIT

constexpr std::uint64_t kNewNamespaces =
    CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;
constexpr std::uint64_t kNewTime = 0x80;  // CLONE_NEWTIME: of unshare only, clone reads a signal there
#ifdef __s390x__
constexpr std::uint32_t kCloneFlags = 1;  // there the stack comes first
#else
constexpr std::uint32_t kCloneFlags = 0;
#endif

// personality(2): Linux, 32-bit machine names, and version 2.6, for old programs; the last one
// asks. Not ADDR_NO_RANDOMIZE and READ_IMPLIES_EXEC, which weaken what runs afterwards.
constexpr std::uint64_t kPersonalities[] = {0, 0x8, 0x20000, 0x20008, 0xFFFFFFFF};

class Maker {
 public:
  explicit Maker(std::uint64_t capabilities) : capabilities_(capabilities) {
    profile_.default_action = "SCMP_ACT_ERRNO";
    profile_.default_errno_ret = ENOSYS;
#if defined(__x86_64__)
    // Without x32: kernels are built without it, and it is one more table of entries.
    profile_.architectures = {"SCMP_ARCH_X86_64", "SCMP_ARCH_X86"};
#elif defined(__aarch64__)
    profile_.architectures = {"SCMP_ARCH_AARCH64", "SCMP_ARCH_ARM"};
#endif
  }

  bool holds(Names capabilities) const {
    for (const std::string_view name : split(capabilities, ' ')) {
      const std::optional<int> number = oci::capability_number(name);
      if (number && ((capabilities_ >> *number) & 1) != 0) return true;
    }
    return false;
  }

  void allow(Names names, std::vector<oci::SeccompArg> args = {}) { add(names, "SCMP_ACT_ALLOW", {}, std::move(args)); }
  void refuse(Names names, std::uint32_t errno_ret, std::vector<oci::SeccompArg> args = {}) {
    add(names, "SCMP_ACT_ERRNO", errno_ret, std::move(args));
  }

  void namespaces() {
    if (holds("CAP_SYS_ADMIN")) {
      allow("clone clone3 unshare");
      return;
    }
    // clone3's flags lie behind a pointer; told ENOSYS (the default), libcs use clone.
    allow("clone", {{kCloneFlags, kNewNamespaces, 0, "SCMP_CMP_MASKED_EQ"}});
    allow("unshare", {{0, kNewNamespaces | kNewTime, 0, "SCMP_CMP_MASKED_EQ"}});
    // Everything else of the two is a call that exists, but is forbidden.
    for (std::uint64_t bit = 1; bit <= kNewNamespaces; bit <<= 1) {
      if ((kNewNamespaces & bit) != 0) refuse("clone", EPERM, {{kCloneFlags, bit, bit, "SCMP_CMP_MASKED_EQ"}});
      if (((kNewNamespaces | kNewTime) & bit) != 0) refuse("unshare", EPERM, {{0, bit, bit, "SCMP_CMP_MASKED_EQ"}});
    }
  }

  // Must come before any other rule about sockets: libseccomp turns a rule on socket's arguments into
  // one on socketcall without them, which would let 32-bit code open any family (or clash with the
  // next rule), unless a rule on all of socketcall is there already.
  void socketcall() {
    // Its arguments lie behind a pointer. 32-bit programs of musl and newer libcs use the calls
    // themselves; those of Debian's glibc have no sockets in a box.
    refuse("socketcall", EAFNOSUPPORT);
  }

  void sockets() {
    const auto family = [](int f) { return oci::SeccompArg{0, static_cast<std::uint64_t>(f), 0, "SCMP_CMP_EQ"}; };
    for (const int f : kFamilies) allow("socket", {family(f)});
    // The audit log is one for the whole machine.
    if (holds("CAP_AUDIT_WRITE CAP_AUDIT_CONTROL")) {
      allow("socket", {family(AF_NETLINK)});
    } else {
      allow("socket", {family(AF_NETLINK), {2, kAuditProtocol, 0, "SCMP_CMP_NE"}});
      refuse("socket", EINVAL, {family(AF_NETLINK), {2, kAuditProtocol, 0, "SCMP_CMP_EQ"}});
    }
    const bool raw = holds("CAP_NET_RAW");
    if (raw) allow("socket", {family(AF_PACKET)});
    for (int f = 0; f < AF_PACKET; ++f) {
      if (f != AF_UNIX && f != AF_INET && f != AF_INET6 && f != AF_NETLINK) refuse("socket", EAFNOSUPPORT, {family(f)});
    }
    refuse("socket", EAFNOSUPPORT, {{0, static_cast<std::uint64_t>(raw ? AF_PACKET : AF_NETLINK), 0, "SCMP_CMP_GT"}});
  }

  void privileged() {
    for (const Privileged& group : kPrivileged) {
      if (holds(group.capabilities)) {
        allow(group.names);
      } else {
        refuse(group.names, EPERM);
      }
    }
  }

  void personalities() {
    for (const std::uint64_t p : kPersonalities) allow("personality", {{0, p, 0, "SCMP_CMP_EQ"}});
  }

  oci::Seccomp take() { return std::move(profile_); }

 private:
  void add(Names names, std::string_view action, std::optional<std::uint32_t> errno_ret,
           std::vector<oci::SeccompArg> args) {
    oci::SeccompRule rule;
    for (const std::string_view name : split(names, ' ')) rule.names.emplace_back(name);
    rule.action = action;
    rule.errno_ret = errno_ret;
    rule.args = std::move(args);
    profile_.syscalls.push_back(std::move(rule));
  }

  std::uint64_t capabilities_;
  oci::Seccomp profile_;
};

}  // namespace

oci::Seccomp default_profile(std::uint64_t capabilities) {
  Maker maker(capabilities);
  maker.socketcall();
  for (const Names group :
       {kFiles, kWaiting, kMemory, kProcesses, kIdentity, kLimits, kSignals, kTime, kSockets, kIpc, kSystem}) {
    maker.allow(group);
  }
  maker.namespaces();
  maker.sockets();
  maker.personalities();
  maker.privileged();
  return maker.take();
}

}  // namespace tare::seccomp
