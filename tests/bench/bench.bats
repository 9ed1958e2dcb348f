# The benchmark itself: is the floor what it says, does the measuring see what it should, are the verdicts right?
# And what the project promises about `tare run` (RUNTIME; default build/release/tare).
bats_require_minimum_version 1.5.0

setup_file() {
  export TOP BENCH TOOLS BUNDLES HELPERS
  TOP=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
  BENCH=$TOP/bench
  TOOLS=$BATS_FILE_TMPDIR/tools BUNDLES=$BATS_FILE_TMPDIR/bundles
  HELPERS=${HELPERS:-$TOP/build/dev/tests}
  [ "$(id -u)" = 0 ] || { echo "needs root" >&2; return 1; }
  make -s -C "$BENCH" OUT="$TOOLS"
  "$BENCH/make-bundle" "$BUNDLES" "${RUNTIME:-$TOP/build/release/tare}"
}

setup() {
  RUNTIME=${RUNTIME:-$TOP/build/release/tare}
  cd "$BATS_TEST_TMPDIR"
}

remove_cgroups() { for h in /sys/fs/cgroup/*/"$1"; do [ ! -d "$h" ] || rmdir "$h"; done; }

# samples NAME CPU_US FAULTS: twenty rounds of a contestant of "run"
samples() {
  for round in $(seq 0 19); do printf 'run\t%s\t%s\t1000000\t%s\t%s\t0\t900\t0\n' "$round" "$1" "$2" "$3"; done
}

verdicts() { echo text >header; "$TOOLS/report" samples counts header json --check; }

@test "the floor makes the system calls of the frozen list" {
  "$BENCH/floor/syscalls" --check "$TOOLS/floor" "$BUNDLES/rootfs"
}

@test "the frozen list is compared: one more call is noticed" {
  cp -r "$BENCH/floor" changed
  sed -i 's/MUST(setsid, 0, 0, 0, 0, 0);/&\n  MUST(getpid, 0, 0, 0, 0, 0);/' changed/floor.c
  changed/build.sh "$PWD/floor"
  run changed/syscalls --check "$PWD/floor" "$BUNDLES/rootfs"
  [ "$status" = 1 ]
  [[ "$output" == *"+getpid 1"* ]]
}

@test "a program sees the same inside the floor as inside crun" {
  # Without a signal ignored: the floor and crun pass on what their caller ignores.
  "$HELPERS/tool" ignore -- "$BENCH/floor/compare" "$TOOLS/floor" "$BUNDLES" crun
}

@test "the comparison notices a floor that leaves something out" {
  cp -r "$BENCH/floor" changed
  sed -i 's/^  bring_lo_up();$//; s/^static void bring_lo_up/static __attribute__((unused)) void bring_lo_up/' changed/floor.c
  changed/build.sh "$PWD/floor"
  run "$HELPERS/tool" ignore -- "$BENCH/floor/compare" "$PWD/floor" "$BUNDLES" crun
  [ "$status" = 1 ]
  [[ "$output" == *"+1: lo: <LOOPBACK> "* ]]
}

@test "a program sees the same inside the floor as inside tare" {
  "$HELPERS/tool" ignore -- "$BENCH/floor/compare" "$TOOLS/floor" "$BUNDLES" "$RUNTIME" --root "$PWD/state"
}

@test "the floor gives the program's exit status and says where it failed" {
  run "$TOOLS/floor" run "$BUNDLES/rootfs" floor-$$ /bin/sh -c 'exit 42'
  [ "$status" = 42 ]
  run "$TOOLS/floor" run "$BUNDLES/rootfs" floor-$$ /bin/sh -c 'kill -9 $$; sleep 1'
  # The first process of a pid namespace cannot kill itself.
  [ "$status" = 0 ]
  run "$TOOLS/floor" run /nowhere floor-$$
  remove_cgroups floor-$$
  [ "$status" = 125 ]
  [[ "$output" == "floor: line "*": errno 2" ]]
}

@test "measure counts orphans and grandchildren" {
  echo 'i=0; while [ $i -lt 60000 ]; do i=$((i + 1)); done' >burn
  printf 'g\tone\tsh\tburn\ng\torphan\tsh\t-c\tsh burn & exit 0\n' >jobs
  printf 'g\tnested\tsh\t-c\tsh -c "sh burn; true"; true\n' >>jobs
  "$TOOLS/measure" jobs 3 0 >out
  cat out
  awk -F'\t' '{ cpu[$3] += $5; n[$3]++ } END {
    exit !(n["one"] == 3 && cpu["orphan"] > 0.6 * cpu["one"] && cpu["nested"] > 0.6 * cpu["one"]) }' out
}

@test "measure rotates the order and stops at a failing command" {
  printf 'g\ta\ttrue\ng\tb\ttrue\ng\tc\ttrue\n' >jobs
  [ "$("$TOOLS/measure" jobs 3 0 | cut -f 3 | tr -d '\n')" = abcbcacab ]
  printf 'g\ta\ttrue\ng\tb\tfalse\n' >jobs
  run "$TOOLS/measure" jobs 1 0
  [ "$status" = 1 ]
  [[ "$output" == *"failed with wait status 0x100: false"* ]]
}

@test "measure counts page faults and sees peak memory" {
  printf 'g\tbig\tdd\tif=/dev/zero\tof=/dev/null\tbs=32M\tcount=1\tstatus=none\n' >jobs
  "$TOOLS/measure" jobs 1 0 >out
  cat out
  awk -F'\t' '{ exit !($6 + $7 > 50 && $8 > 32768 && $8 < 60000) }' out
}

@test "the verdicts: all four promises kept" {
  { samples floor 1000 40; samples crun 4000 400; samples tare 1900 150; } >samples
  printf 'run\ttare\t299\nrun\tcrun\t1000\n' >counts
  run -0 verdicts
  [ "$(grep -c '^\* PASS' <<<"$output")" = 4 ]
  [[ "$output" == *"| **tare : floor** | 1.00 (1.00 to 1.00) | 1.90 (1.90 to 1.90) | 3.75 (3.75 to 3.75) | - |"* ]]
}

@test "the verdicts: each promise can be broken" {
  { samples floor 1000 40; samples crun 4000 400; samples tare 2100 161; } >samples
  printf 'run\ttare\t301\n' >counts
  run -1 verdicts
  [ "$(grep -c '^\* FAIL' <<<"$output")" = 4 ]
}

@test "the verdicts: without tare or its counts there is no PASS" {
  { samples floor 1000 40; samples crun 4000 400; } >samples
  : >counts
  run -1 verdicts
  [ "$(grep -c '^\* FAIL' <<<"$output")" = 4 ]
}

@test "the interval of 20 rounds is that of the 6th and 15th value" {
  samples floor 1000 40 >samples
  for round in $(seq 0 19); do
    printf 'run\t%s\ttare\t1000000\t%s\t40\t0\t900\t0\n' "$round" $((1000 + round * 100)) >>samples
  done
  : >counts
  run -1 verdicts
  # Ratios 1.0, 1.1, ... 2.9: the median is 1.95, the 6th value 1.5, the 15th 2.4.
  [[ "$output" == *"| **tare : floor** | 1.00 (1.00 to 1.00) | 1.95 (1.50 to 2.40) |"* ]]
}

@test "readme puts the tables between its marks and nowhere else" {
  cp -r "$BENCH/readme" .
  mkdir results
  printf '### run\n| a |\n' >results/latest.md
  printf 'top\n<!-- bench -->\nold\n<!-- /bench -->\nend\n' >README.md
  ./readme README.md
  [ "$(cat README.md)" = "$(printf 'top\n<!-- bench -->\n### run\n| a |\n<!-- /bench -->\nend\n')" ]
  echo no marks >README.md
  run ./readme README.md
  [ "$status" = 1 ]
}

@test "tare run keeps the counts that the project promises, and the benchmark leaves nothing behind" {
  mounts=$(wc -l </proc/self/mountinfo)
  # Counts are the same in every run and are checked here. Ratios of CPU time stray with what else the
  # machine does: `make bench` judges them.
  "$BENCH/run" --tare "$RUNTIME" --rounds 6 --groups "run exec state" --results "$PWD/results" --check >verdicts || true
  grep -q '^[*] PASS: tare run, system calls' verdicts
  grep -q '^[*] PASS: tare run, page faults' verdicts
  [ "$(grep -c '^[*] [A-Z]*: tare run, CPU' verdicts)" = 2 ]
  [ -s results/latest.json ]
  [ "$mounts" = "$(wc -l </proc/self/mountinfo)" ]
  [ -z "$(find /sys/fs/cgroup -name 'tareb[0-9]*')" ]
}
