#!/bin/bash
# tests/setup/minbase.sh [COMMAND...]: the README's commands on a bare Debian 12.
#
# Makes a minbase root (kept in ~/.cache/tare/minbase), puts a clone of this checkout into it, and runs
# each COMMAND (by default: `./bootstrap run`, the same again without network, `./bootstrap test`) in the clone. The root is entered
# by unshare and pivot_root with its own mount, pid, uts and ipc namespaces, as a container with all
# capabilities is, and not by chroot: a process in a chroot may make no user namespace. It has /proc, /sys,
# /dev, the host's cgroups and resolver and its Debian sources, and no compiler, make or package lists.
#
# KEEP=1 leaves the root behind and says where.
set -eu -o pipefail

repository=$(cd "$(dirname "$0")/../.." && pwd)
cache=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/tare/minbase
say() { printf 'minbase: %s\n' "$*" >&2; }

[ "$(id -u)" = 0 ] || { say 'wants root'; exit 1; }
mkdir -p "$cache"
if [ ! -s "$cache/root.tar" ]; then
  say 'making the minbase root'
  mmdebstrap --quiet --format=tar --variant=minbase bookworm "$cache/root.tar.new"
  mv "$cache/root.tar.new" "$cache/root.tar"
fi

work=$(mktemp -d -p "${TMPDIR:-/var/tmp}" tare-minbase.XXXXXX)
cleanup() {
  # The root's mounts lived in the namespace that ended; what is left is files.
  [ -n "${KEEP:-}" ] && say "kept: $work" || rm -rf --one-file-system "$work"
}
trap cleanup EXIT
root=$work/root
mkdir -p "$root"
tar -xf "$cache/root.tar" -C "$root" --numeric-owner
rm -rf "$root"/var/lib/apt/lists/* "$root"/var/cache/apt/*.bin
install -d "$root/root/tare"
git -c safe.directory="$repository" clone --quiet --no-hardlinks "$repository" "$root/root/tare"
cat /etc/resolv.conf >"$root/etc/resolv.conf"
echo minbase >"$root/etc/hostname"
# The host's sources, the whole of them: a third party's that can't be used in there must not stop the set-up.
rm -f "$root"/etc/apt/sources.list "$root"/etc/apt/sources.list.d/*
for file in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
  [ ! -f "$file" ] || cp "$file" "$root$file"
done
printf 'deb http://unreachable.invalid/debian bookworm contrib\n' >"$root/etc/apt/sources.list.d/third-party.list"
for program in gcc g++ make cmake python3 git; do
  [ ! -e "$root/usr/bin/$program" ] || { say "$program is there: not a bare root"; exit 1; }
done

cat >"$work/enter" <<'ENTER'
set -eu
root=$1
shift
mount --make-rprivate /
mount --bind "$root" "$root"
cd "$root"
mount -t proc proc proc
mount --rbind /sys sys
mount --rbind /dev dev
mount -t tmpfs -o mode=1777 tmpfs tmp
mkdir -p .old
pivot_root . .old
umount -l /.old
rmdir /.old
hostname minbase
if [ "$1" = --offline ]; then
  shift
  exec unshare --net "$@"
fi
exec "$@"
ENTER

enter() {
  env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 TERM=dumb CI="${CI:-}" \
    unshare --mount --pid --uts --ipc --fork --kill-child --propagation private \
    /bin/sh "$work/enter" "$root" "$@" </dev/null
}

step() {
  words=$1
  shift
  begin=$(date +%s)
  say "== $words"
  if ! enter "$@"; then
    say "FAILED: $words ($(($(date +%s) - begin)) s)"
    exit 1
  fi
  say "== $words: $(($(date +%s) - begin)) s"
}

if [ $# -gt 0 ]; then
  for command; do step "$command" sh -c "cd /root/tare && $command"; done
  exit 0
fi
step './bootstrap run' sh -c 'cd /root/tare && ./bootstrap run'
step './bootstrap run, again, without a network' --offline sh -c 'cd /root/tare && ./bootstrap run'
step './bootstrap test' sh -c 'cd /root/tare && ./bootstrap test'
