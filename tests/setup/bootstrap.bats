# The set-up script's decisions, with stand-ins for apt-get, dpkg-query, make and sleep that write down how they
# were called. tests/setup/minbase.sh does it in earnest.

bats_require_minimum_version 1.5.0

setup() {
  cd "$BATS_TEST_DIRNAME/../.."
  bin=$BATS_TEST_TMPDIR/bin calls=$BATS_TEST_TMPDIR/calls
  mkdir "$bin"
  : >"$calls"
  export BATS_TEST_TMPDIR calls
  stub make 'exit 0'
  stub sleep 'exit 0'
  stub apt-get 'echo "E: no network" >&2; exit 100'
  # Says of every package but $ABSENT that it is installed.
  stub dpkg-query 'shift 3
    for package; do [ "$package" = "${ABSENT:-}" ] || echo "installed $package"; done'
}

stub() {
  printf '#!/bin/sh\necho "%s $*" >>"$calls"\n%s\n' "$1" "$2" >"$bin/$1"
  chmod +x "$bin/$1"
}

bootstrap() { PATH=$bin:$PATH run ./bootstrap "$@"; }

@test "where nothing is missing, apt is not asked" {
  for word in run test test-all; do
    bootstrap $word
    [ "$status" -eq 0 ]
  done
  run ! grep apt-get "$calls"
  grep -x 'make --no-print-directory demo' "$calls"
  grep -x 'make --no-print-directory test' "$calls"
  grep -x 'make --no-print-directory test-all' "$calls"
}

@test "only what is missing is installed, from Debian's sources, without recommendations" {
  stub apt-get 'exit 0'
  ABSENT=cmake bootstrap run
  [ "$status" -eq 0 ]
  grep -E '^apt-get .* update$' "$calls"
  grep -E '^apt-get .*DPkg::Lock::Timeout=.*Dir::Etc::SourceParts=.* install --no-install-recommends cmake$' "$calls"
  grep '^make' "$calls"
}

@test "run wants no packages of the tests" {
  stub apt-get 'exit 0'
  ABSENT=bats bootstrap run
  run ! grep apt-get "$calls"
  ABSENT=bats bootstrap test
  grep -E ' bats$' "$calls"
}

@test "a failing update stops nothing when the packages can be had" {
  stub apt-get 'case "$*" in *update) echo "E: third party" >&2; exit 100 ;; esac'
  ABSENT=cmake bootstrap run
  [ "$status" -eq 0 ]
  grep '^make' "$calls"
}

@test "where Debian's sources alone do not do, all sources are tried" {
  stub apt-get 'case "$*" in *SourceParts*) exit 100 ;; esac'
  ABSENT=cmake bootstrap run
  [ "$status" -eq 0 ]
  [ "$(grep -c 'SourceParts.* install' "$calls")" -eq 1 ]
  [ "$(grep 'install' "$calls" | grep -vc SourceParts)" -eq 1 ]
}

@test "a lock is waited for" {
  stub apt-get 'case "$*" in
    *install*)
      n=$(cat "$BATS_TEST_TMPDIR/n" 2>/dev/null || echo 0)
      echo $((n + 1)) >"$BATS_TEST_TMPDIR/n"
      [ $n -ge 3 ] || { echo "E: Could not get lock /var/cache/apt/archives/lock. It is held by process 1" >&2; exit 100; } ;;
    esac'
  ABSENT=cmake bootstrap run
  [ "$status" -eq 0 ]
  [ "$(grep -c '^sleep 5' "$calls")" -eq 3 ]
  [ "$(grep -c 'waiting for another apt' <<<"$output")" -eq 1 ]
}

@test "a package that can't be had is named, with what apt said, and nothing is built" {
  ABSENT=cmake bootstrap run
  [ "$status" -ne 0 ]
  [[ $output == *'E: no network'* ]]
  [[ $output == *'cannot install: cmake'* ]]
  run ! grep '^make' "$calls"
}

@test "no service is started meanwhile, and the policy for that goes again" {
  stub apt-get '/usr/sbin/policy-rc.d; echo "policy $?" >>"$calls"'
  # In a /usr/sbin of its own, where there is no such policy before.
  PATH=$bin:$PATH ABSENT=cmake run unshare --mount sh -eu -c '
    mount -t tmpfs tmpfs /mnt
    mkdir /mnt/upper /mnt/work
    mount -t overlay -o lowerdir=/usr/sbin,upperdir=/mnt/upper,workdir=/mnt/work overlay /usr/sbin
    rm -f /usr/sbin/policy-rc.d
    ./bootstrap run
    ls /usr/sbin/policy-rc.d'
  grep -x 'policy 101' "$calls"
  [[ $output == *"cannot access '/usr/sbin/policy-rc.d'"* ]]
}

@test "not root: one line with the command that root types" {
  # In a folder that others may enter: the checkout's may be root's alone.
  open=$(mktemp -d /tmp/tare-bootstrap.XXXXXX)
  chmod 755 "$open"
  cp bootstrap "$open/"
  run setpriv --reuid 65534 --regid 65534 --clear-groups "$open/bootstrap" run
  rm -r "$open"
  [ "$status" -ne 0 ]
  [ "${#lines[@]}" -eq 1 ]
  [ "$output" = "bootstrap: root is needed to install packages; as root: cd $open && ./bootstrap run" ]
}

@test "any other word: usage" {
  bootstrap
  [ "$status" -ne 0 ]
  [[ $output == *'usage: ./bootstrap run'* ]]
}
