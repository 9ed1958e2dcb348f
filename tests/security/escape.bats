# What a program inside tries, and what the caller lets leak.
load ../lib/common

@test "CVE-2019-5736: /proc/self/exe as the program does not give the runtime's own file" {
  local before
  cp "$RUNTIME" "$W/runtime"
  chmod 755 "$W/runtime"
  before=$(sha256sum <"$W/runtime")
  RUNTIME=$W/runtime
  set_args /proc/self/exe --version
  go run --bundle "$B" "$ID"
  [ "$status" -lt 124 ] || [ "$status" -ge 128 ]
  same "$(sha256sum <"$W/runtime")" "$before"
  # A script whose interpreter is /proc/self/exe.
  printf '#!/proc/self/exe\n' >"$B/rootfs/tmp/script"
  chmod 755 "$B/rootfs/tmp/script"
  set_args /tmp/script
  go run --bundle "$B" "$ID"
  same "$(sha256sum <"$W/runtime")" "$before"
}

@test "CVE-2019-5736: a watcher inside with ptrace opens /proc/PID/exe for writing at each exec: never the host's file" {
  local before inode i
  cp "$RUNTIME" "$W/runtime"
  chmod 755 "$W/runtime"
  before=$(sha256sum <"$W/runtime")
  inode=$(stat -c %i "$W/runtime")
  RUNTIME=$W/runtime
  config '.process.capabilities |= map_values(. + ["CAP_SYS_PTRACE"])'
  set_args /bin/tool exewatch 6000
  go create --bundle "$B" "$ID"
  ok
  cp "$W/out" "$W/none"
  local log=$W/out
  mv "$W/out" "$W/watched"
  go start "$ID"
  ok
  for i in $(seq 1 40); do go exec "$ID" /bin/true; done
  for i in $(seq 1 10); do go exec "$ID" /proc/self/exe --version; done
  LIMIT=20 until_true is_state stopped
  same "$(sha256sum <"$W/runtime")" "$before"
  [ -s "$W/watched" ] || fail "the watcher saw nothing"
  ! grep WRITABLE "$W/watched" | grep -v 'bin/tool\|bin/busybox\|bin/peek' || fail "a writable executable of the runtime was reached"
  # What it saw of the runtime, if anything, is not the host's own file by inode and writable.
  ! grep "WRITABLE.*inode $inode\$" "$W/watched"
}

@test "CVE-2019-5736: the same at the start of a container that shares the watcher's pid namespace" {
  local before
  cp "$RUNTIME" "$W/runtime"
  chmod 755 "$W/runtime"
  before=$(sha256sum <"$W/runtime")
  RUNTIME=$W/runtime
  config '.process.capabilities |= map_values(. + ["CAP_SYS_PTRACE"])'
  set_args /bin/tool exewatch 5000
  go create --bundle "$B" "$ID"
  ok
  mv "$W/out" "$W/watched"
  go start "$ID"
  make_bundle "$W/second" "$ID-b"
  local pid i
  pid=$(pid_of)
  jq --arg p "/proc/$pid/ns/pid" '(.linux.namespaces[] | select(.type == "pid")).path = $p | .process.args = ["/bin/true"]' "$W/second/config.json" >"$W/c"
  mv "$W/c" "$W/second/config.json"
  # While the watcher holds /bin/true open for writing, which it may, the kernel executes it for nobody.
  for i in $(seq 1 15); do
    go run --bundle "$W/second" "$ID-b"
    [ "$status" = 1 ] && [[ $err == *'"/bin/true": text file busy'* ]] || ok
  done
  LIMIT=20 until_true is_state stopped
  same "$(sha256sum <"$W/runtime")" "$before"
  ! grep WRITABLE "$W/watched" | grep -v 'bin/tool\|bin/busybox\|bin/peek\|bin/true' || fail "a writable executable of the runtime was reached"
}

@test "CVE-2024-21626: a cwd of /proc/self/fd/N, with descriptors that the caller leaked: refused or inside" {
  local n
  set_args /bin/peek
  for n in 3 4 5 6 7 8 9 10 11 12 15 20; do
    config '.process.cwd = $c' --arg c "/proc/self/fd/$n"
    status=0
    out=$(exec 3</ 4</etc 5</proc 6</sys/fs/cgroup 7</ 8</ 9</ 10</ 11</ 12</ 15</ 20</; timeout 30 "$RUNTIME" --root "$STATE" run --bundle "$B" "$ID" 2>"$W/err" </dev/null) || status=$?
    [ $status != 0 ] || { fail "descriptor $n: $(jq -c '[.cwd, .fds]' <<<"$out")"; return 1; }
    nothing_left || return 1
  done
}

@test "CVE-2024-21626: exec --cwd of /proc/self/fd/N, and through a link that the container made" {
  local n path
  running
  for n in 3 4 5 6 7 8 9 12; do
    ln -sfn "/proc/self/fd/$n" "$B/rootfs/tmp/link"
    for path in "/proc/self/fd/$n" /tmp/link "/tmp/link/../etc"; do
      status=0
      out=$(exec 3</ 4</ 5</ 6</sys/fs/cgroup 7</ 8</ 9</ 12</; timeout 30 "$RUNTIME" --root "$STATE" exec --cwd "$path" "$ID" /bin/sh -c 'pwd; cat etc/hostname ../etc/hostname ../../etc/hostname 2>/dev/null' 2>"$W/err" </dev/null) || status=$?
      if [ $status = 0 ]; then fail "exec --cwd $path gave: $out"; return 1; fi
    done
  done
}

@test "no descriptor of the runtime is inside, neither for init nor for exec, while they wait" {
  set_args /bin/peek -q hold
  go create --bundle "$B" "$ID"
  ok
  # The created process waits; nothing it holds is a folder of the host.
  local pid link
  pid=$(pid_of)
  for link in /proc/"$pid"/fd/*; do
    case $(readlink "$link") in
      /dev/null | pipe:* | /tmp/tare-test.*/out | /tmp/tare-test.*/err | *fifo* | socket:* | anon_inode:*) ;;
      /) ;;
      *) [ ! -d "$link" ] || fail "the created process holds $(readlink "$link")" ;;
    esac
  done
  go start "$ID"
  see_exec
  expect '.fds | keys == ["0","1","2"]'
}

@test "/dev/null of the image replaced by a link: masks do not open what they should hide" {
  # No mount on /dev; the image's /dev/null leads to a file of /proc.
  config '.mounts |= map(select(.destination | startswith("/dev") | not)) | .linux.maskedPaths = ["/proc/timer_list", "/etc/secret"]'
  rm -rf "$B/rootfs/dev"
  mkdir "$B/rootfs/dev"
  echo secret >"$B/rootfs/etc/secret"
  ln -s /proc/sys/kernel/domainname "$B/rootfs/dev/null"
  set_args /bin/peek r:/etc/secret w:/proc/timer_list r:/proc/timer_list stat:/dev/null
  go run --bundle "$B" "$ID"
  if [ "$status" = 0 ]; then
    seen=$out
    expect 't("r:/etc/secret") == ""' 't("r:/proc/timer_list") | . == "" or . == "ENOENT"'
  fi
  ln -sfn /etc/secret "$B/rootfs/dev/null"
  go run --bundle "$B" "$ID"
  if [ "$status" = 0 ]; then
    seen=$out
    expect 't("r:/etc/secret") == ""'
  fi
  rm -f "$B/rootfs/dev/null"
  echo not-a-device >"$B/rootfs/dev/null"
  go run --bundle "$B" "$ID"
  if [ "$status" = 0 ]; then
    seen=$out
    expect 't("r:/etc/secret") == ""'
  fi
}

@test "sysctl, oom_score_adj and labels are written to the real /proc, not to what lies at /proc in the root" {
  mkdir -p "$B/rootfs/proc/sys/net/ipv4" "$B/rootfs/proc/self"
  echo untouched >"$B/rootfs/proc/sys/net/ipv4/ip_forward"
  echo untouched >"$B/rootfs/proc/self/oom_score_adj"
  config '.linux.sysctl = {"net.ipv4.ip_forward": "1"} | .process.oomScoreAdj = 432'
  see sysctl:net.ipv4.ip_forward
  expect 't("sysctl:net.ipv4.ip_forward") == "1"' '.oom_score_adj == "432"'
  same "$(cat "$B/rootfs/proc/sys/net/ipv4/ip_forward" "$B/rootfs/proc/self/oom_score_adj" | sort -u)" untouched
  # And with no /proc mount at all.
  config '.mounts |= map(select(.destination != "/proc")) | del(.linux.maskedPaths, .linux.readonlyPaths)'
  set_args /bin/true
  go run --bundle "$B" "$ID"
  [ "$status" -lt 124 ]
  same "$(cat "$B/rootfs/proc/sys/net/ipv4/ip_forward" "$B/rootfs/proc/self/oom_score_adj" | sort -u)" untouched
}

@test "a sysctl key cannot lead out of /proc/sys" {
  local key
  for key in 'net.../.../x' 'net/../../self/oom_score_adj' 'net.ipv4/../../../kernel/panic' 'net..ipv4' $'net.ipv4.ip_forward\n'; do
    config '.linux.sysctl = {($k): "1"}' --arg k "$key"
    refused . || { fail "key $key"; return 1; }
  done
}

@test "devices are denied without any rule: mknod and open of a disk" {
  config 'del(.linux.resources)'
  see mknod:/tmp/sda:b:8:0 r:/tmp/sda mknod:/tmp/mem:c:1:1 r:/tmp/mem mknod:/tmp/kmsg:c:1:11 w:/tmp/kmsg
  expect 't("r:/tmp/sda") | . == "EPERM" or . == "ENOENT"' 't("r:/tmp/mem") | . == "EPERM" or . == "ENOENT"' 't("w:/tmp/kmsg") | . == "EPERM" or . == "ENOENT"'
}

@test "cgroup v1's release_agent cannot be written, nor a hierarchy mounted" {
  config '.mounts += [{"destination": "/sys/fs/cgroup", "type": "cgroup", "source": "cgroup", "options": ["ro", "nosuid", "noexec", "nodev"]}]'
  see mount:cgroup:/mnt w:/sys/fs/cgroup/memory/release_agent unshare:cgroup remountrw:/sys/fs/cgroup w:/sys/fs/cgroup/memory/cgroup.procs
  expect 't("mount:cgroup:/mnt") == "EPERM"' 't("w:/sys/fs/cgroup/memory/release_agent") != "ok"' 't("unshare:cgroup") == "EPERM"' 't("remountrw:/sys/fs/cgroup") == "EPERM"' \
    't("w:/sys/fs/cgroup/memory/cgroup.procs") == "EROFS"'
}

@test "kernel files of the whole machine cannot be written" {
  see w:/proc/sys/kernel/core_pattern w:/proc/sysrq-trigger w:/sys/kernel/uevent_helper create:/sys/kernel/x w:/proc/sys/kernel/modprobe
  expect '[.tried[] | select(. == "ok")] == []'
}

@test "no abstract socket of the runtime exists while a container lives" {
  local before after
  before=$(grep -o '@.*tare.*' /proc/net/unix || true)
  config '.process.terminal = false'
  running
  after=$(grep -o '@.*tare.*' /proc/net/unix || true)
  same "$after" "$before"
}

@test "the state folder and what is in it are for the owner alone" {
  local mode path
  created
  while read -r mode path; do
    [ $((0$mode & 022)) = 0 ] || { fail "$path is writable for others: $mode"; return 1; }
  done < <(find "$STATE" ! -type l -printf '%m %p\n')
}

@test "the runtime's process cannot be traced or read from inside while it starts" {
  # exec joins the container; a program inside with CAP_SYS_PTRACE tries to read its memory map or descriptors.
  config '.process.capabilities |= map_values(. + ["CAP_SYS_PTRACE"])'
  set_args /bin/sh -c 'end=$(($(cut -d. -f1 /proc/uptime) + 5)); while [ $(cut -d. -f1 /proc/uptime) -lt $end ]; do for p in /proc/[0-9]*; do [ $p = /proc/1 ] || for f in $p/fd/*; do l=$(readlink $f 2>/dev/null) && echo $l; done; done; done >>/tmp/links 2>/dev/null'
  go run --detach --bundle "$B" "$ID"
  ok
  local i
  for i in $(seq 1 25); do go exec "$ID" /bin/true; done
  LIMIT=20 until_true is_state stopped
  ! grep -E "^$STATE|/sys/fs/cgroup|^/$" "$B/rootfs/tmp/links" || fail "descriptors of the runtime were seen from inside"
}

@test "a hook gets nothing of the caller's environment" {
  config '.hooks.createRuntime = [{"path": "/bin/sh", "args": ["sh", "-c", ("cat /proc/self/environ >" + $f)]}]' --arg f "$W/env"
  set_args /bin/true
  LD_PRELOAD_X=/evil SECRET=1 go run --bundle "$B" "$ID"
  ok
  ! grep -qa 'SECRET\|LD_PRELOAD' "$W/env" || fail "$(tr '\0' ' ' <"$W/env")"
}

@test "newlines and odd bytes in id, hostname, env, annotations do no harm" {
  config '.hostname = "a\nb" | .annotations = {"k\n": "v\n\"x"} | .process.env += ["HOME=/x\nroot:x:0:0"]'
  go create --bundle "$B" "$ID"
  if [ "$status" = 0 ]; then
    rt state "$ID" | jq -e '.annotations["k\n"] == "v\n\"x"' >/dev/null
  else
    [ "$status" -lt 124 ]
  fi
}

@test "deep and huge config.json: bounded, one clear line" {
  local begin=$SECONDS
  printf '{"ociVersion":"1.0.2","x":%s1%s}' "$(printf '[%.0s' $(seq 1 100000))" "$(printf ']%.0s' $(seq 1 100000))" >"$B/config.json"
  refused .
  head -c 100000000 /dev/zero | tr '\0' ' ' >"$B/config.json"
  refused .
  [ $((SECONDS - begin)) -lt 60 ]
}
