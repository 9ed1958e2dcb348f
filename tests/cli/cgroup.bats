# Control groups: where, what is written, that it is enforced, and that it goes away.
load ../lib/common

# group CONTROLLER: the folder of the container's group; on a unified layout all are one.
group() {
  if [ -d "$CONTROLLERS/$1" ]; then echo "$CONTROLLERS/$1$GROUP/$ID"; else echo "$CONTROLLERS$GROUP/$ID"; fi
}
# value CONTROLLER V1-FILE V2-FILE
value() {
  if [ -d "$CONTROLLERS/$1" ]; then cat "$(group "$1")/$2"; else cat "$(group "$1")/$3"; fi
}
v1() { [ -d "$CONTROLLERS/memory" ]; }

@test "cgroupsPath: the process is there, in every controller, and delete removes it" {
  local controller
  running
  for controller in pids memory cpu; do
    grep -qx "$(pid_of)" "$(group $controller)/cgroup.procs"
  done
  if v1; then
    [ -z "$(grep -v "$GROUP/$ID" "/proc/$(pid_of)/cgroup" | grep -E ':(pids|memory|cpu|blkio|freezer|devices):')" ] || fail "$(cat "/proc/$(pid_of)/cgroup")"
  fi
  go delete --force "$ID"
  ok
  [ ! -e "$(group pids)" ]
  [ ! -e "$(group memory)" ]
}

@test "the same path again gives the same place; a relative one works; one that leaves is refused" {
  created
  [ -d "$(group pids)" ]
  rt delete --force "$ID"
  config '.linux.cgroupsPath = $p' --arg p "${GROUP#/}/$ID"
  created
  grep -q "$GROUP/$ID" "/proc/$(pid_of)/cgroup"
  rt delete --force "$ID"
  config '.linux.cgroupsPath = "/../../../tmp/x"'
  go create --bundle "$B" "$ID"
  [ ! -e /tmp/x/cgroup.procs ]
  if [ "$status" = 0 ]; then ! grep -q '\.\.' "/proc/$(pid_of)/cgroup"; fi
  rt delete --force "$ID" || true
  find "$CONTROLLERS" -maxdepth 3 -depth -type d -path '*/tmp/x' -exec rmdir {} + 2>/dev/null || true
  find "$CONTROLLERS" -maxdepth 2 -depth -type d -name tmp -exec rmdir {} + 2>/dev/null || true
}

@test "no cgroupsPath: a place of the runtime's choice, gone after delete" {
  config 'del(.linux.cgroupsPath)'
  running
  grep -q "$ID" "/proc/$(pid_of)/cgroup"
  go delete --force "$ID"
  [ -z "$(find "$CONTROLLERS" -maxdepth 4 -type d -name "*$ID*")" ]
}

@test "no resources at all" {
  config 'del(.linux.resources)'
  see
  expect '.pid == 1'
}

@test "a cgroup that was there before is not removed" {
  local place
  place=$(group pids)
  mkdir -p "$place"
  created
  rt delete --force "$ID"
  [ -d "$place" ]
  rmdir "$place" 2>/dev/null || true
}

@test "pids limit: written and enforced" {
  config '.linux.resources.pids = {"limit": 12}'
  see forks:50
  expect 't("forks:50") == [11, "EAGAIN"]'
  running
  same "$(value pids pids.max pids.max)" 12
}

@test "pids limit -1 is none; 0 is a real limit" {
  config '.linux.resources.pids = {"limit": -1}'
  running
  same "$(value pids pids.max pids.max)" max
  rt delete --force "$ID"
  config '.linux.resources.pids = {"limit": 0}'
  running
  [[ "$(value pids pids.max pids.max)" =~ ^[01]$ ]]
}

@test "memory limit: written and enforced; the program is killed" {
  config '.linux.resources.memory = {"limit": 33554432}'
  set_args /bin/peek -q alloc:8388608 alloc:100000000
  go run --bundle "$B" "$ID"
  seen=$out
  if [ "$status" = 0 ]; then expect 't("alloc:8388608") == "ok"' 't("alloc:100000000") | . == "signal 9" or . == "ENOMEM"'; else status_is 137; fi
  running
  same "$(value memory memory.limit_in_bytes memory.max)" 33554432
}

@test "memory reservation, swappiness" {
  config '.linux.resources.memory = {"limit": 67108864, "reservation": 33554432}'
  if v1; then config '.linux.resources.memory.swappiness = 10'; fi
  running
  same "$(value memory memory.soft_limit_in_bytes memory.low)" 33554432
  if v1; then same "$(value memory memory.swappiness none)" 10; fi
}

@test "memory and swap together" {
  if v1 && [ ! -e $CONTROLLERS/memory/memory.memsw.limit_in_bytes ]; then
    # No swap accounting here: the setting cannot be applied, so it is refused or has no effect, never half done.
    config '.linux.resources.memory = {"limit": 33554432, "swap": 67108864}'
    go create --bundle "$B" "$ID"
    [ "$status" -lt 124 ]
    return
  fi
  config '.linux.resources.memory = {"limit": 33554432, "swap": 67108864}'
  running
  same "$(value memory memory.memsw.limit_in_bytes memory.swap.max)" "$(v1 && echo 67108864 || echo 33554432)"
  rt delete --force "$ID"
  config '.linux.resources.memory = {"limit": 33554432, "swap": 33554432}'
  running
  rt delete --force "$ID"
  config '.linux.resources.memory = {"limit": -1, "swap": -1}'
  running
}

@test "swap below the limit is refused" {
  config '.linux.resources.memory = {"limit": 67108864, "swap": 33554432}'
  refused 'swap|memory|invalid'
}

@test "a limit too small to live in: one clear failure, nothing left" {
  config '.linux.resources.memory = {"limit": 4096}'
  go run --bundle "$B" "$ID"
  [ "$status" != 0 ]
  [ -n "$err" ]
  nothing_left
}

@test "cpu: shares, quota, period" {
  config '.linux.resources.cpu = {"shares": 512, "quota": 20000, "period": 50000}'
  running
  if v1; then
    same "$(value cpu cpu.shares none)" 512
    same "$(value cpu cpu.cfs_quota_us none)" 20000
    same "$(value cpu cpu.cfs_period_us none)" 50000
  else
    same "$(value cpu none cpu.max)" '20000 50000'
  fi
}

@test "cpu quota is enforced" {
  config '.linux.resources.cpu = {"quota": 10000, "period": 100000}'
  script 'i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done; cat /proc/self/cgroup >/dev/null'
  go run --detach --bundle "$B" "$ID"
  ok
  throttled() { grep -qE 'nr_throttled [1-9]' "$(group cpu)/cpu.stat" || is_state stopped; }
  until_true throttled
  grep -qE 'nr_throttled [1-9]' "$(group cpu)/cpu.stat"
}

@test "cpu quota -1, shares 0 and huge: none, unset, or the greatest" {
  config '.linux.resources.cpu = {"quota": -1, "shares": 0}'
  running
  if v1; then same "$(value cpu cpu.cfs_quota_us none)" -1; fi
  rt delete --force "$ID"
  config '.linux.resources.cpu = {"shares": 262144}'
  running
  if v1; then same "$(value cpu cpu.shares none)" 262144; fi
}

@test "cpuset" {
  config '.linux.resources.cpu = {"cpus": "0", "mems": "0"}'
  see
  expect '.affinity == [0]'
  config '.linux.resources.cpu = {"cpus": "9999"}'
  refused 'cpus|cpuset'
  config '.linux.resources.cpu = {"cpus": "zero"}'
  refused 'cpus|cpuset'
}

@test "cpu idle and burst" {
  if v1 && [ ! -e $CONTROLLERS/cpu/cpu.idle ] && [ ! -e "$CONTROLLERS/cpu/process_api/cpu.idle" ]; then :; fi
  config '.linux.resources.cpu = {"quota": 50000, "period": 100000, "burst": 20000}'
  running
  same "$(value cpu cpu.cfs_burst_us cpu.max.burst)" 20000
  rt delete --force "$ID"
  config '.linux.resources.cpu = {"idle": 1}'
  running
  same "$(value cpu cpu.idle cpu.idle)" 1
}

@test "wrong values name the field" {
  config '.linux.resources = {"cpu": {"period": 1}}'
  refused 'period|cpu'
  config '.linux.resources = {"memory": {"swappiness": 101}}'
  refused 'swappiness|memory'
  config '.linux.resources = {"pids": {"limit": "many"}}'
  refused 'pids'
  config '.linux.resources = {"memory": {"limit": "1G"}}'
  refused 'memory'
}

@test "unified: refused on v1, written to the letter on v2" {
  config '.linux.resources.unified = {"memory.max": "33554432"}'
  if v1; then
    refused 'unified'
  else
    running
    same "$(value memory none memory.max)" 33554432
  fi
}

@test "other resources: written where their controller is, refused by name where it is not" {
  local device
  config '.linux.resources.hugepageLimits = [{"pageSize": "nonsense", "limit": 1}]'
  refused 'hugepageLimits|pageSize|nonsense'
  config 'del(.linux.resources.hugepageLimits) | .linux.resources.blockIO = {"weight": 5000}'
  refused 'blockIO|weight'
  device=$(cat /sys/block/*/dev | head -1)
  config '.linux.resources.blockIO = {"throttleReadBpsDevice": [{"major": $a, "minor": $b, "rate": 1048576}]}' --argjson a "${device%:*}" --argjson b "${device#*:}"
  if v1 && [ -d $CONTROLLERS/blkio ]; then
    running
    same "$(cat "$(group blkio)/blkio.throttle.read_bps_device")" "$device 1048576"
    rt delete --force "$ID"
  fi
  if [ ! -d $CONTROLLERS/net_cls ] && [ ! -d $CONTROLLERS/net_cls,net_prio ]; then
    config 'del(.linux.resources.blockIO) | .linux.resources.network = {"classID": 1048577}'
    refused 'network|net_cls|classID'
  fi
  if [ ! -d $CONTROLLERS/rdma ] && ! grep -qw rdma $CONTROLLERS/cgroup.controllers 2>/dev/null; then
    config 'del(.linux.resources.network, .linux.resources.blockIO) | .linux.resources.rdma = {"mlx5_1": {"hcaHandles": 3}}'
    refused 'rdma'
  fi
}

@test "a failing create leaves no cgroup" {
  config '.linux.resources.pids = {"limit": 10} | .process.cwd = "/etc/passwd"'
  refused 'passwd|cwd|not a directory'
  [ ! -e "$(group pids)" ]
}

@test "delete removes sub-cgroups that the container made" {
  config '.process.capabilities |= map_values(. + ["CAP_SYS_ADMIN"])'
  running
  mkdir -p "$(group pids)/sub/deeper"
  go delete --force "$ID"
  ok
  [ ! -e "$(group pids)" ]
}

@test "exec joins the cgroup" {
  running
  go exec --detach --pid-file "$W/pid" "$ID" /bin/sleep 1000
  ok
  grep -qx "$(cat "$W/pid")" "$(group pids)/cgroup.procs"
}

@test "delete --force of a frozen container" {
  running
  if v1; then echo FROZEN >"$(group freezer)/freezer.state"; else echo 1 >"$(group freezer)/cgroup.freeze"; fi
  go delete --force "$ID"
  ok
  nothing_left
}
