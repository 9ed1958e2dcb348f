# tare enter: against nsenter, and what it does that nsenter leaves to its caller.
load ../lib/common
load ../lib/view

kinds='for k in cgroup ipc mnt net pid time user uts; do readlink /proc/self/ns/$k; done'

@test "each kind alone, and all of them: the program is where nsenter's is" {
  inside --pid --mount --net --uts --ipc --cgroup --time --user --map-root-user --mount-proc
  local kind option
  for kind in mount:mnt uts:uts ipc:ipc net:net pid:pid cgroup:cgroup time:time user:user; do
    option=--${kind%:*}
    [ "$option" = --user ] || option+=" --user"
    # In its mounts there is its /proc, where only who is in its pid namespace finds himself.
    [ "$kind" != mount:mnt ] || option+=" --pid"
    go enter --keep-ids $option "$INSIDE" sh -c "$kinds"
    ok
    same "$out" "$(nsenter --preserve-credentials -t "$INSIDE" ${option/--mount/--mount --root} sh -c "$kinds")"
    grep -q "${kind#*:}:\[$(inode "$INSIDE" "${kind#*:}")\]" <<<"$out" || tell "not in its ${kind#*:} namespace"
  done
  go enter "$INSIDE" -- sh -c "$kinds"
  ok
  same "$out" "$(for k in cgroup ipc mnt net pid time user uts; do readlink "/proc/$INSIDE/ns/$k"; done)"
}

@test "options may follow the target; after -- everything is the command's" {
  inside --pid --mount --net --mount-proc
  go enter "$INSIDE" --pid --mount -- readlink /proc/self/ns/pid /proc/self/ns/net
  ok
  same "$out" "$(readlink "/proc/$INSIDE/ns/pid"; readlink /proc/self/ns/net)"
  go enter --pid "$INSIDE" -m sh -c 'echo $0 $1' --pid -x
  ok
  same "$out" "--pid -x"
  go enter "$INSIDE" --pids
  [ "$status" != 0 ]
  err_has '--pids'
}

@test "a container: its processes are seen, its root and its host name are there, its user is root" {
  running
  go enter "$ID" /bin/sh -c 'hostname; ls /; cat /proc/1/comm; id -u'
  ok
  same "$(head -1 <<<"$out")" inside
  same "$(tail -2 <<<"$out" | xargs)" "peek 0"
  grep -qx bin <<<"$out"
}

@test "the end is the program's, or 255 with what went wrong" {
  inside --uts
  go enter "$INSIDE" sh -c 'exit 7'
  status_is 7
  go enter "$INSIDE" sh -c 'kill -TERM $$'
  status_is 143
  go enter "$INSIDE" /no/such/program
  status_is 255
  err_has 'run "/no/such/program": no such file or directory'
  go enter 4000000 true
  status_is 255
  err_has "there is no process 4000000"
  start sh -c 'sleep 0 & exec sleep 1000'
  until_true eval 'grep -qs "^State:.Z" /proc/$(child_of $STARTED)/status'
  go enter "$(child_of "$STARTED")" true
  status_is 255
  err_has "has ended and waits for its parent"
}

@test "the target's working directory and environment come only where asked for" {
  mkdir "$W/there"
  start unshare --mount env -i -C "$W/there" TARE_MARK=here PATH="$PATH" sleep 1000
  until_true is_named "$STARTED" sleep
  go enter "$STARTED" sh -c 'pwd; echo "mark:$TARE_MARK"'
  same "$(xargs <<<"$out")" "/ mark:"
  go enter --cwd --env "$STARTED" sh -c 'pwd; env | grep -v "^\(PWD\|SHLVL\|_\|OLDPWD\)=" | sort'
  ok
  same "$(xargs <<<"$out")" "$W/there PATH=$PATH TARE_MARK=here"
}

@test "the target's root comes with its mount namespace: nobody gets out by forgetting it" {
  start unshare --mount sh -c "mount --bind '$B/rootfs' '$B/rootfs' && exec chroot '$B/rootfs' /bin/sleep 1000"
  until_true is_named "$STARTED" sleep
  go enter --mount --no-proc "$STARTED" /bin/sh -c 'ls / | head -1; ls /work /usr'
  [ "$(head -1 <<<"$out")" = bin ] || tell "not its root"
  err_has "/usr: No such file"
}

@test "the target's cgroups, where asked for" {
  running
  go enter --net "$ID" grep pids: /proc/self/cgroup
  run -0 test "$(cut -d: -f3 <<<"$out")" != "$GROUP/$ID"
  go enter --net --join-cgroup "$ID" grep pids: /proc/self/cgroup
  ok
  same "$(cut -d: -f3 <<<"$out")" "$GROUP/$ID"
}

@test "/proc is that of the pid namespace entered, and nobody else's /proc changes" {
  inside --pid
  local before
  before=$(cat /proc/self/mountinfo)
  go enter --pid "$INSIDE" sh -c 'readlink /proc/self; echo $$; cat /proc/1/comm'
  ok
  same "$(sed -n 3p <<<"$out")" sleep
  go enter --pid "$INSIDE" sh -c 'exec readlink /proc/self'
  [ "$out" -lt 100 ]
  same "$(cat /proc/self/mountinfo)" "$before"
  # As it was, for who wants that.
  go enter --pid --no-proc "$INSIDE" cat /proc/1/comm
  same "$out" "$(cat /proc/1/comm)"
  # The other way about: a container's mounts without its pid namespace.
  running
  go enter --mount "$ID" /bin/sh -c 'readlink /proc/self; echo $$; exec readlink /proc/self'
  ok
  same "$(sed -n 3p <<<"$out")" "$(sed -n 2p <<<"$out")"
  same "$(sed -n 2p /proc/"$(pid_of)"/mountinfo | cut -d' ' -f5)" "/proc"
}

@test "what the kernel refuses is explained by its cause" {
  inside --user --map-root-user --pid --net
  # An ordinary user and another's user namespace.
  go_other setpriv --reuid 1000 --regid 1000 --clear-groups "$RUNTIME" --root "$W/none" enter "$INSIDE" true
  status_is 255
  err_has "CAP_SYS_PTRACE"
  # Without the capability, a namespace that is ours.
  go_other setpriv --bounding-set -sys_admin --inh-caps -sys_admin "$RUNTIME" --root "$W/none" enter --uts $$ true
  ok
  # A pid namespace above one's own.
  go_other unshare --pid --fork --mount-proc sh -c "nsenter --help >/dev/null; exec '$RUNTIME' --root '$W/none' enter --pid --no-proc 1 true"
  ok
}

@test "a process whose children get another pid namespace is told of" {
  start unshare --pid --fork --kill-child sleep 1000
  until_true child_of "$STARTED"
  go enter "$STARTED" true
  ok
  err_has "pid namespace that its children get"
}

@test "an ordinary user enters his own user namespace" {
  start setpriv --reuid 1000 --regid 1000 --clear-groups unshare --user --map-root-user --uts --pid --fork --kill-child --mount-proc sleep 1000
  until_true child_of "$STARTED"
  local child
  child=$(child_of "$STARTED")
  until_true is_named "$child" sleep
  go_other setpriv --reuid 1000 --regid 1000 --clear-groups "$RUNTIME" --root "$W/none" enter "$child" sh -c 'id -u; cat /proc/1/comm'
  ok
  same "$(xargs <<<"$out")" "0 sleep"
}
