# Hooks: when, where, with what, and what happens when one fails.
load ../lib/common

# hook KIND SCRIPT [FIELDS]: a hook whose script is run by the host's shell.
hook() { config '.hooks[$k] += [{"path": "/bin/sh", "args": ["sh", "-c", $s]} + $f]' --arg k "$1" --arg s "$2" --argjson f "${3:-{\}}"; }
KINDS='prestart createRuntime createContainer startContainer poststart poststop'

@test "all six run, in their order, and create runs only its own" {
  local kind
  for kind in prestart createRuntime createContainer poststart poststop; do hook $kind "echo $kind >>$W/order"; done
  hook startContainer 'echo startContainer >>/tmp/order'
  set_args /bin/sh -c 'cat /tmp/order >/tmp/seen; exec /bin/peek -q hold'
  go create --bundle "$B" "$ID"
  ok
  same "$(tr '\n' ' ' <"$W/order")" 'prestart createRuntime createContainer '
  [ ! -e "$B/rootfs/tmp/order" ]
  go start "$ID"
  ok
  # poststart has run when start returns.
  same "$(tr '\n' ' ' <"$W/order")" 'prestart createRuntime createContainer poststart '
  until_true test -s "$B/rootfs/tmp/seen"
  same "$(cat "$B/rootfs/tmp/seen")" startContainer
  go kill "$ID" KILL
  until_true is_state stopped
  ! grep -q poststop "$W/order" || false
  go delete "$ID"
  ok
  grep -q poststop "$W/order"
}

@test "hooks of a kind run in the order of the list" {
  hook createRuntime "echo 1 >>$W/order"
  hook createRuntime "echo 2 >>$W/order"
  hook createRuntime "echo 3 >>$W/order"
  created
  same "$(tr -d '\n' <"$W/order")" 123
}

@test "each gets the state on stdin: id, bundle, pid, status, annotations" {
  local kind
  config '.annotations = {"k": "v"}'
  for kind in prestart createRuntime createContainer poststart poststop; do hook $kind "cat >$W/in.$kind"; done
  hook startContainer 'cat >/tmp/in'
  running
  local pid
  pid=$(pid_of)
  go delete --force "$ID"
  for kind in prestart createRuntime createContainer poststart; do
    seen=$(cat "$W/in.$kind")
    expect '.id == "'"$ID"'"' '.bundle == "'"$B"'"' '.annotations.k == "v"' '.ociVersion | test("^1\\.")' || { fail $kind; return 1; }
  done
  for kind in prestart createRuntime; do
    seen=$(cat "$W/in.$kind")
    expect ".pid == $pid" '.status == "creating"' || { fail $kind; return 1; }
  done
  seen=$(cat "$W/in.poststart")
  expect ".pid == $pid" '.status == "running"'
  seen=$(cat "$W/in.poststop")
  expect '.status == "stopped"'
  seen=$(cat "$B/rootfs/tmp/in")
  expect '.pid == 1' '.status == "created"'
}

@test "which namespaces: prestart and createRuntime in the runtime's, createContainer and startContainer in the container's" {
  local kind
  for kind in prestart createRuntime createContainer; do hook $kind "readlink /proc/self/ns/mnt /proc/self/ns/uts >$W/ns.$kind"; done
  config '.hooks.startContainer = [{"path": "/bin/sh", "args": ["sh", "-c", "{ readlink /proc/self/ns/mnt; readlink /proc/self/ns/uts; } >/tmp/ns"]}]'
  running
  local inside host
  inside=$(readlink "/proc/$(pid_of)/ns/mnt" "/proc/$(pid_of)/ns/uts")
  host=$(readlink /proc/self/ns/mnt /proc/self/ns/uts)
  same "$(cat "$W/ns.prestart")" "$host"
  same "$(cat "$W/ns.createRuntime")" "$host"
  same "$(cat "$W/ns.createContainer")" "$inside"
  same "$(cat "$B/rootfs/tmp/ns")" "$inside"
}

@test "createContainer sees the mounts before the root is changed, and may write in a root that will be read-only" {
  config '.root.readonly = true'
  hook createContainer "cat /proc/self/mountinfo >$W/mounts; touch $B/rootfs/tmp/made"
  running
  grep -q "$B/rootfs/proc" "$W/mounts"
  [ -e "$B/rootfs/tmp/made" ]
}

@test "createRuntime can join the container's network namespace by the pid" {
  hook createRuntime "pid=\$(sed 's/.*\"pid\": *\\([0-9]*\\).*/\\1/' | head -1); readlink /proc/\$pid/ns/net >$W/net"
  running
  same "$(cat "$W/net")" "$(readlink "/proc/$(pid_of)/ns/net")"
}

@test "the environment is the hook's own: empty without env" {
  hook createRuntime "cat /proc/self/environ >$W/env1"
  hook createRuntime "cat /proc/self/environ >$W/env2" '{"env": ["ONE=1", "TWO=2"]}'
  set_args /bin/peek -q hold
  SECRET=leak go create --bundle "$B" "$ID"
  ok
  ! grep -qa SECRET "$W/env1" || fail "the caller's environment reached a hook"
  ! grep -qa PATH= "$W/env1" || fail "$(tr '\0' ' ' <"$W/env1")"
  same "$(tr '\0' ' ' <"$W/env2" | sed 's/PWD=[^ ]* //; s/ $//')" 'ONE=1 TWO=2'
}

@test "the working folder is the bundle" {
  local kind
  for kind in prestart createRuntime poststart poststop; do hook $kind "pwd >$W/cwd.$kind"; done
  running
  go delete --force "$ID"
  for kind in prestart createRuntime poststart poststop; do same "$(cat "$W/cwd.$kind")" "$B"; done
}

@test "arguments: argv[0] is args[0]; without args it is the path" {
  printf '#!/bin/sh\ntr "\\0" "|" </proc/$$/cmdline >>%s/args\n' "$W" >"$W/hook"
  chmod 755 "$W/hook"
  config '.hooks.createRuntime = [{"path": $p, "args": ["zero", "one"]}, {"path": $p}]' --arg p "$W/hook"
  created
  grep -q '|one|' "$W/args"
}

@test "a failing hook before start: create fails, names it, and nothing is left; poststop hooks run" {
  local kind
  for kind in prestart createRuntime createContainer; do
    config 'del(.hooks)'
    hook $kind 'echo words of the hook >&2; exit 7'
    refused '(hook|/bin/sh).*(7|exit)' || { fail $kind; return 1; }
    err_has 'words of the hook' || { fail $kind; return 1; }
  done
}

@test "a hook whose program does not exist names it" {
  config '.hooks.createRuntime = [{"path": "/no/such/hook"}]'
  refused '/no/such/hook.*no such file'
}

@test "a failing startContainer hook: start fails and the program has not run" {
  hook startContainer 'exit 3'
  set_args /bin/sh -c 'touch /tmp/ran'
  go create --bundle "$B" "$ID"
  ok
  go start "$ID"
  [ "$status" != 0 ]
  [ ! -e "$B/rootfs/tmp/ran" ]
}

@test "a failing poststart hook: a warning up to 1.2, the end of the container from 1.3" {
  set_args /bin/peek -q hold
  hook poststart 'exit 4'
  config '.ociVersion = "1.2.0"'
  go create --bundle "$B" "$ID"
  ok
  go start "$ID"
  if [ "$status" = 0 ]; then err_has 'poststart|hook'; state_is running; fi
  go delete --force "$ID"
  config '.ociVersion = "1.3.0"'
  go create --bundle "$B" "$ID"
  ok
  go start "$ID"
  [ "$status" != 0 ] || tell "start with a failing poststart hook, 1.3"
  err_has 'poststart|hook'
  until_true eval '! is_state running'
}

@test "a failing poststop hook: a warning; the other hooks run and the container is gone" {
  hook poststop 'exit 5'
  hook poststop "touch $W/second"
  running
  go delete --force "$ID"
  [ -e "$W/second" ]
  nothing_left
}

@test "a hook that does not read its stdin is no failure" {
  local i
  hook createRuntime 'exec <&-; exit 0'
  for i in 1 2 3; do
    created
    rt delete --force "$ID"
  done
}

@test "timeout: the hook is ended with all its children, in about that time" {
  hook createRuntime 'sleep 300 & sleep 300' '{"timeout": 1}'
  config '.process.env += ["X=1"]'
  local begin=$SECONDS
  refused 'timeout|timed out|deadline|killed'
  [ $((SECONDS - begin)) -lt 8 ] || fail "took $((SECONDS - begin)) s"
  ! pgrep -fx 'sleep 300' >/dev/null || { pkill -KILL -fx 'sleep 300'; fail "a child of the hook is left"; }
}

@test "timeout zero or negative is refused; a path that is not absolute too" {
  local value
  for value in 0 -1; do
    config '.hooks = {"createRuntime": [{"path": "/bin/true", "timeout": '$value'}]}'
    refused 'timeout' || { fail "timeout $value"; return 1; }
  done
  config '.hooks = {"createRuntime": [{"path": "true"}]}'
  refused 'path'
  config '.hooks = {"createRuntime": [{"args": ["true"]}]}'
  refused 'path'
}

@test "hooks get no descriptor of the runtime's or the caller's" {
  hook createRuntime "ls -l /proc/self/fd >$W/fds"
  hook poststart "ls -l /proc/self/fd >$W/fds2"
  set_args /bin/peek -q hold
  (exec 7</etc/hostname 8</proc; rt run --detach --bundle "$B" "$ID" </dev/null >/dev/null 2>&1)
  # 3 is ls's own.
  ! grep -E ' ([4-9]|[1-9][0-9]+) -> ' "$W/fds" || fail "$(cat "$W/fds")"
  ! grep -E ' ([4-9]|[1-9][0-9]+) -> ' "$W/fds2" || fail "$(cat "$W/fds2")"
}

@test "an engine that is killed during a hook: delete --force clears all" {
  hook createRuntime "touch $W/in-hook; sleep 60"
  set_args /bin/true
  (eval 'exec "$RUNTIME" --root "$STATE" create --bundle "$B" "$ID" >/dev/null 2>&1' "$CLOSE") &
  local runner=$!
  until_true test -e "$W/in-hook"
  kill -KILL $runner
  wait $runner || true
  go delete --force "$ID"
  ok
  pkill -KILL -fx 'sleep 60' || true
  nothing_left
  # The id is free again.
  config 'del(.hooks)'
  created
}
