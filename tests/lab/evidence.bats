# What the traced runs of `tare weigh` say: does a work enter a layer's code, or can nobody tell?
#
#   TARE_PROGRAMS   the folder with tare, tare-weigh and tare-work (default: build/release)

setup_file() {
  PROGRAMS=$(cd "${TARE_PROGRAMS:-$BATS_TEST_DIRNAME/../../build/release}" && pwd)
  [ -x "$PROGRAMS/tare-weigh" ] || { echo "missing program: $PROGRAMS/tare-weigh" >&2; return 1; }
  export E=$BATS_FILE_TMPDIR/evidence
  "$PROGRAMS/tare-weigh" --time 30 --batch 2ms --rounds 2 --places pid,mnt,uts,ipc,user,seccomp-20,caps,limits \
    --workloads spawn,syscall,uname,open -o "$BATS_FILE_TMPDIR/samples" --json "$BATS_FILE_TMPDIR/report" \
    >"$BATS_FILE_TMPDIR/out" 2>&1 3>&-
  jq -c 'select(.record == "evidence")' "$BATS_FILE_TMPDIR/samples" >"$E"
  [ -s "$E" ] || { cat "$BATS_FILE_TMPDIR/out" >&2; return 1; }
}

# rate WORKLOAD LAYER KIND
rate() { jq -s --arg w "$1" --arg l "$2" --arg k "$3" '.[] | select(.workload == $w and .layer == $l and .kind == $k) | .rate' "$E"; }
enters() { # WORKLOAD PLACE -> yes, no, not known
  jq -r --arg w "$1" --arg p "$2" '.tables[] | select(.workload == $w) | .cells[] | select(.place == $p) | .enters' \
    "$BATS_FILE_TMPDIR/report"
}

@test "every kind of evidence is there for every cell that has a layer" {
  for kind in "system calls" "call chains"; do
    [ "$(jq -s --arg k "$kind" 'map(select(.kind == $k)) | length' "$E")" = 32 ]
  done
  [ "$(jq -s 'map(select(.kind == "tracepoints")) | length' "$E")" -ge 12 ]
  run grep -c "no evidence\|no time" "$BATS_FILE_TMPDIR/out"
  [ "$output" = 0 ]
}

@test "spawn makes pids; getppid translates one; neither asks for a host name" {
  [ "$(enters spawn pid)" = yes ]
  [ "$(enters syscall pid)" = yes ]
  [ "$(enters spawn uts)" = no ]
  [ "$(enters syscall uts)" = no ]
  jq -es '.[] | select(.workload == "spawn" and .layer == "pid" and .kind == "system calls") | .what | test("clone|fork")' "$E"
}

@test "uname enters uts, and nothing of files" {
  [ "$(enters uname uts)" = yes ]
  [ "$(enters uname mnt)" = no ]
}

@test "open enters mounts; whether it reaches ipc by a file of proc nobody can tell" {
  [ "$(enters open mnt)" = yes ]
  [ "$(enters open ipc)" = "not known" ]
}

@test "every system call passes the filter, and as often as it is made" {
  for w in spawn syscall uname open; do [ "$(enters $w seccomp-20)" = yes ]; done
  # One call an operation: the rates of both layers are one number.
  jq -en --argjson a "$(rate syscall seccomp-20 "system calls")" --argjson b "$(rate syscall pid "system calls")" '($a / $b - 1) | fabs < 0.05'
}

@test "capabilities are asked for by fork, and provably not by getppid" {
  [ "$(enters spawn caps)" = yes ]
  [ "$(enters syscall caps)" = no ]
}

@test "of what the kernel does by itself nothing is proved absent" {
  [ "$(enters syscall limits)" != no ]
  [ "$(enters spawn limits)" = yes ]
}

@test "a cell that the work does not enter is shown as a control" {
  grep -q '^  uts  *control, the work does not enter it: ' "$BATS_FILE_TMPDIR/out"
}

@test "a sample has what the place took, by its cgroup" {
  jq -es 'map(select(.record == "sample")) | length > 100 and all(.cgroup_cpu_ns > 0 and .peak_bytes > 0)' "$BATS_FILE_TMPDIR/samples"
}
