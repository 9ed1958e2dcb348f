# pause and resume: all stand still, all go on; what may be done to a paused one; nothing hangs.
load ../lib/common

# A container whose first process counts in a file, as does a second one.
counting() {
  script 'i=0; (j=0; while :; do j=$((j+1)); echo $j >/tmp/second; sleep 0.02; done) & while :; do i=$((i+1)); echo $i >/tmp/first; sleep 0.02; done'
  go run --detach --bundle "$B" "$ID"
  ok
  until_true test -s "$B/rootfs/tmp/second"
}
counts() { cat "$B/rootfs/tmp/first" "$B/rootfs/tmp/second" | tr '\n' ' '; }
moves() {
  local before
  before=$(counts)
  until_true eval '[ "$(counts)" != "'"$before"'" ]'
}
# group_of CONTROLLER: the container's folder there, or in the unified hierarchy.
group_of() { if [ -d "$CONTROLLERS/$1" ]; then echo "$CONTROLLERS/$1$GROUP/$ID"; else echo "$CONTROLLERS$GROUP/$ID"; fi; }

@test "pause: every process stands still; state and list say paused; resume lets all go on" {
  counting
  go pause "$ID"
  ok
  same "$out$err" ""
  state_is paused
  same "$(jq .pid <<<"$out")" "$(rt ps -f json "$ID" | jq '.[0]')"
  go list -f json
  same "$(jq -r '.[0].status' <<<"$out")" paused
  local before
  before=$(counts)
  sleep 0.3
  same "$(counts)" "$before"
  go resume "$ID"
  ok
  same "$out$err" ""
  state_is running
  moves
}

@test "pause of a paused one, resume of a running one: refused as by runc, without effect" {
  running
  go resume "$ID"
  status_is 1
  err_has 'container not paused'
  state_is running
  rt pause "$ID"
  go pause "$ID"
  status_is 1
  err_has 'container not running'
  state_is paused
  rt resume "$ID"
  state_is running
}

@test "pause, resume: an absent one, a stopped one" {
  local verb
  for verb in pause resume; do
    go $verb "no-$ID"
    status_is 1
    err_has 'container does not exist'
  done
  running
  rt kill "$ID" KILL
  until_true is_state stopped
  go pause "$ID"
  status_is 1
  err_has 'container not running'
  go resume "$ID"
  status_is 1
  err_has 'container not paused'
}

@test "pause of a created one: it is paused, start is refused until resume" {
  created
  go pause "$ID"
  ok
  state_is paused
  go start "$ID"
  status_is 1
  err_has 'paused'
  go resume "$ID"
  ok
  state_is created
  go start "$ID"
  ok
  state_is running
}

@test "exec in a paused one is refused in runc's words; --ignore-paused runs when it goes on" {
  running
  rt pause "$ID"
  go exec "$ID" true
  status_is 255
  err_has 'cannot exec in a paused container \(use --ignore-paused to override\)'
  state_is paused
  eval 'timeout 30 "$RUNTIME" --root "$STATE" exec --ignore-paused "$ID" /bin/echo ran' "$CLOSE" >"$W/late" 2>&1 </dev/null &
  sleep 0.5
  same "$(cat "$W/late")" ""
  rt resume "$ID"
  wait $!
  same "$(cat "$W/late")" ran
}

@test "kill KILL ends a paused one; another signal waits for resume" {
  running
  rt pause "$ID"
  go kill "$ID" TERM
  ok
  state_is paused
  rt resume "$ID"
  until_true is_state stopped
  rt delete "$ID"
  running
  rt pause "$ID"
  go kill "$ID" KILL
  ok
  until_true is_state stopped
  go delete "$ID"
  ok
}

@test "kill --all: every process; KILL also of a paused one; a stopped one is no error" {
  script 'trap "" TERM; (trap "" TERM; sleep 1000) & sleep 1000 & wait; sleep 1000'
  go run --detach --bundle "$B" "$ID"
  ok
  until_true eval '[ "$(rt ps -f json "$ID" | jq length)" -ge 3 ]'
  rt pause "$ID"
  go kill --all "$ID" KILL
  ok
  until_true is_state stopped
  go kill --all "$ID" KILL
  ok
  go delete "$ID"
  ok
}

@test "delete of a paused one: refused without --force, with it nothing is left" {
  counting
  rt pause "$ID"
  go delete "$ID"
  status_is 1
  err_has 'not stopped: .*paused'
  state_is paused
  go delete --force "$ID"
  ok
  nothing_left
}

@test "pause of one that forks without end: it is caught, or refused and running, in bounded time" {
  config '.linux.resources.pids = {"limit": 200}'
  script 'f() { while :; do (true) & (f) & wait; done; }; f'
  go run --detach --bundle "$B" "$ID"
  ok
  LIMIT=25 go pause "$ID"
  [ "$status" -lt 124 ] || tell "hung"
  if [ "$status" = 0 ]; then state_is paused; go resume "$ID"; ok; fi
  is_state running || is_state stopped
  LIMIT=25 go delete --force "$ID"
  ok
}

@test "pause is not misled: a first process outside its cgroups is told, not called paused" {
  running
  local controller=freezer home
  if [ -d "$CONTROLLERS/unified" ]; then controller=unified; fi
  home=$(group_of $controller)
  # What a container with a writable view of the host's cgroups can do.
  pid_of >"${home%"$GROUP/$ID"}/cgroup.procs"
  go pause "$ID"
  status_is 1
  err_has 'left its cgroups'
  state_is running
  pid_of >"$home/cgroup.procs"
  go pause "$ID"
  ok
}

@test "ps -f json: the pids of all processes, as the host sees them; of a stopped one none" {
  running
  go exec --detach "$ID" sleep 1000
  ok
  go ps -f json "$ID"
  ok
  same "$(jq length <<<"$out")" 2
  same "$(wc -l <<<"$out")" 1
  [ "$(jq --argjson p "$(pid_of)" 'index($p) != null' <<<"$out")" = true ]
  rt kill --all "$ID" KILL
  until_true is_state stopped
  go ps -f json "$ID"
  ok
  same "$out" '[]'
}

@test "run --keep: the state and the cgroups stay, delete takes them" {
  script 'exit 3'
  go run --keep --bundle "$B" "$ID"
  status_is 3
  state_is stopped
  [ -d "$(group_of pids)" ]
  go delete "$ID"
  ok
  nothing_left
}
