# Exchange races: while containers start, an attacker swaps a folder of a shared volume for a link to the host.
load ../lib/common

# race MILLISECONDS: starts over and over while $W/share/target is swapped with a link to the canary.
race() {
  local end rounds=0
  mkdir -p "$W/canary/dir" "$W/share/real/dir" "$W/src"
  echo canary >"$W/canary/file"
  echo src >"$W/src/file"
  mkdir -p "$W/share/target/dir"
  ln -s "${LINK:-$W/canary}" "$W/share/evil"
  (cd "$W/canary" && find . -printf '%p %y %m %s\n' | sort) >"$W/before"
  eval '"$HELPERS/tool" swap "$W/share/target" "$W/share/evil" '"$1"' >"$W/swaps" 2>&1' "$CLOSE" &
  local swapper=$!
  eval '"$HELPERS/tool" mountwatch "$W/canary" '"$1"' >"$W/mounted" 2>&1' "$CLOSE" &
  local watcher=$!
  end=$((SECONDS + $1 / 1000))
  while [ $SECONDS -lt $end ]; do
    go run --bundle "$B" "$ID"
    [ "$status" != 124 ] && [ "$status" != 137 ] && [ "$status" != 139 ] || { tell "hung or crashed"; return 1; }
    rounds=$((rounds + 1))
  done
  wait $swapper $watcher
  [ "$(cat "$W/swaps")" -gt 1000 ] || fail "the attacker did not run: $(cat "$W/swaps")"
  [ $rounds -ge 10 ] || fail "only $rounds starts"
  [ ! -s "$W/mounted" ] || fail "mounted on the canary: $(cat "$W/mounted")"
  (cd "$W/canary" && find . -printf '%p %y %m %s\n' | sort) | diff "$W/before" - || fail "the canary changed"
}

share() { config '.mounts += [{"destination": "/share", "type": "bind", "source": $s, "options": ["bind"]}]' --arg s "$W/share"; }

@test "CVE-2021-30465: a bind below a folder that is swapped for a link" {
  share
  config '.mounts += [{"destination": "/share/target/dir", "type": "bind", "source": $s, "options": ["bind"]}]' --arg s "$W/src"
  set_args /bin/true
  race 8000
}

@test "CVE-2024-45310: folders made below a swapped path stay inside" {
  share
  config '.mounts += [{"destination": "/share/target/new/deep", "type": "bind", "source": $s, "options": ["bind"]}, {"destination": "/share/target/newfile", "type": "bind", "source": ($s + "/file"), "options": ["bind"]}]' --arg s "$W/src"
  set_args /bin/true
  race 8000
}

@test "a link by .. instead of an absolute one" {
  LINK=../../../../../../../../../..$W/canary
  share
  config '.mounts += [{"destination": "/share/target/dir", "type": "tmpfs", "source": "t"}]'
  set_args /bin/true
  race 6000
}

@test "masks, cwd and devices below a swapped path" {
  share
  config '.linux.maskedPaths += ["/share/target/dir", "/share/target/file"] | .linux.devices = [{"type": "c", "path": "/share/target/zero", "major": 1, "minor": 5}] | .process.cwd = "/share/target/cwd"'
  set_args /bin/true
  race 6000
}
