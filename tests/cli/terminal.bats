# A terminal for the program, given to the engine by the console socket.
load ../lib/common

# with_console STEPS -- VERB...: an engine that listens, and the verb; the terminal's words in shown.
with_console() {
  local steps=() receiver
  while [ "$1" != -- ]; do steps+=("$1"); shift; done
  shift
  rm -f "$W/console.sock"
  eval '"$HELPERS/tool" console "$W/console.sock" "${steps[@]}" >"$W/shown" 2>"$W/console.err"' "$CLOSE" &
  receiver=$!
  until_true test -S "$W/console.sock"
  go "$@"
  console_status=0
  [ "$status" = 0 ] || kill $receiver 2>/dev/null || true
  [ "${WAIT:-yes}" = no ] || wait $receiver || console_status=$?
  shown=$(tr -d '\r\0' <"$W/shown")
}

@test "terminal: stdio is a pty, its controlling terminal, its size as given" {
  config '.process.terminal = true | .process.consoleSize = {"height": 31, "width": 97}'
  set_args /bin/peek stat:/dev/console
  with_console -- run --detach --console-socket "$W/console.sock" --bundle "$B" "$ID"
  ok
  same $console_status 0
  seen=$shown
  expect '.tty.is == [true,true,true]' '.tty.size == [31,97]' '.tty.controlling' '.tty.foreground == 1' \
    '.fds["0"] | test("^/dev/(pts/0|console)$")' '.fds | keys == ["0","1","2"]' 't("stat:/dev/console").type == "c"' \
    'm("/dev/console") != null'
}

@test "terminal: what the engine types arrives, and what is printed comes out whole" {
  config '.process.terminal = true'
  set_args /bin/sh -c 'read line; echo "got $line"; seq 1 3000; echo done'
  with_console --send 'hello\n' --wait 'got hello' --wait done -- run --detach --console-socket "$W/console.sock" --bundle "$B" "$ID"
  ok
  same $console_status 0
  same "$(grep -cE '^[0-9]+$' <<<"$shown")" 3000
}

@test "terminal: Ctrl-C reaches the program" {
  config '.process.terminal = true'
  set_args /bin/sh -c 'trap "echo interrupted; exit 3" INT; echo ready; while :; do sleep 0.05; done'
  with_console --wait ready --send '\x03' --wait interrupted -- run --detach --console-socket "$W/console.sock" --bundle "$B" "$ID"
  ok
  same $console_status 0
}

@test "terminal: the user owns it" {
  config '.process.terminal = true | .process.user = {"uid": 1000, "gid": 1000}'
  set_args /bin/peek
  with_console -- run --detach --console-socket "$W/console.sock" --bundle "$B" "$ID"
  ok
  seen=$shown
  expect '.tty.owner[0] == 1000' '.tty.is == [true,true,true]'
}

@test "terminal: create sends it, start uses it" {
  config '.process.terminal = true'
  set_args /bin/sh -c 'tty; echo done'
  WAIT=no with_console --wait done -- create --console-socket "$W/console.sock" --bundle "$B" "$ID"
  ok
  go start "$ID"
  ok
  wait
  grep -qE '^/dev/(pts/0|console)' <(tr -d '\r' <"$W/shown")
}

@test "terminal with a read-only root, and with a read-only /dev" {
  config '.process.terminal = true | .root.readonly = true'
  set_args /bin/peek
  with_console -- run --detach --console-socket "$W/console.sock" --bundle "$B" "$ID"
  ok
  seen=$shown
  expect '.tty.is == [true,true,true]' 'm("/").options | index("ro") != null'
  until_true is_state stopped
  go delete "$ID"
  config '(.mounts[] | select(.destination == "/dev")).options += ["ro"]'
  with_console -- run --detach --console-socket "$W/console.sock" --bundle "$B" "$ID"
  ok
  seen=$shown
  expect '.tty.is == [true,true,true]' 'm("/dev").options | index("ro") != null'
}

@test "terminal: a console socket whose path is longer than an address may be" {
  local long
  long=$W/$(printf 'x%.0s' {1..120})
  mkdir "$long"
  config '.process.terminal = true'
  set_args /bin/sh -c 'echo done'
  eval '"$HELPERS/tool" console "$long/c" --wait done >"$W/shown" 2>&1' "$CLOSE" &
  until_true test -S "$long/c"
  go run --detach --console-socket "$long/c" --bundle "$B" "$ID"
  ok
  wait
  grep -q done "$W/shown"
}

@test "terminal true without a console socket is refused by create; a socket without a terminal too" {
  config '.process.terminal = true'
  refused 'console-socket|console socket'
  config '.process.terminal = false'
  refused 'console-socket|console socket|terminal' create --console-socket "$W/none.sock" --bundle "$B" "$ID"
}

@test "terminal: a console socket where nobody listens is refused and leaves nothing" {
  config '.process.terminal = true'
  refused 'console|connect' create --console-socket "$W/none.sock" --bundle "$B" "$ID"
}

@test "consoleSize without a terminal is ignored" {
  config '.process.consoleSize = {"height": 10, "width": 10}'
  see
  expect '.tty.is == [false,false,false]'
}

@test "no terminal: the program has no controlling terminal of the caller's" {
  set_args /bin/peek
  status=0
  eval 'timeout 40 "$HELPERS/tool" pty -- "$RUNTIME" --root "$STATE" run --bundle "$B" "$ID" >"$W/out" 2>"$W/err"' "$CLOSE" || status=$?
  seen=$(tr -d '\r' <"$W/out")
  expect '.tty.controlling == false' '.sid == 1'
}

@test "run with a terminal of the caller's own: status, size and typing pass" {
  config '.process.terminal = true'
  set_args /bin/sh -c 'stty size; read x; echo "<$x>"; exit 6'
  status=0
  eval 'timeout 40 "$HELPERS/tool" pty --size 22x88 --wait "22 88" --send "typed\r" --wait "<typed>" -- "$RUNTIME" --root "$STATE" run --bundle "$B" "$ID" >"$W/out" 2>"$W/err"' "$CLOSE" || status=$?
  same $status 6
}

@test "exec with a terminal: its own, owned by exec's user" {
  running
  WAIT=yes with_console -- exec --detach --tty --user 1000:1000 --console-socket "$W/console.sock" "$ID" /bin/peek
  ok
  seen=$shown
  expect '.tty.is == [true,true,true]' '.tty.owner[0] == 1000' '.tty.controlling' '.sid == .pid'
}

@test "exec with a terminal: short output is never lost" {
  local i
  running
  for i in 1 2 3 4 5; do
    with_console -- exec --detach --tty --console-socket "$W/console.sock" "$ID" /bin/echo "short $i"
    ok
    grep -q "short $i" <<<"$shown" || fail "lost: $shown"
  done
}
