# tare ps: processes with containers, namespaces and numbers, against ps(1), /proc and lsns.
load ../lib/common
load ../lib/view

row() { jq ".[] | select(.pid == $1)" <<<"$out"; }

@test "-A lists the processes that ps lists" {
  inside --pid --mount --uts --ipc --net --user --map-root-user
  # Twice the same: what came or went between the two is nobody's mistake.
  agree() {
    ps -N --ppid 2 -p 2 -o pid= | tr -d ' ' | sort >"$W/theirs"
    rt ps -A -o pid,ppid | awk 'NR > 1 && $2 != 2 && $1 != 2 {print $1}' | sort >"$W/ours"
    comm -3 "$W/theirs" "$W/ours" | tr -d '\t' >"$W/differ"
    # ps, tare, timeout and the pipe itself.
    [ "$(wc -l <"$W/differ")" -le 8 ] && ! grep -qx "$INSIDE" "$W/differ"
  }
  until_true agree
  grep -qx "$INSIDE" "$W/ours"
}

@test "the usual columns are what ps says" {
  local column
  inside --pid
  go ps -A -f json
  ok
  same "$(row "$INSIDE" | jq -r '[.ppid, .user, .state, .threads, .name] | map(tostring) | join(" ")')" \
    "$(ps -o ppid=,user=,s=,nlwp=,comm= -p "$INSIDE" | xargs)"
  go ps -A -o pid,pgid,sid,tty,rss,vsz,stime,time,cmd
  same "$(awk -v p="$INSIDE" '$1 == p' <<<"$out" | xargs)" \
    "$(ps -o pid=,pgid=,sid=,tty=,rss=,vsz=,stime=,time=,args= -p "$INSIDE" | xargs)"
}

@test "numbers at each level, and the kinds of namespaces that differ from process 1's" {
  inside --pid --uts --net
  go ps -A -f json
  ok
  same "$(row "$INSIDE" | jq -c .numbers)" "[$INSIDE,1]"
  same "$(row "$INSIDE" | jq -c .differs)" '["net","pid","uts"]'
  same "$(row "$INSIDE" | jq -r .namespaces.uts)" "$(inode "$INSIDE" uts)"
  same "$(row $$ | jq -c .differs)" '[]'
  go ps -A
  grep -qE "^root +$INSIDE .* $INSIDE,1 +net,pid,uts " <<<"$out" || tell "no such row"
  for kind in cgroup ipc mnt net pid time user uts; do
    same "$(row "$INSIDE" <<<"$out" 2>/dev/null; rt ps -A -f json | jq -r ".[] | select(.pid == $INSIDE).namespaces.$kind")" "$(inode "$INSIDE" $kind)"
  done
}

@test "without -A the processes of containers alone, each with its container" {
  running
  inside --pid --user --map-root-user
  go ps -f json
  ok
  same "$(jq -r ".[] | select(.pid == $(pid_of)).container | [.engine, .id, .name] | join(\" \")" <<<"$out")" "tare $ID $ID"
  # A user namespace makes no container.
  same "$(row "$INSIDE")" ""
  go ps -o pid,container "$ID"
  ok
  same "$(awk 'NR > 1' <<<"$out" | xargs)" "$(pid_of) $ID"
}

@test "ps CONTAINER stays what engines expect; several containers make one table" {
  running
  go ps "$ID"
  ok
  out_has "^UID +PID +PPID"
  go ps -f json "$ID"
  same "$out" "[$(pid_of)]"
  local second=$ID-b
  jq --arg g "$GROUP/$second" '.linux.cgroupsPath = $g' "$B/config.json" >"$W/other.json"
  rt run --detach --bundle "$B" --config "$W/other.json" "$second"
  go ps "$ID" "$second"
  ok
  same "$(awk 'NR > 1 {print $4}' <<<"$out" | sort | xargs)" "$(printf '%s\n' "$ID" "$second" | sort | xargs)"
  rt delete --force "$second"
}

@test "--tree puts children below their parents" {
  start sh -c 'sh -c "sleep 1000; true" & wait'
  until_true eval 'child_of $(child_of $STARTED)'
  go ps -A --tree -o pid,cmd
  ok
  local a b c
  a=$(grep -n "^ *$STARTED " <<<"$out" | cut -d: -f1)
  b=$(grep -n "^ *$(child_of "$STARTED") " <<<"$out" | cut -d: -f1)
  c=$(grep -n "^ *$(child_of "$(child_of "$STARTED")") " <<<"$out" | cut -d: -f1)
  same "$b $c" "$((a + 1)) $((a + 2))"
  for n in "$a" "$b" "$c"; do sed -n "${n}p" <<<"$out" | sed -E 's/^ *[0-9]+ //; s/[^ ].*//' | wc -c; done >"$W/indents"
  same "$(awk 'NR == 1 {f = $1} {printf "%d ", $1 - f}' "$W/indents")" "0 2 4 "
}

@test "a process whose first thread ended has its namespaces from the others" {
  start unshare --uts "$HELPERS/odd" leaderless
  until_true eval 'grep -qs "^State:.Z" /proc/$STARTED/status'
  go ps -A -f json
  ok
  same "$(row "$STARTED" | jq -c '[.state, .differs]')" '["Z",["uts"]]'
}

@test "a zombie is listed with its numbers, and as one" {
  start sh -c 'sleep 0 & exec sleep 1000'
  until_true eval 'grep -qs "^State:.Z" /proc/$(child_of $STARTED)/status'
  go ps -A -o pid,s,cmd
  ok
  out_has "^ *$(child_of "$STARTED") Z \[(sleep|sh)\] <defunct>$"
}

@test "what ends meanwhile does no harm" {
  start "$HELPERS/odd" burst 3000
  for i in 1 2 3 4 5 6 7 8; do
    go ps -A -f json
    ok
    jq -e 'length > 5 and all(.[]; .closed or (.numbers | length > 0))' <<<"$out" >/dev/null || fail "odd rows"
  done
}

@test "nothing that a process names acts on the terminal, and JSON stays JSON" {
  start bash -c $'printf "\e[31mx\x9b\\\\" >/proc/$$/comm; exec -a $\'\e]0;title\a\xc2\x9b2J\xff\xe2\x80\xaeevil\n\' sleep 1000'
  until_true eval 'grep -qs title /proc/$STARTED/cmdline'
  rt ps -A >"$W/table"
  run -1 grep -P '[\x00-\x08\x0b-\x1f\x7f]' "$W/table"
  run -1 env LC_ALL=C grep -P '\xc2[\x80-\x9f]|\xff|\xe2\x80\xae' "$W/table"
  grep -q '\\x1b\]0;title\\x07\\xc2\\x9b2J\\xff\\xe2\\x80\\xaeevil\\x0a' "$W/table"
  rt ps -A -f json >"$W/json"
  iconv -f UTF-8 -t UTF-8 "$W/json" >/dev/null
  same "$(jq -r ".[] | select(.pid == $STARTED).command[0] | @json" "$W/json" | head -c 12)" '"\u001b]0;ti'
  run -1 env LC_ALL=C grep -P '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80\xae' "$W/json"
  # A cgroup's name, too.
  mkdir "$CONTROLLERS/pids/tare-view-"$'\e[2J'
  echo "$STARTED" >"$CONTROLLERS/pids/tare-view-"$'\e[2J/cgroup.procs'
  rt ps -A -o pid,cgroup >"$W/cgroups"
  echo "$STARTED" >"$CONTROLLERS/pids/cgroup.procs"
  rmdir "$CONTROLLERS/pids/tare-view-"$'\e[2J'
  grep -q 'tare-view-\\x1b\[2J' "$W/cgroups"
  run -1 grep -P '\x1b' "$W/cgroups"
}

@test "hidepid: an ordinary user gets what he may see, and is told" {
  local option
  start setpriv --reuid 1000 --regid 1000 --clear-groups sleep 1000
  for option in 1 2 4; do
    go_other unshare --mount sh -c "mount -t proc -o hidepid=$option proc /proc && exec setpriv --reuid 1000 --regid 1000 --clear-groups '$RUNTIME' --root '$W/none' ps -A -f json"
    ok
    same "$(row "$STARTED" | jq -c '[.closed, .name]')" '[false,"sleep"]'
    err_has "hidepid="
    if [ $option = 1 ]; then
      same "$(row 1 | jq -c '[.closed, .uid, .name]')" '[true,0,""]'
    else
      same "$(row 1)" ""
    fi
  done
  # Without hidepid he sees the others, but not their namespaces.
  go_other setpriv --reuid 1000 --regid 1000 --clear-groups "$RUNTIME" --root "$W/none" ps -A -o pid,differs,comm
  ok
  out_has "^ *1 \? "
}

@test "hidepid does not keep an ordinary user from a box of his own" {
  local option
  install -d -o 1000 -m 700 "$W/own"
  for option in 1 2 4; do
    go_other unshare --mount sh -c "mount -t proc -o hidepid=$option proc /proc && cd / && exec setpriv --reuid 1000 --regid 1000 --clear-groups env HOME=/tmp XDG_RUNTIME_DIR='$W/own' '$RUNTIME' box --read-only -- cat /proc/self/uid_map"
    ok
    same "$(xargs <<<"$out")" "0 1000 1"
  done
}
