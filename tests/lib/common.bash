# What every behaviour test uses. `load ../lib/common` at the top of a bats file.
#
#   RUNTIME   the runtime under test (default: build/release/tare of this checkout)
#   HELPERS   the folder with peek, tool and fault (default: build/dev/tests)
#
# A test has: W its scratch folder (gone afterwards), B a bundle, ID a container's id, STATE the --root.
# setup makes them; teardown removes whatever is left, and fails the test if `delete --force` left something.

CHECKOUT=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
RUNTIME=${RUNTIME:-$CHECKOUT/build/release/tare}
HELPERS=${HELPERS:-$CHECKOUT/build/dev/tests}
CONTROLLERS=/sys/fs/cgroup
# bats has descriptors of its own, and a container that inherits one keeps bats waiting.
CLOSE='3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-'

setup_file() {
  local program
  [ "$(id -u)" = 0 ] || { echo "these tests need root" >&2; return 1; }
  for program in "$RUNTIME" "$HELPERS/peek" "$HELPERS/tool" "$(command -v busybox)"; do
    [ -x "$program" ] || { echo "missing program: $program (RUNTIME, HELPERS)" >&2; return 1; }
  done
  export TEMPLATE=$BATS_FILE_TMPDIR/template GROUP=/tare-tests-$$
  make_template "$TEMPLATE"
  if declare -F more_setup_file >/dev/null; then more_setup_file; fi
}

teardown_file() {
  if declare -F more_teardown_file >/dev/null; then more_teardown_file; fi
  find "$CONTROLLERS" -depth -type d -path "*$GROUP*" -exec rmdir {} + 2>/dev/null || true
}

# A root with busybox and peek, and nothing that a test would have to clean.
make_template() {
  local name
  mkdir -p "$1"/{bin,dev,etc,proc,sys,tmp,root,run,mnt,home,var/empty}
  chmod 1777 "$1/tmp"
  cp "$(command -v busybox)" "$1/bin/busybox"
  cp "$HELPERS/peek" "$HELPERS/tool" "$1/bin/"
  for name in sh true false cat ls sleep echo id mount umount env pwd touch mkdir rm kill trap stty tty grep head \
    test ln chmod dd printf hostname ps readlink seq wc sync tr cut stat mkfifo; do
    ln -s busybox "$1/bin/$name"
  done
  printf 'root:x:0:0:root:/root:/bin/sh\nguest:x:1000:1000::/home:/bin/sh\n' >"$1/etc/passwd"
  printf 'root:x:0:\nguest:x:1000:\nextra:x:2000:guest\n' >"$1/etc/group"
}

setup() {
  W=$(mktemp -d /tmp/tare-test.XXXXXX)
  chmod 755 "$W"
  STATE=$W/state
  ID=t$BATS_TEST_NUMBER-$$-$RANDOM
  B=$W/bundle
  make_bundle "$B" "$ID"
  cd "$W"
  if declare -F more_setup >/dev/null; then more_setup; fi
}

teardown() {
  local id left
  cd /
  if declare -F more_teardown >/dev/null; then more_teardown; fi
  for id in $(rt list -q 2>/dev/null) "$ID"; do
    timeout -k 5 30 "$RUNTIME" --root "$STATE" delete --force "$id" >/dev/null 2>&1 || true
  done
  left=$(leftovers)
  sweep
  if [ -n "$left" ]; then
    echo "left behind after delete --force:" "$left"
    return 1
  fi
}

# What is left of this test's containers: processes, mounts on the host, cgroups.
leftovers() {
  local tries
  for tries in 1 2 3 4 5 6 7 8 9 10; do
    LEFT=$(list_leftovers)
    [ -z "$LEFT" ] && return 0
    sleep 0.1
  done
  echo "$LEFT"
}

list_leftovers() {
  processes_of "$ID" | sed 's/^/process /'
  grep -o " $W/[^ ]*" /proc/self/mountinfo | grep -v "$W/kept" | sed 's/^/mount/'
  find "$CONTROLLERS" -maxdepth 4 -type d -path "*$GROUP/*$ID*" 2>/dev/null | sed 's/^/cgroup /'
}

# Processes that carry the id in their arguments or environment (each container's has it in both).
processes_of() {
  local file pid
  for file in $(grep -lsa -f <(echo "$1") /proc/[0-9]*/cmdline /proc/[0-9]*/environ 2>/dev/null); do
    pid=${file#/proc/}
    pid=${pid%%/*}
    [ "$pid" = $$ ] || [ "$pid" = "$BASHPID" ] || echo "$pid"
  done | sort -un
}

sweep() {
  local pid mount
  for pid in $(processes_of "$ID"); do kill -KILL "$pid" 2>/dev/null || true; done
  grep -o " $W/[^ ]*" /proc/self/mountinfo | sort -r | while read -r mount; do umount -l "$mount"; done || true
  find "$CONTROLLERS" -depth -type d -path "*$GROUP/*" -exec rmdir {} + 2>/dev/null || true
  rm -rf --one-file-system "$W" || true
}

# make_bundle DIR ID: a root of its own and the plainest useful config.json.
make_bundle() {
  mkdir -p "$1"
  cp -al "$TEMPLATE" "$1/rootfs"
  rm "$1/rootfs/etc/passwd" "$1/rootfs/etc/group"
  cp "$TEMPLATE/etc/passwd" "$TEMPLATE/etc/group" "$1/rootfs/etc/"
  cat >"$1/config.json" <<JSON
{"ociVersion": "1.0.2",
 "process": {"terminal": false, "user": {"uid": 0, "gid": 0}, "args": ["/bin/peek"], "cwd": "/",
  "env": ["PATH=/bin", "TARE_TEST=$2"], "noNewPrivileges": true,
  "capabilities": {"bounding": $CAPS, "effective": $CAPS, "permitted": $CAPS}},
 "root": {"path": "rootfs"}, "hostname": "inside",
 "mounts": [
  {"destination": "/proc", "type": "proc", "source": "proc", "options": ["nosuid", "noexec", "nodev"]},
  {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "strictatime", "mode=755", "size=65536k"]},
  {"destination": "/dev/pts", "type": "devpts", "source": "devpts", "options": ["nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620", "gid=5"]},
  {"destination": "/dev/shm", "type": "tmpfs", "source": "shm", "options": ["nosuid", "noexec", "nodev", "mode=1777", "size=65536k"]},
  {"destination": "/dev/mqueue", "type": "mqueue", "source": "mqueue", "options": ["nosuid", "noexec", "nodev"]},
  {"destination": "/sys", "type": "sysfs", "source": "sysfs", "options": ["nosuid", "noexec", "nodev", "ro"]}],
 "linux": {"cgroupsPath": "$GROUP/$2",
  "namespaces": [{"type": "pid"}, {"type": "network"}, {"type": "ipc"}, {"type": "uts"}, {"type": "mount"}],
  "resources": {"devices": [{"allow": false, "access": "rwm"}]},
  "maskedPaths": ["/proc/kcore", "/proc/timer_list", "/sys/firmware"],
  "readonlyPaths": ["/proc/sys", "/proc/sysrq-trigger", "/proc/bus"]}}
JSON
}
CAPS='["CAP_CHOWN","CAP_DAC_OVERRIDE","CAP_FOWNER","CAP_KILL","CAP_SETGID","CAP_SETUID","CAP_SETPCAP","CAP_NET_BIND_SERVICE","CAP_SYS_CHROOT","CAP_MKNOD"]'

# config FILTER [JQ-OPTION...]: changes the bundle's config.json.
config() {
  local filter=$1
  shift
  keep_config "$(jq "$@" "$filter" "$B/config.json")"
}

# set_args WORD...: the process's arguments.
set_args() {
  keep_config "$(jq --args '.process.args = $ARGS.positional' -- "$@" <"$B/config.json")"
}
# jq's numbers are doubles: the greatest unsigned one is put right again.
keep_config() {
  [ -n "$1" ] || fail "jq made nothing" || return 1
  printf '%s\n' "${1//18446744073709552000/18446744073709551615}" >"$B/config.json"
}
script() { set_args /bin/sh -c "$1"; }

rt() { eval 'timeout -k 5 "${LIMIT:-30}" "$RUNTIME" --root "$STATE" "$@"' "$CLOSE"; }

# go WORD...: the runtime's verb; its end in status, its words in out and err. Never fails by itself.
go() {
  status=0
  rt "$@" >"$W/out" 2>"$W/err" </dev/null || status=$?
  out=$(tr -d '\0' <"$W/out")
  err=$(tr -d '\0' <"$W/err")
}
# The same for any program.
go_other() {
  status=0
  eval 'timeout -k 5 "${LIMIT:-30}" "$@"' "$CLOSE" >"$W/out" 2>"$W/err" </dev/null || status=$?
  out=$(tr -d '\0' <"$W/out")
  err=$(tr -d '\0' <"$W/err")
}

fail() {
  printf '%s\n' "$@" >&2
  return 1
}
tell() {
  local o=${out//$'\n'/ } e=${err//$'\n'/ }
  fail "$1" "status: $status" "stdout: ${o:0:1500}" "stderr: ${e:0:1500}"
}

ok() { [ "$status" = 0 ] || tell "expected success"; }
status_is() { [ "$status" = "$1" ] || tell "expected status $1"; }
out_has() { grep -qE -- "$1" <<<"$out" || tell "expected on stdout: $1"; }
err_has() { grep -qiE -- "$1" <<<"$err" || tell "expected on stderr: $1"; }
same() { [ "$1" = "$2" ] || fail "expected: $2" "found:    $1"; }

# see [ACTION...]: runs peek in the bundle's container and keeps what it saw.
see() {
  set_args /bin/peek "$@"
  go run --bundle "$B" "$ID"
  ok || return 1
  seen=$out
}

# expect EXPRESSION...: each, in jq's words, holds of what was last seen.
expect() {
  local program='def m($d): .mounts | map(select(.dest == $d)) | last; def t($a): .tried[$a]; empty' i=0 missed one
  for one; do
    program+=", (if (try ($one) catch false) then empty else \$ARGS.positional[$i] end)"
    i=$((i + 1))
  done
  missed=$(jq -r "$program" --args -- "$@" <<<"$seen") || { fail "not JSON: ${seen:0:2000}"; return 1; }
  [ -z "$missed" ] || fail "does not hold:" "$missed" "seen: $(jq -c 'del(.env, .rlimits)' <<<"$seen" | head -c 6000)"
}

# refused TEXT [VERB-AND-OPTIONS...]: create (or the verb) fails, says so in words that match, and leaves nothing.
refused() {
  local text=$1
  shift
  if [ $# -eq 0 ]; then set -- create --bundle "$B" "$ID"; fi
  go "$@"
  [ "$status" != 0 ] || { tell "should have been refused"; return 1; }
  [ "$status" -lt 124 ] || { tell "hung or crashed"; return 1; }
  err_has "$text" || return 1
  nothing_left
}

# No container of this id and nothing of it on the machine, without any delete.
nothing_left() {
  local left
  left=$(leftovers)
  [ -z "$left" ] || { fail "left behind: $left"; return 1; }
  if timeout 20 "$RUNTIME" --root "$STATE" state "$ID" >/dev/null 2>&1; then fail "the container still has a state"; return 1; fi
  left=$(ls -A "$STATE" 2>/dev/null | grep -F "$ID" || true)
  [ -z "$left" ] || fail "left in the state folder: $left"
}

state_is() {
  go state "$ID"
  ok || return 1
  [ "$(jq -r .status <<<"$out")" = "$1" ] || tell "expected status $1"
}
pid_of() { rt state "${1:-$ID}" | jq .pid; }

# until COMMAND...: tried for ten seconds.
until_true() {
  local end=$((SECONDS + ${LIMIT:-15}))
  until "$@" >/dev/null 2>&1; do
    [ $SECONDS -lt $end ] || { fail "never came true: $*"; return 1; }
    sleep 0.02
  done
}
is_state() { [ "$(rt state "$ID" 2>/dev/null | jq -r .status)" = "$1" ]; }

# A running container that waits for SIGTERM.
running() {
  set_args /bin/peek -q hold
  go run --detach --bundle "$B" "$ID"
  ok
}
created() {
  set_args /bin/peek "${@:-hold}"
  go create --bundle "$B" "$ID"
  ok
}
# exec'ed peek's report.
see_exec() {
  local options=()
  while [ $# -gt 0 ] && [ "$1" != -- ]; do options+=("$1"); shift; done
  go exec "${options[@]}" "$ID" /bin/peek "${@:2}"
  ok || return 1
  seen=$out
}
