#!/bin/bash
# tests/vm/inside_apparmor.sh SHARE: runs in the guest, with AppArmor on: a profile is applied, and denies.
set -u
tare=$1/tare
check() { # NAME EXPECTED ACTUAL
  if [ "$2" = "$3" ]; then echo "ok - $1"; else echo "not ok - $1"; printf '# expected: %s\n# got: %s\n' "$2" "$3"; fi
}
mkdir -p /tmp/profile && cat >/tmp/profile/tare-test <<'P'
profile tare-test flags=(attach_disconnected,mediate_deleted) {
  file,
  capability,
  network,
  mount,
  signal,
  deny /secret r,
}
P
apparmor_parser -r /tmp/profile/tare-test || { echo "not ok - the profile loads"; exit 1; }
mkdir -p /tmp/b/rootfs/bin && cp /bin/busybox /tmp/b/rootfs/bin/ && cd /tmp/b || exit 1
for applet in sh cat sleep; do ln -s busybox rootfs/bin/$applet; done
echo s >rootfs/secret
"$tare" spec
config() { jq "$1" config.json >new.json && mv new.json config.json; }
config '.process.terminal=false | .process.apparmorProfile="tare-test"
  | .process.args=["/bin/sh","-c","cat /proc/self/attr/current; cat /secret 2>/dev/null || echo denied"]'
check "the profile is applied, and denies" "tare-test (enforce)
denied" "$("$tare" run a1 2>&1)"
config '.process.apparmorProfile="nosuch"'
check "a profile that is not loaded is named" \
  'tare: run a2: process.apparmorProfile: set "nosuch": write: no such file or directory (no profile of that name is loaded)' \
  "$("$tare" run a2 2>&1)"
config '.process.apparmorProfile="tare-test" | .process.args=["/bin/sleep","100"]'
"$tare" run -d a3 </dev/null >/dev/null 2>&1
check "a further process is under it, too" "tare-test (enforce)" "$("$tare" exec a3 /bin/cat /proc/self/attr/current 2>&1)"
"$tare" delete -f a3
check "nothing is left" "" "$("$tare" list -q)"
echo "# end"
