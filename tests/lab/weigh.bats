# tare weigh as one uses it: what it prints, what it writes down, and that it leaves nothing behind.
#
#   TARE_PROGRAMS   the folder with tare, tare-weigh and tare-work (default: build/release)
#
# The runs here are far too short for good figures; tests/unit/lab/stats proves the method on data of
# known truth, and tests/lab/acceptance on this machine.

CLOSE='3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-'

setup() {
  PROGRAMS=${TARE_PROGRAMS:-$BATS_TEST_DIRNAME/../../build/release}
  PROGRAMS=$(cd "$PROGRAMS" && pwd)
  WEIGH=$PROGRAMS/tare-weigh
  local program
  for program in tare tare-weigh tare-work; do
    [ -x "$PROGRAMS/$program" ] || { echo "missing program: $PROGRAMS/$program" >&2; return 1; }
  done
  [ "$(id -u)" = 0 ] || { echo "these tests need root" >&2; return 1; }
  W=$(mktemp -d /tmp/tare-lab.XXXXXX)
  cd "$W"
}

teardown() {
  cd /
  rm -rf "$W"
  local left
  left=$(leftovers)
  [ -z "$left" ] || { echo "left behind: $left"; return 1; }
}

weigh() { eval '"$WEIGH" "$@"' "$CLOSE"; }
# A run of the least that there is: some two seconds.
small() { weigh --time 2 --batch 1ms --rounds 2 --places pid --workloads syscall "$@"; }

# Processes, cgroups and folders of runs: of those whose tare-weigh is $1, or of any that isn't another checkout's.
leftovers() {
  local pid=${1:-[0-9]*} here path owner
  here=$(stat -Lc %i /proc/self/ns/pid) # others', of other pid namespaces, are none of ours
  { find /sys/fs/cgroup -type d -name "tare-weigh.$pid.*.$here"; find /run -maxdepth 1 -name "tare-weigh.$pid.*.$here"; } 2>/dev/null |
    while read -r path; do
      owner=${path##*/tare-weigh.}
      others "${owner%%.*}" "$WEIGH" || echo "$path"
    done
  for owner in $(pgrep -x tare-work); do gone_or_others "$owner" "$PROGRAMS/tare-work" || echo "tare-work $owner"; done
  for owner in $(pgrep -x tare-weigh-watc); do gone_or_others "$owner" "$WEIGH" || echo "watcher $owner"; done
}
gone_or_others() { others "$@" || [ ! -e "/proc/$1" ]; }
# Whether that process lives and is of another program than $2.
others() {
  local exe
  exe=$(readlink "/proc/$1/exe") && [ "${exe% (deleted)}" != "$2" ]
}

gone_within_five_seconds() {
  local i
  for i in $(seq 50); do
    [ -z "$(leftovers)" ] && return 0
    sleep 0.1
  done
  leftovers
  return 1
}

# Starts a run in the background, in a session of its own as a terminal's would be; waits until it weighs.
begin() {
  eval 'setsid "$WEIGH" "$@" >out 2>err' "$CLOSE" '&'
  PID=$!
  local i
  for i in $(seq 100); do
    grep -q '"record":"sample"' samples 2>/dev/null && return 0
    sleep 0.1
  done
  cat err
  return 1
}

@test "a dry run lists the cells and the time, and starts nothing" {
  run weigh --dry-run --time 60 --seed 5 --inject slowed=5%
  [ "$status" = 0 ]
  [[ "$output" == *"syscall in pid"* && "$output" == *"open in container"* ]]
  [[ "$output" == *"spawn in A/A (control)"* && "$output" == *"exec in slowed (slowed by 5.00 %)"* ]]
  [[ "$output" == *"60 cells"* && "$output" == *"six (the fewest)"* ]]
  [ -z "$(ls)" ]
}

@test "the same seed gives the same order, another one another" {
  weigh --dry-run --seed 5 >a
  weigh --dry-run --seed 5 >b
  weigh --dry-run --seed 6 >c
  cmp a b
  run cmp -s a c
  [ "$status" = 1 ]
}

@test "a run prints its table with the A/A line, and writes every sample down" {
  small --seed 7 -o samples --json report >out
  cat out
  grep -q '^tare weigh .*seed 7, ' out
  grep -q '^syscall (getppid): .* each in bare$' out
  grep -q '^  A/A  *bare against bare: .* % (.* to .*)$' out
  grep -q '^  pid  ' out
  # One JSON record a line; the first says the machine, the last how it ended.
  jq -es 'length > 20' samples >/dev/null
  head -1 samples | jq -e '.record == "run" and .schema == 2 and .experiment.seed == "7" and (.machine.kernel | length > 0)
    and (.machine.mitigations | type == "object") and (.machine.load | length > 0)' >/dev/null
  tail -1 samples | jq -e '.record == "end" and .how == "time"' >/dev/null
  # Launches x rounds x places, none twice.
  local launches
  launches=$(jq -s '[.[] | select(.record == "launch_end")] | length' samples)
  [ "$launches" -ge 6 ]
  jq -es --argjson n "$launches" '[.[] | select(.record == "sample")] | length == $n * 2 * 3 and
    (unique_by([.launch, .round, .place]) | length == $n * 2 * 3) and all(.wall_ns > 0 and .cpu_ns >= 0)' samples >/dev/null
  jq -e '.tables[0].cells | map(.place) == ["A/A", "pid"]' report >/dev/null
}

@test "the order of a run is that of its seed" {
  small --seed 7 -o a >/dev/null
  small --seed 7 -o b >/dev/null
  small --seed 8 -o c >/dev/null
  local f
  for f in a b c; do
    jq -c 'select(.record == "sample" and .launch < 6) | [.launch, .round, .slot, .workload, .place]' $f >$f.order
    [ "$(wc -l <$f.order)" = 36 ]
  done
  cmp a.order b.order
  run cmp -s a.order c.order
  [ "$status" = 1 ]
}

@test "analyse gives the report of a run again, to the byte" {
  small -o samples --json report >out
  weigh analyse samples --json again >out2
  cmp out out2
  cmp report again
  # In every form, the same verdict of the same cells; and the same bytes twice.
  weigh analyse samples --markdown a.md --csv a.csv --html a.html --details >out3
  grep -q "What an operation takes besides time" out3
  weigh analyse samples --markdown - | cmp - a.md
  weigh analyse samples --csv - | cmp - a.csv
  weigh analyse samples --html - | cmp - a.html
  ratio=$(jq -r '.tables[0].cells[] | select(.place == "pid") | .verdict' report)
  grep -q "pid.*$ratio" a.csv
  grep -q "^| pid" a.md
  grep -q "<td>pid" a.html
  ! grep -q "<script\|http" a.html
}

@test "the places are what their names say, and equal in all else" {
  weigh --time 6 --batch 1ms --rounds 2 --workloads syscall -o samples >/dev/null
  jq -c 'select(.record == "worker" and .launch == 0)' samples >workers
  [ "$(wc -l <workers)" = 11 ]
  jq -es '(.[] | select(.place == "bare")) as $bare | .[] | select(.place != "bare" and .place != "container") |
    # A namespace by itself: that one differs, and no other.
    ([.seen.namespaces | to_entries[] | select(.value != $bare.seen.namespaces[.key]) | .key] ==
      (if .place == "A/A" then [] else [.place] end)) and
    .seen.limits == $bare.seen.limits and .seen.Cpus_allowed_list == $bare.seen.Cpus_allowed_list and
    .seen.oom_score_adj == $bare.seen.oom_score_adj and .seen.Seccomp == "0" and
    (.seen.descriptors | keys) == ["0", "1", "2", "3", "4", "5", "6"]' workers
  jq -es 'all(.seen.descriptors["0"] == "/dev/null" and (.says | test("environment_bytes=[0-9]+"))) and
    ([.[].says | capture("environment_bytes=(?<n>[0-9]+)").n] | unique | length == 1) and
    ([.[].seen.cgroups | test("/tare-weigh[.][0-9]+[.][0-9]+[.][0-9]+/place[0-9]+")] | all) and
    ([.[].seen.Speculation_Store_Bypass] | all(. != null))' workers
  # The default container: six namespaces, a filter, few capabilities.
  jq -es '(.[] | select(.place == "bare")) as $bare | .[] | select(.place == "container") |
    ([.seen.namespaces | to_entries[] | select(.value != $bare.seen.namespaces[.key]) | .key] | sort ==
      ["cgroup", "ipc", "mnt", "net", "pid", "uts"]) and .seen.Seccomp == "2" and .seen.NoNewPrivs == "1" and
    .seen.CapEff != $bare.seen.CapEff' workers
}

@test "an injected cost is found" {
  weigh --time 8 --batch 2ms --rounds 2 --places uts --workloads syscall --inject slowed=100% -o samples --json report >/dev/null
  jq -e '.tables[0].cells[] | select(.place == "slowed") | .verdict == "costs" and .time.percent > 70 and .time.percent < 130' report
}

@test "a cost above the limit is the exit status" {
  run weigh --time 8 --batch 2ms --rounds 2 --places uts --workloads syscall --inject slowed=100% -o samples --fail-above 30%
  echo "$output"
  [ "$status" = 3 ]
  [[ "$output" == *"syscall in slowed costs more than 30.0 %"* ]]
  run weigh analyse samples --fail-above 300%
  [ "$status" = 0 ]
}

@test "the bill adds up: items, sum, container, what is unexplained" {
  weigh --bill --time 25 --batch 1ms --rounds 2 --workloads syscall -o samples --json report >out
  cat out
  grep -q '^The bill of syscall, for each ' out
  grep -q '^  unexplained ' out
  jq -e '.bills[0] | (.items | length >= 8) and .container.ns != null and
    ((.container.ns - .sum.ns - .unexplained.ns) | fabs) < 30' report
}

@test "the user's own command is weighed, in its folder" {
  printf '#!/bin/sh\n[ -e here ] || exit 9\n' >script
  chmod +x script
  touch here
  run weigh --time 4 --rounds 2 --places pid,container -o samples -- ./script
  echo "$output"
  [ "$status" = 0 ]
  [[ "$output" == *"command (./script): "* ]]
  [[ "$output" != *"not weighed"* ]]
}

@test "a command that fails is told with its status, and nothing is written" {
  run weigh --time 4 --places pid -o samples -- sh -c 'exit 3'
  [ "$status" = 125 ]
  [[ "$output" == *"command in bare: command: exit status 3"* ]]
  run weigh --time 4 --places pid -o samples -- no-such-program
  [ "$status" = 125 ]
  [[ "$output" == *"not found"* ]]
  [ ! -e samples ]
}

@test "a command that fails in one place only costs that place its row" {
  printf '#!/bin/sh\n[ "$$" -gt 2 ]\n' >script # fails as one of a pid namespace's first processes
  chmod +x script
  run weigh --time 3 --rounds 2 --places pid,uts -o samples -- ./script
  echo "$output"
  [ "$status" = 0 ]
  [[ "$output" == *"pid "*"not weighed: command: exit status 1"* ]]
  [[ "$output" != *"uts "*"not weighed"* ]]
}

@test "too little time is refused before it is spent" {
  run weigh --time 3 --places pid -o samples -- sleep 1
  [ "$status" = 125 ]
  [[ "$output" == *"the time is too short: six launches"* ]]
  [ ! -e samples ]
}

@test "samples are never written over" {
  echo precious >samples
  run small -o samples
  [ "$status" = 125 ]
  [[ "$output" == *"exists already"* ]]
  [ "$(cat samples)" = precious ]
}

@test "without -o the samples go below XDG_STATE_HOME" {
  XDG_STATE_HOME=$W/state small --seed 99 >/dev/null
  ls state/tare/weigh/*-99.jsonl
}

@test "a run that was killed is gone on with: its launches count, the broken one is done again" {
  begin --time 600 --batch 1ms --rounds 2 --places pid --workloads syscall --seed 3 -o samples
  sleep 3
  kill -KILL $PID
  wait $PID || true
  gone_within_five_seconds
  printf '{"record":"sample","laun' >>samples # as a write that was cut off
  local before
  before=$(jq -R 'fromjson? | select(.record == "launch_end") | .launch' samples | wc -l)
  [ "$before" -ge 3 ]
  weigh --continue samples --time 2 >out
  jq -es --argjson n "$before" '[.[] | select(.record == "continued")] | length == 1 and .[0].launch == $n' samples
  # The launches are those of one run: none twice, none missing; the table is that of the whole file.
  jq -es '[.[] | select(.record == "launch_end") | .launch] as $l | $l == [range($l | length)]' samples
  [ "$(jq -s '[.[] | select(.record == "launch_end")] | length' samples)" -gt "$before" ]
  weigh analyse samples >again
  cmp out again
  run weigh --continue samples --time 2 --places uts
  [ "$status" = 125 ]
  sed -i '1s/"kernel":"[^"]*"/"kernel":"9.9.9"/' samples
  run weigh --continue samples --time 2
  [ "$status" = 125 ]
  [[ "$output" == *"another machine or kernel (kernel)"* ]]
}

@test "Ctrl-C ends a run at once, shows what is there and leaves nothing" {
  begin --time 60 --batch 1ms --rounds 2 --places pid,container --workloads syscall -o samples
  sleep 2
  kill -INT $PID
  wait $PID || [ $? = 1 ]
  cat out err
  grep -q 'interrupted' err
  grep -q '^  A/A' out
  tail -1 samples | jq -e '.record == "end" and .how == "interrupted"' >/dev/null
  [ -z "$(leftovers)" ]
}

@test "SIGKILL of tare-weigh leaves nothing, not even a command that runs" {
  begin --time 600 --places pid,container -o samples -- sh -c 'sleep 0.05; : tare-lab-marker'
  kill -KILL $PID
  wait $PID || true
  gone_within_five_seconds
  run pgrep -f tare-lab-marker
  [ "$status" = 1 ]
  # What was taken until then is there, and can be read.
  weigh analyse samples >/dev/null
}

@test "after SIGKILL of tare-weigh and its watcher the next run cleans up" {
  begin --time 600 --places pid --workloads syscall -o samples
  # End of file and PR_SET_PDEATHSIG end the workers; the cgroups stay.
  pkill -KILL -x -P $PID tare-weigh-watc
  kill -KILL $PID
  wait $PID || true
  sleep 0.5
  [ -n "$(find /sys/fs/cgroup -type d -name "tare-weigh.$PID.*")" ]
  small -o second >/dev/null
  [ -z "$(leftovers)" ]
}

@test "a run in another pid namespace takes nothing away from this one" {
  begin --time 6 --batch 1ms --rounds 2 --places pid --workloads syscall -o samples
  eval 'unshare --pid --fork --mount-proc --kill-child "$WEIGH" --time 2 --batch 1ms --rounds 2 --places pid \
    --workloads syscall -o other >/dev/null' "$CLOSE"
  wait $PID || { cat err; false; }
  tail -1 samples | jq -e '.how == "time"' >/dev/null
}

@test "wrong arguments are told on one line, with a hint" {
  run weigh --places nowhere
  [ "$status" = 125 ]
  [[ "${lines[0]}" == 'tare weigh: no place is called "nowhere"' ]]
  [[ "${lines[1]}" == *"known: "*"container"* ]]
  run weigh frobnicate
  [ "$status" = 125 ]
  [[ "$output" == *"unknown argument"* ]]
}

@test "tare weigh is tare-weigh" {
  eval '"$PROGRAMS/tare" weigh --dry-run --seed 5 >a' "$CLOSE"
  weigh --dry-run --seed 5 >b
  cmp a b
}

@test "not root: one clear line" {
  run setpriv --reuid 65534 --regid 65534 --clear-groups "$WEIGH" --time 5
  [ "$status" = 125 ]
  [[ "$output" == *"need root"* ]]
}

@test "the committed bills: the same samples give the same reports, to the byte" {
  local kept=$BATS_TEST_DIRNAME/../../docs/results/bills report
  "$BATS_TEST_DIRNAME/bills" --again "$kept" "$W/again" "$PROGRAMS"
  [ "$(ls "$W/again" | wc -l)" = 11 ]
  for report in "$W"/again/*.txt; do cmp "$report" "$kept/${report##*/}"; done
}

@test "pidspace: a small run, the same page again from its samples, JSON; the committed page is that of its samples" {
  "$WEIGH" pidspace --small --time 1 --seed 5 -o "$W/ps.jsonl" --json "$W/ps.json" >"$W/page" 2>/dev/null
  grep -q "^# Six designs of the pid namespace on one base" "$W/page"
  grep -q "today's kernel" "$W/page"
  "$WEIGH" pidspace analyse "$W/ps.jsonl" | cmp - "$W/page"
  [ "$(jq '[.cells[] | select(.design == "flat" and .level > 1)] | length' "$W/ps.json")" = 0 ]
  jq -e '[.cells[] | select(.design == "nested, hash" and .level == 8)] | length > 0' "$W/ps.json"
  xz -dc "$BATS_TEST_DIRNAME/../../docs/results/pidspace/run.jsonl.xz" >"$W/run.jsonl"
  "$WEIGH" pidspace analyse "$W/run.jsonl" | cmp - "$BATS_TEST_DIRNAME/../../docs/results/pidspace/page.md"
}

@test "pidspace: wrong arguments and files are told" {
  run "$WEIGH" pidspace --depth 3
  [ "$status" = 125 ]
  [[ $output == *'unknown argument "--depth"'*'--help'* ]]
  echo '{"record":"run"}' >"$W/other"
  run "$WEIGH" pidspace analyse "$W/other"
  [ "$status" = 125 ]
  [[ $output == *"$W/other"*'first line'* ]]
}
