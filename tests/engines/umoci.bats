# A bundle that umoci unpacked runs as it is.
load ../lib/common

more_setup_file() {
  command -v umoci >/dev/null || { echo "missing program: umoci" >&2; return 1; }
  export U=$BATS_FILE_TMPDIR/umoci
  mkdir -p "$U"
  umoci init --layout "$U/image"
  umoci new --image "$U/image:base"
  umoci unpack --image "$U/image:base" "$U/first" >/dev/null
  cp -a "$TEMPLATE/." "$U/first/rootfs/"
  umoci repack --image "$U/image:base" "$U/first" >/dev/null
  umoci config --image "$U/image:base" --config.env PATH=/bin --config.env FROM=image --config.cmd /bin/peek --config.workingdir /tmp --config.user 1000:1000
}

unpack() {
  rm -rf "$B"
  umoci unpack --image "$U/image:base" "$B" >/dev/null
  # Limits that this machine's root may not set are umoci's default, not the image's; the terminal too.
  config '.process.terminal = false | del(.process.rlimits) | .process.env += [$e] | .linux.cgroupsPath = $g' --arg e "TARE_TEST=$ID" --arg g "$GROUP/$ID"
}

@test "umoci: run gives the image's command, user, environment, folder" {
  unpack
  go run --bundle "$B" "$ID"
  ok
  seen=$out
  expect '.args == ["/bin/peek"]' '.uid[0] == 1000' '.gid[0] == 1000' '.cwd == "/tmp"' 'any(.env[]; . == "FROM=image")' '.pid == 1' \
    'm("/proc").type == "proc"' 'm("/sys/fs/cgroup") != null'
}

@test "umoci: create, start, exec, kill, delete" {
  unpack
  config '.process.args = ["/bin/peek", "-q", "hold"]'
  go create --bundle "$B" "$ID"
  ok
  go start "$ID"
  ok
  go exec "$ID" /bin/echo inside
  ok
  same "$out" inside
  go kill "$ID" TERM
  ok
  until_true is_state stopped
  go delete "$ID"
  ok
  nothing_left
}

@test "umoci: with a terminal, as unpacked" {
  unpack
  config '.process.terminal = true | .process.args = ["/bin/sh", "-c", "tty; exit 3"]'
  status=0
  eval 'timeout 60 "$HELPERS/tool" pty --wait /dev/ -- "$RUNTIME" --root "$STATE" run --bundle "$B" "$ID" >"$W/out" 2>"$W/err"' "$CLOSE" || status=$?
  same $status 3
}
