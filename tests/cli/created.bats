# A created container waits after the process that made it is gone: nothing of what it still needs may be gone with it.
load ../lib/common

@test "a created container's program gets all of its arguments and environment, however much there is" {
  set_args /bin/sh -c 'env | grep -c "^VAR_.*=x\{40\}$" >/tmp/seen; echo "$#:${2000}" >>/tmp/seen' \
    $(seq -f 'argument-%g' 0 2999)
  config '.process.env += [range(0; 3000) | "VAR_\(.)=" + ("x" * 40)]'
  go create --bundle "$B" "$ID"
  ok
  # The memory of the creator has been given back by now, and taken by others.
  sleep 0.3
  go start "$ID"
  ok
  until_true is_state stopped
  [ "$(cat "$B/rootfs/tmp/seen")" = "$(printf '3000\n2999:argument-%s' 2000)" ] || { head -c 300 "$B/rootfs/tmp/seen"; false; }
}
