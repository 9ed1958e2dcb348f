# The workloads, as tare weigh does them in places: which can be done where, and that nothing is left
# behind. What each does and how it fails is tested by build/dev/tests/kernel_lab_work.
#
#   TARE_PROGRAMS   the folder with tare, tare-weigh and tare-work (default: build/release)

CLOSE='3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-'

setup() {
  PROGRAMS=${TARE_PROGRAMS:-$BATS_TEST_DIRNAME/../../build/release}
  PROGRAMS=$(cd "$PROGRAMS" && pwd)
  WEIGH=$PROGRAMS/tare-weigh
  local program
  for program in tare tare-weigh tare-work; do
    [ -x "$PROGRAMS/$program" ] || { echo "missing program: $PROGRAMS/$program" >&2; return 1; }
  done
  for program in ps jq ipcs; do
    command -v $program >/dev/null || { echo "missing program: $program" >&2; return 1; }
  done
  [ "$(id -u)" = 0 ] || { echo "these tests need root" >&2; return 1; }
  W=$(mktemp -d /tmp/tare-lab.XXXXXX)
  cd "$W"
  PID=
}

teardown() {
  [ -z "$PID" ] || kill -KILL "$PID" 2>/dev/null || true
  cd /
  rm -rf "$W"
}

# Starts a run in the background; waits until it has taken samples.
begin() {
  eval 'setsid "$WEIGH" -o samples "$@" >out 2>err' "$CLOSE" '&'
  PID=$!
  local i
  for i in $(seq 600); do
    grep -q '"record":"sample"' samples 2>/dev/null && return 0
    kill -0 $PID || break
    sleep 0.1
  done
  cat err
  return 1
}

# Everything that workers of the laboratory with pid $1 could leave on this machine.
left_of() {
  local here key
  here=$(stat -Lc %i /proc/self/ns/pid)
  find /sys/fs/cgroup -type d -name "tare-weigh.$1.*.$here" 2>/dev/null
  find /sys/fs/cgroup -maxdepth 2 -name 'place*.idle' -o -maxdepth 2 -name 'place*.start'
  find /run -maxdepth 1 -name "tare-weigh.$1.*.$here"
  find /tmp /dev/shm /dev/mqueue "$W" -maxdepth 1 -name "tare-work.$1" 2>/dev/null
  key=$(printf '0x%08x' $((0x7A000000 | $1)))
  ipcs -q -s -m | grep "^$key"
  true
}

nothing_left_within_five_seconds() {
  local i
  for i in $(seq 50); do
    [ -z "$(left_of "$1")" ] && return 0
    sleep 0.1
  done
  left_of "$1"
  return 1
}

interrupted() {
  kill -INT $PID
  wait $PID || [ $? = 1 ]
  nothing_left_within_five_seconds $PID
  PID=
}

# The pid of the container that the workers of the first place enter; there is none between two launches.
idle_pid() {
  local i pid
  for i in $(seq 100); do
    pid=$("$PROGRAMS/tare" --root /run/tare-weigh.$PID.*/place0/state state idle 2>/dev/null | jq .pid) || true
    [ "${pid:-0}" = 0 ] || break
    sleep 0.05
  done
  [ "$(cat "/proc/$pid/comm")" = sleep ] && echo "$pid"
}

# A zombie is gone as soon as whoever adopted it looks.
gone_within_five_seconds() {
  local i
  for i in $(seq 50); do
    [ -e "/proc/$1" ] || return 0
    sleep 0.1
  done
  cat "/proc/$1/status"
  return 1
}

@test "every workload works bare, in each namespace and in the default container, or says why not" {
  # Rehearsed is each workload in each place; what can't be done there is written down before the first sample.
  begin --time 3000 --batch 0.1ms --rounds 2 --workloads all,host
  interrupted
  jq -c 'select(.record == "absence") | [.place, .workload, .reason]' samples | sort >absences
  cat absences
  # Names of a uts namespace that another user namespace owns can't be set, nor without CAP_SYS_ADMIN; ps doesn't
  # find itself in a /proc of another pid namespace, nor does tare its container there, except by luck; tare sees neither
  # itself nor its state in a container of tare's.
  grep -v container- absences >of_the_worker
  cat >expected <<'END'
["container","sethostname","sethostname: operation not permitted"]
["pid","ps","ps: exit status 1"]
["user","sethostname","sethostname: operation not permitted"]
END
  diff expected of_the_worker
  jq -r 'select(.record == "absence" and (.workload | startswith("container-")) and .place != "pid") | .place' samples | sort | uniq -c >places
  printf '%7d %s\n' 2 container 2 user | diff - places
  # All were calibrated.
  head -1 samples | jq -e '[.experiment.workloads[] | .count > 0] | length > 50 and all' >/dev/null
  # The lists of what they can enter name places (the default ones; those of layers come with their places).
  head -1 samples | jq -e '[.experiment.workloads[].enters[]] | unique | contains(
    ["cgroup", "ipc", "mnt", "net", "pid", "time", "user", "uts"])' >/dev/null
}

@test "a program that is not installed costs its workload, not the run" {
  local folder=$W/bin
  mkdir "$folder"
  run eval 'PATH=$folder "$WEIGH" --time 3 --batch 1ms --rounds 2 --places uts --workloads ps,syscall -o samples' "$CLOSE"
  echo "$output"
  [ "$status" = 0 ]
  [[ "$output" == *"ps (ps -xaf of the place): not weighed"* ]]
  grep -qE '^  uts +not weighed: bare: ps: not found \(exit status 127\)$' <<<"$output"
  [[ "$output" == *"syscall (getppid): "*" each in bare"* ]]
  run eval 'PATH=$folder "$WEIGH" --time 3 --batch 1ms --rounds 2 --places uts --workloads ps -o samples2' "$CLOSE"
  [ "$status" = 125 ]
  [[ "$output" == *"ps in bare: ps: not found (exit status 127)"* ]]
}

@test "a worker says how many processes its /proc shows, and what file system its files are on" {
  begin --time 3000 --batch 0.1ms --rounds 2 --places pid,container --workloads proc-walk,copy-256
  interrupted
  jq -r 'select(.record == "worker" and .launch == 0) | .place + " " + (.says | capture("pids=(?<n>[0-9]+)").n) + " " +
    (.says | capture("files_on=(?<n>[0-9]+)").n)' samples | sort >says
  cat says
  # In a pid namespace alone the host's /proc is still there; the container has its own, with the worker only.
  grep -q '^container 1 16914836$' says # TMPFS_MAGIC
  [ "$(awk '$1 == "pid" { print ($2 > 1) }' says)" = 1 ]
  [ "$(awk '$1 == "bare" { print $3 }' says)" = "$(stat -f -c %t /tmp | { read -r t; echo $((16#$t)); })" ]
}

@test "SIGKILL of tare-weigh leaves no queue, semaphore, folder or file of its workers" {
  local workload
  for workload in sysv-msg sysv-sem sysv-shm posix-shm mq-open stat-16 create-4 copy-1024; do
    rm -f samples
    # Long batches: the kill comes in the middle of one.
    begin --time 3000 --batch 300ms --rounds 2 --places uts --workloads $workload
    kill -KILL $PID
    wait $PID || true
    nothing_left_within_five_seconds $PID
    PID=
  done
}

@test "SIGKILL of tare-weigh and its watcher: the next run removes what is left" {
  begin --time 3000 --batch 300ms --rounds 2 --places uts --workloads sysv-msg,sysv-sem,stat-16
  local killed=$PID
  pkill -KILL -x -P $PID tare-weigh-watc
  kill -KILL $PID
  wait $PID || true
  [ -n "$(left_of $killed)" ]
  rm samples
  begin --time 3000 --batch 1ms --rounds 2 --places uts --workloads syscall
  interrupted
  [ -z "$(left_of $killed)" ]
}

@test "containers that are started and entered are ended with the run, however it ends" {
  begin --time 3000 --batch 100ms --rounds 2 --places cgroup --workloads host
  local idle
  idle=$(idle_pid)
  kill -KILL $PID
  wait $PID || true
  nothing_left_within_five_seconds $PID
  gone_within_five_seconds "$idle"
  rm samples
  begin --time 3000 --batch 100ms --rounds 2 --places cgroup --workloads host
  idle=$(idle_pid)
  interrupted
  gone_within_five_seconds "$idle"
}

@test "tare-work is small, static and runs nothing before main" {
  [ "$(stat -c %s "$PROGRAMS/tare-work")" -lt 1200000 ]
  run readelf -lW "$PROGRAMS/tare-work"
  [[ "$output" != *INTERP* ]]
  run nm "$PROGRAMS/tare-work"
  [[ "$output" == *" main"* ]]
  # One that libstdc++ brings for exceptions, none of tare's.
  [ "$(grep -c '_GLOBAL__sub_I' <<<"$output")" -le 1 ]
}
