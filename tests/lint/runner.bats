# tests/run can fail: each way in which a suite must not pass.

bats_require_minimum_version 1.5.0

setup() {
  cd "$BATS_TEST_DIRNAME/../.."
  export TARE_SUITES=$BATS_TEST_TMPDIR/suites TARE_SKIPS=$BATS_TEST_TMPDIR/skips TARE_LOGS=$BATS_TEST_TMPDIR/logs
  : >"$TARE_SKIPS"
}

suite() { printf '%s\n' "$@" >"$TARE_SUITES"; }

@test "passing suites of each kind are counted and timed" {
  suite 'a | fast | exit | 9 | sh | true' \
    "b | fast | tap | 9 | | printf 'ok 1 x\nok 2 y\n'" \
    "c | slow | gtest | 9 | | printf '[       OK ] A.b (0 ms)\n[  PASSED  ] 1 test.\n'"
  run -0 tests/run all
  [ "${lines[-1]}" = '4 passed, 0 failed, 0 skipped' ]
  grep -E '^b +ok +[0-9.]+ s  2 passed' <<<"$output"
  run -0 tests/run fast
  [ "${lines[-1]}" = '3 passed, 0 failed, 0 skipped' ]
}

@test "a failing command fails, and its output is shown" {
  suite 'a | fast | exit | 9 | | echo the reason; exit 3'
  run -1 tests/run fast
  [[ $output == *'the reason'* ]]
  [ "${lines[-1]}" = '0 passed, 1 failed, 0 skipped' ]
}

@test "a missing program fails" {
  suite 'a | fast | exit | 9 | sh no-such-program | true'
  run -1 tests/run fast
  [[ $output == *'missing: no-such-program'* ]]
}

@test "a suite that ran no check fails" {
  suite 'a | fast | tap | 9 | | echo 1..0'
  run -1 tests/run fast
  [[ $output == *'ran no check'* ]]
}

@test "not ok fails though the command ends with 0" {
  suite "a | fast | tap | 9 | | printf 'ok 1 x\nnot ok 2 y\n'"
  run -1 tests/run fast
  [ "${lines[-1]}" = '1 passed, 1 failed, 0 skipped' ]
  suite "a | fast | gtest | 9 | | printf '[  FAILED  ] A.b/0, where GetParam() = 3 (0 ms)\n'"
  run -1 tests/run fast
  [[ $output == *'failed: a: A.b/0'* ]]
}

@test "checks that passed do not cover a status that is not 0" {
  suite "a | fast | tap | 9 | | printf 'ok 1 x\n'; exit 1"
  run -1 tests/run fast
  [ "${lines[-1]}" = '1 passed, 1 failed, 0 skipped' ]
}

@test "a suite beyond its limit is ended and fails" {
  suite 'a | fast | exit | 1 | | sleep 60'
  run -1 tests/run fast
  [[ $output == *'not done after 1 s'* ]]
}

@test "a skip passes only where the list has it, and is printed" {
  suite "a | fast | tap | 9 | | printf 'ok 1 x\nok 2 the v2 part # skip no v2\n'"
  run -1 tests/run fast
  [[ $output == *'does not list it: the v2 part'* ]]
  echo 'a | the v2 * | only v2 has it' >"$TARE_SKIPS"
  run -0 tests/run fast
  [[ $output == *'a: the v2 *: only v2 has it'* ]]
  [ "${lines[-1]}" = '1 passed, 0 failed, 1 skipped' ]
  echo 'b | the v2 * | another suite' >"$TARE_SKIPS"
  run -1 tests/run fast
}

@test "an unknown suite is an error" {
  suite 'a | fast | exit | 9 | | true'
  run -1 tests/run b
}

@test "a name that is there twice is an error" {
  suite 'a | fast | exit | 9 | | true' 'a | slow | exit | 9 | | true'
  run -1 tests/run fast
  [[ $output == *'a is there twice'* ]]
}
