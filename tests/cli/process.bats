# What the program finds itself to be: user, groups, environment, limits, capabilities, signals, descriptors.
load ../lib/common

@test "pid 1 of its own session, no parent it can see" {
  see
  expect '.pid == 1' '.ppid == 0' '.sid == 1' '.pgid == 1'
}

@test "user, group and additional groups, exactly as given" {
  config '.process.user = {"uid": 1000, "gid": 1001, "additionalGids": [5, 2000, 5]}'
  see
  expect '.uid == [1000,1000,1000]' '.gid == [1001,1001,1001]' '.groups | unique == [5,2000]'
}

@test "no additional groups: the caller's do not pass" {
  config '.process.user = {"uid": 1000, "gid": 1000}'
  set_args /bin/peek
  go_other setpriv --groups 4,27 --reuid 0 --regid 0 "$RUNTIME" --root "$STATE" run --bundle "$B" "$ID"
  ok
  seen=$out
  expect '.groups == []'
}

@test "the primary group counts where a file's group is denied" {
  config '.process.user = {"uid": 1000, "gid": 1000}'
  echo x >"$B/rootfs/tmp/denied"
  chgrp 1000 "$B/rootfs/tmp/denied"
  chmod 604 "$B/rootfs/tmp/denied"
  see r:/tmp/denied
  expect 't("r:/tmp/denied") == "EACCES"'
}

@test "user ids out of range are refused" {
  local id
  for id in -1 4294967295 4294967296 1.5 '"0"'; do
    config '.process.user.uid = '"$id"
    refused 'uid|user' || { fail "uid $id"; return 1; }
    config '.process.user.uid = 0 | .process.user.gid = '"$id"
    refused 'gid|user' || { fail "gid $id"; return 1; }
    config '.process.user.gid = 0'
  done
}

@test "the environment is the config's and nothing else" {
  config '.process.env = ["A=1", "B=two words", "EMPTY=", "U=\u00fc", "PATH=/bin"]'
  CALLERS=1 see
  expect '.env | map(select(test("^HOME=") | not)) | sort == (["A=1","B=two words","EMPTY=","U=\u00fc","PATH=/bin"] | sort)'
}

@test "a variable given twice: the last one wins" {
  config '.process.env += ["TWICE=first", "TWICE=last"]'
  script 'echo "$TWICE"'
  go run --bundle "$B" "$ID"
  same "$out" last
}

@test "a newline in a variable arrives as it is" {
  config '.process.env += ["NL=a\nb"]'
  see
  expect 'any(.env[]; . == "NL=a\nb")'
}

@test "HOME comes from the container's passwd; an unknown user's is /" {
  config '.process.user = {"uid": 1000, "gid": 1000}'
  see
  expect 'any(.env[]; . == "HOME=/home")'
  config '.process.user = {"uid": 4321, "gid": 4321}'
  see
  expect 'any(.env[]; . == "HOME=/")'
}

@test "HOME of the config is kept" {
  config '.process.env += ["HOME=/tmp"]'
  see
  expect '[.env[] | select(test("^HOME="))] == ["HOME=/tmp"]'
}

@test "arguments arrive byte for byte" {
  set_args /bin/peek '' 'two words' $'new\nline' "quote'\"" '*' 'ü'
  go run --bundle "$B" "$ID"
  ok
  seen=$out
  expect '.args == ["/bin/peek","","two words","new\nline","quote'"'"'\"","*","ü"]'
}

@test "bytes that are not UTF-8 pass through or are refused, never rewritten" {
  sed -i 's|"/bin/peek"|"/bin/peek","@@"|' "$B/config.json"
  set_args /bin/peek '@@'
  LC_ALL=C sed -i 's|@@|\xff\xfe|' "$B/config.json"
  go run --bundle "$B" "$ID"
  if [ "$status" = 0 ]; then
    seen=$out
    expect '.args[1] == "\u00ff\u00fe"'
  else
    err_has 'utf-8'
  fi
}

@test "cwd is entered; a missing one is made inside the root" {
  config '.process.cwd = "/tmp"'
  see
  expect '.cwd == "/tmp"'
  config '.process.cwd = "/made/here"'
  see stat:/made/here
  expect '.cwd == "/made/here"' 't("stat:/made/here").mode == "0755"'
}

@test "cwd must be absolute" {
  config '.process.cwd = "tmp"'
  refused 'cwd'
}

@test "no arguments, or none at all, is refused" {
  config '.process.args = []'
  refused 'args'
  config 'del(.process.args)'
  refused 'args'
}

@test "rlimits are what was asked for" {
  config '.process.rlimits = [{"type": "RLIMIT_NOFILE", "soft": 100, "hard": 200}, {"type": "RLIMIT_CORE", "soft": 0, "hard": 18446744073709551615}, {"type": "RLIMIT_STACK", "soft": 1048576, "hard": 2097152}]'
  see
  expect '.rlimits.NOFILE == [100,200]' '.rlimits.CORE == [0,-1]' '.rlimits.STACK == [1048576,2097152]'
}

@test "limits that are not named stay the caller's" {
  set_args /bin/peek
  status=0
  out=$(ulimit -S -n 777; rt run --bundle "$B" "$ID" </dev/null) || status=$?
  seen=$out
  expect '.rlimits.NOFILE[0] == 777'
}

@test "rlimits: an unknown type, one named twice, soft above hard are refused" {
  config '.process.rlimits = [{"type": "RLIMIT_NOSUCH", "soft": 1, "hard": 1}]'
  refused 'RLIMIT_NOSUCH|rlimit'
  config '.process.rlimits = [{"type": "RLIMIT_CORE", "soft": 1, "hard": 1}, {"type": "RLIMIT_CORE", "soft": 1, "hard": 1}]'
  refused 'RLIMIT_CORE|rlimit|duplicate'
  config '.process.rlimits = [{"type": "RLIMIT_CORE", "soft": 2, "hard": 1}]'
  refused 'rlimit|RLIMIT_CORE'
}

@test "capabilities: the five sets, exactly" {
  config '.process.capabilities = {"bounding": ["CAP_KILL","CAP_CHOWN","CAP_NET_RAW"], "effective": ["CAP_KILL"], "permitted": ["CAP_KILL","CAP_CHOWN"], "inheritable": ["CAP_KILL"], "ambient": ["CAP_KILL"]}'
  see
  expect '.caps.bounding == ["CAP_CHOWN","CAP_KILL","CAP_NET_RAW"]' '.caps.effective | contains(["CAP_KILL"])' \
    '.caps.ambient == ["CAP_KILL"]' '.caps.inheritable == ["CAP_KILL"]'
}

@test "capabilities of a user who is not root survive by the ambient set only" {
  config '.process.user = {"uid": 1000, "gid": 1000} | .process.capabilities = {"bounding": ["CAP_KILL","CAP_CHOWN"], "effective": ["CAP_KILL"], "permitted": ["CAP_KILL","CAP_CHOWN"], "inheritable": ["CAP_KILL"], "ambient": ["CAP_KILL"]}'
  see
  expect '.caps.effective == ["CAP_KILL"]' '.caps.permitted == ["CAP_KILL"]' '.caps.ambient == ["CAP_KILL"]'
  config '.process.capabilities |= del(.ambient, .inheritable)'
  see
  expect '.caps.effective == []' '.caps.permitted == []' '.caps.bounding == ["CAP_CHOWN","CAP_KILL"]'
}

@test "no capabilities block: all sets are empty" {
  config 'del(.process.capabilities)'
  see
  expect '.caps | [.[]] | all(. == [])'
}

@test "inheritable is empty unless asked for" {
  see
  expect '.caps.inheritable == []' '.caps.ambient == []'
}

@test "an unknown capability gives a warning and the rest works" {
  config '.process.capabilities.bounding += ["CAP_NO_SUCH"]'
  see
  expect '.caps.bounding | contains(["CAP_KILL"])'
  err_has 'CAP_NO_SUCH'
}

@test "an ambient capability that is not inheritable is dropped with a warning" {
  config '.process.capabilities.ambient = ["CAP_KILL"]'
  see
  expect '.caps.ambient == []'
  err_has 'CAP_KILL|ambient'
}

@test "no new privileges: on, and off" {
  see
  expect '.nnp == 1'
  config '.process.noNewPrivileges = false'
  see
  expect '.nnp == 0'
}

@test "oomScoreAdj: set, zero is written, unset stays the caller's" {
  config '.process.oomScoreAdj = 567'
  see
  expect '.oom_score_adj == "567"'
  config 'del(.process.oomScoreAdj)'
  set_args /bin/peek
  go_other sh -c 'echo 321 >/proc/self/oom_score_adj; exec "$@"' sh "$RUNTIME" --root "$STATE" run --bundle "$B" "$ID"
  ok
  seen=$out
  expect '.oom_score_adj == "321"'
  config '.process.oomScoreAdj = 400'
  go_other sh -c 'echo 321 >/proc/self/oom_score_adj; exec "$@"' sh "$RUNTIME" --root "$STATE" run --bundle "$B" "$ID"
  ok
  seen=$out
  expect '.oom_score_adj == "400"'
}

@test "oomScoreAdj out of range is refused by name" {
  local value
  for value in 1001 -1001; do
    config '.process.oomScoreAdj = '$value
    refused 'oomScoreAdj|oom_score_adj'
  done
}

@test "umask: set, and unset" {
  config '.process.user.umask = 63'
  see
  expect '.umask == "0077"'
  config 'del(.process.user.umask)'
  set_args /bin/peek
  out=$(umask 027; rt run --bundle "$B" "$ID" </dev/null)
  seen=$out
  expect '.umask | . == "0022" or . == "0027"'
}

@test "the caller's umask changes neither devices nor mount points" {
  set_args /bin/peek stat:/dev/null stat:/made
  config '.mounts += [{"destination": "/made", "type": "tmpfs", "source": "t", "options": ["mode=755"]}]'
  out=$(umask 077; rt run --bundle "$B" "$ID" </dev/null)
  seen=$out
  expect 't("stat:/dev/null").mode == "0666"'
  same "$(stat -c %a "$B/rootfs/made")" 755
}

@test "signals: nothing ignored or blocked is passed on" {
  set_args /bin/peek
  go_other sh -c 'trap "" PIPE INT QUIT USR1 CHLD TSTP; exec "$@"' sh "$HELPERS/tool" block 1 2 3 15 17 -- "$RUNTIME" --root "$STATE" run --bundle "$B" "$ID"
  ok
  seen=$out
  expect '.signals.ignored == []' '.signals.blocked == []'
  # The C library keeps 32 and 33 from its callers; the kernel does not.
  go_other "$HELPERS/tool" ignore 2 13 32 33 64 -- "$RUNTIME" --root "$STATE" run --bundle "$B" "$ID"
  ok
  seen=$out
  expect '.signals.ignored == []' '.signals.blocked == []'
}

@test "descriptors: the program has 0, 1, 2 and no other, whatever the caller has open" {
  set_args /bin/peek
  out=$(exec 3</etc/hostname 4</ 5>/dev/null 9</proc 17</etc/passwd; timeout 30 "$RUNTIME" --root "$STATE" run --bundle "$B" "$ID" </dev/null)
  seen=$out
  expect '.fds | keys == ["0","1","2"]'
}

@test "preserve-fds passes exactly the next ones" {
  set_args /bin/peek
  out=$(exec 3</etc/hostname 4</etc/passwd 5</etc/group 6>&- 7>&- 8>&- 9>&-; timeout 30 "$RUNTIME" --root "$STATE" run --preserve-fds 2 --bundle "$B" "$ID" </dev/null)
  seen=$out
  expect '.fds | keys == ["0","1","2","3","4"]' '.fds["3"] | endswith("/etc/hostname")' '.fds["4"] | endswith("/etc/passwd")'
}

@test "preserve-fds with fewer passed than named: refused, or only what was passed" {
  set_args /bin/peek
  go run --preserve-fds 3 --bundle "$B" "$ID"
  if [ "$status" = 0 ]; then
    seen=$out
    expect '.fds | keys == ["0","1","2"]'
  else
    [ "$status" -lt 124 ]
    err_has 'preserve-fds|descriptor'
    nothing_left
  fi
}

@test "closed stdin, stdout or stderr: the program runs with /dev/null there" {
  set_args /bin/peek stat:/tmp
  timeout 30 "$RUNTIME" --root "$STATE" run --bundle "$B" "$ID" <&- >"$W/out" 2>"$W/err" 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
  seen=$(cat "$W/out")
  expect '.fds["0"] == "/dev/null"' '.fds | keys == ["0","1","2"]'
  timeout 30 "$RUNTIME" --root "$STATE" run --bundle "$B" "$ID" </dev/null >&- 2>"$W/err" 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
  timeout 30 "$RUNTIME" --root "$STATE" run --bundle "$B" "$ID" </dev/null >"$W/out" 2>&- 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
  seen=$(cat "$W/out")
  expect '.fds["2"] == "/dev/null"'
  # The host's own device was not given away.
  same "$(stat -c '%u %a' /dev/null)" '0 666'
}

@test "LISTEN_FDS passes sockets on and LISTEN_PID names the program" {
  set_args /bin/peek
  out=$(exec 3</etc/hostname 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; LISTEN_FDS=1 LISTEN_PID=$BASHPID exec timeout --foreground 30 env sh -c 'LISTEN_PID=$$ exec "$@"' sh "$RUNTIME" --root "$STATE" run --bundle "$B" "$ID" </dev/null)
  seen=$out
  expect '.fds | has("3")' 'any(.env[]; . == "LISTEN_FDS=1")' 'any(.env[]; . == "LISTEN_PID=1")'
}

@test "a program that is a directory, a dead link, or has no interpreter is refused" {
  set_args /etc
  refused 'permission denied|is a directory' run --bundle "$B" "$ID"
  ln -s /nowhere "$B/rootfs/tmp/dead"
  set_args /tmp/dead
  refused 'no such file' run --bundle "$B" "$ID"
  printf '#!/no/interpreter\n' >"$B/rootfs/tmp/script"
  chmod 755 "$B/rootfs/tmp/script"
  set_args /tmp/script
  go run --bundle "$B" "$ID"
  [ "$status" != 0 ]
  err_has 'no such file'
}

@test "PATH is looked through inside the container, in order; what cannot be executed is passed over" {
  mkdir "$B/rootfs/first" "$B/rootfs/second"
  echo no >"$B/rootfs/first/prog"
  printf '#!/bin/sh\necho second\n' >"$B/rootfs/second/prog"
  chmod 755 "$B/rootfs/second/prog"
  config '.process.env = ["PATH=/none:/first:/second:/bin"]'
  set_args prog
  go run --bundle "$B" "$ID"
  ok
  same "$out" second
}

@test "the scheduler, nice and I/O priority are the caller's unless set" {
  see
  expect '.scheduler == 0' '.nice == 0'
}

@test "scheduler and ioPriority are set" {
  config '.process.scheduler = {"policy": "SCHED_BATCH", "nice": 5} | .process.ioPriority = {"class": "IOPRIO_CLASS_BE", "priority": 6}'
  see
  # SCHED_BATCH is 3; class BE is 2, in the upper bits.
  expect '.scheduler == 3' '.nice == 5' '.ioprio == (2 * 8192 + 6)'
  config '.process.scheduler = {"policy": "SCHED_IDLE"} | .process.ioPriority = {"class": "IOPRIO_CLASS_IDLE"}'
  see
  expect '.scheduler == 5' '.ioprio / 8192 | floor == 3'
}

@test "scheduler and ioPriority: what does not fit is refused by its field" {
  local one
  for one in '{"policy": "SCHED_NOSUCH"}' '{"policy": "SCHED_FIFO", "priority": 1, "nice": 3}' '{"policy": "SCHED_OTHER", "priority": 3}' \
    '{"policy": "SCHED_OTHER", "runtime": 3}' '{"policy": "SCHED_OTHER", "nice": 20}' '{"policy": "SCHED_OTHER", "flags": ["SCHED_FLAG_NOSUCH"]}'; do
    config '.process.scheduler = $s' --argjson s "$one"
    refused 'scheduler' || { fail "$one"; return 1; }
  done
  config 'del(.process.scheduler) | .process.ioPriority = {"class": "IOPRIO_CLASS_BE", "priority": 8}'
  refused 'ioPriority'
  config '.process.ioPriority = {"class": "IOPRIO_CLASS_NOSUCH", "priority": 1}'
  refused 'ioPriority'
}

@test "personality LINUX32 and a wrong domain" {
  config '.linux.personality = {"domain": "LINUX32"}'
  see
  expect '.personality % 256 == 8'
  config '.linux.personality = {"domain": "PLAN9"}'
  refused 'personality'
}

@test "stdout and stderr belong to the container's user only where they are its own" {
  # The host's file is not given to the container's user.
  touch "$W/mine"
  config '.process.user = {"uid": 1000, "gid": 1000}'
  set_args /bin/true
  rt run --bundle "$B" "$ID" >"$W/mine" 2>/dev/null </dev/null
  same "$(stat -c %u /dev/null)" 0
}
