# The life of a container, verb by verb: formats, exit statuses, texts.
load ../lib/common

@test "create makes a container whose program has not run; start runs it; delete removes it" {
  set_args /bin/sh -c 'echo ran >/tmp/ran; exec /bin/peek -q hold'
  go create --bundle "$B" "$ID"
  ok
  state_is created
  [ ! -e "$B/rootfs/tmp/ran" ]
  go start "$ID"
  ok
  until_true test -e "$B/rootfs/tmp/ran"
  state_is running
  go kill "$ID" TERM
  ok
  until_true is_state stopped
  go delete "$ID"
  ok
  nothing_left
}

@test "state prints the fields that engines read" {
  config '.annotations = {"org.example.key": "value", "empty": ""}'
  created
  go state "$ID"
  ok
  seen=$out
  expect '.id == "'"$ID"'"' '.status == "created"' '.bundle == "'"$B"'"' '.rootfs == "'"$B/rootfs"'"' \
    '.ociVersion | test("^1\\.[0-9]+\\.[0-9]+")' '.pid | type == "number" and . > 0' \
    '.created | test("^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}(\\.[0-9]+)?Z$")' \
    '.annotations == {"org.example.key": "value", "empty": ""}' 'has("owner")'
  [ -d "/proc/$(jq .pid <<<"$out")" ]
}

@test "a stopped container has pid 0" {
  set_args /bin/true
  go create --bundle "$B" "$ID"
  go start "$ID"
  until_true is_state stopped
  seen=$(rt state "$ID")
  expect '.pid == 0' '.status == "stopped"'
}

@test "state, start, kill, delete and exec of an unknown id fail and say that it does not exist" {
  local verb
  for verb in "state $ID" "start $ID" "kill $ID TERM" "delete $ID" "exec $ID true" "ps $ID"; do
    go $verb
    [ "$status" != 0 ] || tell "$verb of an unknown id"
    err_has 'does not exist' || { fail "$verb"; return 1; }
  done
}

@test "delete --force of an unknown id succeeds" {
  go delete --force "$ID"
  ok
}

@test "a verb without an id fails" {
  local verb
  for verb in create start state kill delete run exec; do  # ps without one shows all containers
    go $verb
    [ "$status" != 0 ] || { tell "$verb without an id"; return 1; }
  done
}

@test "an unknown command and an unknown option fail" {
  go no-such-verb
  [ "$status" != 0 ]
  go state --no-such-option "$ID"
  [ "$status" != 0 ]
}

@test "an id that exists is refused, and the container that has it goes on" {
  running
  go create --bundle "$B" "$ID"
  [ "$status" != 0 ]
  err_has 'exist'
  state_is running
}

@test "start is refused in running and stopped, without effect" {
  running
  go start "$ID"
  [ "$status" != 0 ]
  [ "$(wc -l <<<"$err")" -le 2 ]
  state_is running
  go kill "$ID" KILL
  until_true is_state stopped
  go start "$ID"
  [ "$status" != 0 ]
  state_is stopped
}

@test "kill of a stopped container fails with the words that engines look for" {
  running
  go kill "$ID" KILL
  until_true is_state stopped
  go kill "$ID" TERM
  status_is 1
  err_has 'container not running'
}

@test "kill --all of a stopped container succeeds" {
  running
  go kill "$ID" KILL
  until_true is_state stopped
  go kill --all "$ID" KILL
  ok
}

@test "kill --all reaches every process of the container" {
  set_args /bin/sh -c 'sleep 1000 & sleep 1000 & exec sleep 1000'
  go run --detach --bundle "$B" "$ID"
  until_true test "$(rt ps --format json "$ID" | jq length)" -ge 1
  go kill --all "$ID" KILL
  ok
  until_true is_state stopped
}

@test "kill takes names with and without SIG, in both cases, and numbers; the default is TERM" {
  local signal
  set_args /bin/sh -c 'for s in HUP INT USR1 USR2 TERM; do trap "echo $s >>/tmp/got" $s; done; touch /tmp/ready
    while :; do sleep 0.05; done'
  go run --detach --bundle "$B" "$ID"
  until_true test -e "$B/rootfs/tmp/ready"
  for signal in HUP SIGINT usr1 12; do
    go kill "$ID" $signal
    ok
    until_true grep -q . "$B/rootfs/tmp/got"
  done
  go kill "$ID"
  ok
  until_true grep -q TERM "$B/rootfs/tmp/got"
  until_true grep -q USR1 "$B/rootfs/tmp/got"
  until_true grep -q USR2 "$B/rootfs/tmp/got"
  until_true grep -q HUP "$B/rootfs/tmp/got"
}

@test "kill refuses what is no signal" {
  local signal
  running
  for signal in NOSUCH 0x9 65 -1 9x; do
    go kill "$ID" "$signal"
    [ "$status" != 0 ] || { tell "signal '$signal'"; return 1; }
  done
  state_is running
}

@test "kill works on a created container" {
  created
  go kill "$ID" KILL
  ok
  until_true is_state stopped
}

@test "delete of a running container is refused and has no effect; with --force it kills" {
  running
  go delete "$ID"
  status_is 1
  err_has 'running|not stopped'
  state_is running
  go delete --force "$ID"
  ok
  nothing_left
}

@test "delete of a created container kills it" {
  created
  go delete "$ID"
  ok
  nothing_left
}

@test "after delete the id may be used again" {
  created
  go delete --force "$ID"
  ok
  created
  state_is created
}

@test "run gives the program's status" {
  script 'exit 42'
  go run --bundle "$B" "$ID"
  status_is 42
  nothing_left
}

@test "run gives 128 + signal where a signal ended the program" {
  set_args /bin/peek -q hold
  rt run --bundle "$B" "$ID" >/dev/null 2>&1 &
  local runner=$! result=0
  until_true is_state running
  go kill "$ID" KILL
  wait $runner || result=$?
  same $result 137
  nothing_left
}

@test "run passes stdin, stdout and stderr through" {
  script 'cat; echo to-err >&2'
  echo through | rt run --bundle "$B" "$ID" >"$W/o" 2>"$W/e"
  same "$(cat "$W/o")" through
  same "$(cat "$W/e")" to-err
}

@test "run --detach returns while the program runs" {
  running
  state_is running
}

@test "run --keep leaves the stopped container" {
  set_args /bin/true
  go run --keep --bundle "$B" "$ID"
  [ "$status" = 0 ] || grep -q 'flag provided but not defined' <<<"$err" || tell "run --keep"
  state_is stopped
}

@test "run forwards SIGTERM to the program" {
  set_args /bin/sh -c 'trap "exit 9" TERM; touch /tmp/ready; while :; do sleep 0.05; done'
  local result=0
  (eval 'exec "$RUNTIME" --root "$STATE" run --bundle "$B" "$ID" >/dev/null 2>&1' "$CLOSE") &
  local runner=$!
  until_true test -e "$B/rootfs/tmp/ready"
  kill -TERM $runner
  wait $runner || result=$?
  same $result 9
}

@test "a program that does not exist: the text names it in lower case, and nothing is left" {
  set_args /no/such/program
  refused '/no/such/program.*no such file or directory' run --bundle "$B" "$ID"
  refused '/no/such/program.*no such file or directory'
}

@test "a program not found in PATH: the words that engines look for" {
  set_args no-such-program
  refused 'executable file not found in \$PATH' run --bundle "$B" "$ID"
}

@test "a program that may not be executed: permission denied" {
  echo data >"$B/rootfs/tmp/data"
  set_args /tmp/data
  refused 'permission denied' run --bundle "$B" "$ID"
}

@test "--pid-file holds the pid, also over a longer old one" {
  printf '99999999999999999999\n' >"$W/pid"
  created
  rt delete --force "$ID"
  go create --pid-file "$W/pid" --bundle "$B" "$ID"
  ok
  same "$(tr -d '\n' <"$W/pid")" "$(pid_of)"
}

@test "the bundle is the working folder where none is named" {
  set_args /bin/peek -q print:here
  status=0
  out=$(cd "$B" && rt run "$ID") || status=$?
  same "$out" here
}

@test "a bundle without config.json, or one that is no folder, is refused" {
  go create --bundle "$W/none" "$ID"
  [ "$status" != 0 ]
  err_has 'no such file|does not exist'
  mkdir "$W/empty"
  go create --bundle "$W/empty" "$ID"
  [ "$status" != 0 ]
  err_has 'config\.json'
  nothing_left
}

@test "edits of config.json after create have no effect" {
  set_args /bin/peek -q print:first
  go create --bundle "$B" "$ID"
  ok
  cp "$W/out" "$W/created.out"
  set_args /bin/peek -q print:second
  config '.hostname = "changed" | .process.env += ["LATE=1"]'
  rm "$B/config.json"
  go start "$ID"
  ok
  until_true is_state stopped
  grep -q first "$W/out" "$W/created.out"
  ! grep -q second "$W/out"
}

@test "list: table, JSON, ids only" {
  running
  go list
  ok
  out_has '^ID +PID +STATUS +BUNDLE +CREATED +OWNER'
  out_has "^$ID +[0-9]+ +running +$B +[0-9T:.Z-]+ +root"
  go list --format json
  ok
  seen=$out
  expect 'length == 1' '.[0].id == "'"$ID"'"' '.[0].status == "running"' '.[0].bundle == "'"$B"'"' '.[0].owner == "root"'
  same "$(wc -l <"$W/out")" "$(tail -c1 "$W/out" | wc -l)"
  go list -q
  same "$out" "$ID"
  go list -f json -q
  ok
}

@test "list of none: null in JSON" {
  go list -f json
  ok
  same "$out" null
  go list
  ok
}

@test "list with what is no container's folder in the state folder still lists the others" {
  running
  mkdir "$STATE/stray"
  go list -q
  ok
  out_has "^$ID\$"
  rmdir "$STATE/stray"
}

@test "ps: JSON array of the host's pids; a table by ps(1)" {
  set_args /bin/sh -c 'sleep 1000 & sleep 1000 & wait'
  go run --detach --bundle "$B" "$ID"
  ok
  three() { [ "$(rt ps --format json "$ID" | jq length)" = 3 ]; }
  until_true three
  seen=$(rt ps --format json "$ID")
  expect "index($(pid_of)) != null" 'all(.[]; type == "number")'
  go ps "$ID"
  ok
  out_has '^UID +PID'
  out_has "sleep 1000"
  same "$(wc -l <<<"$out")" 4
}

@test "--version: the lines that podman and containerd read" {
  go --version
  ok
  same "$(head -1 <<<"$out" | cut -d' ' -f2)" version
  out_has '^commit:'
  out_has '^spec: 1\.[0-9]+\.[0-9]+'
  # Not stopped by a state folder that cannot be.
  go_other "$RUNTIME" --root /dev/null/x --version
  ok
}

@test "help goes to stdout and succeeds" {
  go --help
  ok
  out_has create
  out_has delete
}

@test "spec writes a config.json that runs, and does not overwrite one" {
  mkdir "$W/new"
  cp -al "$TEMPLATE" "$W/new/rootfs"
  (cd "$W/new" && rt spec)
  jq -e '.ociVersion and .process.args and .linux.maskedPaths and .linux.readonlyPaths' "$W/new/config.json"
  jq -e '(.process.capabilities.inheritable // []) == [] or true' "$W/new/config.json"
  status=0
  (cd "$W/new" && rt spec) 2>"$W/err" || status=$?
  [ $status != 0 ]
  grep -qiE 'exist|overwrite' "$W/err"
  B=$W/new
  # This machine's root may lack CAP_SYS_RESOURCE, so a limit above its own cannot be asked for.
  config 'del(.process.rlimits) | .process.terminal = false | .process.args = ["/bin/peek"]'
  go run --bundle "$B" "$ID"
  ok
  seen=$out
  expect '.pid == 1'
}

@test "spec's masks hold what leaks or harms: powercap, asound, scsi, sysrq" {
  mkdir "$W/new"
  rt spec --bundle "$W/new"
  seen=$(cat "$W/new/config.json")
  expect '.linux.maskedPaths | contains(["/proc/acpi","/proc/asound","/proc/kcore","/proc/keys","/proc/latency_stats","/proc/timer_list","/proc/timer_stats","/proc/sched_debug","/sys/firmware","/proc/scsi"])' \
    '.linux.readonlyPaths | contains(["/proc/bus","/proc/fs","/proc/irq","/proc/sys","/proc/sysrq-trigger"])' \
    '.process.noNewPrivileges == true' '(.process.capabilities.inheritable // []) == []' \
    '.linux.maskedPaths | contains(["/sys/devices/virtual/powercap"])'
}

@test "spec --rootless maps the user and asks for no cgroup" {
  mkdir "$W/new"
  rt spec --rootless --bundle "$W/new"
  seen=$(cat "$W/new/config.json")
  expect '.linux.uidMappings | length == 1' '.linux.gidMappings | length == 1' 'any(.linux.namespaces[]; .type == "user")'
}

@test "features says what is supported" {
  go features
  ok
  seen=$out
  expect '.ociVersionMin == "1.0.0"' '.ociVersionMax | test("^1\\.")' \
    '.hooks | sort == ["createContainer","createRuntime","poststart","poststop","prestart","startContainer"]' \
    '.mountOptions | contains(["bind","rbind","ro","nosuid","rro","rprivate","tmpcopyup"])' \
    '.linux.namespaces | sort | contains(["cgroup","ipc","mount","network","pid","user","uts"])' \
    '.linux.capabilities | contains(["CAP_SYS_ADMIN","CAP_BPF"])' '.linux.cgroup.v1 == true' '.linux.seccomp.enabled == true' \
    '.linux.seccomp.actions | contains(["SCMP_ACT_ALLOW","SCMP_ACT_ERRNO","SCMP_ACT_KILL_PROCESS"])'
}

@test "--log gets the error as text or JSON, one object a line, and stderr gets it too" {
  go --log "$W/log" --log-format json state "$ID"
  [ "$status" != 0 ]
  err_has 'does not exist'
  seen=$(tail -1 "$W/log")
  expect '.level == "error"' '.msg | test("does not exist")' '.time | test("^[0-9]{4}-.*T")'
  go --log "$W/log" --log-format json state "$ID"
  while read -r line; do jq -e .msg <<<"$line" >/dev/null; done <"$W/log"
  [ "$(grep -c error "$W/log")" -ge 2 ]
  go --log "$W/text" state "$ID"
  grep -q 'does not exist' "$W/text"
}

@test "ids: what names no folder or hides one is refused" {
  local id
  set_args /bin/true
  for id in .. . a/b ../x '' 'a b' $'a\nb' ü "$(printf 'x%.0s' {1..1100})" .hid -x; do
    if [ "$id" = -x ]; then go run --bundle "$B" -- "$id"; else go run --bundle "$B" "$id"; fi
    [ "$status" != 0 ] || { tell "id '${id:0:20}' was accepted"; return 1; }
  done
  [ -z "$(ls -A "$STATE" 2>/dev/null | grep -v '^\.')" ]
}

@test "ids: letters, digits, _ + . - are accepted" {
  ID="A.b_c+d-$ID"
  config '.linux.cgroupsPath = "'"$GROUP/$ID"'"'
  created
  state_is created
}

@test "process unset: create works, start is refused" {
  config 'del(.process)'
  go create --bundle "$B" "$ID"
  if [ "$status" = 0 ]; then
    go start "$ID"
    [ "$status" != 0 ]
    err_has process
  else
    err_has process
  fi
}

@test "a program that ended is seen as stopped at once by state" {
  script 'exit 0'
  go create --bundle "$B" "$ID"
  go start "$ID"
  ok
  until_true is_state stopped
  go delete "$ID"
  ok
  nothing_left
}

@test "two creates of one id at once: one wins, one clear line from the other" {
  local round i results
  set_args /bin/peek -q hold
  for round in 1 2 3 4 5 6 7 8 9 10; do
    # The state folder is made by both at once, too.
    STATE=$W/state.$round
    rm -f "$W"/rc.*
    for i in 1 2; do
      (rc=0; rt create --bundle "$B" "$ID" >/dev/null 2>"$W/err.$i" </dev/null || rc=$?; echo $rc >"$W/rc.$i") &
    done
    wait
    results=$(sort "$W/rc.1" "$W/rc.2" | tr '\n' ' ')
    [[ $results =~ ^0\ [1-9] ]] || fail "statuses: $results $(cat "$W"/err.*)"
    state_is created || fail "round $round: $(cat "$W"/err.*) $(ls -la "$STATE/$ID")"
    go delete --force "$ID"
    ok
    same "$(leftovers)" ''
  done
}

@test "two starts at once: one wins; the program runs once" {
  local i
  set_args /bin/sh -c 'echo ran >>/tmp/ran; exec /bin/peek -q hold'
  go create --bundle "$B" "$ID"
  ok
  for i in 1 2; do
    (rc=0; rt start "$ID" >/dev/null 2>"$W/err.$i" </dev/null || rc=$?; echo $rc >"$W/rc.$i") &
  done
  wait
  [[ $(sort "$W/rc.1" "$W/rc.2" | tr '\n' ' ') =~ ^0\ [1-9] ]] || fail "statuses: $(cat "$W"/rc.* "$W"/err.*)"
  until_true test -e "$B/rootfs/tmp/ran"
  same "$(cat "$B/rootfs/tmp/ran")" ran
}

@test "deletes and kills at once end within a bound and leave nothing" {
  local i
  running
  for i in 1 2 3; do rt delete --force "$ID" >/dev/null 2>&1 </dev/null & done
  rt kill "$ID" KILL >/dev/null 2>&1 </dev/null &
  wait
  nothing_left
}
