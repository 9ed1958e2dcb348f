#!/bin/bash
# tests/vm/inside.sh SHARE: what tests/vm/smoke.sh runs in the guest, as root on pure cgroup2. Prints TAP.
# SHARE holds tare and kernel_cgroup.
set -u
share=$1
# Nothing here takes long; what hangs is a failure and not the guest's time-out.
tare() { timeout -k 2 30 "$share/tare" --root /run/tare-smoke "$@"; }
cg=/sys/fs/cgroup
failed=0
# check NAME COMMAND...: one line of TAP; what the command printed goes behind a failure.
check() {
  local name=$1 out; shift
  if out=$("$@" 2>&1); then echo "ok - $name"
  else failed=1; echo "not ok - $name"; echo "$out" | head -8 | sed 's/^/#   /'; fi
}
is() { # WANTED COMMAND...: its output is WANTED
  local wanted=$1 got; shift
  got=$("$@" 2>&1); [ "$got" = "$wanted" ] || { echo "wanted: $wanted"; echo "got:    $got"; return 1; }
}
fails_with() { # STATUS PATTERN COMMAND...
  local wanted=$1 pattern=$2 out rc; shift 2
  out=$("$@" 2>&1); rc=$?
  [ $rc = "$wanted" ] && [[ $out == *$pattern* ]] || { echo "status $rc (wanted $wanted): $out"; return 1; }
}
status_of() { tare state "$1" | jq -r .status; }

only_cgroup2() { ! grep -q ' cgroup ' /proc/mounts && grep -qw memory $cg/cgroup.controllers; }
check "the machine has cgroup2 alone, with the memory controller" only_cgroup2

bundle=/var/tmp/smoke-bundle  # not below /tmp: a tmpfs with nodev, which denies devices too
mkdir -p $bundle/rootfs/{bin,dev,proc,sys,tmp}
cp /bin/busybox $bundle/rootfs/bin/
for name in sh true sleep cat echo dd mknod head; do ln -s busybox $bundle/rootfs/bin/$name; done
cd $bundle || exit 1
check "spec" tare spec
# No rlimits: not everybody may set them.
jq '.process.terminal = false | .process.args = ["/bin/sleep", "1000"] | del(.process.rlimits) | .root.readonly = false
  | .linux.cgroupsPath = "/smoke/c" | .linux.resources.pids.limit = 20
  | .linux.resources.memory = {limit: 67108864, swap: 67108864, reservation: 33554432}
  | .linux.resources.cpu = {shares: 512, quota: 50000, period: 100000}
  | .process.capabilities.bounding += ["CAP_MKNOD"] | .process.capabilities.effective += ["CAP_MKNOD"]
  | .process.capabilities.permitted += ["CAP_MKNOD"]' config.json >config.new && mv config.new config.json

create() { tare create --pid-file /tmp/smoke.pid "$1" </dev/null >/tmp/smoke.out 2>&1 || { cat /tmp/smoke.out; return 1; }; }
check "create" create c
check "state says created" is created status_of c
pid=$(cat /tmp/smoke.pid)
check "its process is in the cgroup" is 0::/smoke/c cat "/proc/$pid/cgroup"
check "start" tare start c
check "state says running" is running status_of c
check "memory.max" is 67108864 cat $cg/smoke/c/memory.max
check "memory.low" is 33554432 cat $cg/smoke/c/memory.low
check "memory.swap.max is swap alone" is 0 cat $cg/smoke/c/memory.swap.max
check "pids.max" is 20 cat $cg/smoke/c/pids.max
check "cpu.max" is "50000 100000" cat $cg/smoke/c/cpu.max
check "cpu.weight of 512 shares" is 59 cat $cg/smoke/c/cpu.weight

check "exec" is hello tare exec c /bin/echo hello
tare exec c /bin/sleep 1000 </dev/null >/dev/null 2>&1 & exec_pid=$!
# within SECONDS COMMAND...: until it succeeds.
within() {
  local tries=$(($1 * 10)); shift
  for ((; tries > 0; tries--)); do "$@" >/dev/null 2>&1 && return; sleep 0.1; done
  "$@"
}
two() { is 2 grep -c . $cg/smoke/c/cgroup.procs; }
check "exec's process is in the cgroup" within 10 two
check "exec's status" fails_with 7 "" tare exec c /bin/sh -c 'exit 7'
check "the limit of memory holds" fails_with 137 "" tare exec c /bin/dd if=/dev/zero of=/dev/null bs=200M count=1
oom_counted() { grep -qE '^oom_kill [1-9]' $cg/smoke/c/memory.events || { cat $cg/smoke/c/memory.events; return 1; }; }
check "the kill is counted" oom_counted
check "an allowed device" tare exec c /bin/sh -c '/bin/echo x >/dev/null && /bin/head -c 1 /dev/zero >/dev/null'
check "a device that is not allowed" fails_with 0 "not permitted" tare exec c /bin/sh -c \
  '/bin/mknod /tmp/kmsg c 1 11 && { /bin/head -c 1 /tmp/kmsg 2>&1 && exit 9; exit 0; }'
check "pause" tare pause c
check "state says paused" is paused status_of c
check "resume" tare resume c
check "state says running again" is running status_of c
tare pause c
check "exec in a paused one is refused" fails_with 255 "cannot exec in a paused container" tare exec c /bin/true
check "update of a paused one" tare update --pids-limit 25 c
check "which it stays" is paused status_of c
tare resume c
check "pids.max is the new one" is 25 cat $cg/smoke/c/pids.max

kept() { tail -n +2 /run/tare-smoke/c/state.json | jq -c ".linux.resources$1"; }
check "update" tare update --memory 96M --memory-swap 128M --memory-reservation 16M --cpu-share 1024 --cpu-quota 20000 \
  --cpu-burst 5000 --cpuset-cpus 0 --cpuset-mems 0 c
check "memory.max after it" is 100663296 cat $cg/smoke/c/memory.max
check "memory.swap.max after it" is 33554432 cat $cg/smoke/c/memory.swap.max
check "memory.low after it" is 16777216 cat $cg/smoke/c/memory.low
check "cpu.weight after it" is 100 cat $cg/smoke/c/cpu.weight
check "cpu.max after it: the period stays" is "20000 100000" cat $cg/smoke/c/cpu.max
check "cpu.max.burst after it" is 5000 cat $cg/smoke/c/cpu.max.burst
check "cpuset.cpus after it" is 0 cat $cg/smoke/c/cpuset.cpus
check "the kept configuration has it" is '{"limit":100663296,"reservation":16777216,"swap":134217728}' kept .memory
memory_alone() { tare update --memory 64M c && is 67108864 cat $cg/smoke/c/memory.swap.max; }
check "memory alone: the sum with swap stays" memory_alone
check "update that fails half-way" fails_with 1 linux.resources.cpu.cpus \
  tare update --memory 80M --cpu-quota 30000 --cpuset-cpus 4095 --pids-limit 9 c
check "is taken back: memory.max" is 67108864 cat $cg/smoke/c/memory.max
check "is taken back: cpu.max" is "20000 100000" cat $cg/smoke/c/cpu.max
check "is taken back: pids.max" is 25 cat $cg/smoke/c/pids.max
check "a limit that cgroup2 lacks is refused by name" fails_with 1 linux.resources.cpu.realtimeRuntime \
  tare update --cpu-rt-runtime 1000 c
from_stdin() {
  tare update -r - c <<<'{"pids": {"limit": 20}, "cpu": {"idle": 1}, "unified": {"memory.high": "50331648"}}' &&
    is "20 1 50331648" eval 'echo $(cat $cg/smoke/c/{pids.max,cpu.idle,memory.high})'
}
check "update from standard input, unified too" from_stdin
tare update -r - c <<<'{"cpu": {"idle": 0}, "unified": {"memory.high": "max"}}'
current_below() {
  local out
  out=$(echo '{"memory": {"limit": 4096, "swap": 4096, "checkBeforeUpdate": true}}' | tare update -r - c 2>&1) && return 1
  [[ $out == *linux.resources.memory.limit* ]] && is 67108864 cat $cg/smoke/c/memory.max
}
check "checkBeforeUpdate: below what is in use is refused" current_below
stats_are() {
  local out
  out=$(tare events --stats c) || return 1
  jq -e '.type == "stats" and .id == "c" and (.data | .memory.usage.limit == 67108864 and .memory.swap.limit == 134217728
    and .pids.limit == 20 and .cpu.usage.total > 0 and .memory.raw.anon > 0 and .cpuset.cpus == [0])' <<<"$out" >/dev/null ||
    { echo "$out"; return 1; }
}
check "events --stats" stats_are
oom_is_told() {
  tare events --interval 1h c >/tmp/events & local follower=$!
  within 10 eval 'ls -l /proc/[0-9]*/fd 2>/dev/null | grep -q memory.events' || return 1
  tare exec c /bin/dd if=/dev/zero of=/dev/null bs=200M count=1
  within 10 test -s /tmp/events
  kill $follower
  is '{"type":"oom","id":"c"}' head -1 /tmp/events
}
check "events: out of memory" oom_is_told

check "delete refuses a running container" fails_with 1 "" tare delete c
tare pause c
check "delete refuses a paused one" fails_with 1 paused tare delete c
check "kill, of a paused one" tare kill c KILL
check "state says stopped" within 10 is stopped status_of c
wait $exec_pid
check "delete" tare delete c
check "state knows it no more" fails_with 1 "does not exist" tare state c
gone() { [ ! -e $cg/smoke ] || { find $cg/smoke; return 1; }; }
check "its cgroups are gone" gone

jq '.process.args = ["/bin/sh", "-c", "exit 42"]' config.json >config.new && mv config.new config.json
check "run gives the program's status" fails_with 42 "" tare run r
check "run leaves no cgroup" gone
jq '.process.args = ["/bin/sh", "-c", "i=0; while [ $i -lt 30 ]; do /bin/sleep 9 & i=$((i+1)); done"]' config.json \
  >config.new && mv config.new config.json
check "the limit of pids holds" fails_with 2 "can't fork" tare run r
check "run leaves no cgroup where processes were left" gone
jq '.linux.resources.memory.swappiness = 10' config.json >config.new && mv config.new config.json
check "a field that cgroup2 lacks is refused by name" fails_with 1 linux.resources.memory.swappiness tare run r
check "which leaves no cgroup" gone
leftover() { [ -z "$(ls -A /run/tare-smoke 2>/dev/null | grep -v '^\.')" ] || { ls -la /run/tare-smoke; return 1; }; }
check "no state is left" leftover

check "the kernel tests of control groups" "$share/kernel_cgroup" --gtest_brief=1
echo "# end"
exit $failed
