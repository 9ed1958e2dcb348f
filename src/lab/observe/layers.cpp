#include "lab/observe/layers.hpp"

#include <sys/syscall.h>

#include <algorithm>
#include <iterator>

namespace tare::lab {

namespace {

using Names = std::vector<const char*>;

Names joined(std::initializer_list<Names> lists) {
  Names out;
  for (const Names& list : lists) out.insert(out.end(), list.begin(), list.end());
  return out;
}

// fs/namei.c: whoever walks a path asks for mounts, permissions and the file system's lookup.
const Names& path_calls() {
  static const Names names{"open",
                           "openat",
                           "openat2",
                           "creat",
                           "stat",
                           "lstat",
                           "newfstatat",
                           "statx",
                           "access",
                           "faccessat",
                           "faccessat2",
                           "readlink",
                           "readlinkat",
                           "execve",
                           "execveat",
                           "chdir",
                           "mkdir",
                           "mkdirat",
                           "rmdir",
                           "unlink",
                           "unlinkat",
                           "rename",
                           "renameat",
                           "renameat2",
                           "link",
                           "linkat",
                           "symlink",
                           "symlinkat",
                           "chmod",
                           "fchmodat",
                           "chown",
                           "lchown",
                           "fchownat",
                           "truncate",
                           "utimensat",
                           "mknod",
                           "mknodat",
                           "mount",
                           "umount2",
                           "statfs",
                           "mq_open",
                           "mq_unlink",
                           "name_to_handle_at"};
  return names;
}
// On a descriptor that may be of a file of the layer's.
const Names& descriptor_calls() {
  static const Names names{"read",   "write",     "pread64",    "pwrite64", "readv",
                           "writev", "fstat",     "getdents64", "mmap",     "sendfile",
                           "fsync",  "ftruncate", "fallocate",  "lseek",    "copy_file_range",
                           "fchmod", "fchown",    "fchdir",     "splice"};
  return names;
}
const Names& fork_calls() {
  static const Names names{"fork", "vfork", "clone", "clone3"};
  return names;
}
const Names& socket_calls() {
  static const Names names{"socket",   "socketpair", "bind",       "connect",     "listen",      "accept",
                           "accept4",  "sendto",     "recvfrom",   "sendmsg",     "recvmsg",     "sendmmsg",
                           "recvmmsg", "setsockopt", "getsockopt", "getsockname", "getpeername", "shutdown"};
  return names;
}
const Names& opened_calls() {  // of files of proc, say
  static const Names names{"open", "openat", "openat2"};
  return names;
}

std::vector<Layer> make_layers() {
  std::vector<Layer> out;
  // kernel/pid.c, kernel/pid_namespace.c, kernel/fork.c, kernel/signal.c; ipc keeps the last caller's pid.
  out.push_back(
      {{"pid"},
       joined({fork_calls(),
               {"wait4",
                "waitid",
                "kill",
                "tkill",
                "tgkill",
                "rt_sigqueueinfo",
                "getpid",
                "getppid",
                "gettid",
                "getpgid",
                "getpgrp",
                "setpgid",
                "getsid",
                "setsid",
                "pidfd_open",
                "sched_getaffinity",
                "sched_setaffinity",
                "setpriority",
                "getpriority",
                "prlimit64",
                "semop",
                "semtimedop",
                "semctl",
                "msgsnd",
                "msgrcv",
                "msgctl",
                "shmat",
                "shmdt",
                "shmctl"}}),
       joined({opened_calls(), {"fcntl", "getsockopt", "recvmsg", "mq_notify", "timer_create", "process_vm_readv"}}),
       false,
       {"task/task_newtask", "sched/sched_process_exit"},
       false,
       {"alloc_pid", "free_pid", "pid_nr_ns", "pid_vnr", "__task_pid_nr_ns", "find_pid_ns", "find_vpid",
        "find_task_by_vpid", "change_pid", "proc_pid_readdir", "next_tgid"}});
  // fs/namespace.c, fs/namei.c.
  out.push_back({{"mnt", "mounts", "masked", "bind", "ro-bind", "idmap"},
                 path_calls(),
                 {},
                 false,
                 {},
                 false,
                 {"link_path_walk", "path_openat", "path_lookupat", "__lookup_mnt", "lookup_mnt", "step_into",
                  "mntput_no_expire", "mnt_want_write", "copy_mnt_ns"}});
  // kernel/sys.c, kernel/utsname_sysctl.c.
  out.push_back({{"uts"},
                 {"uname", "sethostname", "setdomainname"},
                 opened_calls(),
                 false,
                 {},
                 false,
                 {"__do_sys_newuname", "__x64_sys_newuname", "__do_sys_sethostname", "__x64_sys_sethostname",
                  "proc_do_uts_string"}});
  // ipc/.
  out.push_back({{"ipc"},
                 {"semget", "semop", "semtimedop", "semctl", "msgget", "msgsnd", "msgrcv", "msgctl", "shmget", "shmat",
                  "shmctl", "mq_open", "mq_unlink"},
                 joined({opened_calls(), {"shmdt"}}),
                 false,
                 {},
                 false,
                 {"ipcget", "ipc_obtain_object_check", "ipc_obtain_object_idr", "do_semtimedop", "do_msgsnd",
                  "do_msgrcv", "do_shmat", "do_mq_open", "ksys_semget", "ksys_msgget"}});
  // net/: what looks at sock_net(), or goes by an interface or a route. Local sockets are of a network namespace, too.
  out.push_back({{"net"},
                 socket_calls(),
                 joined({opened_calls(), {"read", "write", "readv", "writev", "ioctl", "sendfile", "splice"}}),
                 false,
                 {"sock/inet_sock_set_state", "sock/sock_send_length", "sock/sock_recv_length", "net/net_dev_queue",
                  "net/netif_rx"},
                 false,
                 {"sock_alloc_file", "inet_create", "unix_create", "tcp_sendmsg", "udp_sendmsg", "__dev_queue_xmit",
                  "ip_route_output_key_hash", "unix_find_other", "tcp_v4_rcv"}});
  out.push_back({{"veth", "bridge", "macvlan"},
                 {},
                 joined({socket_calls(), {"read", "write", "readv", "writev", "sendfile", "splice"}}),
                 true,
                 {"net/net_dev_start_xmit", "net/netif_rx"},
                 false,
                 {"veth_xmit", "br_handle_frame", "br_dev_xmit", "macvlan_start_xmit", "macvlan_handle_frame"}});
  // kernel/user_namespace.c, kernel/capability.c, security/commoncap.c: ids are mapped, capabilities asked for.
  out.push_back(
      {{"user"},
       joined({path_calls(),
               fork_calls(),
               {"fstat", "getuid", "geteuid", "getgid", "getegid", "getresuid", "getresgid", "getgroups", "setuid",
                "setgid", "setresuid", "setresgid", "setreuid", "setregid", "setgroups", "setfsuid", "fchown"}}),
       joined(
           {socket_calls(), {"kill", "tgkill", "semop", "semctl", "msgget", "semget", "shmget", "getdents64", "mmap"}}),
       false,
       {"capability/cap_capable"},
       false,
       {"map_id_range_down", "map_id_up", "make_kuid", "from_kuid", "ns_capable", "cap_capable",
        "inc_rlimit_ucounts"}});
  // kernel/cgroup/namespace.c: what shows a cgroup's path.
  out.push_back({{"cgroup"},
                 {},
                 joined({opened_calls(), {"mount", "read", "pread64", "clone3"}}),
                 false,
                 {},
                 false,
                 {"cgroup_path_ns", "cgroup_path_ns_locked", "proc_cgroup_show", "copy_cgroup_ns"}});
  // kernel/time/namespace.c. The vDSO answers without the kernel: nobody sees who reads it.
  out.push_back({{"time"},
                 {"clock_nanosleep", "timer_settime", "timerfd_settime", "clock_gettime", "sysinfo", "times"},
                 {},
                 true,
                 {},
                 false,
                 {"timens_on_fork", "do_timens_ktime_to_host", "timens_add_monotonic"}});
  // kernel/seccomp.c: at every system call.
  out.push_back({{"seccomp-0", "seccomp-20", "seccomp-400", "seccomp-default"},
                 {"*"},
                 {},
                 false,
                 {},
                 false,
                 {"__seccomp_filter", "__secure_computing", "seccomp_run_filters", "bpf_prog_run"}});
  // security/commoncap.c: cap_capable() is the only one that reads the sets; exec computes them anew.
  out.push_back({{"caps"},
                 {"execve", "execveat", "capget", "capset"},
                 {},
                 false,
                 {"capability/cap_capable"},
                 true,
                 {"cap_capable", "cap_bprm_creds_from_file"}});
  out.push_back({{"no-new-privs"},
                 {"execve", "execveat", "seccomp"},
                 {"prctl"},
                 false,
                 {},
                 false,
                 {"cap_bprm_creds_from_file", "bprm_creds_from_file"}});
  // fs/overlayfs/.
  out.push_back({{"overlay"},
                 path_calls(),
                 descriptor_calls(),
                 false,
                 {},
                 false,
                 {"ovl_lookup", "ovl_open", "ovl_permission", "ovl_getattr", "ovl_open_realfile", "ovl_read_iter",
                  "ovl_d_revalidate_common", "ovl_dentry_revalidate_common", "ovl_release"}});
  // kernel/cgroup/: forks are counted, memory is charged when and where the kernel allocates, the scheduler picks by
  // group.
  out.push_back(
      {{"cgroup-deeper", "limits", "limits-default"},
       fork_calls(),
       {},
       true,
       {"task/task_newtask", "kmem/mm_page_alloc", "sched/sched_switch"},
       false,
       {"cgroup_can_fork", "cgroup_post_fork", "pids_can_fork", "try_charge_memcg", "__memcg_slab_post_alloc_hook",
        "charge_memcg", "obj_cgroup_charge", "pick_next_task_fair", "throttle_cfs_rq"}});
  return out;
}

struct Call {
  const char* name;
  long number;
};
#define CALL(name) {#name, SYS_##name}
constexpr Call kCalls[] = {
    CALL(accept),
    CALL(accept4),
    CALL(bind),
    CALL(capget),
    CALL(capset),
    CALL(chdir),
    CALL(clock_gettime),
    CALL(clock_nanosleep),
    CALL(clone),
    CALL(clone3),
    CALL(connect),
    CALL(copy_file_range),
    CALL(execve),
    CALL(execveat),
    CALL(faccessat),
    CALL(faccessat2),
    CALL(fallocate),
    CALL(fchdir),
    CALL(fchmod),
    CALL(fchmodat),
    CALL(fchown),
    CALL(fchownat),
    CALL(fcntl),
    CALL(fstat),
    CALL(fsync),
    CALL(ftruncate),
    CALL(getdents64),
    CALL(getegid),
    CALL(geteuid),
    CALL(getgid),
    CALL(getgroups),
    CALL(getpeername),
    CALL(getpgid),
    CALL(getpid),
    CALL(getppid),
    CALL(getpriority),
    CALL(getresgid),
    CALL(getresuid),
    CALL(getsid),
    CALL(getsockname),
    CALL(getsockopt),
    CALL(gettid),
    CALL(getuid),
    CALL(ioctl),
    CALL(kill),
    CALL(linkat),
    CALL(listen),
    CALL(lseek),
    CALL(mkdirat),
    CALL(mknodat),
    CALL(mmap),
    CALL(mount),
    CALL(mq_notify),
    CALL(mq_open),
    CALL(mq_unlink),
    CALL(msgctl),
    CALL(msgget),
    CALL(msgrcv),
    CALL(msgsnd),
    CALL(name_to_handle_at),
    CALL(newfstatat),
    CALL(openat),
    CALL(openat2),
    CALL(pidfd_open),
    CALL(prctl),
    CALL(pread64),
    CALL(prlimit64),
    CALL(process_vm_readv),
    CALL(pwrite64),
    CALL(read),
    CALL(readlinkat),
    CALL(readv),
    CALL(recvfrom),
    CALL(recvmmsg),
    CALL(recvmsg),
    CALL(renameat),
    CALL(renameat2),
    CALL(rt_sigqueueinfo),
    CALL(sched_getaffinity),
    CALL(sched_setaffinity),
    CALL(seccomp),
    CALL(semctl),
    CALL(semget),
    CALL(semop),
    CALL(semtimedop),
    CALL(sendfile),
    CALL(sendmmsg),
    CALL(sendmsg),
    CALL(sendto),
    CALL(setdomainname),
    CALL(setfsuid),
    CALL(setgid),
    CALL(setgroups),
    CALL(sethostname),
    CALL(setpgid),
    CALL(setpriority),
    CALL(setregid),
    CALL(setresgid),
    CALL(setresuid),
    CALL(setreuid),
    CALL(setsid),
    CALL(setsockopt),
    CALL(setuid),
    CALL(shmat),
    CALL(shmctl),
    CALL(shmdt),
    CALL(shmget),
    CALL(shutdown),
    CALL(socket),
    CALL(socketpair),
    CALL(splice),
    CALL(statfs),
    CALL(statx),
    CALL(symlinkat),
    CALL(sysinfo),
    CALL(tgkill),
    CALL(timer_create),
    CALL(timer_settime),
    CALL(timerfd_settime),
    CALL(times),
    CALL(tkill),
    CALL(truncate),
    CALL(umount2),
    CALL(uname),
    CALL(unlinkat),
    CALL(utimensat),
    CALL(wait4),
    CALL(waitid),
    CALL(write),
    CALL(writev),
#ifdef SYS_open  // what younger architectures don't have
    CALL(access),
    CALL(chmod),
    CALL(chown),
    CALL(creat),
    CALL(fork),
    CALL(getpgrp),
    CALL(lchown),
    CALL(link),
    CALL(lstat),
    CALL(mkdir),
    CALL(mknod),
    CALL(open),
    CALL(readlink),
    CALL(rename),
    CALL(rmdir),
    CALL(stat),
    CALL(symlink),
    CALL(unlink),
    CALL(vfork),
#endif
};
#undef CALL

}  // namespace

long call_number(std::string_view name) {
  for (const Call& call : kCalls) {
    if (name == call.name) return call.number;
  }
  return -1;
}

std::string call_name(long number) {
  for (const Call& call : kCalls) {
    if (number == call.number) return call.name;
  }
  return std::to_string(number);
}

const Layer* find_layer(std::string_view name) {
  static const std::vector<Layer> layers = make_layers();
  for (const Layer& layer : layers) {
    if (std::any_of(layer.names.begin(), layer.names.end(), [&](const char* n) { return name == n; })) return &layer;
  }
  return nullptr;
}

}  // namespace tare::lab
