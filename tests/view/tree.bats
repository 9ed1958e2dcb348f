# tare tree: namespaces of all kinds, their owners and parents, against lsns and the kernel.
load ../lib/common
load ../lib/view

more_setup() { HELD=(); }
node() { jq ".[] | select(.inode == $1)" <<<"$out"; }

@test "every namespace that lsns lists is there, with its processes, owner and parent" {
  inside --user --map-root-user --pid --mount --net --uts --ipc --cgroup --time
  deep 3
  agree() {
    # Namespaces of this test's processes: the others come and go.
    lsns -n -r -o NS,TYPE,NPROCS,PID,PNS,ONS | sort >"$W/theirs"
    rt tree -f json | jq -r '.[] | select(.processes > 0) | [.inode, .kind, .processes, .pid, .parent // 0, .owner // 0] | map(tostring) | join(" ")' | sort >"$W/ours"
    local host="^($(for k in cgroup ipc mnt net pid time user uts; do printf '%s|' "$(inode self $k)"; done)0) "
    diff <(grep -vE "$host" "$W/theirs") <(grep -vE "$host" "$W/ours") >"$W/differ"
  }
  until_true agree || fail "$(cat "$W/differ")"
  for kind in cgroup ipc mnt net pid time user uts; do
    grep -q "^$(inode "$INSIDE" $kind) $kind [12] " "$W/ours" || fail "no $kind of $INSIDE"
  done
  # Each of the host's, too, without their numbers of processes.
  for kind in cgroup ipc mnt net pid time user uts; do grep -q "^$(inode self $kind) $kind " "$W/ours"; done
}

@test "the tree: what a user namespace owns stands below it, a pid namespace below its parent" {
  start unshare --user --map-root-user --pid --fork --kill-child unshare --pid --uts --fork --kill-child sleep 1000
  until_true eval 'child_of $(child_of $STARTED)'
  local inner outer
  outer=$(child_of "$STARTED") inner=$(child_of "$(child_of "$STARTED")")
  until_true is_named "$inner" sleep
  go tree -f json
  ok
  same "$(node "$(inode "$inner" pid)" | jq -r '[.parent, .owner, .depth] | map(tostring) | join(" ")')" \
    "$(inode "$outer" pid) $(inode "$outer" user) 2"
  same "$(node "$(inode "$inner" uts)" | jq -r '[.parent, .owner] | map(tostring) | join(" ")')" "null $(inode "$outer" user)"
  same "$(node "$(inode "$outer" user)" | jq -r '[.parent, .ownerUid, .depth] | map(tostring) | join(" ")')" "$(inode self user) 0 1"
  go tree
  depth_of() { grep -E "$1" <<<"$out" | sed -E 's/[^ ].*//' | tr -d '\n' | wc -c; }
  local d
  d=$(depth_of "user $(inode "$outer" user)")
  same "$(depth_of "pid $(inode "$outer" pid)")" $((d + 2))
  same "$(depth_of "pid $(inode "$inner" pid)")" $((d + 4))
  same "$(depth_of "uts $(inode "$inner" uts)")" $((d + 2))
}

@test "held by a mount alone: in this mount namespace and in another's" {
  touch "$W/kept"
  inside --uts
  local uts
  uts=$(inode "$INSIDE" uts)
  mount --bind "/proc/$INSIDE/ns/uts" "$W/kept"
  kill -KILL -- "-$STARTED"
  until_true eval '! [ -e /proc/$INSIDE/ns/uts ]'
  go tree -f json
  ok
  same "$(node "$uts" | jq -c '[.processes, .kind, .owner, .mounts[0].path]')" "[0,\"uts\",$(inode self user),\"$W/kept\"]"
  umount "$W/kept"
  go tree -f json
  same "$(node "$uts")" ""
  # In a mount namespace that is not ours, with a name that is made to be shown.
  local odd=$W/kept-$'\e[2J'
  touch "$odd"
  inside --uts
  uts=$(inode "$INSIDE" uts)
  start unshare --mount --propagation private sh -c 'mount --bind "/proc/$1/ns/uts" "$2" && exec sleep 1000' - "$INSIDE" "$odd"
  until_true is_named "$STARTED" sleep
  kill -KILL "$INSIDE"
  until_true eval '! [ -e /proc/$INSIDE/ns/uts ]'
  go tree -f json
  ok
  same "$(node "$uts" | jq -c '[.processes, .mounts[0].mnt, .owner]')" "[0,$(inode "$STARTED" mnt),$(inode self user)]"
  rt tree >"$W/table"
  grep -q 'kept-\\x1b\[2J' "$W/table"
  run -1 grep -P '\x1b' "$W/table"
}

@test "held by a descriptor alone: only where one asks for it" {
  inside --net
  local net
  net=$(inode "$INSIDE" net)
  start bash -c "exec 9</proc/$INSIDE/ns/net; exec sleep 1000"
  until_true is_named "$STARTED" sleep
  kill -KILL "$INSIDE"
  until_true eval '! [ -e /proc/$INSIDE/ns/net ]'
  go tree -f json
  ok
  same "$(node "$net")" ""
  go tree --descriptors -f json
  ok
  same "$(node "$net" | jq -c '[.processes, .owner, .descriptors[0].pid, .descriptors[0].number]')" "[0,$(inode self user),$STARTED,9]"
  go tree --descriptors
  out_has "net $net .* $STARTED:fd9$"
}

@test "held by a namespace below alone: a user namespace that nobody is in" {
  start unshare --user --map-root-user unshare --user --map-root-user sleep 1000
  until_true is_named "$STARTED" sleep
  go tree -f json
  ok
  local parent
  parent=$(node "$(inode "$STARTED" user)" | jq .parent)
  [ "$parent" != "$(inode self user)" ]
  same "$(node "$parent" | jq -c '[.processes, .depth, .parent]')" "[0,1,$(inode self user)]"
}

@test "a thread in namespaces of its own is found" {
  start "$HELPERS/odd" thread
  until_true grep -q ready "$W/started.out"
  local tid uts
  tid=$(grep -x '[0-9]*' "$W/started.out")
  uts=$(readlink "/proc/$STARTED/task/$tid/ns/uts" | tr -dc 0-9)
  go tree -f json
  ok
  same "$(node "$uts" | jq -c '[.processes, .threads, .owner]')" "[0,1,$(inode self user)]"
}

@test "a container's namespaces carry its id; a private user namespace carries none" {
  running
  inside --user --map-root-user
  go tree -f json
  ok
  same "$(node "$(inode "$(pid_of)" pid)" | jq -r '.container.engine + " " + .container.id')" "tare $ID"
  same "$(node "$(inode "$INSIDE" user)" | jq -r .container)" null
  same "$(node "$(inode self net)" | jq -r .container)" null
  go tree
  out_has "pid $(inode "$(pid_of)" pid) +1 +1 +$(pid_of) +$ID "
}

@test "an ordinary user sees his own, and others' namespaces do no harm" {
  go_other setpriv --reuid 1000 --regid 1000 --clear-groups unshare --user --map-root-user "$RUNTIME" --root "$W/none" tree -f json
  ok
  jq -e 'map(select(.kind == "user" and .processes > 0)) | length >= 1' <<<"$out" >/dev/null || tell "nothing"
}
