# The root, names of the machine, devices, masked and read-only paths, sysctl.
load ../lib/common

@test "the root is the bundle's, relative or absolute" {
  touch "$B/rootfs/marker"
  see stat:/marker
  expect 't("stat:/marker").type == "file"'
  config '.root.path = $p' --arg p "$B/rootfs"
  see stat:/marker ls:/
  expect 't("stat:/marker").type == "file"'
  # The old root is gone.
  expect '[.mounts[] | select(.dest == "/")] | length == 1' 't("ls:/") | index("work") == null'
}

@test "a root that is missing, a file, or not named is refused" {
  config '.root.path = "nowhere"'
  refused 'nowhere.*no such file|root'
  touch "$B/file"
  config '.root.path = "file"'
  refused 'not a directory|root'
  config 'del(.root)'
  refused 'root'
}

@test "read-only root" {
  config '.root.readonly = true'
  see create:/x create:/dev/shm/y remountrw:/
  expect 't("create:/x") == "EROFS"' 't("create:/dev/shm/y") == "ok"' 'm("/").options | index("ro") != null' 't("remountrw:/") == "EPERM"'
  # The host's file system is not read-only now.
  touch "$B/rootfs/on-the-host"
}

@test "root inside a root that is its own mount, and one reached by a link" {
  mount --bind "$B/rootfs" "$B/rootfs"
  see
  umount "$B/rootfs"
  expect '.pid == 1'
  ln -s rootfs "$B/alias"
  config '.root.path = "alias"'
  see
  expect '.pid == 1'
}

@test "hostname is set inside and not on the host" {
  local before
  before=$(hostname)
  config '.hostname = "a-name.inside"'
  see
  expect '.hostname == "a-name.inside"'
  same "$(hostname)" "$before"
}

@test "domainname is set inside" {
  config '.domainname = "some.domain"'
  see
  expect '.domainname == "some.domain"'
}

@test "hostname or domainname without a uts namespace of its own is refused" {
  config '.linux.namespaces |= map(select(.type != "uts"))'
  refused 'hostname|uts'
  config 'del(.hostname) | .domainname = "x"'
  refused 'domainname|uts'
  config 'del(.domainname)'
  see
  expect '.pid == 1'
}

@test "a hostname longer than 64 bytes is refused" {
  config '.hostname = "h" * 65'
  refused 'hostname|name too long|invalid'
}

@test "default devices: type, numbers, mode; usable" {
  see stat:/dev/null stat:/dev/zero stat:/dev/full stat:/dev/random stat:/dev/urandom stat:/dev/tty write:/dev/null:x write:/dev/full:x r:/dev/null
  expect 't("stat:/dev/null") | .type == "c" and .rdev == "1:3" and .mode == "0666"' 't("stat:/dev/zero").rdev == "1:5"' \
    't("stat:/dev/full").rdev == "1:7"' 't("stat:/dev/random").rdev == "1:8"' 't("stat:/dev/urandom").rdev == "1:9"' \
    't("stat:/dev/tty").rdev == "5:0"' 't("write:/dev/null:x") == "ok"' 't("write:/dev/full:x") == "ENOSPC"' 't("r:/dev/null") == ""'
}

@test "devices of the config: char, fifo; mode and owner" {
  config '.linux.devices = [{"type": "c", "path": "/dev/my/zero", "major": 1, "minor": 5, "fileMode": 432, "uid": 1000, "gid": 1001}, {"type": "p", "path": "/dev/pipe", "fileMode": 384}, {"type": "b", "path": "/dev/blk", "major": 7, "minor": 200}]'
  see stat:/dev/my/zero stat:/dev/pipe stat:/dev/blk
  expect 't("stat:/dev/my/zero") | .type == "c" and .rdev == "1:5" and .mode == "0660" and .uid == 1000 and .gid == 1001' \
    't("stat:/dev/pipe") | .type == "fifo" and .mode == "0600"' 't("stat:/dev/blk") | .type == "b" and .rdev == "7:200"'
}

@test "a device that repeats a default one is accepted; its owner and mode hold" {
  config '.linux.devices = [{"type": "c", "path": "/dev/null", "major": 1, "minor": 3, "fileMode": 438, "uid": 0, "gid": 0}]'
  see stat:/dev/null write:/dev/null:x
  expect 't("stat:/dev/null") | .rdev == "1:3" and .mode == "0666"' 't("write:/dev/null:x") == "ok"'
}

@test "a device's unknown type, or a missing number, is refused" {
  config '.linux.devices = [{"type": "q", "path": "/dev/x", "major": 1, "minor": 5}]'
  refused 'devices|type'
  config '.linux.devices = [{"type": "c", "path": "dev-relative", "major": 1, "minor": 5}]'
  go run --bundle "$B" "$ID"
  [ "$status" != 0 ] || true
}

@test "a device path with a trailing slash" {
  config '.linux.devices = [{"type": "c", "path": "/dev/slash/", "major": 1, "minor": 5}]'
  go run --bundle "$B" "$ID"
  [ "$status" -lt 124 ]
  if [ "$status" != 0 ]; then err_has '/dev/slash'; fi
}

@test "device access is denied by default and given in order" {
  config '.process.capabilities |= map_values(. + ["CAP_SYSLOG"])'
  see mknod:/dev/kmsg2:c:1:11 r:/dev/kmsg2 mknod:/dev/sd:b:8:0 r:/dev/sd r:/dev/zero
  expect 't("mknod:/dev/kmsg2:c:1:11") | . == "EPERM" or . == "ok"' 't("r:/dev/kmsg2") | . == "EPERM" or . == "ENOENT"' \
    't("r:/dev/sd") | . == "EPERM" or . == "ENOENT"' 't("r:/dev/zero") | length > 0'
  config '.linux.resources.devices = [{"allow": false, "access": "rwm"}, {"allow": true, "type": "c", "major": 1, "minor": 11, "access": "rwm"}]'
  see mknod:/dev/kmsg2:c:1:11 rw:/dev/kmsg2
  expect 't("mknod:/dev/kmsg2:c:1:11") == "ok"' 't("rw:/dev/kmsg2") == "ok"'
  config '.linux.resources.devices += [{"allow": false, "type": "c", "major": 1, "minor": 11, "access": "w"}]'
  see mknod:/dev/kmsg2:c:1:11 rw:/dev/kmsg2
  expect 't("rw:/dev/kmsg2") == "EPERM"'
}

@test "no devices rules at all: still denied" {
  config 'del(.linux.resources)'
  see mknod:/dev/sd:b:8:0 r:/dev/sd mknod:/dev/m:c:1:1 r:/dev/m
  expect 't("r:/dev/sd") | . == "EPERM" or . == "ENOENT"' 't("r:/dev/m") | . == "EPERM" or . == "ENOENT"'
}

@test "masked paths: a file reads empty, a folder is empty and read-only, a missing one is no error" {
  mkdir "$B/rootfs/secret"
  echo hidden >"$B/rootfs/secret/f"
  echo hidden >"$B/rootfs/etc/secret"
  config '.linux.maskedPaths += ["/etc/secret", "/secret", "/does/not/exist", "/proc/version"]'
  see r:/etc/secret ls:/secret create:/secret/x r:/proc/version umount:/secret
  expect 't("r:/etc/secret") == ""' 't("ls:/secret") == []' 't("create:/secret/x") == "EROFS"' 't("r:/proc/version") == ""' 't("umount:/secret") == "EPERM"'
}

@test "read-only paths: file and folder; a missing one is no error" {
  mkdir "$B/rootfs/fixed"
  echo f >"$B/rootfs/etc/fixed"
  config '.linux.readonlyPaths += ["/etc/fixed", "/fixed", "/does/not/exist"]'
  see w:/etc/fixed create:/fixed/x w:/proc/sys/kernel/hostname r:/etc/fixed
  expect 't("w:/etc/fixed") == "EROFS"' 't("create:/fixed/x") == "EROFS"' 't("w:/proc/sys/kernel/hostname") == "EROFS"' \
    't("r:/etc/fixed") == "f\n"'
}

@test "masks keep the flags of the mount below" {
  config '.linux.readonlyPaths = ["/proc/sys"]'
  see
  expect 'm("/proc/sys").options | contains(["ro","nosuid","nodev","noexec"])'
}

@test "sysctl of its own namespaces" {
  local before
  before=$(cat /proc/sys/kernel/msgmax)
  config '.linux.sysctl = {"kernel.msgmax": "4096", "net.ipv4.ip_forward": "1", "net.ipv4.ping_group_range": "0 0", "fs.mqueue.msg_max": "7", "kernel.shm_rmid_forced": "1"}'
  see sysctl:kernel.msgmax sysctl:net.ipv4.ip_forward sysctl:net.ipv4.ping_group_range sysctl:fs.mqueue.msg_max
  expect 't("sysctl:kernel.msgmax") == "4096"' 't("sysctl:net.ipv4.ip_forward") == "1"' 't("sysctl:net.ipv4.ping_group_range") == "0\t0"' 't("sysctl:fs.mqueue.msg_max") == "7"'
  same "$(cat /proc/sys/kernel/msgmax)" "$before"
}

@test "sysctl: the host's, without the namespace, through .., or the host name are refused" {
  local key before
  before=$(cat /proc/sys/kernel/panic /proc/sys/vm/swappiness /proc/sys/kernel/core_pattern)
  for key in kernel.panic vm.swappiness kernel.core_pattern kernel.hostname kernel.pid_max user.max_user_namespaces net/../kernel/panic 'net.ipv4/../../kernel/panic' fs.file-max kernel.sem/x ''; do
    config '.linux.sysctl = {($k): "1"}' --arg k "$key"
    refused 'sysctl' || { fail "key '$key'"; return 1; }
  done
  config '.linux.sysctl = {"net.ipv4.ip_forward": "1"} | .linux.namespaces |= map(select(.type != "network"))'
  refused 'sysctl|net'
  config '.linux.sysctl = {"kernel.msgmax": "1"} | .linux.namespaces |= map(select(.type != "ipc"))'
  refused 'sysctl|ipc'
  same "$(cat /proc/sys/kernel/panic /proc/sys/vm/swappiness /proc/sys/kernel/core_pattern)" "$before"
}

@test "sysctl: a wrong value names the key" {
  config '.linux.sysctl = {"net.ipv4.ip_forward": "words"}'
  refused 'net.ipv4.ip_forward'
}

@test "the session keyring is the container's own" {
  see
  expect '.keyring | . == null or test("_ses\\.")'
}

@test "config.json that is wrong: empty, cut off, an array, a wrong type; the text says where" {
  local text
  cp "$B/config.json" "$W/good.json"
  for text in '' '{' '[]' 'null' '{"ociVersion": 3}' '{"ociVersion": "1.0.2", "process": []}' "$(head -c 300 "$B/config.json")"; do
    printf '%s' "$text" >"$B/config.json"
    refused '.' || { fail "config: $text"; return 1; }
  done
  cp "$W/good.json" "$B/config.json"
  config '.process.cwd = 7'
  refused 'cwd'
}

@test "unknown properties are ignored everywhere; a byte order mark is no crash" {
  config '.future = 1 | .process.future = {} | .linux.future = [] | .mounts[0].future = true | .linux.resources.future = "x" | .process.user.future = 1'
  see
  expect '.pid == 1'
  sed -i '1s/^/\xef\xbb\xbf/' "$B/config.json"
  go run --bundle "$B" "$ID"
  [ "$status" -lt 124 ]
}

@test "ociVersion: every 1.x up to ours is accepted; missing, no version, 2.0.0 are refused" {
  local version
  set_args /bin/true
  for version in 1.0.0 1.0.2 1.1.0 1.2.0; do
    config '.ociVersion = $v' --arg v $version
    go run --bundle "$B" "$ID"
    ok || { fail "version $version"; return 1; }
  done
  for version in 2.0.0 nonsense ''; do
    config '.ociVersion = $v' --arg v "$version"
    refused 'ociVersion|version' || { fail "version $version"; return 1; }
  done
  config 'del(.ociVersion)'
  refused 'ociVersion|version'
}

@test "no linux block works like an empty one or is refused by name" {
  config 'del(.linux) | .mounts = []'
  go run --bundle "$B" "$ID"
  [ "$status" -lt 124 ]
  if [ "$status" != 0 ]; then err_has 'linux|namespace'; fi
}

@test "what is not done yet is refused by its field's name, not left out" {
  cp "$B/config.json" "$W/good"
  local field change
  while read -r field change; do
    cp "$W/good" "$B/config.json"
    config "$change"
    refused "$field" || { fail "$field"; return 1; }
  done <<'LIST'
selinuxLabel .process.selinuxLabel = "system_u:system_r:svirt_t:s0"
execCPUAffinity .process.execCPUAffinity = {"initial": "0"}
mountLabel .linux.mountLabel = "system_u:object_r:svirt_file_t:s0"
netDevices .linux.netDevices = {"nosuch0": {}}
intelRdt .linux.intelRdt = {"closID": "x"}
memoryPolicy .linux.memoryPolicy = {"mode": "MPOL_INTERLEAVE", "nodes": "0"}
mounts.6 .mounts += [{"destination": "/x", "type": "bind", "source": "/tmp", "options": ["bind", "idmap"], "uidMappings": [{"containerID": 0, "hostID": 1, "size": 1}], "gidMappings": [{"containerID": 0, "hostID": 1, "size": 1}]}]
LIST
}
