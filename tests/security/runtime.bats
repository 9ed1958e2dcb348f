# Attacks on the runtime itself: its state, its ids, its files, its processes.
load ../lib/common

@test "exec joins the container's session keyring, not the caller's" {
  running
  see_exec
  expect ".keyring | endswith(\";_ses.$ID\")"
}

@test "every verb refuses ids that are no ids; what they would lead to stays" {
  local id verb
  mkdir -p "$STATE/../victim-$$" && echo keep >"$STATE/../victim-$$/state.json"
  for id in .. . '' "../victim-$$" a/b '-x' ; do
    for verb in state start 'delete --force' ps pause resume update events 'exec --'; do
      # shellcheck disable=SC2086
      case $verb in
        'exec --') go exec -- "$id" /bin/true ;;
        *) go $verb -- "$id" ;;
      esac
      [ "$status" != 0 ] && [ "$status" -lt 256 ] || { tell "$verb '$id'"; return 1; }
      [ "$status" != 124 ] || { tell "$verb '$id' hung"; return 1; }
    done
  done
  same "$(cat "$STATE/../victim-$$/state.json")" keep
  rm -r "$STATE/../victim-$$"
}

@test "a state folder that belongs to somebody else, or that others may write to, is not believed" {
  config '.hooks.poststop = [{"path": "/bin/sh", "args": ["sh", "-c", $s]}]' --arg s "touch $W/ran"
  running
  chown 1000 "$STATE/$ID"
  go delete --force "$ID"
  [ "$status" != 0 ] || { tell "the folder of another owner"; return 1; }
  err_has 'not a folder of this user alone'
  chown 0 "$STATE/$ID"
  chmod 0777 "$STATE/$ID"
  go state "$ID"
  [ "$status" != 0 ] || { tell "a folder that all may write to"; return 1; }
  [ ! -e "$W/ran" ] || fail "its hook ran"
  chmod 0700 "$STATE/$ID"
  go delete --force "$ID"
  ok
  [ -e "$W/ran" ]
}

@test "a cgroup in use is not killed by delete --force of a creation that was cut short" {
  local folder=$STATE/$ID victim
  config '.linux.cgroupsPath = $p' --arg p "/$GROUP/shared"
  mkdir -p "/sys/fs/cgroup/pids/$GROUP/shared"
  eval 'sleep 60 & victim=$!' "$CLOSE"
  echo $victim >"/sys/fs/cgroup/pids/$GROUP/shared/cgroup.procs"
  # What a kill between the record and the look at the place leaves: a record without a process.
  created_elsewhere=$(mktemp -d "$W/other.XXXXXX")
  cp "$B/config.json" "$created_elsewhere/keep"
  config '.linux.cgroupsPath = $p' --arg p "/$GROUP/free"
  created
  sed -i "1s#$GROUP/free#$GROUP/shared#g" "$folder/state.json"
  kill -KILL "$(cut -d' ' -f1 "$folder/init")"
  : >"$folder/init"
  LIMIT=100 go delete --force "$ID"
  kill -0 $victim || fail "the stranger was killed"
  [ -d "/sys/fs/cgroup/pids/$GROUP/shared" ] || fail "the stranger's cgroup was removed"
  kill -KILL $victim
  wait $victim || true
  until_true rmdir "/sys/fs/cgroup/pids/$GROUP/shared"
  for h in /sys/fs/cgroup/*/"$GROUP/free"; do [ ! -d "$h" ] || rmdir "$h"; done
}

@test "with CAP_SYS_PTRACE inside, no folder of the runtime's is to be had through the processes of exec" {
  local i
  config '.process.capabilities |= map_values(. + ["CAP_SYS_PTRACE"])'
  set_args /bin/tool fdwatch 5000
  go create --bundle "$B" "$ID"
  ok
  mv "$W/out" "$W/watched"
  go start "$ID"
  ok
  for i in $(seq 1 60); do go exec "$ID" /bin/true; done
  LIMIT=20 until_true is_state stopped
  grep -q '^processes [1-9]' "$W/watched" || fail "the watcher saw nothing: $(cat "$W/watched")"
  ! grep '^FOLDER' "$W/watched"
}

@test "/proc of the root exchanged while it starts: what is masked and read-only stays so, or it is refused" {
  local end rounds=0
  mkdir -p "$B/rootfs/p2"
  script 'for d in /proc /p2; do [ -e $d/sys/kernel ] && (: >>$d/sys/kernel/printk_ratelimit) 2>/dev/null && echo OPEN; done; true'
  eval '"$HELPERS/tool" swap "$B/rootfs/proc" "$B/rootfs/p2" 8000 >"$W/swaps" 2>&1' "$CLOSE" &
  local swapper=$!
  end=$((SECONDS + 8))
  while [ $SECONDS -lt $end ]; do
    go run --bundle "$B" "$ID"
    [ "$status" -lt 124 ] || { tell "hung or crashed"; return 1; }
    ! grep -q OPEN <<<"$out" || { tell "the host's kernel file could be opened for writing"; return 1; }
    rounds=$((rounds + 1))
  done
  wait $swapper
  [ "$(cat "$W/swaps")" -gt 1000 ] || fail "the attacker did not run"
  [ $rounds -ge 10 ] || fail "only $rounds starts"
}

@test "--pid-file follows no link that somebody has put there" {
  mkdir "$W/pids"
  echo victim >"$W/victim"
  ln -s "$W/victim" "$W/pids/p"
  ln -s "$W/victim" "$W/pids/p.new"
  set_args /bin/true
  go run --detach --pid-file "$W/pids/p" --bundle "$B" "$ID"
  ok
  same "$(cat "$W/victim")" victim
  [ ! -L "$W/pids/p" ] && grep -qx '[0-9]*' "$W/pids/p"
}

@test "mount data that the kernel would cut is refused" {
  config '.mounts += [{"destination": "/t", "type": "tmpfs", "source": "t", "options": ([range(600) | "uid=00"] + ["size=64k", "mode=700"])}]'
  refused 'longer than the kernel takes'
}

@test "an image's link into /proc is no way around the rule that nothing is mounted there" {
  mkdir -p "$W/src"
  ln -s /proc "$B/rootfs/lnk"
  config '.mounts += [{"destination": "/lnk/sys", "type": "bind", "source": $s, "options": ["bind"]}]' --arg s "$W/src"
  refused '/lnk/sys'
}

@test "oomScoreAdj of a container is not the runtime's" {
  local runner
  config '.process.oomScoreAdj = 777'
  set_args /bin/peek -q hold
  eval '"$RUNTIME" --root "$STATE" run --bundle "$B" "$ID" >/dev/null 2>&1 </dev/null & runner=$!' "$CLOSE"
  until_true is_state running
  same "$(cat "/proc/$runner/oom_score_adj")" "$(cat /proc/$$/oom_score_adj)"
  same "$(cat "/proc/$(pid_of)/oom_score_adj")" 777
  go delete --force "$ID"
  wait $runner || true
}

@test "a hook inside gets the caller's umask and no descriptor" {
  config '.hooks.createContainer = [{"path": "/bin/sh", "args": ["sh", "-c", $s], "env": ["PATH=/usr/bin:/bin"]}]' \
    --arg s "umask >$W/umask; ls /proc/self/fd >$W/fds"
  set_args /bin/true
  go_other sh -c 'umask 027; exec 7</etc; exec "$@"' sh "$RUNTIME" --root "$STATE" run --bundle "$B" "$ID"
  ok
  same "$(cat "$W/umask")" 0027
  # 3 is the folder that ls itself reads.
  same "$(tr '\n' ' ' <"$W/fds")" '0 1 2 3 '
}

@test "a FIFO as config.json is refused at once" {
  rm "$B/config.json"
  mkfifo "$B/config.json"
  refused 'config.json: not a regular file'
}
