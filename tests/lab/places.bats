# Every place that has a name: it is started, it is what it says, and it leaves nothing behind.
#
#   TARE_PROGRAMS   the folder with tare, tare-weigh and tare-work (default: build/release)
#
# tare-weigh looks at each place itself (src/lab/place/verify.cpp) and leaves out what isn't as it should be; here its records of
# the workers, which another part of it writes, are asked again.

CLOSE='3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-'

setup() {
  PROGRAMS=${TARE_PROGRAMS:-$BATS_TEST_DIRNAME/../../build/release}
  PROGRAMS=$(cd "$PROGRAMS" && pwd)
  WEIGH=$PROGRAMS/tare-weigh
  local program
  for program in tare tare-weigh tare-work; do
    [ -x "$PROGRAMS/$program" ] || { echo "missing program: $PROGRAMS/$program" >&2; return 1; }
  done
  for program in crun runc bwrap unshare podman strace jq; do
    command -v $program >/dev/null || { echo "missing program: $program" >&2; return 1; }
  done
  [ "$(id -u)" = 0 ] || { echo "these tests need root" >&2; return 1; }
  W=$(mktemp -d /tmp/tare-places.XXXXXX)
  cd "$W"
}

teardown() {
  cd /
  rm -rf "$W"
  local left
  left=$(leftovers)
  [ -z "$left" ] || { echo "left behind: $left"; return 1; }
}

# Processes of these very programs, and what belongs to a run that is gone: other runs on this machine are none of ours.
leftovers() {
  local here path owner exe
  here=$(stat -Lc %i /proc/self/ns/pid)
  find /sys/fs/cgroup /run -type d -name "tare-weigh.*.$here" 2>/dev/null | while read -r path; do
    owner=${path##*/tare-weigh.}
    exe=$(readlink "/proc/${owner%%.*}/exe") || exe=gone
    case $exe in gone | "$PROGRAMS"/*) echo "$path" ;; esac
  done
  find /proc -mindepth 2 -maxdepth 2 -name exe 2>/dev/null | while read -r path; do
    exe=$(readlink "$path") || continue
    case $exe in "$PROGRAMS"/* | /tare-work) echo "$path $exe" ;; esac
  done
  grep -o '/run/tare-weigh[^ ]*' /proc/self/mountinfo
  ip -o link 2>/dev/null | grep -E ' (near|far|bridge|macvlan)[@:]' || true
}

gone_within_ten_seconds() {
  local i
  for i in $(seq 100); do
    [ -z "$(leftovers)" ] && return 0
    sleep 0.1
  done
  leftovers
  return 1
}

# weigh PLACES [SECONDS]: all of them must be weighed. The workers' records of the first launch go to `workers`.
weigh() {
  eval '"$WEIGH" --time "${2:-6}" --batch 1ms --rounds 2 --workloads syscall --places "$1" -o samples >out 2>err' "$CLOSE" || {
    cat err
    return 1
  }
  cat out
  ! grep -q 'not weighed' out || return 1
  jq -c 'select(.record == "worker" and .launch == 0)' samples >workers
}

# holds PLACE FILTER: of the worker's record; $bare is bare's.
holds() {
  jq -es --arg place "$1" '(.[] | select(.place == "bare")) as $bare | [.[] | select(.place == $place)] |
    length == 1 and (.[0] | .seen as $seen | '"$2"')' workers >/dev/null || {
    echo "$1: not $2"
    jq -c --arg place "$1" 'select(.place == $place)' workers
    return 1
  }
}
DIFFERS='[$seen.namespaces | to_entries[] | select(.value != $bare.seen.namespaces[.key]) | .key]'

@test "layers: filters, capabilities, no_new_privs, cgroups" {
  weigh cgroup-deeper,limits,limits-default,seccomp-0,seccomp-20,seccomp-400,seccomp-default,caps,no-new-privs 15
  local place
  for place in cgroup-deeper limits limits-default seccomp-0 seccomp-20 seccomp-400 seccomp-default caps no-new-privs; do
    holds $place "$DIFFERS == []"
    case $place in
      seccomp-*) holds $place '$seen.Seccomp == "2" and $seen.Seccomp_filters == "1"' ;;
      *) holds $place '$seen.Seccomp == "0" and $seen.Seccomp_filters == "0"' ;;
    esac
    case $place in
      caps) holds $place '$seen.CapBnd != $bare.seen.CapBnd and $seen.CapEff != $bare.seen.CapEff' ;;
      *) holds $place '$seen.CapBnd == $bare.seen.CapBnd and $seen.CapEff == $bare.seen.CapEff' ;;
    esac
    holds $place '$seen.NoNewPrivs == (if .place == "no-new-privs" then "1" else "0" end)'
    holds $place '($seen.cgroups | test("/place[0-9]+/deeper")) == (.place == "cgroup-deeper")'
  done
}

@test "layers: roots and masks are a mount namespace and nothing else" {
  weigh bind,ro-bind,idmap,overlay,mounts,masked 20
  local place
  for place in mnt bind ro-bind idmap overlay mounts masked; do
    holds $place "$DIFFERS == [\"mnt\"]"
    holds $place '$seen.CapEff == $bare.seen.CapEff and $seen.NoNewPrivs == "0" and $seen.Seccomp == "0"'
  done
}

@test "layers: interfaces are a network namespace, and the host gets none" {
  ip -o link >before
  weigh veth,bridge,macvlan 30
  ip -o link >after
  cut -d: -f1,2 before >before.names
  cut -d: -f1,2 after | cmp before.names -
  local place
  for place in net veth bridge macvlan; do
    holds $place "$DIFFERS == [\"net\"]"
    # The far end's sockets.
    holds $place '($seen.descriptors["5"] | startswith("socket:")) == (.place != "net")'
    holds $place '($seen.descriptors["6"] | startswith("socket:")) == (.place != "net")'
  done
}

@test "pid and user namespaces are as deep as their places say" {
  weigh pid-depth,user-depth 30
  local depth
  for depth in 1 2 4 8 16 31; do
    holds pid-$depth "$DIFFERS == [\"pid\"]"
    holds pid-$depth "(\$seen.NSpid | split(\"\\t\") | length) - (\$bare.seen.NSpid | split(\"\\t\") | length) == $depth"
    holds user-$depth "$DIFFERS == [\"user\"]"
  done
  # Equal depths, unequal namespaces.
  jq -es '[.[] | select(.place | startswith("user-")) | .seen.namespaces.user] | unique | length == 6' workers >/dev/null
}

@test "idle and busy siblings are containers beside the container; busy ones only work in their turn" {
  weigh siblings-idle-1,siblings-idle-4,siblings-busy-1,siblings-busy-4 12
  for place in siblings-idle-4 siblings-busy-4; do
    holds $place '$seen.NoNewPrivs == "1" and $seen.Seccomp == "2" and ($seen.NSpid | endswith("\t1"))'
  done
  # One sibling beside one place, and two places without: in most moments it is stopped, in some it runs.
  eval '"$WEIGH" --time 10 --batch 20ms --rounds 2 --workloads syscall --places siblings-busy-1 -o again >out 2>&1' "$CLOSE" '&'
  local pid=$! states='' i sibling
  for i in $(seq 1000); do
    kill -0 $pid 2>/dev/null || break
    sibling=$(cat /sys/fs/cgroup/*/tare-weigh.$pid.*/place3-sibling0/cgroup.procs 2>/dev/null | head -1 || true)
    [ -z "$sibling" ] || states="$states $(sed 's/.*) \(.\).*/\1/' /proc/"$sibling"/stat 2>/dev/null || true)"
    sleep 0.01
  done
  wait $pid || { cat out; false; }
  echo "$states" | tr ' ' '\n' | sort | uniq -c
  [ "$(echo "$states" | tr -cd T | wc -c)" -ge 20 ]
  [ "$(echo "$states" | tr -cd RSD | wc -c)" -ge 3 ]
}

@test "foreign programs start the same work, in the namespaces of the default container" {
  weigh container,crun,runc,bwrap,unshare 25
  local place
  for place in crun runc bwrap unshare; do
    holds $place "($DIFFERS | sort) == [\"cgroup\", \"ipc\", \"mnt\", \"net\", \"pid\", \"uts\"]"
    holds $place '($seen.cgroups | test("/tare-weigh[.][0-9.]+/place[0-9]+"))'
    holds $place '($seen.descriptors["3"] | startswith("socket:")) and ($seen.descriptors["4"] | contains("tare-work"))'
    holds $place '$seen.limits == $bare.seen.limits'
    [ $place = unshare ] || holds $place '$seen.Seccomp == "2" and $seen.NoNewPrivs == "1" and $seen.CapEff != $bare.seen.CapEff'
  done
  # bwrap alone adds a variable (PWD), and can't be told not to.
  jq -es '[.[] | select(.place != "bwrap") | .says | capture("environment_bytes=(?<n>[0-9]+)").n] | unique | length == 1' workers
}

@test "podman too" {
  weigh podman 60
  holds podman '$seen.Seccomp == "2" and $seen.NoNewPrivs == "1" and $seen.namespaces.pid != $bare.seen.namespaces.pid'
}

@test "the forks behind each worker are those that its place states" {
  eval 'strace -f --pidns-translation -o trace -e trace=clone,clone3,fork,vfork -e signal=none "$WEIGH" --time 3600 --batch 1ms \
    --rounds 2 --workloads syscall --places foreign,bare+2,pid-2,user-4,veth,container,siblings-idle-1 -o samples >out 2>err' "$CLOSE" '&'
  local pid=$! i
  for i in $(seq 1200); do
    ! grep -q '"record":"sample"' samples 2>/dev/null || break
    kill -0 $pid || { cat err; false; }
    sleep 0.1
  done
  kill -INT "$(head -1 trace | cut -d' ' -f1)"
  wait $pid || [ $? = 1 ]
  "$BATS_TEST_DIRNAME/lineage" trace samples | sort >counted
  # bare has one fork; the run's first line has what each place states beyond that.
  head -1 samples | jq -r '.experiment.places[] | "\(.name) \(.forks + 1)"' | sort >stated
  diff stated counted
}

@test "a program that is not installed costs its place, and says so" {
  eval 'unshare -m sh -c "mount --bind /dev/null /usr/bin/crun && exec \"\$@\"" sh "$WEIGH" --time 15 --batch 1ms --rounds 2 \
    --workloads syscall --places crun,uts -o samples >out' "$CLOSE"
  cat out
  grep -q 'crun .*not weighed: crun is not installed' out
  grep -q '^  uts ' out
  ! grep -q 'uts .*not weighed' out
}

@test "SIGKILL leaves nothing of chains, siblings, interfaces and foreign programs" {
  eval 'setsid "$WEIGH" --time 600 --batch 1ms --rounds 2 --workloads syscall \
    --places pid-8,user-8,bare+3,siblings-busy-4,veth,macvlan,crun,runc,bwrap,unshare -o samples >out 2>err' "$CLOSE" '&'
  local pid=$! i
  for i in $(seq 300); do
    ! grep -q '"record":"sample"' samples 2>/dev/null || break
    sleep 0.1
  done
  grep -q '"record":"sample"' samples
  kill -KILL $pid
  wait $pid || true
  gone_within_ten_seconds
  run pgrep -f "tare-weigh.$pid[.]"
  [ "$status" = 1 ]
}

@test "Ctrl-C leaves nothing of them either" {
  eval 'setsid "$WEIGH" --time 600 --batch 1ms --rounds 2 --workloads syscall \
    --places pid-4,user-4,bare+3,siblings-busy-1,bridge,crun,runc,bwrap -o samples >out 2>err' "$CLOSE" '&'
  local pid=$! i
  for i in $(seq 300); do
    ! grep -q '"record":"sample"' samples 2>/dev/null || break
    sleep 0.1
  done
  kill -INT $pid
  wait $pid || [ $? = 1 ]
  grep -q interrupted err
  gone_within_ten_seconds
}
