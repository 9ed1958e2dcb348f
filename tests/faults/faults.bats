# create fails, and is killed, at each of its system calls in turn; delete --force then leaves nothing.
# run --detach too, whose child goes on to the program, so that what confines it is tried as well.
# FAULT_ERRNOS: the errnos to inject (default EIO); each is one more pass.
load ../lib/common

more_setup_file() {
  [ -x "$HELPERS/fault" ] || { echo "missing program: $HELPERS/fault" >&2; return 1; }
}

# A bundle that makes the runtime use most of its mechanisms.
rich() {
  config '.linux.cgroupsPath = $g + "/%ID" | .root.readonly = true | .domainname = "d"
    | .linux.resources = {"devices": [{"allow": false, "access": "rwm"}], "pids": {"limit": 100}, "memory": {"limit": 100000000}, "cpu": {"shares": 512}}
    | .linux.sysctl = {"net.ipv4.ip_forward": "1"}
    | .process.rlimits = [{"type": "RLIMIT_CORE", "soft": 0, "hard": 0}] | .process.oomScoreAdj = 500
    | .process.user = {"uid": 1000, "gid": 1000, "additionalGids": [5]}
    | .linux.seccomp = {"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["mkdir"], "action": "SCMP_ACT_ERRNO"}]}' --arg g "$GROUP"
}

sweep_create() { drive create "$@"; }
# drive VERB OPTION...: of the driver's.
drive() {
  local verb=$1
  shift
  set_args /bin/peek -q hold
  # The id is in the cgroup's path only where the driver can look for it: the path is the runtime's own choice here.
  config 'del(.linux.cgroupsPath)'
  mkdir -p "$STATE"
  eval '"$HELPERS/fault" --watch "$STATE" --watch "$B" --delete "$RUNTIME --root $STATE delete --force %ID" "$@" -- \
    "$RUNTIME" --root "$STATE" $verb --bundle "$B" --pid-file "$W/pid" %ID >"$W/report" 2>&1' "$CLOSE" || {
    tail -n 60 "$W/report" >&2
    return 1
  }
  sed 's/^/# /' "$W/report" >&3
}

@test "an error at each system call of create, in the parent and in the child" {
  rich
  sweep_create --mode errors --errno "${FAULT_ERRNOS:-EIO}"
}

@test "SIGKILL at each system call of create, to the parent and to the child" {
  rich
  sweep_create --mode kills
}

@test "the same in a user namespace" {
  config '.linux.namespaces += [{"type": "user"}] | .linux.uidMappings = [{"containerID": 0, "hostID": 100000, "size": 65536}] | .linux.gidMappings = .linux.uidMappings'
  find "$B/rootfs" -type d -exec chown 100000:100000 {} +
  sweep_create --errno "${FAULT_ERRNOS:-EIO}"
}

@test "run: an error at each system call up to the program, and SIGKILL" {
  rich
  drive 'run --detach' --errno "${FAULT_ERRNOS:-EIO}"
}
