# podman with this runtime: the image is a busybox root, all of podman's folders are the test's own.
load ../lib/common

more_setup_file() {
  local program
  for program in podman conmon jq; do
    command -v $program >/dev/null || { echo "missing program: $program" >&2; return 1; }
  done
  export P=$BATS_FILE_TMPDIR/podman
  mkdir -p "$P"/{root,run,tmp,libpod}
  chmod 755 "$BATS_FILE_TMPDIR" "$P"
  # Root without CAP_SYS_RESOURCE cannot raise limits, so podman may not ask for more than there is.
  cat >"$P/containers.conf" <<CONF
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]
log_driver = "k8s-file"
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
CONF
  export CONTAINERS_CONF=$P/containers.conf CONTAINERS_STORAGE_CONF=$P/storage.conf
  cat >"$P/storage.conf" <<CONF
[storage]
driver = "vfs"
graphroot = "$P/root"
runroot = "$P/run"
CONF
  mkdir -p "$P/image"
  cp -a "$TEMPLATE/." "$P/image"
  tar -C "$P/image" -c . | engine import --change 'CMD ["/bin/sh"]' --change 'ENV PATH=/bin' - localhost/busybox:test >"$P/import.log" 2>&1 || {
    cat "$P/import.log" >&2
    return 1
  }
}

more_teardown_file() {
  engine rm --all --force --time 0 >/dev/null 2>&1 || true
  engine system prune --all --force >/dev/null 2>&1 || true
  grep -o " $P[^ ]*" /proc/self/mountinfo | sort -r | while read -r mount; do umount -l "$mount"; done || true
}

engine() {
  eval 'timeout -k 5 "${LIMIT:-60}" podman --root "$P/root" --runroot "$P/run" --tmpdir "$P/libpod" --storage-driver vfs \
    --cgroup-manager cgroupfs --events-backend file --runtime "$RUNTIME" "$@"' "$CLOSE"
}

# podman_does WORD...: status, out, err as with go.
podman_does() {
  status=0
  engine "$@" >"$W/out" 2>"$W/err" </dev/null || status=$?
  out=$(tr -d '\0\r' <"$W/out")
  err=$(tr -d '\0' <"$W/err")
}
IMAGE=localhost/busybox:test

more_setup() { NAME=c$BATS_TEST_NUMBER-$$; }
more_teardown() { engine rm --force --time 0 "$NAME" >/dev/null 2>&1 || true; }

started() {
  podman_does run -d --name "$NAME" --network none "$IMAGE" "$@"
  ok
}

@test "podman info asks for the version" {
  podman_does info --format '{{.Host.OCIRuntime.Version}}'
  ok
  out_has version
}

@test "podman run: output and status 0" {
  podman_does run --rm --network none "$IMAGE" echo 'hello from inside'
  ok
  same "$out" 'hello from inside'
}

@test "podman run: a failing command's status is podman's" {
  podman_does run --rm --network none "$IMAGE" sh -c 'exit 7'
  status_is 7
  podman_does run --rm --network none "$IMAGE" sh -c 'exit 255'
  status_is 255
}

@test "podman run: 127 for a command that is not there, 126 for one that cannot be run" {
  podman_does run --rm --network none "$IMAGE" no-such-command
  status_is 127
  podman_does run --rm --network none "$IMAGE" /no/such/path
  status_is 127
  podman_does run --rm --network none "$IMAGE" /etc/passwd
  status_is 126
}

@test "podman run: stdin, environment, working folder, user, hostname" {
  status=0
  out=$(echo typed | eval 'timeout 60 podman --root "$P/root" --runroot "$P/run" --tmpdir "$P/libpod" --storage-driver vfs --cgroup-manager cgroupfs \
    --runtime "$RUNTIME" run -i --rm --network none --env ONE=1 --workdir /tmp --user 1000:1000 --hostname named "$IMAGE" \
    sh -c "cat; echo \$ONE; pwd; id -u; hostname"' "$CLOSE" | tr '\n' ' ') || status=$?
  same "$out" 'typed 1 /tmp 1000 named '
}

@test "podman run: the program sees podman's capabilities, masks, filter" {
  podman_does run --rm --network none "$IMAGE" /bin/peek r:/proc/kcore w:/proc/sys/kernel/hostname mount:tmpfs:/mnt stat:/dev/null
  ok
  seen=$out
  expect '.pid == 1' '.seccomp == 2' '.caps.inheritable == []' '.caps.bounding | index("CAP_SYS_ADMIN") == null' \
    't("w:/proc/sys/kernel/hostname") == "EROFS"' 't("mount:tmpfs:/mnt") == "EPERM"' '.fds | keys == ["0","1","2"]'
}

@test "podman run --network host" {
  podman_does run --rm --network host "$IMAGE" /bin/peek
  ok
  seen=$out
  same "$(jq -r .namespaces.net <<<"$seen")" "$(readlink /proc/self/ns/net)"
}

@test "podman run -v, --tmpfs, --read-only" {
  mkdir "$W/data"
  echo from-the-host >"$W/data/f"
  podman_does run --rm --network none --read-only -v "$W/data:/data:ro" --tmpfs /scratch "$IMAGE" /bin/peek r:/data/f create:/data/x create:/scratch/x create:/x
  ok
  seen=$out
  expect 't("r:/data/f") == "from-the-host\n"' 't("create:/data/x") == "EROFS"' 't("create:/scratch/x") == "ok"' 't("create:/x") == "EROFS"'
}

@test "podman run -d, logs, ps, inspect, stop, rm" {
  started sh -c 'trap "echo stopped; exit 0" TERM; echo begun; while :; do sleep 0.1; done'
  logged() { engine logs "$NAME" 2>/dev/null | grep -q "$1"; }
  until_true logged begun
  podman_does ps --format '{{.Names}} {{.Status}}'
  out_has "$NAME Up"
  podman_does inspect --format '{{.State.Status}} {{.State.Pid}}' "$NAME"
  out_has '^running [1-9]'
  podman_does stop --time 10 "$NAME"
  ok
  podman_does logs "$NAME"
  out_has stopped
  podman_does inspect --format '{{.State.Status}} {{.State.ExitCode}}' "$NAME"
  same "$out" 'exited 0'
  podman_does rm "$NAME"
  ok
  podman_does container exists "$NAME"
  status_is 1
}

@test "podman stop of a program that ignores TERM ends it by KILL" {
  started sh -c 'trap "" TERM; while :; do sleep 0.1; done'
  podman_does stop --time 1 "$NAME"
  ok
  podman_does inspect --format '{{.State.ExitCode}}' "$NAME"
  same "$out" 137
}

@test "podman rm --force of a running one" {
  started sleep 1000
  podman_does rm --force --time 0 "$NAME"
  ok
}

@test "podman exec: output, status, user, environment, detach" {
  started sleep 1000
  podman_does exec "$NAME" echo inside
  ok
  same "$out" inside
  podman_does exec "$NAME" sh -c 'exit 9'
  status_is 9
  podman_does exec "$NAME" no-such-command
  status_is 127
  podman_does exec "$NAME" /etc/passwd
  status_is 126
  podman_does exec --user 1000 --env TWO=2 --workdir /tmp "$NAME" sh -c 'id -u; echo $TWO; pwd'
  same "$(tr '\n' ' ' <<<"$out")" '1000 2 /tmp '
  podman_does exec -d "$NAME" touch /tmp/made
  ok
  made() { engine exec "$NAME" test -e /tmp/made; }
  until_true made
}

@test "podman exec: stdin" {
  started sleep 1000
  out=$(echo to-exec | eval 'timeout 60 podman --root "$P/root" --runroot "$P/run" --tmpdir "$P/libpod" --storage-driver vfs --cgroup-manager cgroupfs \
    --runtime "$RUNTIME" exec -i "$NAME" cat' "$CLOSE")
  same "$out" to-exec
}

@test "podman run -t: a terminal" {
  podman_does run -t --rm --network none "$IMAGE" sh -c 'tty; test -t 0 && test -t 1 && echo both'
  ok
  out_has '/dev/pts/0|/dev/console'
  out_has both
}

@test "podman run -it: typing and size arrive, status comes back" {
  status=0
  eval 'timeout 90 "$HELPERS/tool" pty --size 24x91 --limit 60000 --wait "ready" --send "word\r" --wait "<word>" --wait "24 91" -- \
    podman --root "$P/root" --runroot "$P/run" --tmpdir "$P/libpod" --storage-driver vfs --cgroup-manager cgroupfs --runtime "$RUNTIME" \
    run -it --rm --network none "$IMAGE" sh -c "echo ready; read x; echo \"<\$x>\"; stty size; exit 5" >"$W/out" 2>"$W/err"' "$CLOSE" || status=$?
  status_is 5 || { cat "$W/out" "$W/err" >&2; return 1; }
}

@test "podman exec -t" {
  started sleep 1000
  podman_does exec -t "$NAME" sh -c 'test -t 1 && echo is-a-terminal'
  ok
  out_has is-a-terminal
}

@test "podman run --memory: the limit is there and holds" {
  podman_does run --rm --network none --memory 32m "$IMAGE" /bin/peek -q alloc:200000000
  # Its child is killed or it is itself; either way it did not get the memory.
  ! grep -q '"ok"' <<<"$out" || tell "it got the memory"
  started sleep 1000
  podman_does rm --force --time 0 "$NAME"
  podman_does run -d --name "$NAME" --network none --memory 64m --pids-limit 33 --cpus 0.5 "$IMAGE" sleep 1000
  ok
  local pid group
  podman_does inspect --format '{{.State.Pid}}' "$NAME"
  pid=$out
  if [ -d /sys/fs/cgroup/memory ]; then
    group=$(sed -n 's/^[0-9]*:memory://p' "/proc/$pid/cgroup")
    same "$(cat "/sys/fs/cgroup/memory$group/memory.limit_in_bytes")" 67108864
    group=$(sed -n 's/^[0-9]*:pids://p' "/proc/$pid/cgroup")
    same "$(cat "/sys/fs/cgroup/pids$group/pids.max")" 33
    group=$(sed -n 's/^[0-9]*:cpu://p' "/proc/$pid/cgroup")
    same "$(cat "/sys/fs/cgroup/cpu$group/cpu.cfs_quota_us")" 50000
  else
    group=$(sed -n 's/^0:://p' "/proc/$pid/cgroup")
    same "$(cat "/sys/fs/cgroup$group/memory.max" "/sys/fs/cgroup$group/pids.max" | tr '\n' ' ')" '67108864 33 '
  fi
}

@test "podman kill, wait, restart" {
  started sh -c 'trap "exit 4" USR1; while :; do sleep 0.1; done'
  sleep 0.5
  podman_does kill --signal USR1 "$NAME"
  ok
  podman_does wait "$NAME"
  same "$out" 4
  podman_does start "$NAME"
  ok
  podman_does inspect --format '{{.State.Status}}' "$NAME"
  same "$out" running
}

@test "podman pause and unpause" {
  started sleep 1000
  podman_does pause "$NAME"
  ok
  podman_does inspect --format '{{.State.Status}}' "$NAME"
  same "$out" paused
  podman_does unpause "$NAME"
  ok
  podman_does exec "$NAME" echo alive
  same "$out" alive
}

@test "podman exec in a paused one is refused; rm --force removes it" {
  started sleep 1000
  podman_does pause "$NAME"
  ok
  podman_does exec "$NAME" true
  [ "$status" != 0 ] || tell "ran"
  err_has 'paused|state improper'
  podman_does rm --force --time 0 "$NAME"
  ok
}

@test "podman update: limits of memory and processors" {
  local pid file
  podman_does run -d --name "$NAME" --network none --memory 128m --pids-limit 50 "$IMAGE" sleep 1000
  ok
  podman_does update --memory 96m --cpus 0.5 --cpu-shares 300 --cpuset-cpus 0 "$NAME"
  ok
  pid=$(engine inspect --format '{{.State.Pid}}' "$NAME")
  # cgroup CONTROLLER V1-FILE V2-FILE
  cgroup() {
    local path
    if [ -d "$CONTROLLERS/$1" ]; then
      path=$(sed -n "s/^[0-9]*:\([^:]*,\)*$1\(,[^:]*\)*:\(.*\)/\3/p" "/proc/$pid/cgroup")
      cat "$CONTROLLERS/$1$path/$2"
    else
      cat "$CONTROLLERS$(sed -n 's/^0:://p' "/proc/$pid/cgroup")/$3"
    fi
  }
  same "$(cgroup memory memory.limit_in_bytes memory.max)" 100663296
  same "$(cgroup pids pids.max pids.max)" 50
  same "$(cgroup cpuset cpuset.cpus cpuset.cpus)" 0
  if [ -d "$CONTROLLERS/cpu" ]; then
    same "$(cgroup cpu cpu.cfs_quota_us none) $(cgroup cpu cpu.shares none)" '50000 300'
  else
    same "$(cgroup cpu none cpu.max)" '50000 100000'
  fi
  podman_does exec "$NAME" echo alive
  same "$out" alive
}

@test "podman stats sees the container's cgroups" {
  started sh -c 'while :; do :; done'
  podman_does stats --no-stream --format '{{.Name}} {{.PIDs}} {{.MemUsage}}' "$NAME"
  ok
  out_has "^$NAME [1-9][0-9]* [1-9]"
}

@test "podman run --preserve-fds" {
  echo by-descriptor >"$W/f"
  out=$(eval 'timeout 60 podman --root "$P/root" --runroot "$P/run" --tmpdir "$P/libpod" --storage-driver vfs --cgroup-manager cgroupfs \
    --runtime "$RUNTIME" run --rm --network none --preserve-fds 1 "$IMAGE" sh -c "cat <&3"' 3<"$W/f" '4>&- 5>&- 6>&- 7>&- 8>&- 9>&-' </dev/null)
  same "$out" by-descriptor
}

@test "podman run --privileged" {
  podman_does run --rm --privileged --network none "$IMAGE" /bin/peek mount:tmpfs:/mnt
  ok
  seen=$out
  expect 't("mount:tmpfs:/mnt") == "ok"' '.seccomp == 0'
}

@test "tare ps, tree and pid know podman's container by its id and its name, and conmon is none" {
  started sh -c 'sleep 1000 & wait'
  local id pid
  id=$(engine inspect --format '{{.Id}}' "$NAME")
  pid=$(engine inspect --format '{{.State.Pid}}' "$NAME")
  # Podman's own folders are where stores are looked for.
  view() {
    go_other unshare --mount sh -c 'mkdir -p /var/lib/containers && mount -t tmpfs tmpfs /var/lib/containers &&
      mkdir /var/lib/containers/storage && mount --bind "$1" /var/lib/containers/storage && shift && exec "$@"' - \
      "$P/root" "$RUNTIME" --root "$W/none" "$@"
    ok
  }
  view ps -f json "$NAME"
  same "$(jq -r 'map(.container.engine + " " + .container.id + " " + .container.name) | unique | join(",")' <<<"$out")" "podman $id $NAME"
  same "$(jq -r "map(.pid) | contains([$pid]) | tostring" <<<"$out")" true
  same "$(jq -r 'map(.name) | index("conmon") | tostring' <<<"$out")" null
  view ps -A -f json
  same "$(jq -r '.[] | select(.name == "conmon").container' <<<"$out" | sort -u)" null
  view tree -f json
  same "$(jq -r ".[] | select(.inode == $(readlink "/proc/$pid/ns/pid" | tr -dc 0-9)).container.name" <<<"$out")" "$NAME"
  view pid 1 --from "$NAME" -f json
  same "$(jq .pid <<<"$out")" "$pid"
  view pid 1 --from "$id" -f json
  same "$(jq .pid <<<"$out")" "$pid"
  view enter "$NAME" /bin/cat /proc/1/comm
  same "$out" sh
}
