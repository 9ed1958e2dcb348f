# pidspace with readers beside writers under ThreadSanitizer: nothing is reported of it as it is, and two faults that are put
# into its shim over liburcu, memory freed too early and a pointer published without a barrier, are.

bats_require_minimum_version 1.5.0

setup() {
  T=${TARE_TESTS:-$BATS_TEST_DIRNAME/../../build/dev/tests}
  DESIGNS=(none flat 'nested, loop' 'nested, hash' 'fixed, 4' "today's kernel")
  export TSAN_OPTIONS='exitcode=66 halt_on_error=1'
}

# Its shadow memory wants the addresses where it expects them.
watched() { setarch -R timeout 120 "$T/tsan_$1" "$2"; }

@test "as it is: no race in any design" {
  local design
  for design in "${DESIGNS[@]}"; do run -0 watched none "$design"; done
}

@test "freed without a grace period: reported in every design" {
  local design
  for design in "${DESIGNS[@]}"; do
    run -66 watched early_free "$design"
    [[ $output == *'ThreadSanitizer: '*@(data race|heap-use-after-free)* ]]
  done
}

@test "published without a barrier: reported in every design" {
  local design
  for design in "${DESIGNS[@]}"; do
    run -66 watched no_barrier "$design"
    [[ $output == *'ThreadSanitizer: data race'* ]]
  done
}

@test "a design that there is none of" {
  run -2 watched none 'no such design'
}
