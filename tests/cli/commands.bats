# The command line itself: help, mistakes, messages, the log.
load ../lib/common

@test "commands: help of each, on stdout" {
  local command
  for command in box run create start exec state list ps kill pause resume update events delete spec features pid tree top enter; do
    go $command --help
    ok
    out_has "^usage: tare $command "
    same "$err" ""
    go help $command
    ok
    out_has "^usage: tare $command "
  done
  go --help
  ok
  out_has '^  box '
  go
  status_is 1
  err_has '^usage: tare'
}

@test "commands: mistakes end with 1 (of exec: 255), one line of usage and what was meant" {
  go kil x
  status_is 1
  err_has '^tare: unknown command "kil"$'
  err_has '^hint: did you mean "kill"'
  err_has '^usage: '
  go run --bundel x "$ID"
  status_is 1
  err_has '^tare: run: unknown option "--bundel"$'
  err_has '^hint: did you mean --bundle'
  go run
  status_is 1
  err_has '^tare: run: needs CONTAINER$'
  go kill "$ID" SIGNONSENSE
  status_is 1
  err_has 'unknown signal "SIGNONSENSE"'
  go create 'a/b'
  status_is 1
  # Of exec 1 would be the program's own status.
  go exec "$ID"
  status_is 255
}

@test "commands: an option may stand behind the container, a program's options are its own" {
  script 'exit 5'
  go run "$ID" --bundle "$B"
  status_is 5
  set_args sleep 20
  go run --detach --bundle="$B" "$ID"
  ok
  go exec "$ID" sh -c 'echo "$0" "$@"' a --cwd -t
  ok
  same "$out" "a --cwd -t"
  go exec --tty=false "$ID" -- echo x
  ok
  same "$out" x
  go kill "$ID" --all 9
  ok
}

@test "commands: --version as engines read it" {
  local word
  for word in --version -v; do
    go $word
    ok
    same "$(sed -n 1p <<<"$out" | grep -cE '^tare version [0-9]+\.[0-9]+\.[0-9]+')" 1
    out_has '^commit: '
    out_has '^spec: 1\.[0-9]+\.[0-9]+$'
    out_has '^libseccomp: 2\.'
  done
}

@test "commands: errors go to stderr and, in its format, to the log, which grows" {
  go --log "$W/log" --log-format json state "$ID"
  status_is 1
  err_has "^tare: state $ID: container does not exist$"
  go --log "file:$W/log" --log-format=json delete "$ID"
  status_is 1
  same "$(wc -l <"$W/log")" 2
  same "$(jq -r .level "$W/log" | sort -u)" error
  same "$(tail -n 1 "$W/log" | jq -r .msg)" "delete $ID: container does not exist"
  same "$(jq -r .time "$W/log" | grep -cE '^20[0-9]{2}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9]Z$')" 2
  go --log "$W/text" state "$ID"
  grep -qE "^time=\"20.*Z\" level=error msg=\"state $ID: container does not exist\"$" "$W/text"
  go --log-format json state "$ID"
  status_is 1
  same "$(jq -r .msg <<<"$err")" "state $ID: container does not exist"
  go --log "$W/no/such/folder/log" list
  status_is 1
}

@test "commands: --debug tells what is run, and how it ends" {
  go --debug list
  ok
  err_has '^tare: debug: tare [0-9.]+, state in .*: list$'
  err_has '^tare: debug: list: status 0$'
  go --debug --log "$W/log" --log-format json list
  ok
  same "$err" ""
  same "$(jq -r .level "$W/log" | sort | uniq -c | tr -s ' ')" " 2 debug"
}

@test "commands: what is not supported is refused by name" {
  go --systemd-cgroup list
  status_is 1
  err_has 'systemd'
  go --cgroup-manager systemd list
  status_is 1
  go --cgroup-manager=cgroupfs --rootless auto --criu /x --log-level error --systemd-cgroup=false list
  ok
  go --log journald: list
  status_is 1
}

@test "commands: spec writes config.json once" {
  mkdir "$W/new"
  go spec --bundle "$W/new"
  ok
  same "$(jq -r .root.path "$W/new/config.json")" rootfs
  go spec --bundle "$W/new"
  status_is 1
  err_has 'exists'
  rm "$W/new/config.json"
  ln -s "$W/absent" "$W/new/config.json"
  go spec --bundle "$W/new"
  status_is 1
  [ ! -e "$W/absent" ]
  rm "$W/new/config.json"
  go spec --rootless -b "$W/new"
  same "$(jq -r '[.linux.namespaces[].type] | index("user") != null' "$W/new/config.json")" true
}

@test "commands: what can't be written is an error" {
  status=0
  rt list >/dev/full 2>"$W/err" || status=$?
  status_is 1
  grep -q 'no space left on device' "$W/err"
  status=0
  rt --version >/dev/full 2>"$W/err" || status=$?
  status_is 1
}

@test "commands: ps of the host's pids, as a table and as json" {
  set_args sleep 20
  go run --detach --bundle "$B" "$ID"
  ok
  go ps "$ID"
  ok
  same "$(sed -n 1p <<<"$out" | grep -c 'PID.*CMD')" 1
  same "$(wc -l <<<"$out")" 2
  go ps --format json "$ID"
  ok
  same "$(jq -c length <<<"$out")" 1
  same "$(tr '\0' ' ' <"/proc/$(jq '.[0]' <<<"$out")/cmdline")" "sleep 20 "
  go ps "$ID" -o pid,comm
  out_has ' sleep$'
  go ps "$ID" -o comm
  status_is 1
  err_has 'no PID column'
}
