# Namespaces: new, inherited, by path; id mappings.
load ../lib/common

namespace_of_host() { readlink "/proc/self/ns/$1"; }

more_teardown() { [ -z "${HOLDER:-}" ] || kill -KILL "$HOLDER" 2>/dev/null || true; }

# A process that holds namespaces of these kinds, its pid in HOLDER.
holder() {
  (eval 'exec unshare "$@" sleep 1000 >/dev/null 2>&1' "$CLOSE") &
  HOLDER=$!
  if [[ " $* " == *--fork* ]]; then
    child() { HOLDER_CHILD=$(cat "/proc/$HOLDER/task/$HOLDER/children"); [ -n "$HOLDER_CHILD" ]; }
    until_true child
    HOLDER_CHILD=$(tr -d ' ' <"/proc/$HOLDER/task/$HOLDER/children")
  else
    changed() { [ "$(cat "/proc/$HOLDER/comm")" = sleep ]; }
    until_true changed
  fi
}

# user_namespace [FILTER]: maps 0..65535 to 100000...
user_namespace() {
  config '.linux.namespaces += [{"type": "user"}] | .linux.uidMappings = [{"containerID": 0, "hostID": 100000, "size": 65536}] | .linux.gidMappings = [{"containerID": 0, "hostID": 200000, "size": 65536}]'
  # The folders belong to its root, as an engine would have them; the files are links to the template's.
  find "$B/rootfs" -type d -exec chown 100000:200000 {} +
}

@test "each kind is new where listed and the caller's where not" {
  local type name
  see
  for type in pid net ipc uts mnt; do
    [ "$(jq -r .namespaces.$type <<<"$seen")" != "$(namespace_of_host $type)" ] || fail "$type is the host's"
  done
  same "$(jq -r .namespaces.user <<<"$seen")" "$(namespace_of_host user)"
  same "$(jq -r .namespaces.cgroup <<<"$seen")" "$(namespace_of_host cgroup)"
  config '.linux.namespaces = [{"type": "mount"}, {"type": "cgroup"}] | del(.hostname)'
  see
  for type in pid net ipc uts; do
    same "$(jq -r .namespaces.$type <<<"$seen")" "$(namespace_of_host $type)"
  done
  [ "$(jq -r .namespaces.cgroup <<<"$seen")" != "$(namespace_of_host cgroup)" ]
}

@test "a new network namespace has its loopback up" {
  set_args /bin/sh -c 'cat /proc/net/route >/dev/null; ping -c1 -W2 127.0.0.1 >/dev/null 2>&1; cat /sys/class/net/lo/flags'
  config '.linux.maskedPaths = []'
  go run --bundle "$B" "$ID"
  ok
  [ $((out & 1)) = 1 ] || fail "lo is down: $out"
}

@test "without a pid namespace the container's processes still die with it" {
  config '.linux.namespaces |= map(select(.type != "pid"))'
  set_args /bin/sh -c 'sleep 1000 & sleep 1000'
  go run --detach --bundle "$B" "$ID"
  ok
  go delete --force "$ID"
  ok
  nothing_left
}

@test "by path: network, ipc, uts" {
  local type file
  holder --net --ipc --uts
  for type in network:net ipc:ipc uts:uts; do
    file=/proc/$HOLDER/ns/${type#*:}
    config '(.linux.namespaces[] | select(.type == $t)).path = $p | if $t == "uts" then del(.hostname) else . end' --arg t "${type%:*}" --arg p "$file"
  done
  see
  for type in net ipc uts; do same "$(jq -r .namespaces.$type <<<"$seen")" "$(readlink "/proc/$HOLDER/ns/$type")"; done
}

@test "by path: pid" {
  holder --pid --fork --mount-proc
  config '(.linux.namespaces[] | select(.type == "pid")).path = $p' --arg p "/proc/$HOLDER_CHILD/ns/pid"
  see
  same "$(jq -r .namespaces.pid <<<"$seen")" "$(readlink "/proc/$HOLDER_CHILD/ns/pid")"
  expect '.pid > 1'
}

@test "by path: cgroup" {
  holder --cgroup
  config '.linux.namespaces += [{"type": "cgroup", "path": $p}]' --arg p "/proc/$HOLDER/ns/cgroup"
  see
  same "$(jq -r .namespaces.cgroup <<<"$seen")" "$(readlink "/proc/$HOLDER/ns/cgroup")"
}

@test "by path: mount" {
  holder --mount
  config '(.linux.namespaces[] | select(.type == "mount")).path = $p' --arg p "/proc/$HOLDER/ns/mnt"
  see
  expect '.hostname == "inside"'
  # Nothing stays in the namespace that was joined, nor comes to the host.
  ! grep -q "$B" /proc/self/mountinfo
}

@test "by path: user, with the mappings that it has" {
  holder --user --map-root-user
  # It maps one group only.
  config '(.mounts[] | select(.destination == "/dev/pts")).options -= ["gid=5"]'
  config '.linux.namespaces += [{"type": "user", "path": $p}]' --arg p "/proc/$HOLDER/ns/user"
  chmod 755 "$B" "$B/rootfs"
  go run --bundle "$B" "$ID"
  ok
  seen=$out
  same "$(jq -r .namespaces.user <<<"$seen")" "$(readlink "/proc/$HOLDER/ns/user")"
}

@test "a path of another type, one that does not exist, or that is no namespace is refused and named" {
  config '(.linux.namespaces[] | select(.type == "network")).path = "/proc/self/ns/uts"'
  refused '/proc/self/ns/uts|network'
  config '(.linux.namespaces[] | select(.type == "network")).path = "/no/such/ns"'
  refused '/no/such/ns'
  config '(.linux.namespaces[] | select(.type == "network")).path = "/etc/hostname"'
  refused '/etc/hostname'
  config '(.linux.namespaces[] | select(.type == "network")).path = "relative"'
  refused 'relative|path'
}

@test "a type given twice, and an unknown type, are refused by name" {
  config '.linux.namespaces += [{"type": "pid"}]'
  refused 'pid|duplicate|namespaces'
  config '.linux.namespaces[-1] = {"type": "galaxy"}'
  refused 'galaxy'
  config '.linux.namespaces[-1] = {"path": "/x"}'
  refused 'type|namespace'
}

@test "user namespace: ids inside and outside, the maps to the letter" {
  user_namespace
  set_args /bin/peek hold
  go create --bundle "$B" "$ID"
  ok
  same "$(awk '/^Uid/ {print $2}' "/proc/$(pid_of)/status")" 100000
  same "$(awk '/^Gid/ {print $2}' "/proc/$(pid_of)/status")" 200000
  rt delete --force "$ID"
  see
  expect '.uid == [0,0,0]' '.uid_map | test("^ *0 +100000 +65536$")' '.gid_map | test("^ *0 +200000 +65536$")' '.caps.effective | length > 0'
}

@test "user namespace: the default mounts, devices and masks are there" {
  user_namespace
  see stat:/dev/null write:/dev/null:x r:/proc/timer_list w:/proc/sys/kernel/hostname stat:/dev/pts/ptmx
  expect 'm("/proc").type == "proc"' 'm("/dev/pts").type == "devpts"' 'm("/sys").type == "sysfs"' 't("stat:/dev/null") | .type == "c" and .rdev == "1:3"' \
    't("write:/dev/null:x") == "ok"' 't("w:/proc/sys/kernel/hostname") != "ok"'
}

@test "user namespace: a user other than root, with groups" {
  user_namespace
  config '.process.user = {"uid": 1000, "gid": 1000, "additionalGids": [5]}'
  see
  expect '.uid == [1000,1000,1000]' '.gid[0] == 1000' '.groups == [5]'
}

@test "user namespace: 340 extents are exact" {
  # Group 5 is not mapped here.
  config '(.mounts[] | select(.destination == "/dev/pts")).options -= ["gid=5"]'
  config '.linux.namespaces += [{"type": "user"}] | .linux.uidMappings = [range(0; 340) | {"containerID": (. * 2), "hostID": (1000 + . * 3), "size": 1}] | .linux.gidMappings = .linux.uidMappings'
  see
  expect '.uid_map | split("\n") | length == 340' '.uid_map | split("\n") | .[339] | test("^ *678 +2017 +1$")'
}

@test "user namespace: more extents than the kernel takes is one clear error" {
  config '.linux.namespaces += [{"type": "user"}] | .linux.uidMappings = [range(0; 5000) | {"containerID": (. * 2), "hostID": (100000 + . * 3), "size": 1}] | .linux.gidMappings = .linux.uidMappings'
  refused 'uid_map|uidMappings|mapping'
}

@test "user namespace: mappings without it, it without mappings, and a zero size are refused" {
  config '.linux.uidMappings = [{"containerID": 0, "hostID": 100000, "size": 65536}]'
  refused 'uidMappings|user namespace'
  config 'del(.linux.uidMappings) | .linux.namespaces += [{"type": "user"}]'
  refused 'uidMappings|mapping'
  user_namespace
  config '.linux.namespaces |= unique | .linux.uidMappings[0].size = 0'
  refused 'size|uidMappings|uid_map|invalid'
}

@test "user namespace: process ids that are not mapped are refused" {
  user_namespace
  config '.process.user.uid = 70000'
  refused 'uid|user|mapped'
}

@test "user namespace: a bind source that only the caller may read still works" {
  user_namespace
  mkdir -m 700 "$W/closed"
  echo inner >"$W/closed/f"
  chmod 644 "$W/closed/f"
  config '.mounts += [{"destination": "/f", "type": "bind", "source": $s, "options": ["bind", "ro"]}]' --arg s "$W/closed/f"
  see r:/f
  expect 't("r:/f") == "inner\n"'
}

@test "user namespace: locked flags of a bind source stay" {
  mkdir "$W/t"
  mount -t tmpfs -o nosuid,nodev,noexec t "$W/t"
  user_namespace
  config '.mounts += [{"destination": "/t", "type": "bind", "source": $s, "options": ["bind", "ro"]}]' --arg s "$W/t"
  set_args /bin/peek remountrw:/t
  go run --bundle "$B" "$ID"
  umount "$W/t"
  ok
  seen=$out
  expect 'm("/t").options | contains(["ro","nosuid","nodev","noexec"])' 't("remountrw:/t") != "ok"'
}

@test "user namespace: exec joins it" {
  user_namespace
  running
  see_exec
  expect '.uid == [0,0,0]' '.uid_map | test("100000")'
  same "$(jq -r .namespaces.user <<<"$seen")" "$(readlink "/proc/$(pid_of)/ns/user")"
}

@test "time namespace with offsets" {
  config '.linux.namespaces += [{"type": "time"}] | .linux.timeOffsets = {"boottime": {"secs": 1000000}, "monotonic": {"secs": 2000000, "nanosecs": 5}}'
  see clock:boottime clock:monotonic
  expect 't("clock:boottime") > 1000000' 't("clock:monotonic") > 2000000'
  [ "$(jq -r .namespaces.time <<<"$seen")" != "$(namespace_of_host time)" ]
  running
  see_exec -- clock:monotonic
  expect 't("clock:monotonic") > 2000000'
}

@test "timeOffsets without a time namespace is refused" {
  config '.linux.timeOffsets = {"boottime": {"secs": 1}}'
  refused 'timeOffsets|time'
}

@test "no mount namespace is refused, or leaves nothing on the host" {
  local before
  before=$(sort /proc/self/mountinfo)
  config '.linux.namespaces |= map(select(.type != "mount")) | .mounts = [] | del(.linux.maskedPaths, .linux.readonlyPaths)'
  set_args /bin/true
  # In a mount namespace of the test's own: nothing can reach the host's.
  go_other unshare --mount "$RUNTIME" --root "$STATE" run --bundle "$B" "$ID"
  [ "$status" -lt 124 ]
  same "$(sort /proc/self/mountinfo)" "$before"
}

@test "hostname or sysctl with the runtime's own namespace by path is refused" {
  config '.hostname = "inside" | (.linux.namespaces[] | select(.type == "uts")).path = "/proc/self/ns/uts"'
  refused 'own namespace'
  config '(.linux.namespaces[] | select(.type == "uts")) |= del(.path)'
  config '.linux.sysctl = {"net.ipv4.ip_default_ttl": "77"} | (.linux.namespaces[] | select(.type == "network")).path = "/proc/self/ns/net"'
  refused 'own namespace'
  same "$(cat /proc/sys/net/ipv4/ip_default_ttl)" 64
}
