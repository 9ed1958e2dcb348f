# tare top: what its numbers are, against the cgroup's own files.
load ../lib/common
load ../lib/view

row() { jq --arg id "${1:-$ID}" '.[] | select(.container.id == $id)' <<<"$out"; }

@test "processor time, memory and tasks of a container are its cgroup's" {
  script 'while :; do :; done'
  go run --detach --bundle "$B" "$ID"
  ok
  local before after
  before=$(cat "$CONTROLLERS/cpuacct$GROUP/$ID/cpuacct.usage")
  go top -b -n 1 -d 1s -f json
  ok
  after=$(cat "$CONTROLLERS/cpuacct$GROUP/$ID/cpuacct.usage")
  row | jq -e --argjson b "$before" --argjson a "$after" \
    '.cpuNanoseconds >= $b and .cpuNanoseconds <= $a and .cpuPercent > 5 and .cpuPercent < 200' >/dev/null || tell "odd processor time"
  same "$(row | jq .tasks)" "$(cat "$CONTROLLERS/pids$GROUP/$ID/pids.current")"
  # Memory moves a little.
  row | jq -e --argjson m "$(cat "$CONTROLLERS/memory$GROUP/$ID/memory.usage_in_bytes")" '.memory > $m / 2 and .memory < $m * 2' >/dev/null || tell "odd memory"
  row | jq -e '.stallPercent | has("cpu")' >/dev/null || tell "no stalls"
}

@test "rounds and order: the busiest first, as many tables as asked for" {
  script 'while :; do :; done'
  rt run --detach --bundle "$B" "$ID"
  local idle=$ID-idle
  set_args /bin/peek -q hold
  jq --arg g "$GROUP/$idle" '.linux.cgroupsPath = $g' "$B/config.json" >"$W/other.json"
  rt run --detach --bundle "$B" --config "$W/other.json" "$idle"
  go top -b -n 2 -d 500ms
  ok
  same "$(grep -c '^CONTAINER ' <<<"$out")" 2
  same "$(grep -oE "^$ID(-idle)? " <<<"$out" | xargs)" "$ID $idle $ID $idle"
  go top -b -n 1 -d 100ms --sort tasks
  ok
  go top -b -n 1 -d 100ms -o name
  same "$(grep -oE "^$ID(-idle)? " <<<"$out" | xargs)" "$ID $idle"
  go top --sort nonsense
  status_is 1
  err_has '"nonsense" is no column of top'
  rt delete --force "$idle"
}

@test "another engine's container is told by its cgroup, what looks like one is none" {
  local id
  id=$(printf 'c%.0s' {1..64})
  mkdir -p "$CONTROLLERS/pids$GROUP/docker/$id" "$CONTROLLERS/pids$GROUP/libpod-conmon-$id" "$CONTROLLERS/pids$GROUP/docker/${id:1}"
  start sleep 1000
  echo "$STARTED" >"$CONTROLLERS/pids$GROUP/docker/$id/cgroup.procs"
  go top -b -n 1 -d 100ms -f json
  ok
  same "$(jq -c "map(select(.container.id | startswith(\"cccc\"))) | map([.container.engine, .tasks])" <<<"$out")" '[["docker",1]]'
  go ps -f json
  same "$(jq -r ".[] | select(.pid == $STARTED).container.engine" <<<"$out")" docker
  go ps -o pid,id "${id:0:12}"
  ok
  same "$(awk 'NR > 1' <<<"$out" | xargs)" "$STARTED $id"
  # And it is entered by its id.
  go pid 1 --from "${id:0:12}"
  ok
  kill -KILL "$STARTED"
  gone() { [ -z "$(cat "$CONTROLLERS/pids$GROUP/docker/$id/cgroup.procs")" ]; }
  until_true gone
  rmdir "$CONTROLLERS/pids$GROUP"/{docker/$id,libpod-conmon-$id,docker/${id:1},docker}
}

@test "on a terminal it draws in place, takes keys, and puts the terminal back" {
  running
  run -0 timeout 20 "$HELPERS/tool" pty --size 24x100 --wait "sorted by cpu" --send m --wait "sorted by memory" --send q -- \
    sh -c "'$RUNTIME' --root '$STATE' top; stty -a | grep -o ' icanon'"
  [[ "$output" == *"$ID"* ]] && [[ "$output" == *" icanon"* ]]
}
