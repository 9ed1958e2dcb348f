# update: new limits from options, a file and standard input; kept; all or nothing; what can't be is named.
load ../lib/common

group() { if [ -d "$CONTROLLERS/$1" ]; then echo "$CONTROLLERS/$1$GROUP/$ID"; else echo "$CONTROLLERS$GROUP/$ID"; fi; }
v1() { [ -d "$CONTROLLERS/memory" ]; }
# limit CONTROLLER V1-FILE V2-FILE
limit() { if [ -d "$CONTROLLERS/$1" ]; then cat "$(group "$1")/$2"; else cat "$(group "$1")/$3"; fi; }
# kept FILTER: of the configuration that the state folder keeps.
kept() { tail -n +2 "$STATE/$ID/state.json" | jq -c ".linux.resources$1"; }
change() { go update "$@" "$ID"; }
changed() { change "$@" && ok; }

with_limits() {
  config '.linux.resources += {"pids": {"limit": 50}, "memory": {"limit": 67108864, "reservation": 16777216}, "cpu": {"shares": 512, "quota": 50000, "period": 100000}}'
  running
}

@test "each option reaches its file and the kept configuration; what is not given stays" {
  with_limits
  changed --pids-limit 33
  same "$out$err" ""
  same "$(limit pids pids.max pids.max)" 33
  same "$(kept .pids.limit)" 33
  same "$(limit memory memory.limit_in_bytes memory.max)" 67108864
  changed --memory 128M --memory-reservation 33554432
  same "$(limit memory memory.limit_in_bytes memory.max)" 134217728
  same "$(limit memory memory.soft_limit_in_bytes memory.low)" 33554432
  changed --cpu-share 1024 --cpu-quota 20000
  if v1; then
    same "$(limit cpu cpu.shares none)" 1024
    same "$(limit cpu cpu.cfs_quota_us none) $(limit cpu cpu.cfs_period_us none)" '20000 100000'
  else
    same "$(limit cpu none cpu.weight)" 100
    same "$(limit cpu none cpu.max)" '20000 100000'
  fi
  changed --cpu-period 50000 --cpu-burst 5000
  same "$(limit cpu cpu.cfs_burst_us cpu.max.burst)" 5000
  same "$(kept ' | .memory + .cpu')" '{"limit":134217728,"reservation":33554432,"shares":1024,"quota":20000,"burst":5000,"period":50000}'
  changed --cpu-quota=-1 --pids-limit=-1
  same "$(limit cpu cpu.cfs_quota_us cpu.max)" "$(v1 && echo -1 || echo max 50000)"
  same "$(limit pids pids.max pids.max)" max
}

@test "the new limits hold: forks and memory" {
  config '.linux.resources += {"pids": {"limit": 100}, "memory": {"limit": 268435456}}'
  running
  changed --pids-limit 12 --memory 33554432
  see_exec -- forks:50
  # The first process, peek itself and its children.
  expect 't("forks:50") == [10, "EAGAIN"]'
  go exec "$ID" /bin/peek alloc:100000000
  if [ "$status" = 0 ]; then seen=$out; expect 't("alloc:100000000") | . == "signal 9" or . == "ENOMEM"'; else status_is 137; fi
}

@test "memory and swap together; no limit" {
  if v1 && [ ! -e $CONTROLLERS/memory/memory.memsw.limit_in_bytes ]; then
    with_limits
    change --memory-swap 134217728
    [ "$status" != 0 ] && err_has 'linux.resources.memory.swap'
    return
  fi
  with_limits
  swap() { limit memory memory.memsw.limit_in_bytes memory.swap.max; }
  changed --memory-swap 134217728
  same "$(swap)" "$(v1 && echo 134217728 || echo 67108864)"
  # Both grow, and both shrink: the kernel wants an order, and it differs.
  changed --memory 268435456 --memory-swap 536870912
  same "$(swap)" "$(v1 && echo 536870912 || echo 268435456)"
  changed --memory 33554432 --memory-swap 67108864
  same "$(swap)" "$(v1 && echo 67108864 || echo 33554432)"
  # Memory alone: the sum stays what it was, on both versions.
  changed --memory 50331648
  same "$(swap)" "$(v1 && echo 67108864 || echo 16777216)"
  change --memory 134217728
  status_is 1
  err_has 'linux.resources.memory.swap'
  same "$(limit memory memory.limit_in_bytes memory.max)" 50331648
  changed --memory=-1
  [ "$(limit memory memory.limit_in_bytes memory.max)" = max ] || [ "$(limit memory memory.limit_in_bytes memory.max)" -gt 1000000000000 ]
  same "$(kept .memory.swap)" -1
}

@test "cpu idle" {
  with_limits
  changed --cpu-idle 1
  same "$(limit cpu cpu.idle cpu.idle)" 1
  changed --cpu-idle 0 --cpu-share 256
  same "$(limit cpu cpu.idle cpu.idle)" 0
  same "$(kept .cpu.idle)" 0
}

@test "cpuset: also where create joined none; every process is moved, and delete removes it" {
  script '(sleep 1000) & sleep 1000'
  go run --detach --bundle "$B" "$ID"
  ok
  until_true eval '[ "$(rt ps -f json "$ID" | jq length)" = 2 ]'
  local pid last=$(($(nproc --all) - 1))
  changed --cpuset-cpus $last --cpuset-mems 0
  for pid in $(rt ps -f json "$ID" | jq '.[]'); do
    same "$(sed -n 's/^Cpus_allowed_list:\t//p' "/proc/$pid/status")" $last
  done
  same "$(cat "$(group cpuset)/cpuset.cpus")" $last
  same "$(kept .cpu.cpus)" "\"$last\""
  # Who comes later is there, too.
  go exec "$ID" grep Cpus_allowed_list /proc/self/status
  out_has "\\s$last\$"
  changed --cpuset-cpus 0-$last
  go delete --force "$ID"
  ok
  [ ! -e "$(group cpuset)" ]
}

@test "cpuset that can't be: refused, and the container is where it was" {
  running
  local before
  before=$(cat "/proc/$(pid_of)/cgroup")
  change --cpuset-cpus 4095
  status_is 1
  err_has 'linux.resources.cpu.cpus'
  same "$(cat "/proc/$(pid_of)/cgroup")" "$before"
  [ ! -e "$CONTROLLERS/cpuset$GROUP/$ID" ] || ! v1
  same "$(kept .cpu)" null
  change --cpuset-cpus x
  status_is 1
  err_has 'linux.resources.cpu.cpus'
}

@test "blkio weight: written where there is such a file, else refused by name" {
  running
  local file
  change --blkio-weight 300
  for file in blkio/blkio.weight blkio/blkio.bfq.weight io.bfq.weight io.weight; do
    [ -e "$(group "${file%/*}")/${file##*/}" ] || continue
    ok
    grep -qE '(^|default )(300|2930)$' "$(group "${file%/*}")/${file##*/}"
    return
  done
  status_is 1
  err_has 'linux.resources.blockIO.weight'
}

@test "resources from a file and from standard input, in docker's and podman's shape; other options are then ignored" {
  with_limits
  echo '{"memory": {"limit": 134217728}, "pids": {"limit": 21}, "cpu": {}, "unknown": 5}' >"$W/r.json"
  changed --resources "$W/r.json" --pids-limit 99
  same "$(limit pids pids.max pids.max)" 21
  same "$(limit memory memory.limit_in_bytes memory.max)" 134217728
  # A request of docker's, full of zeros: those change nothing.
  rt update --resources - "$ID" <<<'{"memory": {"limit": 100663296, "reservation": 0, "swap": 0, "kernel": 0}, "cpu": {"shares": 0, "quota": 0, "period": 0, "cpus": "", "mems": ""}, "blockIO": {"weight": 0}}'
  same "$(limit memory memory.limit_in_bytes memory.max)" 100663296
  same "$(limit cpu cpu.shares cpu.weight)" "$(v1 && echo 512 || echo 59)"
  same "$(kept .memory.reservation)" 16777216
  rt update -r - "$ID" <<<'{"cpu": {"shares": 2048}}'
  same "$(kept .cpu.shares)" 2048
}

@test "wrong input: each is one clear error, and nothing changes" {
  with_limits
  local before
  before=$(cat "$STATE/$ID/state.json")
  go update --memory lots "$ID"; status_is 1; err_has -- '--memory: "lots"'
  go update --pids-limit=-2 "$ID"; status_is 1; err_has -- '--pids-limit'
  go update --cpu-idle 2 "$ID"; status_is 1; err_has -- '--cpu-idle'
  go update --cpu-share 1000000 "$ID"
  if v1; then status_is 1; err_has 'linux.resources.cpu.shares'; else rt update --cpu-share 512 "$ID"; fi
  go update --blkio-weight 5 "$ID"; status_is 1; err_has 'linux.resources.blockIO.weight'
  go update --cpu-burst 60000 "$ID"; status_is 1; err_has 'linux.resources.cpu.burst'
  go update --memory-swap 1048576 "$ID"; status_is 1; err_has 'linux.resources.memory.swap'
  go update --l3-cache-schema L3:0=f "$ID"; status_is 1; err_has 'linux.intelRdt.l3CacheSchema'
  go update -r "$W/none" "$ID"; status_is 1; err_has 'no such file'
  echo '{"memory": {"limit": "much"}}' >"$W/r"
  go update -r "$W/r" "$ID"; status_is 1; err_has 'memory.limit'
  echo '{' >"$W/r"
  go update -r "$W/r" "$ID"; status_is 1; err_has "$W/r:"
  same "$(limit pids pids.max pids.max) $(limit memory memory.limit_in_bytes memory.max)" '50 67108864'
  if v1; then same "$(cat "$STATE/$ID/state.json")" "$before"; fi
}

@test "all or nothing: where one limit can't be set, those before it are taken back" {
  with_limits
  change --memory 134217728 --cpu-quota 30000 --cpuset-cpus 4095 --pids-limit 11
  status_is 1
  err_has 'linux.resources.cpu.cpus'
  same "$(limit memory memory.limit_in_bytes memory.max)" 67108864
  same "$(limit cpu cpu.cfs_quota_us cpu.max)" "$(v1 && echo 50000 || echo 50000 100000)"
  same "$(limit pids pids.max pids.max)" 50
  same "$(kept .memory.limit)" 67108864
  same "$(kept .cpu.cpus)" null
  if v1; then
    change --pids-limit 11 --memory 4096
    status_is 1
    err_has 'linux.resources.memory.limit: limit 4096 is below what is in use'
    same "$(limit pids pids.max pids.max)" 50
  fi
}

@test "a paused and a created one can be updated; a stopped and an absent one can't" {
  created
  changed --pids-limit 30
  same "$(limit pids pids.max pids.max)" 30
  state_is created
  rt start "$ID"
  rt pause "$ID"
  changed --pids-limit 31 --memory 64M
  same "$(limit pids pids.max pids.max)" 31
  state_is paused
  rt resume "$ID"
  rt kill "$ID" KILL
  until_true is_state stopped
  change --pids-limit 32
  status_is 1
  err_has 'container not running'
  go update --pids-limit 32 "no-$ID"
  status_is 1
  err_has 'container does not exist'
}

@test "nothing to change is no error; hooks, annotations and exec are as before" {
  config '.annotations = {"a": "b"} | .hooks.poststop = [{"path": "/bin/sh", "args": ["sh", "-c", "cat >\($w)/stopped"]}]' --arg w "$W"
  running
  changed
  changed --pids-limit 40
  go state "$ID"
  same "$(jq -c .annotations <<<"$out")" '{"a":"b"}'
  go exec "$ID" echo hello
  same "$out" hello
  go delete --force "$ID"
  ok
  same "$(jq -r .id "$W/stopped")" "$ID"
}

@test "a container that allocates and frees as fast as it can does not hold update up" {
  config '.linux.resources += {"memory": {"limit": 268435456}}'
  script 'while :; do dd if=/dev/zero of=/dev/shm/x bs=1M count=40 2>/dev/null; rm -f /dev/shm/x; done & while :; do dd if=/dev/zero of=/dev/null bs=20M count=3 2>/dev/null; done'
  go run --detach --bundle "$B" "$ID"
  ok
  sleep 0.3
  LIMIT=25 go update --memory 8388608 "$ID"
  # Either way: but soon, and the state tells the truth.
  [ "$status" -lt 124 ] || tell "hung"
  same "$(kept .memory.limit)" "$(limit memory memory.limit_in_bytes memory.max)"
}

@test "update is not misled: a first process outside its cgroups is told" {
  running
  local home
  home=$(group pids)
  pid_of >"${home%"$GROUP/$ID"}/cgroup.procs"
  change --pids-limit 9
  status_is 1
  err_has 'left its cgroups'
  same "$(kept .pids)" null
  pid_of >"$home/cgroup.procs"
  changed --pids-limit 9
}

@test "two updates at once: both happen, one after the other" {
  with_limits
  rt update --pids-limit 60 "$ID" &
  rt update --cpu-share 300 "$ID"
  wait $!
  same "$(kept .pids.limit)" 60
  same "$(kept .cpu.shares)" 300
}
