# What fails leaves nothing; what is killed can be cleared.
load ../lib/common

# everything: what a container could leave on the host.
everything() {
  sed 's/^[0-9]* [0-9]* //' /proc/self/mountinfo | grep -E " $W|$ID" | sort
  find "$CONTROLLERS" -maxdepth 4 -type d \( -path "*$GROUP/*$ID*" -o -name "*$ID*" \) 2>/dev/null
  find "$STATE" 2>/dev/null | grep "$ID"
  processes_of "$ID"
}

fails_at() {
  refused "${2:-.}" || { fail "at: $1"; return 1; }
  same "$(everything)" '' || { fail "at: $1"; return 1; }
}

@test "create that fails, at each stage, leaves nothing" {
  cp "$B/config.json" "$W/good"
  again() { cp "$W/good" "$B/config.json"; }
  config '.mounts += [{"destination": "/x", "type": "bind", "source": "/no/such", "options": ["bind"]}]'
  fails_at mount /no/such
  again; config '.process.args = ["/no/such"]'; fails_at program /no/such
  again; config '.linux.sysctl = {"net.nosuch": "1"}'; fails_at sysctl nosuch
  again; config '.hooks.createRuntime = [{"path": "/bin/false"}]'; fails_at createRuntime
  again; config '.hooks.createContainer = [{"path": "/bin/false"}]'; fails_at createContainer
  again; config '.process.rlimits = [{"type": "RLIMIT_NICE", "soft": 40, "hard": 40}, {"type": "RLIMIT_NOFILE", "soft": 2000000000, "hard": 2000000000}]'; fails_at rlimit
  again; config '.linux.resources.cpu = {"cpus": "4095"}'; fails_at cpuset
  again; config '.linux.namespaces[0].path = "/proc/self/ns/net"'; fails_at namespace
  again; config '.linux.devices = [{"type": "c", "path": "/etc/passwd/x", "major": 1, "minor": 3}]'; fails_at device
  again; config '.process.cwd = "/etc/passwd/x"'; fails_at cwd
  again; config '.process.terminal = true'
  refused . create --console-socket "$W/no.sock" --bundle "$B" "$ID"
  same "$(everything)" ''
  again; refused . create --pid-file /no/such/dir/pid --bundle "$B" "$ID"
  same "$(everything)" ''
}

@test "run that fails leaves nothing" {
  set_args /no/such
  refused '/no/such' run --bundle "$B" "$ID"
  same "$(everything)" ''
}

@test "after a normal run nothing is left" {
  set_args /bin/true
  go run --bundle "$B" "$ID"
  ok
  same "$(everything)" ''
}

@test "run whose runtime is killed: delete --force clears all" {
  set_args /bin/peek -q hold
  (eval 'exec "$RUNTIME" --root "$STATE" run --bundle "$B" "$ID" >/dev/null 2>&1' "$CLOSE") &
  local runner=$!
  until_true is_state running
  kill -KILL $runner
  wait $runner || true
  go delete --force "$ID"
  ok
  same "$(everything)" ''
}

@test "create killed at a random time, many times: delete --force clears all, the id is free" {
  local i runner
  set_args /bin/peek -q hold
  for i in $(seq 1 25); do
    (eval 'exec "$RUNTIME" --root "$STATE" create --bundle "$B" "$ID" >/dev/null 2>&1' "$CLOSE") &
    runner=$!
    sleep 0.00$((RANDOM % 10))$((RANDOM % 10))
    kill -KILL $runner 2>/dev/null || true
    wait $runner 2>/dev/null || true
    go delete --force "$ID"
    ok || return 1
    same "$(leftovers)" '' || { fail "round $i"; return 1; }
  done
  created
}

@test "state files that are cut off or foreign: one clear line; delete --force clears all" {
  local file
  running
  for file in $(find "$STATE" -type f -path "*$ID*" -size +0); do : >"$file"; done
  go state "$ID"
  [ "$status" -lt 124 ]
  if [ "$status" != 0 ]; then [ -n "$err" ]; fi
  go delete --force "$ID"
  [ "$status" -lt 124 ]
  if [ "$status" = 0 ] && [ -z "$err" ]; then
    same "$(leftovers)" '' || return 1
  fi
  # What it said it could not clear is cleared here.
  local pid
  for pid in $(processes_of "$ID"); do kill -KILL "$pid"; done
  until_true eval '[ -z "$(processes_of "$ID")" ]'
  find "$CONTROLLERS" -depth -type d -path "*$GROUP/$ID*" -exec rmdir {} +
}

@test "a state folder that cannot be written is one clear error" {
  go_other "$RUNTIME" --root /proc/nothing create --bundle "$B" "$ID"
  [ "$status" != 0 ]
  [ "$status" -lt 124 ]
  [ -n "$err" ]
  nothing_left
}

@test "twenty containers one after the other leave the state folder as it was" {
  local i
  set_args /bin/true
  go run --bundle "$B" "$ID"
  find "$STATE" | sort >"$W/before"
  for i in $(seq 1 20); do go run --bundle "$B" "$ID"; ok || return 1; done
  find "$STATE" | sort | diff "$W/before" -
}
