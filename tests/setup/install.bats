# make install, and that the installed programs find each other.

bats_require_minimum_version 1.5.0

setup() {
  cd "$BATS_TEST_DIRNAME/../.."
  D=$BATS_TEST_TMPDIR/root
}

# All but man pages and completions (tests/setup/manual.bats), and pidspace (below).
installed() { (cd "$D" && find . -type f ! -path "*/share/*" ! -path "*/include/pidspace/*" | sort | tr '\n' ' '); }

@test "tare goes to bin, the laboratory's programs to libexec/tare" {
  make install DESTDIR="$D"
  [ "$(installed)" = './usr/local/bin/tare ./usr/local/libexec/tare/tare-weigh ./usr/local/libexec/tare/tare-work ' ]
}

@test "prefix is heeded, and nothing else is written" {
  make install prefix=/opt/tare DESTDIR="$D"
  [ "$(ls "$D")" = opt ]
  [ "$(ls "$D/opt/tare/share" | tr '\n' ' ')" = 'bash-completion fish man pkgconfig zsh ' ]
  [ "$(installed)" = './opt/tare/bin/tare ./opt/tare/libexec/tare/tare-weigh ./opt/tare/libexec/tare/tare-work ' ]
}

@test "the installed tare finds its laboratory, whatever PATH says" {
  make install prefix=/opt/tare DESTDIR="$D"
  mkdir "$BATS_TEST_TMPDIR/bin"
  printf '#!/bin/sh\necho the wrong one\n' >"$BATS_TEST_TMPDIR/bin/tare-weigh"
  chmod +x "$BATS_TEST_TMPDIR/bin/tare-weigh"
  cd /
  PATH=$BATS_TEST_TMPDIR/bin:$PATH run -0 "$D/opt/tare/bin/tare" weigh --dry-run
  [[ $output != *'the wrong one'* ]]
  [[ $output == *bare* ]]
}

@test "the version is the project's, with its commit" {
  make install prefix=/opt/tare DESTDIR="$D"
  run -0 "$D/opt/tare/bin/tare" --version
  [[ $output == "tare version "*"commit: $(git -c safe.directory='*' rev-parse HEAD)"* ]]
}

@test "pidspace: a program of one's own is built with what pkg-config says of it" {
  make install prefix=/opt/tare DESTDIR="$D"
  cat >"$BATS_TEST_TMPDIR/own.cpp" <<'C'
#include <pidspace/pidspace.hpp>
using namespace tare::pidspace;
int main() {
  rcu::Thread thread;
  Space<Kernel<Plain>> space;
  auto* inner = space.create(space.first()).value();
  auto* pid = space.allocate(*inner).value();
  rcu::Section section;
  return space.find(1, *inner) == pid && space.nr_in(*pid, *inner) == 1 ? 0 : 1;
}
C
  export PKG_CONFIG_PATH=$D/opt/tare/share/pkgconfig
  g++ "$BATS_TEST_TMPDIR/own.cpp" -o "$BATS_TEST_TMPDIR/own" $(pkg-config --cflags --libs tare-pidspace)
  "$BATS_TEST_TMPDIR/own"
}
