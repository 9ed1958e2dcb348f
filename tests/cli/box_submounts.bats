# tare box where other file systems are mounted below the host's root.
load ../lib/common

@test "box: other file systems of the host are not written to" {
  # In a mount namespace of the test's own.
  cat >"$W/try" <<SH
mkdir -p /opt/tare-$ID && mount -t tmpfs none /opt/tare-$ID && touch /opt/tare-$ID/before
for options in --tty=false --userns --read-only "--userns --read-only"; do
  echo box \$("$RUNTIME" --root "$STATE" box --name $ID \$options -- sh -c 'touch /opt/tare-$ID/after 2>/dev/null; ls /opt/tare-$ID')
  echo host \$(ls /opt/tare-$ID)
done
SH
  go_other unshare -m sh "$W/try"
  rmdir "/opt/tare-$ID"
  same "$(grep host <<<"$out" | sort | uniq -c | tr -s ' ')" " 4 host before"
  same "$(grep box <<<"$out" | sed 1d | sort | uniq -c | tr -s ' ')" " 3 box before"
}

@test "box: what is mounted below a read-only root can be replaced by --bind" {
  mkdir "$W/shown"
  cat >"$W/try" <<SH
mkdir -p /opt/tare-$ID && mount -t tmpfs none /opt/tare-$ID && mkdir /opt/tare-$ID/place
"$RUNTIME" --root "$STATE" box --name $ID --userns --bind "$W/shown:/opt/tare-$ID/place" -- touch /opt/tare-$ID/place/new
SH
  go_other unshare -m sh "$W/try"
  rmdir "/opt/tare-$ID"
  ok
  [ -e "$W/shown/new" ]
}
