# Mounts: each type, the families of options, and destinations that are links or do not exist.
load ../lib/common

mount_one() { config '.mounts += [{"destination": $d, "type": $t, "source": $s, "options": $o}]' --arg d "$1" --arg t "$2" --arg s "$3" --argjson o "$4"; }
bind_one() { mount_one "$1" bind "$2" "$3"; }

more_setup() {
  mkdir -p "$W/src/sub" "$W/other"
  echo data >"$W/src/file"
  echo other >"$W/other/o"
  echo plain >"$W/plain"
}

more_teardown() { umount -l "$W/src/sub" "$W/src" 2>/dev/null || true; }

@test "the default mounts: proc, dev, devpts, shm, mqueue, sysfs" {
  see ls:/dev stat:/dev/ptmx stat:/dev/fd stat:/dev/stdin stat:/dev/stdout stat:/dev/stderr statfs:/proc
  expect 'm("/proc").type == "proc"' 'm("/dev").type == "tmpfs"' 'm("/dev/pts").type == "devpts"' \
    'm("/dev/shm").type == "tmpfs"' 'm("/dev/mqueue").type == "mqueue"' 'm("/sys").type == "sysfs"' \
    'm("/sys").options | index("ro") != null' 'm("/proc").options | contains(["nosuid","nodev","noexec"])' \
    't("stat:/dev/fd").target == "/proc/self/fd"' 't("stat:/dev/stdin").target == "/proc/self/fd/0"' \
    't("stat:/dev/stdout").target == "/proc/self/fd/1"' 't("stat:/dev/stderr").target == "/proc/self/fd/2"' \
    't("stat:/dev/ptmx") | .type == "c" or (.target | test("pts/ptmx$"))' \
    't("ls:/dev") | contains(["null","zero","full","random","urandom","tty"])' \
    'm("/dev").super | any(test("^size=65536k"))' 'm("/dev/shm").super | index("mode=1777") != null or true'
}

@test "no /proc mount at all works" {
  config '.mounts |= map(select(.destination != "/proc")) | del(.linux.maskedPaths, .linux.readonlyPaths)'
  set_args /bin/peek -q stat:/proc/self
  go run --bundle "$B" "$ID"
  ok
  seen=$out
  expect 't("stat:/proc/self") == "ENOENT"'
}

@test "no mounts at all works" {
  config '.mounts = [] | del(.linux.maskedPaths, .linux.readonlyPaths)'
  set_args /bin/peek -q print:alive
  go run --bundle "$B" "$ID"
  ok
  same "$out" alive
}

@test "bind of a folder, read-write, and read-only" {
  bind_one /rw "$W/src" '["bind"]'
  bind_one /ro "$W/src" '["rbind", "ro"]'
  see r:/rw/file create:/rw/made create:/ro/no w:/ro/file
  expect 't("r:/rw/file") == "data\n"' 't("create:/rw/made") == "ok"' 't("create:/ro/no") == "EROFS"' 't("w:/ro/file") == "EROFS"'
  [ -e "$W/src/made" ]
  # The host's own mount stays writable.
  touch "$W/src/still"
}

@test "bind of a file; its missing destination is made as a file" {
  bind_one /etc/new/name "$W/plain" '["bind", "ro"]'
  see r:/etc/new/name stat:/etc/new/name
  expect 't("r:/etc/new/name") == "plain\n"' 't("stat:/etc/new/name").type == "file"'
}

@test "a relative bind source is below the bundle" {
  mkdir "$B/data"
  echo rel >"$B/data/f"
  bind_one /data data '["bind"]'
  see r:/data/f
  expect 't("r:/data/f") == "rel\n"'
}

@test "rbind takes submounts along, bind does not" {
  mount -t tmpfs t "$W/src/sub"
  echo below >"$W/src/sub/x"
  bind_one /r "$W/src" '["rbind"]'
  bind_one /b "$W/src" '["bind"]'
  see r:/r/sub/x r:/b/sub/x
  umount "$W/src/sub"
  expect 't("r:/r/sub/x") == "below\n"' 't("r:/b/sub/x") == "ENOENT"'
}

@test "ro on rbind is for the top, rro for all of it" {
  mount -t tmpfs t "$W/src/sub"
  bind_one /top "$W/src" '["rbind", "ro"]'
  bind_one /all "$W/src" '["rbind", "rro"]'
  see create:/top/sub/x create:/all/sub/x create:/top/x
  umount "$W/src/sub"
  expect 't("create:/top/x") == "EROFS"' 't("create:/top/sub/x") == "ok"' 't("create:/all/sub/x") == "EROFS"'
}

@test "flags of a bind mount: each is there, and its contrary takes it away" {
  bind_one /a "$W/src" '["bind", "nosuid", "nodev", "noexec", "noatime", "nodiratime"]'
  bind_one /b "$W/src" '["bind", "nosuid", "suid", "nodev", "dev", "noexec", "exec"]'
  bind_one /c "$W/src" '["bind", "relatime"]'
  bind_one /d "$W/src" '["bind", "strictatime"]'
  see
  expect 'm("/a").options | contains(["nosuid","nodev","noexec","noatime","nodiratime"])' \
    'm("/b").options | all(. != "nosuid" and . != "nodev" and . != "noexec")' 'm("/c").options | index("relatime") != null' \
    'm("/d").options | all(. != "relatime" and . != "noatime")'
}

@test "of options that contradict each other the last one wins" {
  bind_one /rw "$W/src" '["bind", "ro", "rw"]'
  bind_one /ro "$W/src" '["bind", "rw", "ro"]'
  see create:/rw/x create:/ro/y
  expect 't("create:/rw/x") == "ok"' 't("create:/ro/y") == "EROFS"'
}

@test "nosymfollow" {
  ln -s file "$W/src/link"
  bind_one /n "$W/src" '["bind", "nosymfollow"]'
  see r:/n/link
  expect 't("r:/n/link") == "ELOOP"'
}

@test "recursive flags: rnosuid, rnodev, rnoexec, rnoatime, rrelatime, rstrictatime" {
  mount -t tmpfs t "$W/src/sub"
  bind_one /a "$W/src" '["rbind", "rnosuid", "rnodev", "rnoexec", "rnoatime"]'
  bind_one /b "$W/src" '["rbind", "rrelatime"]'
  bind_one /c "$W/src" '["rbind", "rnostrictatime"]'
  see
  umount "$W/src/sub"
  expect 'm("/a/sub").options | contains(["nosuid","nodev","noexec","noatime"])' 'm("/b/sub").options | index("relatime") != null' 'm("/c/sub") != null'
}

@test "a file system's own option on a bind mount is refused, since it would be ignored" {
  bind_one /x "$W/src" '["bind", "size=10m"]'
  refused 'size=10m'
}

@test "bind or not is decided by the option, whatever the type says" {
  mount_one /a bind "$W/src" '["rbind"]'
  mount_one /b none "$W/src" '["rbind"]'
  mount_one /c tmpfs "$W/src" '["bind"]'
  see r:/a/file r:/b/file r:/c/file
  expect 't("r:/a/file") == "data\n"' 't("r:/b/file") == "data\n"' 't("r:/c/file") == "data\n"'
}

@test "a missing source, or a file onto a folder: one line that names the mount" {
  bind_one /x "$W/none" '["bind"]'
  refused "$W/none.*no such file or directory|no such file or directory.*$W/none"
  config '.mounts[-1].source = $s | .mounts[-1].destination = "/etc"' --arg s "$W/plain"
  refused '/etc.*(not a directory|is a directory|folder|directory|file)'
  config '.mounts[-1].source = $s | .mounts[-1].destination = "/etc/passwd"' --arg s "$W/src"
  refused '/etc/passwd.*(not a directory|folder|directory|file)'
}

@test "an unknown file system and a bad option name the mount" {
  mount_one /x nosuchfs none '[]'
  refused 'nosuchfs.*(no such device|not known|unknown)|/x.*no such device'
  config '.mounts[-1].type = "tmpfs" | .mounts[-1].options = ["nosuchoption=1"]'
  refused '/x.*(nosuchoption|invalid argument)'
}

@test "an error in the middle of many mounts leaves none on the host" {
  local i
  for i in 1 2 3 4 5; do bind_one "/m$i" "$W/src" '["bind"]'; done
  bind_one /last "$W/none" '["bind"]'
  refused "$W/none|/last"
}

@test "tmpfs: size, mode, and mode of the folder below where none is named" {
  mkdir "$B/rootfs/sticky"
  chmod 1777 "$B/rootfs/sticky"
  mount_one /sticky tmpfs tmpfs '["nosuid"]'
  mount_one /given tmpfs tmpfs '["mode=0711", "size=1m"]'
  see stat:/sticky stat:/given statfs:/given
  expect 't("stat:/sticky").mode == "1777"' 't("stat:/given").mode == "0711"' 't("statfs:/given").bytes == 1048576'
}

@test "tmpcopyup copies what is below: files, links, modes, whatever the umask" {
  mkdir -p "$B/rootfs/up/dir"
  echo copied >"$B/rootfs/up/f"
  chmod 640 "$B/rootfs/up/f"
  chmod 770 "$B/rootfs/up/dir"
  ln -s /some/where/long "$B/rootfs/up/link"
  mount_one /up tmpfs tmpfs '["tmpcopyup"]'
  see r:/up/f stat:/up/f stat:/up/dir stat:/up/link create:/up/new
  expect 't("r:/up/f") == "copied\n"' 't("stat:/up/f").mode == "0640"' 't("stat:/up/dir").mode == "0770"' \
    't("stat:/up/link").target == "/some/where/long"' 't("create:/up/new") == "ok"'
  [ ! -e "$B/rootfs/up/new" ]
}

@test "overlay" {
  mkdir -p "$W/up" "$W/work"
  mount_one /o overlay overlay "$(jq -nc --arg l "lowerdir=$W/src:$W/other" --arg u "upperdir=$W/up" --arg w "workdir=$W/work" '[$l, $u, $w]')"
  see r:/o/file r:/o/o create:/o/new
  expect 't("r:/o/file") == "data\n"' 't("r:/o/o") == "other\n"' 't("create:/o/new") == "ok"'
  [ -e "$W/up/new" ]
  [ ! -e "$W/src/new" ]
}

@test "mounts are made in the order of the list" {
  bind_one /x "$W/src" '["bind"]'
  bind_one /x/sub "$W/other" '["bind"]'
  see r:/x/sub/o
  expect 't("r:/x/sub/o") == "other\n"'
  config '.mounts += [{"destination": "/x", "type": "tmpfs", "source": "t"}]'
  see r:/x/sub/o
  expect 't("r:/x/sub/o") == "ENOENT"'
}

@test "a destination that is a link out of the root stays inside" {
  ln -s "$W/other" "$B/rootfs/link"
  bind_one /link/deep "$W/src" '["bind"]'
  set_args /bin/peek "r:/link/deep/file"
  go run --bundle "$B" "$ID"
  ok
  seen=$out
  expect '.tried | to_entries[0].value == "data\n"'
  same "$(ls "$W/other")" o
}

@test "a destination that is a dangling link: its target is made inside the root" {
  ln -s /run/gone/time "$B/rootfs/etc/localtime"
  bind_one /etc/localtime "$W/plain" '["bind"]'
  see r:/etc/localtime
  expect 't("r:/etc/localtime") == "plain\n"'
  [ ! -e /run/gone ]
}

@test "a bind of a file onto a link within another bind, whose target is absolute" {
  ln -s /mnt/target "$W/src/f-link"
  bind_one /d "$W/src" '["bind"]'
  bind_one /d/f-link "$W/plain" '["bind"]'
  see r:/mnt/target
  expect 't("r:/mnt/target") == "plain\n"'
}

@test "a tmpfs onto an absolute link is inside the root" {
  mkdir "$B/rootfs/real"
  ln -s /real "$B/rootfs/alias"
  mount_one /alias tmpfs tmpfs '["mode=700"]'
  see statfs:/real create:/real/x
  expect 'm("/real").type == "tmpfs"'
  [ ! -e "$B/rootfs/real/x" ]
}

@test "doubled and trailing slashes, dots in destinations" {
  bind_one /test//x/ "$W/src" '["bind"]'
  config '(.mounts[] | select(.destination == "/dev")).destination = "/dev/"'
  see r:/test/x/file stat:/dev/null
  expect 't("r:/test/x/file") == "data\n"' 't("stat:/dev/null").type == "c"'
  bind_one /a/../../../b "$W/src" '["bind"]'
  see r:/b/file
  expect 't("r:/b/file") == "data\n"'
}

@test "a relative destination is below /, with a warning" {
  bind_one rel "$W/src" '["bind"]'
  see r:/rel/file
  expect 't("r:/rel/file") == "data\n"'
  err_has 'rel'
}

@test "propagation of a mount: private by default, shared, slave, unbindable when asked for" {
  bind_one /s "$W/src" '["rbind", "rshared"]'
  bind_one /p "$W/src" '["rbind", "rprivate"]'
  bind_one /u "$W/src" '["bind", "unbindable"]'
  mount --bind "$W/src" "$W/src"
  mount --make-shared "$W/src"
  bind_one /v "$W/src" '["rbind", "rslave"]'
  see
  umount "$W/src"
  expect 'm("/s").propagation | any(test("^shared:"))' 'm("/p").propagation == []' 'm("/u").propagation | index("unbindable") != null' \
    'm("/v").propagation | any(test("^master:"))'
}

@test "a slave mount sees what the host mounts later, and nothing comes back" {
  mount --bind "$W/src" "$W/src"
  mount --make-shared "$W/src"
  bind_one /v "$W/src" '["rbind", "rslave"]'
  config '.linux.rootfsPropagation = "rslave"'
  running
  mount -t tmpfs later "$W/src/sub"
  echo later >"$W/src/sub/x"
  go exec "$ID" /bin/cat /v/sub/x
  umount "$W/src/sub"
  umount "$W/src"
  same "$out" later
}

@test "rootfsPropagation: private, slave, shared, unbindable; the host's own root is not touched" {
  local before after kind
  before=$(awk '$5 == "/"' /proc/self/mountinfo)
  for kind in private rprivate slave rslave shared rshared unbindable; do
    config '.linux.rootfsPropagation = $k' --arg k $kind
    see
    case $kind in
      *private) expect 'm("/").propagation | all(test("^shared:") | not)' ;;
      *shared) expect 'm("/").propagation | any(test("^shared:"))' ;;
      unbindable) expect 'm("/").propagation | index("unbindable") != null' ;;
    esac
  done
  after=$(awk '$5 == "/"' /proc/self/mountinfo)
  same "$after" "$before"
  config '.linux.rootfsPropagation = "nosuch"'
  refused 'rootfsPropagation|propagation'
}

@test "nothing that the container mounts is seen on the host" {
  config '.process.capabilities |= map_values(. + ["CAP_SYS_ADMIN"])'
  bind_one /v "$W/src" '["rbind"]'
  see mount:tmpfs:/mnt mount:tmpfs:/v/sub
  expect 't("mount:tmpfs:/mnt") == "ok"'
  ! grep -q "$W/src/sub" /proc/self/mountinfo
}

@test "cgroup mount: the container's own controllers, read-only" {
  mount_one /sys/fs/cgroup cgroup cgroup '["nosuid", "noexec", "nodev", "relatime", "ro"]'
  see ls:/sys/fs/cgroup mkdir:/sys/fs/cgroup/memory/x r:/sys/fs/cgroup/pids/cgroup.procs create:/sys/fs/cgroup/x
  expect 't("ls:/sys/fs/cgroup") | contains(["memory","pids","cpu"])' 't("mkdir:/sys/fs/cgroup/memory/x") == "EROFS"' \
    't("r:/sys/fs/cgroup/pids/cgroup.procs") | test("^1$"; "m")' 't("create:/sys/fs/cgroup/x") != "ok"'
}

@test "cgroup mount with a cgroup namespace of its own shows / as the container's own" {
  config '.linux.namespaces += [{"type": "cgroup"}]'
  mount_one /sys/fs/cgroup cgroup cgroup '["nosuid", "noexec", "nodev", "relatime", "ro"]'
  see r:/sys/fs/cgroup/pids/cgroup.procs
  expect '.cgroup | map(select(test(":pids:"))) | .[0] | endswith(":/")' 't("r:/sys/fs/cgroup/pids/cgroup.procs") | test("^1$"; "m")'
}

@test "hundreds of mounts need no hundreds of descriptors" {
  config '.mounts += [range(0; 300) | {"destination": "/many/\(.)", "type": "bind", "source": $s, "options": ["bind"]}]' --arg s "$W/src"
  set_args /bin/peek
  out=$(ulimit -n 100; rt run --bundle "$B" "$ID" </dev/null 2>"$W/err") || fail "$(cat "$W/err")"
  seen=$out
  expect '[.mounts[] | select(.dest | startswith("/many/"))] | length == 300'
}

@test "a very long source and destination are refused or exact" {
  bind_one "/$(printf 'd%.0s' {1..300})" "$W/src" '["bind"]'
  refused 'name too long'
  config 'del(.mounts[-1])'
  config '.mounts += [{"destination": "/x", "type": "bind", "source": ("/" + "y" * 70000), "options": ["bind"]}]'
  refused 'name too long|no such file'
}

@test "a mount destination is required; mapped mounts need both maps" {
  config '.mounts += [{"type": "tmpfs", "source": "t"}]'
  refused 'destination'
  config '.mounts[-1] = {"destination": "/x", "type": "bind", "source": $s, "options": ["bind", "idmap"], "uidMappings": [{"containerID": 0, "hostID": 1, "size": 1}]}' --arg s "$W/src"
  refused 'gidMappings|uidMappings|idmap'
}

@test "two containers that share a root start at once" {
  local i
  set_args /bin/true
  bind_one /shared/new/place "$W/src" '["bind"]'
  mkdir "$W/second"
  jq '.linux.cgroupsPath += "b" | .root.path = $r' --arg r "$B/rootfs" "$B/config.json" >"$W/second/config.json"
  for i in 1 2 3; do
    rt run --bundle "$B" "$ID" >"$W/o1" 2>&1 </dev/null &
    local first=$!
    rt run --bundle "$W/second" "$ID-b" >"$W/o2" 2>&1 </dev/null &
    local second=$!
    wait $first || fail "first: $(cat "$W/o1")"
    wait $second || fail "second: $(cat "$W/o2")"
    rm -r "$B/rootfs/shared"
  done
}
