# tare pid: numbers in pid namespaces, both ways, against the kernel's own answers.
load ../lib/common
load ../lib/view

@test "all levels of a process four namespaces deep are those of NSpid, with the namespaces' names" {
  deep 4
  go pid -f json "$DEEP"
  ok
  same "$(jq -c '[.levels[].number]' <<<"$out")" "$(awk '/^NSpid/ {printf "[%s,%s,%s,%s,%s]", $2, $3, $4, $5, $6}' "/proc/$DEEP/status")"
  same "$(jq -r '.levels[4].namespace' <<<"$out")" "$(inode "$DEEP" pid)"
  same "$(jq -r '.levels[0].namespace' <<<"$out")" "$(inode self pid)"
  # The one in between is its parent's.
  same "$(jq -r '.levels[3].namespace' <<<"$out")" "$(inode "$(awk '/^PPid/ {print $2}' "/proc/$DEEP/status")" pid)"
  go pid "$DEEP"
  ok
  out_has "^ +4 +1 pid:\[$(inode "$DEEP" pid)\]$"
}

@test "into and out of every level, the numbers are those that the kernel gives" {
  local p=$STARTED i
  deep 4
  p=$STARTED
  for i in 0 1 2 3 4; do
    go pid "$DEEP" --in "$p"
    ok
    same "$out" "$("$HELPERS/odd" in "/proc/$p/ns/pid" "$DEEP")"
    go pid --from "$p" "$out" --in "$DEEP"
    ok
    same "$out" "1"
    # From there: the same process again.
    number=$("$HELPERS/odd" in "/proc/$p/ns/pid" "$DEEP")
    go pid -f json --from "$p" "$number"
    same "$(jq .pid <<<"$out")" "$DEEP"
    same "$(jq .pid <<<"$out")" "$("$HELPERS/odd" from "/proc/$p/ns/pid" "$number")"
    [ $i = 4 ] || p=$(child_of "$p")
  done
}

@test "a container is meant by its id, and a number by the container's namespace" {
  running
  local init
  init=$(pid_of)
  go pid 1 --from "$ID" -f json
  ok
  same "$(jq .pid <<<"$out")" "$init"
  same "$(jq -r '.container | [.engine, .id] | join(" ")' <<<"$out")" "tare $ID"
  go pid "$init" --in "$ID"
  same "$out" 1
  rt exec --detach "$ID" /bin/sleep 1000
  local other
  other=$(rt ps -f json "$ID" | jq "map(select(. != $init))[0]")
  go pid "$other" --in "$ID"
  ok
  same "$(awk '/^NSpid/ {print $3}' "/proc/$other/status")" "$out"
}

@test "what is not seen there is said, and so is what is not at all" {
  inside --pid
  go pid 4000000 --from "$INSIDE"
  status_is 1
  err_has "no process has the number 4000000 in pid:\[$(inode "$INSIDE" pid)\]"
  go pid $$ --in "$INSIDE"
  status_is 1
  err_has "process $$ is not seen in pid:"
  go pid 4000000
  status_is 1
  err_has "there is no process 4000000"
  go pid nonsense
  status_is 1
  err_has '"nonsense" is no number'
  go pid 1 --in no-such-container
  status_is 1
  err_has 'no container "no-such-container"'
}

@test "threads and zombies have numbers, too" {
  start "$HELPERS/odd" thread
  until_true grep -q ready "$W/started.out"
  local tid
  tid=$(grep -x '[0-9]*' "$W/started.out")
  go pid "$tid" -f json
  ok
  same "$(jq -c '[.pid, .process]' <<<"$out")" "[$tid,$STARTED]"
  go pid "$tid"
  out_has "^thread of: $STARTED$"
  start sh -c 'sleep 0 & exec sleep 1000'
  until_true grep -q '^State:.Z' /proc/$STARTED/task/$STARTED/children /dev/null || true
  until_true eval 'grep -qs "^State:.Z" /proc/$(child_of $STARTED)/status'
  go pid "$(child_of "$STARTED")"
  ok
}

@test "where /proc is another namespace's, its numbers are not taken for one's own" {
  run -1 unshare --pid --fork "$RUNTIME" pid 1
  [[ "$output" == *"/proc is that of another pid namespace"* ]] || fail "$output"
}
