#!/bin/bash
# tests/vm/smoke.sh: a container's life on a pure cgroup2 machine, in a guest. Prints TAP.
#
# Boots tests/vm/vmrun three times: with a shell and with systemd as PID 1, for tests/vm/inside.sh and the
# kernel tests of the control groups, and with AppArmor, for tests/vm/inside_apparmor.sh. A guest that did not boot is a failure, not a skip.
#
#   TARE          the runtime (default: build/release/tare of this checkout)
#   KERNEL_TESTS  the folder with kernel_cgroup (default: build/dev/tests)
set -u -o pipefail

checkout=$(cd "$(dirname "$0")/../.." && pwd)
tare=$(realpath -m "${TARE:-$checkout/build/release/tare}")
kernel_tests=$(realpath -m "${KERNEL_TESTS:-$checkout/build/dev/tests}")
for program in "$tare" "$kernel_tests/kernel_cgroup"; do
  [ -x "$program" ] || { echo "Bail out! missing program: $program"; exit 1; }
done
work=$(mktemp -d "${TMPDIR:-/tmp}/tare-smoke.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
# Copies, so that a build that goes on meanwhile changes nothing under the guest.
mkdir "$work/share" && cp "$tare" "$kernel_tests/kernel_cgroup" "$checkout"/tests/vm/inside*.sh "$work/share/" || exit 1

status=0
for init in shell systemd apparmor; do
  option= inside=inside.sh
  case $init in
    systemd) option=--systemd ;;
    apparmor) option='--lsm apparmor' inside=inside_apparmor.sh ;;
  esac
  # shellcheck disable=SC2086
  "$checkout/tests/vm/vmrun" $option --timeout 240 --share "$work/share" -- "$work/share/$inside" "$work/share" \
    >"$work/$init" 2>"$work/$init.err"
  rc=$?
  # Each ends with this line: without it the guest stopped half-way, whatever it printed before.
  if grep -qx '# end' "$work/$init"; then echo "ok - $init: the guest booted and went through"
  else echo "not ok - $init: the guest booted and went through"; status=1; fi
  sed -n "s/^\(\(not \)\{0,1\}ok\) - /\1 - $init: /p; /^#/p" "$work/$init"
  if [ $rc != 0 ]; then status=1; echo "# status $rc"; sed 's/^/# /' "$work/$init.err"; fi
done
exit $status
