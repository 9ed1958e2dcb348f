# exec: a second program in a running container.
load ../lib/common

more_setup() { running; }

@test "exec runs in the container's namespaces and cgroup, with its defaults" {
  see_exec
  expect '.pid > 1' '.hostname == "inside"' '.nnp == 1' '.cwd == "/"' 'any(.env[]; . == "PATH=/bin")' '.sid == .pid'
  local inside=$seen type
  for type in pid mnt uts ipc net; do
    same "$(jq -r .namespaces.$type <<<"$inside")" "$(readlink "/proc/$(pid_of)/ns/$type")"
  done
  # The cgroups are the container's own.
  same "$(jq -r '.cgroup[] | select(test(":pids:"))' <<<"$inside")" "$(grep ':pids:' "/proc/$(pid_of)/cgroup")"
}

@test "exec gives the program's status; 128 + signal; 255 for the runtime's own failure" {
  go exec "$ID" /bin/sh -c 'exit 33'
  status_is 33
  go exec "$ID" /bin/peek -q raise:9
  status_is 137
  go exec "$ID" /no/such
  status_is 255
  err_has 'no such file or directory'
  go exec "$ID" no-such
  status_is 255
  err_has 'executable file not found in \$PATH'
}

@test "exec --env adds to the container's and wins over it; --cwd" {
  see_exec -e EXTRA=1 -e PATH=/bin:/tmp --cwd /tmp
  expect 'any(.env[]; . == "EXTRA=1")' '[.env[] | select(test("^PATH="))] == ["PATH=/bin:/tmp"]' '.cwd == "/tmp"' \
    'any(.env[]; test("^TARE_TEST="))'
}

@test "exec --user, --additional-gids: exactly these" {
  see_exec --user 1000:1001 --additional-gids 7 --additional-gids 8
  expect '.uid == [1000,1000,1000]' '.gid == [1001,1001,1001]' '.groups | sort == [7,8]'
}

@test "exec --user of odd words is refused" {
  local user
  for user in -1 4294967295 4294967296 1: :1 ' 1' 0x1 1:-1 1:4294967296 1:2:3 1e3 '' root; do
    go exec --user "$user" "$ID" /bin/peek
    [ "$status" = 255 ] || { tell "exec --user '$user'"; return 1; }
  done
}

@test "exec --cap adds within the bounding set, never beyond it; inheritable stays empty" {
  rt delete --force "$ID"
  config '.process.capabilities = {"bounding": ["CAP_KILL", "CAP_CHOWN"], "effective": ["CAP_KILL"], "permitted": ["CAP_KILL"]}'
  running
  see_exec --cap CAP_CHOWN
  expect '.caps.inheritable == []' '.caps.effective | contains(["CAP_CHOWN"])'
  go exec --cap CAP_NET_RAW "$ID" /bin/peek
  if [ "$status" = 0 ]; then
    seen=$out
    expect '.caps.bounding | index("CAP_NET_RAW") == null' '.caps.effective | index("CAP_NET_RAW") == null'
  else
    err_has CAP_NET_RAW
  fi
}

@test "exec -d returns at once and --pid-file has the host's pid" {
  go exec --detach --pid-file "$W/pid" "$ID" /bin/sleep 1000
  ok
  local pid
  pid=$(tr -d '\n' <"$W/pid")
  until_true grep -q sleep "/proc/$pid/cmdline"
  same "$(readlink "/proc/$pid/ns/pid")" "$(readlink "/proc/$(pid_of)/ns/pid")"
  seen=$(rt ps --format json "$ID")
  expect "index($pid) != null"
}

@test "exec --process takes a whole process object" {
  cat >"$W/process.json" <<JSON
{"terminal": false, "user": {"uid": 1000, "gid": 1000, "additionalGids": [9]}, "args": ["/bin/peek"], "cwd": "/tmp",
 "env": ["ONLY=this"], "noNewPrivileges": false, "oomScoreAdj": 555,
 "capabilities": {"bounding": ["CAP_KILL"], "effective": [], "permitted": []},
 "rlimits": [{"type": "RLIMIT_NOFILE", "soft": 50, "hard": 60}]}
JSON
  go exec --process "$W/process.json" "$ID"
  ok
  seen=$out
  expect '.uid[0] == 1000' '.groups == [9]' '.cwd == "/tmp"' 'any(.env[]; . == "ONLY=this")' \
    'all(.env[]; test("^TARE_TEST=") | not)' '.nnp == 0' '.caps.bounding == ["CAP_KILL"]' '.caps.effective == []' \
    '.rlimits.NOFILE == [50,60]' '.oom_score_adj == "555"'
  go exec --process "$W/process.json" --detach --pid-file "$W/pid" "$ID"
  ok
}

@test "exec: an argument that begins with a dash belongs to the program" {
  go exec "$ID" /bin/echo -e --env x
  ok
  same "$out" '--env x'
}

@test "exec: descriptors are 0, 1, 2 whatever the caller has open" {
  out=$(exec 3</etc/hostname 4</ 9</proc; timeout 30 "$RUNTIME" --root "$STATE" exec "$ID" /bin/peek </dev/null)
  seen=$out
  expect '.fds | keys == ["0","1","2"]' '.signals.ignored == []' '.signals.blocked == []'
}

@test "exec --preserve-fds" {
  out=$(exec 3</etc/hostname 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; timeout 30 "$RUNTIME" --root "$STATE" exec --preserve-fds 1 "$ID" /bin/peek </dev/null)
  seen=$out
  expect '.fds | keys == ["0","1","2","3"]'
}

@test "exec passes stdin and both outputs through" {
  echo to-exec | rt exec "$ID" /bin/sh -c 'cat; echo err >&2' >"$W/o" 2>"$W/e"
  same "$(cat "$W/o")" to-exec
  same "$(cat "$W/e")" err
}

@test "exec into a created or stopped container" {
  rt delete --force "$ID"
  created
  go exec "$ID" /bin/true
  [ "$status" -lt 124 ] || [ "$status" = 255 ]
  go kill "$ID" KILL
  until_true is_state stopped
  go exec "$ID" /bin/true
  status_is 255
  err_has 'not running|stopped'
}

@test "exec without a command is refused" {
  go exec "$ID"
  [ "$status" != 0 ]
}

@test "exec --cwd through a link in the container to what is outside does not leave it" {
  ln -s /proc/self/fd/7 "$B/rootfs/tmp/link"
  go exec --cwd /tmp/link "$ID" /bin/peek
  if [ "$status" = 0 ]; then
    seen=$out
    expect '.cwd | startswith("/")'
  fi
}

@test "exec of many programs leaves no process behind" {
  local i before
  for i in 1 2 3 4 5; do go exec "$ID" /bin/true; ok; done
  seen=$(rt ps --format json "$ID")
  expect 'length == 1'
}

@test "exec --cgroup that leaves the container's cgroup is refused" {
  go exec --cgroup ../../x "$ID" /bin/true
  status_is 255
}

@test "a signal sent to exec reaches the program" {
  local result=0
  (eval 'exec "$RUNTIME" --root "$STATE" exec "$ID" /bin/sh -c "trap \"exit 9\" TERM; touch /tmp/ready; while :; do sleep 0.05; done" >/dev/null 2>&1' "$CLOSE") &
  local runner=$!
  until_true test -e "$B/rootfs/tmp/ready"
  kill -TERM $runner
  wait $runner || result=$?
  same $result 9
}
