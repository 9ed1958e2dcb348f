#!/bin/sh
# Builds the floor: build.sh OUTPUT. No C library and one loaded segment, because starting up is part of what it costs.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
exec "${CC:-cc}" -std=gnu11 -O2 -Wall -Wextra -Wshadow -Wno-missing-field-initializers -Werror -static -nostdlib \
  -nostartfiles -ffreestanding -fno-stack-protector -mno-red-zone -fno-pie -no-pie -fno-asynchronous-unwind-tables \
  -fno-tree-loop-distribute-patterns -Wl,-z,noseparate-code -Wl,--build-id=none -Wl,-z,noexecstack -Wl,--fatal-warnings -s \
  -o "$1" "$here/floor.c"
