# The root belongs to an attacker: links at every path that a runtime touches. Nothing outside may change.
load ../lib/common

# The canary: a folder of the host with one file, and what it was before.
more_setup() {
  mkdir -p "$W/canary/dir"
  echo canary >"$W/canary/file"
  printf 'x' >"$W/canary/ptmx"
  picture >"$W/before"
}
picture() { (cd "$W/canary" && find . -printf '%p %y %m %u %g %s %l\n' | sort; cat file ptmx); }
untouched() {
  picture | diff "$W/before" - || fail "the canary changed" || return 1
  ! grep -q "$W/canary" /proc/self/mountinfo || fail "something was mounted on the canary"
}
# attempt VERB...: whatever comes of it, it ends, and the canary is untouched.
attempt() {
  go "$@"
  [ "$status" != 124 ] && [ "$status" != 137 ] && [ "$status" != 139 ] || { tell "hung or crashed"; return 1; }
  timeout 20 "$RUNTIME" --root "$STATE" delete --force "$ID" >/dev/null 2>&1 || true
  untouched
}

# replace PATH-IN-ROOT TARGET: it is a link now.
replace() {
  rm -rf "$B/rootfs/$1"
  ln -s "$2" "$B/rootfs/$1"
}

@test "each folder of the root as a link to the host, absolute and by ..: the canary stays" {
  local name
  for name in dev proc sys dev/pts dev/shm dev/mqueue etc tmp; do
    cp -al "$TEMPLATE/." "$B/rootfs/" 2>/dev/null || true
    mkdir -p "$(dirname "$B/rootfs/$name")"
    replace $name "$W/canary"
    set_args /bin/peek
    attempt run --bundle "$B" "$ID" || { fail "$name, absolute"; return 1; }
    replace $name "../../../../../../../../..$W/canary"
    attempt run --bundle "$B" "$ID" || { fail "$name, relative"; return 1; }
    rm -rf "$B/rootfs"
    cp -al "$TEMPLATE" "$B/rootfs"
  done
}

@test "/dev a link, and no mount on /dev: neither devices nor links are made or removed outside" {
  config '.mounts |= map(select(.destination | startswith("/dev") | not))'
  replace dev "$W/canary"
  set_args /bin/true
  attempt run --bundle "$B" "$ID"
  replace dev "../../canary"
  attempt run --bundle "$B" "$ID"
}

@test "single device names as links to the host's files: not followed" {
  local name
  config '.mounts |= map(select(.destination | startswith("/dev") | not))'
  set_args /bin/true
  for name in null zero full random urandom tty console ptmx stdin stdout stderr fd pts shm core; do
    rm -rf "$B/rootfs/dev"
    mkdir "$B/rootfs/dev"
    ln -s "$W/canary/file" "$B/rootfs/dev/$name"
    attempt run --bundle "$B" "$ID" || { fail "$name"; return 1; }
    ln -sfn "$W/canary/new-$name" "$B/rootfs/dev/$name"
    attempt run --bundle "$B" "$ID" || { fail "$name, dangling"; return 1; }
  done
}

@test "/proc a link within the root: refused" {
  mkdir "$B/rootfs/fake"
  replace proc fake
  refused 'proc'
  replace proc /fake
  refused 'proc'
}

@test "/sys a link within the root: refused" {
  mkdir "$B/rootfs/fake"
  replace sys fake
  refused 'sys'
}

@test "a volume over /proc is refused" {
  mkdir -p "$W/fake/self/attr"
  config '.mounts += [{"destination": "/proc", "type": "bind", "source": $s, "options": ["bind"]}]' --arg s "$W/fake"
  refused 'proc'
  config '.mounts[-1] = {"destination": "/proc", "type": "tmpfs", "source": "tmpfs"}'
  refused 'proc'
}

@test "a bind onto a file of /proc is refused, but for the few that engines use" {
  local target
  for target in /proc/self/attr /proc/self/attr/exec /proc/sys/kernel/hostname /proc/1/oom_score_adj; do
    config '.mounts |= map(select(.destination | startswith("/proc/") | not)) | .mounts += [{"destination": $d, "type": "bind", "source": $s, "options": ["bind"]}]' --arg d $target --arg s "$W/canary/file"
    attempt run --bundle "$B" "$ID"
    [ "$status" != 0 ] || { fail "$target was accepted"; return 1; }
  done
}

@test "mount destinations through links and .. never reach the host" {
  local d
  mkdir "$W/src"
  echo from-src >"$W/src/f"
  ln -s "$W/canary" "$B/rootfs/abs"
  ln -s ../../canary "$B/rootfs/rel"
  ln -s / "$B/rootfs/top"
  ln -s /proc/self/root "$B/rootfs/magic"
  ln -s /proc/self/cwd "$B/rootfs/magic2"
  ln -s loop-b "$B/rootfs/loop-a"
  ln -s loop-a "$B/rootfs/loop-b"
  for d in /abs /abs/dir /rel /rel/dir/new "/top$W/canary" "/magic$W/canary/dir" /magic2/new /loop-a "/../..$W/canary" "/abs/../../..$W/canary"; do
    config '.mounts |= map(select(.source != $s)) | .mounts += [{"destination": $d, "type": "bind", "source": $s, "options": ["bind"]}]' --arg d "$d" --arg s "$W/src"
    set_args /bin/true
    attempt run --bundle "$B" "$ID" || { fail "$d"; return 1; }
  done
  for d in /abs/file /rel/file "/top$W/canary/file"; do
    config '.mounts |= map(select(.source != $s)) | .mounts += [{"destination": $d, "type": "bind", "source": ($s + "/f"), "options": ["bind"]}]' --arg d "$d" --arg s "$W/src"
    attempt run --bundle "$B" "$ID" || { fail "$d"; return 1; }
  done
}

@test "masked and read-only paths that are links: the host's files stay as they are" {
  ln -s "$W/canary/file" "$B/rootfs/etc/link"
  ln -s "$W/canary" "$B/rootfs/etc/dirlink"
  config '.linux.maskedPaths += ["/etc/link", "/etc/dirlink"] | .linux.readonlyPaths += ["/etc/link", "/etc/dirlink"]'
  set_args /bin/true
  attempt run --bundle "$B" "$ID"
  touch "$W/canary/dir"
}

@test "cwd through a link, missing: made inside or refused" {
  ln -s "$W/canary" "$B/rootfs/out"
  config '.process.cwd = "/out/made/deep"'
  set_args /bin/true
  attempt run --bundle "$B" "$ID"
  config '.process.cwd = "/out/../../../made"'
  attempt run --bundle "$B" "$ID"
}

@test "devices below a link: made inside" {
  ln -s "$W/canary" "$B/rootfs/out"
  config '.linux.devices = [{"type": "c", "path": "/out/zero", "major": 1, "minor": 5}, {"type": "c", "path": "/out/file", "major": 1, "minor": 5}]'
  set_args /bin/true
  attempt run --bundle "$B" "$ID"
}

@test "/etc/passwd and /etc/group as a FIFO, a device, a folder, a link out, or 300 MiB: bounded" {
  local what begin
  set_args /bin/true
  for what in fifo device folder link huge line; do
    rm -rf "$B/rootfs/etc/passwd" "$B/rootfs/etc/group"
    case $what in
      fifo) mkfifo "$B/rootfs/etc/passwd" "$B/rootfs/etc/group" ;;
      device) mknod "$B/rootfs/etc/passwd" c 1 5; mknod "$B/rootfs/etc/group" c 1 5 ;;
      folder) mkdir "$B/rootfs/etc/passwd" "$B/rootfs/etc/group" ;;
      link) ln -s "$W/canary/file" "$B/rootfs/etc/passwd"; ln -s /dev/zero "$B/rootfs/etc/group" ;;
      huge) truncate -s 300M "$B/rootfs/etc/passwd" "$B/rootfs/etc/group" ;;
      line) head -c 5000000 /dev/zero | tr '\0' x >"$B/rootfs/etc/passwd" ;;
    esac
    begin=$SECONDS
    attempt run --bundle "$B" "$ID" || { fail "$what"; return 1; }
    [ $((SECONDS - begin)) -lt 15 ] || { fail "$what took $((SECONDS - begin)) s"; return 1; }
  done
}

@test "exec: the running container makes /etc/passwd a FIFO: bounded" {
  running
  rm "$B/rootfs/etc/passwd"
  mkfifo "$B/rootfs/etc/passwd"
  LIMIT=15 go exec --user 1000 "$ID" /bin/true
  [ "$status" != 124 ] && [ "$status" != 137 ]
}

@test "the program as a link to the host's, or a path with ..: looked up inside" {
  cp "$HELPERS/peek" "$W/canary/dir/prog"
  picture >"$W/before"
  ln -s "$W/canary/dir/prog" "$B/rootfs/tmp/prog"
  set_args /tmp/prog
  attempt run --bundle "$B" "$ID"
  [ "$status" != 0 ]
  set_args "/../../..$W/canary/dir/prog"
  attempt run --bundle "$B" "$ID"
  [ "$status" != 0 ]
}

@test "tmpcopyup of a folder with links out copies links, not what they name" {
  mkdir "$B/rootfs/up"
  ln -s "$W/canary/file" "$B/rootfs/up/link"
  config '.mounts += [{"destination": "/up", "type": "tmpfs", "source": "tmpfs", "options": ["tmpcopyup"]}]'
  see stat:/up/link
  expect 't("stat:/up/link").type == "link"'
  untouched
}
