# The seccomp filter of config.json: what is allowed, denied, and how.
load ../lib/common

# filter DEFAULT RULES...
filter() { config '.linux.seccomp = {"defaultAction": $d, "architectures": ["SCMP_ARCH_X86_64", "SCMP_ARCH_X86", "SCMP_ARCH_X32", "SCMP_ARCH_AARCH64"], "syscalls": $r}' --arg d "$1" --argjson r "$2"; }
GETPPID=110 MKDIR=83 PERSONALITY=135 GETPGRP=111

more_setup_file() {
  [ "$(uname -m)" = x86_64 ] || { echo "the numbers in this file are x86_64's" >&2; return 1; }
}

@test "none: no filter" {
  see
  expect '.seccomp == 0'
}

@test "a denied call gives its errno, the default one and a named one; others work" {
  filter SCMP_ACT_ALLOW '[{"names": ["mkdir"], "action": "SCMP_ACT_ERRNO"}, {"names": ["getpgrp"], "action": "SCMP_ACT_ERRNO", "errnoRet": 42}]'
  see mkdir:/tmp/x sys:$GETPGRP sys:$GETPPID
  expect '.seccomp == 2' 't("mkdir:/tmp/x") == "EPERM"' 't("sys:111") == "ENOMSG"' 't("sys:110") == "ok"'
}

@test "default deny: what is listed works, with defaultErrnoRet for the rest" {
  filter SCMP_ACT_ALLOW '[{"names": ["personality"], "action": "SCMP_ACT_ERRNO", "errnoRet": 1}]'
  # A list that lets peek run: everything but mkdir.
  local names
  names=$(ausyscall x86_64 --dump 2>/dev/null | awk 'NR > 1 && $2 != "mkdir" {print $2}' | jq -Rnc '[inputs]') || true
  if [ -z "$names" ] || [ "$names" = '[]' ]; then
    names=$(jq -nc '"read write open openat close stat fstat lstat newfstatat poll lseek mmap mprotect munmap brk rt_sigaction rt_sigprocmask rt_sigreturn ioctl pread64 access faccessat faccessat2 pipe pipe2 sched_yield mincore madvise dup dup2 getpid sendfile socket clone clone3 fork vfork execve exit wait4 kill uname fcntl getcwd chdir readlink readlinkat getrlimit setrlimit prlimit64 getuid getgid geteuid getegid getppid getpgrp setsid getpgid getsid getgroups getresuid getresgid capget capset umask sigaltstack personality statfs fstatfs getpriority sched_getscheduler sched_getaffinity prctl arch_prctl gettid futex set_tid_address set_robust_list rseq getrandom keyctl ioprio_get getdents64 exit_group nanosleep clock_nanosleep clock_gettime setuid setgid setgroups setresuid setresgid close_range execveat openat2 statx fchdir fchown write writev sendmsg recvmsg tgkill restart_syscall" | split(" ")')
  fi
  config '.linux.seccomp = {"defaultAction": "SCMP_ACT_ERRNO", "defaultErrnoRet": 39, "syscalls": [{"names": $n, "action": "SCMP_ACT_ALLOW"}]}' --argjson n "$names"
  see mkdir:/tmp/x sys:$GETPPID
  expect 't("mkdir:/tmp/x") == "ENOTEMPTY"' 't("sys:110") == "ok"'
}

@test "a call newer than every listed one gives ENOSYS, so that programs fall back" {
  # 462 is a call no list here names.
  config '.linux.seccomp = {"defaultAction": "SCMP_ACT_ERRNO", "syscalls": [{"names": $n, "action": "SCMP_ACT_ALLOW"}]}' --argjson n "$(jq -nc '"read write open openat close stat fstat lstat newfstatat poll lseek mmap mprotect munmap brk rt_sigaction rt_sigprocmask rt_sigreturn ioctl pread64 access faccessat pipe pipe2 dup dup2 getpid clone clone3 fork vfork execve execveat exit wait4 kill uname fcntl getcwd chdir fchdir readlink getrlimit setrlimit prlimit64 getuid getgid geteuid getegid getppid getpgrp setsid getpgid getsid getgroups getresuid getresgid capget capset umask personality statfs getpriority sched_getscheduler sched_getaffinity prctl arch_prctl gettid futex set_tid_address set_robust_list rseq getrandom keyctl ioprio_get getdents64 exit_group nanosleep clock_nanosleep setuid setgid setgroups setresuid setresgid close_range statx fchown fstatfs" | split(" ")')"
  see sys:600 mkdir:/tmp/x
  expect 't("sys:600") == "ENOSYS"' 't("mkdir:/tmp/x") == "EPERM"'
}

@test "arguments: each operator" {
  filter SCMP_ACT_ALLOW '[
    {"names": ["personality"], "action": "SCMP_ACT_ERRNO", "errnoRet": 1, "args": [{"index": 0, "value": 11, "op": "SCMP_CMP_EQ"}]},
    {"names": ["personality"], "action": "SCMP_ACT_ERRNO", "errnoRet": 1, "args": [{"index": 0, "value": 4096, "valueTwo": 4096, "op": "SCMP_CMP_MASKED_EQ"}]},
    {"names": ["getpgrp"], "action": "SCMP_ACT_ERRNO", "errnoRet": 1, "args": [{"index": 1, "value": 100, "op": "SCMP_CMP_GT"}]},
    {"names": ["getppid"], "action": "SCMP_ACT_ERRNO", "errnoRet": 1, "args": [{"index": 0, "value": 5, "op": "SCMP_CMP_NE"}]}]'
  see sys:$PERSONALITY:11 sys:$PERSONALITY:8192 sys:$PERSONALITY:4096 sys:$GETPGRP:0:100 sys:$GETPGRP:0:101 sys:$GETPPID:5 sys:$GETPPID:6
  expect 't("sys:135:11") == "EPERM"' 't("sys:135:8192") == "ok"' 't("sys:135:4096") == "EPERM"' 't("sys:111:0:100") == "ok"' \
    't("sys:111:0:101") == "EPERM"' 't("sys:110:5") == "ok"' 't("sys:110:6") == "EPERM"'
}

@test "two arguments of one rule must both hold" {
  filter SCMP_ACT_ALLOW '[{"names": ["getpgrp"], "action": "SCMP_ACT_ERRNO", "args": [{"index": 0, "value": 1, "op": "SCMP_CMP_EQ"}, {"index": 1, "value": 2, "op": "SCMP_CMP_EQ"}]}]'
  see sys:$GETPGRP:1:2 sys:$GETPGRP:1:3 sys:$GETPGRP:0:2
  expect 't("sys:111:1:2") == "EPERM"' 't("sys:111:1:3") == "ok"' 't("sys:111:0:2") == "ok"'
}

@test "two conditions on one argument are alternatives, as in runc" {
  filter SCMP_ACT_ALLOW '[{"names": ["getpgrp"], "action": "SCMP_ACT_ERRNO", "args": [{"index": 0, "value": 1, "op": "SCMP_CMP_EQ"}, {"index": 0, "value": 2, "op": "SCMP_CMP_EQ"}]}]'
  see sys:$GETPGRP:1 sys:$GETPGRP:2 sys:$GETPGRP:3
  expect 't("sys:111:1") == "EPERM"' 't("sys:111:2") == "EPERM"' 't("sys:111:3") == "ok"'
}

@test "kill: the program dies of SIGSYS" {
  filter SCMP_ACT_ALLOW '[{"names": ["getpgrp"], "action": "SCMP_ACT_KILL_PROCESS"}]'
  set_args /bin/peek -q sys:$GETPGRP
  go run --bundle "$B" "$ID"
  seen=$out
  expect 't("sys:111") == "signal 31"'
}

@test "trap, trace, log" {
  filter SCMP_ACT_ALLOW '[{"names": ["getpgrp"], "action": "SCMP_ACT_TRAP"}, {"names": ["personality"], "action": "SCMP_ACT_TRACE"}, {"names": ["getppid"], "action": "SCMP_ACT_LOG"}]'
  set_args /bin/peek -q sys:$GETPGRP sys:$PERSONALITY:0 sys:$GETPPID
  go run --bundle "$B" "$ID"
  ok
  seen=$out
  expect 't("sys:111") == "signal 31"' 't("sys:135:0") == "ENOSYS"' 't("sys:110") == "ok"'
}

@test "unknown names are passed over; a rule equal to the default is no error" {
  filter SCMP_ACT_ALLOW '[{"names": ["no_such_call", "mkdir"], "action": "SCMP_ACT_ERRNO"}, {"names": ["read"], "action": "SCMP_ACT_ALLOW"}]'
  see mkdir:/tmp/x
  expect 't("mkdir:/tmp/x") == "EPERM"'
}

@test "an unknown action, operator, architecture, flag; no defaultAction; errnoRet where it cannot be: refused" {
  filter SCMP_ACT_NOSUCH '[]'
  refused 'SCMP_ACT_NOSUCH|defaultAction'
  filter SCMP_ACT_ALLOW '[{"names": ["mkdir"], "action": "SCMP_ACT_NOSUCH"}]'
  refused 'SCMP_ACT_NOSUCH|action'
  filter SCMP_ACT_ALLOW '[{"names": ["mkdir"], "action": "SCMP_ACT_ERRNO", "args": [{"index": 0, "value": 1, "op": "SCMP_CMP_NOSUCH"}]}]'
  refused 'SCMP_CMP_NOSUCH|op'
  filter SCMP_ACT_ALLOW '[]'
  config '.linux.seccomp.architectures = ["SCMP_ARCH_NOSUCH"]'
  refused 'SCMP_ARCH_NOSUCH|arch'
  filter SCMP_ACT_ALLOW '[]'
  config '.linux.seccomp.flags = ["SECCOMP_FILTER_FLAG_NOSUCH"]'
  refused 'FLAG_NOSUCH|flag'
  filter SCMP_ACT_ALLOW '[]'
  config 'del(.linux.seccomp.defaultAction)'
  refused 'defaultAction'
  filter SCMP_ACT_ALLOW '[{"names": [], "action": "SCMP_ACT_ERRNO"}]'
  refused 'names'
}

@test "flags: LOG and SPEC_ALLOW are accepted" {
  filter SCMP_ACT_ALLOW '[{"names": ["mkdir"], "action": "SCMP_ACT_ERRNO"}]'
  config '.linux.seccomp.flags = ["SECCOMP_FILTER_FLAG_LOG", "SECCOMP_FILTER_FLAG_SPEC_ALLOW"]'
  see mkdir:/tmp/x
  expect 't("mkdir:/tmp/x") == "EPERM"' '.seccomp == 2'
}

@test "without noNewPrivileges the filter holds all the same, also for a user" {
  filter SCMP_ACT_ALLOW '[{"names": ["mkdir"], "action": "SCMP_ACT_ERRNO"}]'
  config '.process.noNewPrivileges = false | .process.user = {"uid": 1000, "gid": 1000}'
  see mkdir:/tmp/x
  expect 't("mkdir:/tmp/x") == "EPERM"' '.nnp == 0' '.seccomp == 2' '.uid[0] == 1000'
}

@test "exec gets the filter too" {
  filter SCMP_ACT_ALLOW '[{"names": ["mkdir"], "action": "SCMP_ACT_ERRNO"}]'
  running
  see_exec -- mkdir:/tmp/x
  expect 't("mkdir:/tmp/x") == "EPERM"' '.seccomp == 2'
}

@test "a filter that forbids what the runtime itself needs before the program: only the program is bound" {
  filter SCMP_ACT_ALLOW '[{"names": ["mount", "pivot_root", "setuid", "setgid", "setresuid", "setresgid", "setgroups", "sethostname", "unshare", "openat2", "chdir", "umask", "capset", "close_range"], "action": "SCMP_ACT_KILL_PROCESS"}]'
  set_args /bin/peek -q print:alive
  go run --bundle "$B" "$ID"
  ok
  same "$out" alive
}

# A runtime that does not do NOTIFY must refuse it by name and leave it out of its features.
no_notify() {
  rt features | jq -e '.linux.seccomp.actions | index("SCMP_ACT_NOTIFY") == null' >/dev/null || return 1
  refused 'NOTIFY|listener'
}

@test "notify: the listener gets the descriptor and the state, and answers" {
  config '.linux.seccomp = {"defaultAction": "SCMP_ACT_ALLOW", "listenerPath": $p, "listenerMetadata": "some words", "syscalls": [{"names": ["mkdir"], "action": "SCMP_ACT_NOTIFY"}]}' --arg p "$W/agent.sock"
  if no_notify; then return; fi
  eval '"$HELPERS/tool" notify "$W/agent.sock" 122 >"$W/agent.out" 2>"$W/agent.err"' "$CLOSE" &
  until_true test -S "$W/agent.sock"
  see mkdir:/tmp/x
  wait
  expect 't("mkdir:/tmp/x") == "EDQUOT"'
  seen=$(cat "$W/agent.out")
  expect '.fds == ["seccompFd"]' '.pid > 0' '.metadata == "some words"' '.state.id == "'"$ID"'"' '.state.bundle == "'"$B"'"'
}

@test "notify: nobody listens is refused and leaves nothing; unused, the path is ignored" {
  config '.linux.seccomp = {"defaultAction": "SCMP_ACT_ALLOW", "listenerPath": $p, "syscalls": [{"names": ["mkdir"], "action": "SCMP_ACT_NOTIFY"}]}' --arg p "$W/none.sock"
  if no_notify; then return; fi
  refused 'none.sock|listener|seccomp' run --bundle "$B" "$ID"
  config '.linux.seccomp.syscalls[0].action = "SCMP_ACT_ERRNO"'
  see mkdir:/tmp/x
  expect 't("mkdir:/tmp/x") == "EPERM"'
}
