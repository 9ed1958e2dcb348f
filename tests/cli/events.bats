# events: counts in runc's shape, every so often, and when the memory was not enough; it ends with the container.
load ../lib/common

# follow WORD...: events in the background, into $W/events.
follow() {
  eval 'timeout -k 5 60 "$RUNTIME" --root "$STATE" events "$@" "$ID"' "$CLOSE" >"$W/events" 2>"$W/events.err" </dev/null &
  FOLLOWER=$!
}
watches() {
  local pid
  for pid in $(pgrep -f "events .*$ID"); do ls -l "/proc/$pid/fd"; done | grep -E 'eventfd|memory.events'
}
more_teardown() { [ -z "${FOLLOWER:-}" ] || kill "$FOLLOWER" 2>/dev/null || true; }

@test "--stats: one line of JSON with what was counted" {
  config '.linux.resources += {"pids": {"limit": 77}, "memory": {"limit": 67108864}, "cpu": {"quota": 5000, "period": 10000}}'
  script 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; sleep 1000 & sleep 1000; true'
  go run --detach --bundle "$B" "$ID"
  ok
  until_true eval '[ "$(rt ps -f json "$ID" | jq length)" = 3 ]'
  go events --stats "$ID"
  ok
  same "$(wc -l <<<"$out")" 1
  same "$(jq -r '.type, .id' <<<"$out" | tr '\n' ' ')" "stats $ID "
  same "$(jq -c '.data | keys' <<<"$out")" '["blkio","cpu","cpuset","hugetlb","intel_rdt","memory","network_interfaces","pids"]'
  same "$(jq -c .data.pids <<<"$out")" '{"current":3,"limit":77}'
  same "$(jq -c '.data.memory.usage.limit' <<<"$out")" 67108864
  [ "$(jq '.data.memory | .usage.usage > 0 and .raw.pgfault > 0 and .usage.failcnt == 0 and .swap.usage >= .usage.usage' <<<"$out")" = true ] || tell memory
  [ "$(jq '.data.cpu.usage | .total > 1000000 and .kernel >= 0 and .user >= 0' <<<"$out")" = true ] || tell cpu
  if [ -d "$CONTROLLERS/cpuacct" ]; then
    [ "$(jq '.data.cpu.usage | (.percpu | add) == .total' <<<"$out")" = true ] || tell percpu
  fi
  [ "$(jq '.data.cpu.throttling.periods >= 1' <<<"$out")" = true ] || tell periods
  same "$(jq -c '[.data.network_interfaces[].Name]' <<<"$out")" '["lo"]'
}

@test "the host's network is not the container's to tell" {
  config 'del(.linux.namespaces[] | select(.type == "network")) | del(.mounts[] | select(.destination == "/sys"))'
  running
  go events --stats "$ID"
  ok
  same "$(jq -c .data.network_interfaces <<<"$out")" null
}

@test "--interval: a line each time, until the container ends" {
  running
  follow --interval 50ms
  until_true eval '[ "$(wc -l <"$W/events")" -ge 4 ]'
  same "$(jq -r .type "$W/events" | sort -u)" stats
  rt kill "$ID" KILL
  wait $FOLLOWER
  FOLLOWER=
  same "$(cat "$W/events.err")" ""
}

@test "an interval that is none is refused in runc's words; units as in Go" {
  running
  local wrong
  for wrong in 0 0s -1s 5 abc 1x '' 5s5; do
    go events --interval "$wrong" "$ID"
    status_is 1 || fail "taken: $wrong"
    err_has -- --interval
  done
  go events --interval 0s "$ID"
  err_has 'duration interval must be greater than 0'
  go events --stats --interval 1h30m1.5s "$ID"
  ok
}

@test "out of memory: told at once, between two counts" {
  config '.linux.resources += {"memory": {"limit": 33554432}}'
  running
  follow --interval 1h
  # It watches as soon as it holds the cgroup; an event from before would not count.
  until_true watches
  go exec "$ID" /bin/peek alloc:100000000
  until_true test -s "$W/events"
  same "$(jq -c . "$W/events" | sort -u)" "{\"type\":\"oom\",\"id\":\"$ID\"}"
  same "$(wc -l <"$W/events")" 1
  rt kill "$ID" KILL
  wait $FOLLOWER
  FOLLOWER=
}

@test "the end of a container is no lack of memory; nor is that of its cgroups" {
  running
  follow --interval 1h
  sleep 0.3
  go delete --force "$ID"
  ok
  wait $FOLLOWER
  FOLLOWER=
  same "$(cat "$W/events" "$W/events.err")" ""
}

@test "events of a paused one come; of a stopped and an absent one they are refused in runc's words" {
  running
  rt pause "$ID"
  go events --stats "$ID"
  ok
  rt kill "$ID" KILL
  until_true is_state stopped
  go events --stats "$ID"
  status_is 1
  err_has "container with id $ID is not running"
  go events "no-$ID"
  status_is 1
  err_has 'container does not exist'
}

@test "a device that the container named to break JSON does not" {
  config '.process.capabilities.bounding += ["CAP_NET_ADMIN"] | .process.capabilities.effective += ["CAP_NET_ADMIN"] | .process.capabilities.permitted += ["CAP_NET_ADMIN"]'
  running
  local name=$'a"}\xff\\'
  if ! nsenter -t "$(pid_of)" -n ip link add "$name" type dummy 2>"$W/ip.err"; then
    nsenter -t "$(pid_of)" -n ip link set lo name "$name"
  fi
  go events --stats "$ID"
  ok
  same "$(jq -r '.data.network_interfaces[].Name' <"$W/out" | grep -F 'a"}' )" 'a"}?\'
}
