# tare box: containers by hand.
load ../lib/common

# box WORD...: status, out, err.
box() { go_other "$RUNTIME" box "$@"; }
# see_box OPTION...: peek in a box that has its root from the template, or with --rootfs of its own.
see_box() {
  go_other "$RUNTIME" box --rootfs "$B/rootfs" "$@"
  ok || return 1
  seen=$out
}
# on_terminal STEP... -- BOX-WORD...: tare box on a terminal of the caller's.
on_terminal() {
  local steps=()
  while [ "$1" != -- ]; do steps+=("$1"); shift; done
  shift
  status=0
  eval 'timeout 60 "$HELPERS/tool" pty "${steps[@]}" -- "$RUNTIME" box "$@" >"$W/out" 2>"$W/err"' "$CLOSE" || status=$?
  out=$(tr -d '\r\0' <"$W/out")
  err=$(cat "$W/err")
}
# as_user WORD...: an ordinary user types it.
as_user() {
  go_other setpriv --reuid 1234 --regid 1234 --clear-groups --inh-caps=-all --bounding-set=-all \
    env -i HOME=/tmp PATH=/usr/bin:/bin TERM=dumb "$@"
}

more_setup() {
  # The ordinary user's copy: the checkout need not be readable for him.
  cp "$RUNTIME" "$W/tare"
  chmod 755 "$W/tare"
}

@test "no image, no bundle: a command in the host's files, pid 1, own names" {
  box -- /bin/sh -c 'echo $$; hostname'
  ok
  same "$(tr '\n' ' ' <<<"$out")" '1 box '
}

@test "the exit status is the program's; 128 + signal" {
  box -- /bin/sh -c 'exit 42'
  status_is 42
  box --init -- /bin/sh -c 'kill -9 $$'
  status_is 137
}

@test "127: not found; 126: cannot be executed; 125: tare's own failure" {
  box -- no-such-command
  status_is 127
  err_has 'no-such-command'
  box -- /no/such/path
  status_is 127
  box -- /etc/passwd
  status_is 126
  box -- /etc
  status_is 126
  box --no-such-option -- true
  status_is 125
  box --bind /no/such/source:/x -- true
  status_is 125
  err_has '/no/such/source'
  box --rootfs /no/such/root -- true
  status_is 125
  box --memory lots -- true
  status_is 125
  err_has 'lots'
}

@test "stdin, stdout and stderr pass" {
  echo words | eval '"$RUNTIME" box -- sh -c "cat; echo err >&2" >"$W/o" 2>"$W/e"' "$CLOSE"
  same "$(cat "$W/o")" words
  same "$(cat "$W/e")" err
}

@test "nothing that is written reaches the host" {
  local name=/etc/box-test-$$
  box -- sh -c "echo x >$name && cat $name; rm -f /etc/hostname; touch /usr/$ID"
  out_has x
  [ ! -e "$name" ]
  [ ! -e "/usr/$ID" ]
  [ -e /etc/hostname ]
}

@test "nothing is left: no mount, no cgroup, no process, no state" {
  local before
  before=$(sed 's/^[0-9]* [0-9]* //' /proc/self/mountinfo | sort)
  go_other "$RUNTIME" box --name "$ID" --memory 64m --pids 50 -- true
  ok
  same "$(sed 's/^[0-9]* [0-9]* //' /proc/self/mountinfo | sort | grep -v "$W" | diff - <(grep -v "$W" <<<"$before") | grep -F "$ID" || true)" ''
  [ -z "$(find "$CONTROLLERS" -maxdepth 4 -name "*$ID*")" ]
  [ -z "$(find /run/tare -name "*$ID*" 2>/dev/null)" ]
  same "$(processes_of "$ID")" ''
}

@test "secrets are hidden: shadow, homes, keys; unless asked for" {
  box -- sh -c 'cat /etc/shadow; ls -A /root; ls -A /home; cat /etc/ssh/ssh_host_*_key 2>/dev/null; cat /etc/gshadow'
  same "$out" ''
  if [ -s /etc/shadow ]; then
    box --show-secrets -- cat /etc/shadow
    same "$out" "$(cat /etc/shadow)"
  fi
}

@test "a secret cannot be had through another name: bind paths, /proc, links" {
  mkdir -p "/root/box-test-$$"
  echo canary-of-root >"/root/box-test-$$/key"
  box -- sh -c "cat /root/box-test-$$/key; cat /proc/1/root/root/box-test-$$/key; umount /root; cat /root/box-test-$$/key; find / -xdev -name key -path '*box-test-$$*' 2>/dev/null"
  rm -r "/root/box-test-$$"
  ! grep -q canary <<<"$out" || tell "a file of /root was seen"
  ! grep -q "box-test-$$/key\$" <<<"$out" || tell "found"
}

@test "the capabilities, no_new_privs and filter that engines give" {
  see_box -- /bin/peek mount:tmpfs:/mnt setns:/proc/1/ns/net
  expect '.nnp == 1' '.seccomp == 2' '.caps.inheritable == []' '.caps.bounding | index("CAP_SYS_ADMIN") == null' \
    't("mount:tmpfs:/mnt") == "EPERM"' '.fds | keys == ["0","1","2"]' '.signals.ignored == []' '.signals.blocked == []'
  local type
  for type in pid net ipc uts mnt cgroup; do
    [ "$(jq -r .namespaces.$type <<<"$seen")" != "$(readlink "/proc/self/ns/$type")" ] || fail "$type is the host's"
  done
}

@test "TERM and LANG come along, nothing else of the caller" {
  status=0
  out=$(TERM=vt100 LANG=C.UTF-8 SECRET=leak SSH_AUTH_SOCK=/x timeout 30 "$RUNTIME" box --rootfs "$B/rootfs" -- /bin/peek </dev/null) || status=$?
  seen=$out
  expect 'any(.env[]; . == "TERM=vt100")' 'any(.env[]; . == "LANG=C.UTF-8")' 'all(.env[]; test("SECRET|SSH_AUTH|TARE") | not)' \
    'any(.env[]; test("^PATH="))' 'any(.env[]; test("^HOME="))'
}

@test "--env NAME=VALUE, and NAME passes the caller's on" {
  out=$(PASSED=on timeout 30 "$RUNTIME" box --rootfs "$B/rootfs" --env A=1 --env PASSED -e 'B=two words' -- /bin/peek </dev/null)
  seen=$out
  expect 'any(.env[]; . == "A=1")' 'any(.env[]; . == "PASSED=on")' 'any(.env[]; . == "B=two words")'
}

@test "--rootfs, --workdir, --user, --hostname" {
  see_box --workdir /tmp --user 1000:1001 --hostname myname -- /bin/peek
  expect '.cwd == "/tmp"' '.uid == [1000,1000,1000]' '.gid[0] == 1001' '.hostname == "myname"'
  see_box --user guest -- /bin/peek
  expect '.uid[0] == 1000' '.gid[0] == 1000'
  box --rootfs "$B/rootfs" --user nobody-of-this-name -- true
  status_is 125
}

@test "--bind, read-write and read-only" {
  mkdir "$W/data"
  echo d >"$W/data/f"
  see_box --bind "$W/data:/in" --bind "$W/data:/fixed:ro" -- /bin/peek r:/in/f create:/in/new create:/fixed/no
  expect 't("r:/in/f") == "d\n"' 't("create:/in/new") == "ok"' 't("create:/fixed/no") == "EROFS"'
  [ -e "$W/data/new" ]
}

@test "--bind into the host's files, below a hidden folder too" {
  mkdir "$W/data"
  echo d >"$W/data/f"
  box --bind "$W/data:/root/data:ro" -- cat /root/data/f
  ok
  same "$out" d
}

@test "--read-only" {
  see_box --read-only -- /bin/peek create:/x
  expect 't("create:/x") == "EROFS"'
  box --read-only -- touch /etc/x
  [ "$status" != 0 ]
}

@test "--memory and --pids hold" {
  go_other "$RUNTIME" box --rootfs "$B/rootfs" --memory 32M -- /bin/peek -q alloc:100000000
  ! grep -q '"ok"' <<<"$out" || tell "it got the memory"
  see_box --pids 10 -- /bin/peek forks:30
  expect 't("forks:30")[0] < 10' 't("forks:30")[1] == "EAGAIN"'
}

@test "--cpus is written" {
  see_box --name "$ID" --cpus 0.5 -- /bin/peek
  box --rootfs "$B/rootfs" --cpus 0.25 --print-spec -- true
  seen=$out
  expect '.linux.resources.cpu.quota / .linux.resources.cpu.period == 0.25'
}

@test "--net host and none" {
  see_box --net host -- /bin/peek
  same "$(jq -r .namespaces.net <<<"$seen")" "$(readlink /proc/self/ns/net)"
  box --net none -- cat /proc/net/dev
  same "$(grep -c : <<<"$out")" 1
  box --net galaxy -- true
  status_is 125
}

@test "--userns: root inside is nobody outside" {
  see_box --userns -- /bin/peek
  expect '.uid[0] == 0' '.uid_map | test("^ *0 +0 +4294967295$") | not'
  [ "$(jq -r .namespaces.user <<<"$seen")" != "$(readlink /proc/self/ns/user)" ]
  box --userns -- sh -c 'cat /etc/hostname >/dev/null && echo works'
  same "$out" works
}

@test "--init reaps and passes signals on" {
  box --rootfs "$B/rootfs" --init -- /bin/peek
  ok
  seen=$out
  expect '.pid > 1'
  local result=0
  (eval 'exec "$RUNTIME" box --rootfs "$B/rootfs" --init -- /bin/sh -c "trap \"exit 9\" TERM; touch /tmp/ready; while :; do sleep 0.05; done" >/dev/null 2>&1' "$CLOSE") &
  local runner=$!
  until_true test -e "$B/rootfs/tmp/ready"
  kill -TERM $runner
  wait $runner || result=$?
  same $result 9
  # An orphan does not stay a zombie.
  box --rootfs "$B/rootfs" --init -- /bin/sh -c '(true &); sleep 0.3; cat /proc/[0-9]*/stat | cut -d" " -f3'
  ! grep -q Z <<<"$out" || tell "a zombie"
}

@test "without --init a signal still reaches the program" {
  local result=0
  (eval 'exec "$RUNTIME" box --rootfs "$B/rootfs" -- /bin/sh -c "trap \"exit 9\" TERM; touch /tmp/ready; while :; do sleep 0.05; done" >/dev/null 2>&1' "$CLOSE") &
  local runner=$!
  until_true test -e "$B/rootfs/tmp/ready"
  kill -TERM $runner
  wait $runner || result=$?
  same $result 9
}

@test "--seccomp off, a file, and nonsense" {
  see_box --seccomp off -- /bin/peek
  expect '.seccomp == 0'
  echo '{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["mkdir", "mkdirat"], "action": "SCMP_ACT_ERRNO"}]}' >"$W/filter.json"
  see_box --seccomp "$W/filter.json" -- /bin/peek mkdir:/tmp/x
  expect '.seccomp == 2' 't("mkdir:/tmp/x") == "EPERM"'
  echo '{' >"$W/bad.json"
  box --seccomp "$W/bad.json" -- true
  status_is 125
  box --seccomp "$W/none.json" -- true
  status_is 125
}

@test "the default filter denies what breaks out, and lets ordinary programs be" {
  # 425 io_uring_setup, 321 bpf, 298 perf_event_open, 250 keyctl, 175 init_module, 246 kexec_load, 323 userfaultfd
  see_box -- /bin/peek sys:425:1:0 sys:321:0:0:0 sys:298:0 sys:175:0 sys:246:0 unshare:user socket:40:1:0 socket:2:1:0 socket:1:1:0 mkdir:/tmp/made
  expect 't("sys:425:1:0") | . == "EPERM" or . == "ENOSYS"' 't("sys:321:0:0:0") | . == "EPERM" or . == "ENOSYS"' \
    't("sys:175:0") | . == "EPERM" or . == "ENOSYS"' 't("sys:246:0") | . == "EPERM" or . == "ENOSYS"' 't("unshare:user") != "ok"' \
    't("socket:40:1:0") != "ok"' 't("socket:2:1:0") == "ok"' 't("socket:1:1:0") == "ok"' 't("mkdir:/tmp/made") == "ok"'
}

@test "--print-spec prints a config.json that create takes, and runs nothing" {
  go_other "$RUNTIME" box --rootfs "$B/rootfs" --memory 64M --env A=1 --print-spec -- /bin/touch /tmp/ran
  ok
  [ ! -e "$B/rootfs/tmp/ran" ]
  seen=$out
  expect '.process.args == ["/bin/touch", "/tmp/ran"]' '.linux.resources.memory.limit == 67108864' 'any(.process.env[]; . == "A=1")'
  mkdir "$W/printed"
  jq --arg g "$GROUP/$ID" '.process.terminal = false | .linux.cgroupsPath = $g' <<<"$out" >"$W/printed/config.json"
  go run --bundle "$W/printed" "$ID"
  ok
  [ -e "$B/rootfs/tmp/ran" ]
}

@test "on a terminal: a terminal of its own, size, typing, status" {
  on_terminal --size 27x93 --wait '27 93' --send 'words\r' --wait '<words>' -- --rootfs "$B/rootfs" -- /bin/sh -c 'stty size; read x; echo "<$x>"; exit 8'
  status_is 8
}

@test "on a terminal: the shell without CMD" {
  on_terminal --limit 40000 --wait '# ' --send 'echo $((40+2))\r' --wait 42 --send 'exit 3\r' --
  status_is 3
}

@test "on a terminal: Ctrl-C reaches the program and not tare" {
  on_terminal --wait ready --send '\x03' --wait interrupted -- --rootfs "$B/rootfs" -- /bin/sh -c 'trap "echo interrupted; exit 4" INT; echo ready; while :; do sleep 0.05; done'
  status_is 4
}

@test "on a terminal: Ctrl-C ends a program that does not catch it" {
  on_terminal --wait ready --send '\x03' -- --rootfs "$B/rootfs" -- /bin/sh -c 'echo ready; sleep 1000'
  status_is 130
}

@test "on a terminal: Ctrl-Z stops a job inside, and fg continues it" {
  on_terminal --limit 40000 --wait '# ' --send 'sleep 1000\r' --sleep 300 --send '\x1a' --wait 'topped' --send 'fg\r' --sleep 200 --send '\x03' --send 'echo al$((0))ive; exit 2\r' --wait al0ive -- --rootfs "$B/rootfs" -- /bin/sh
  status_is 2
}

@test "on a terminal: a new window size arrives" {
  on_terminal --size 20x50 --wait '20 50' --size 41x101 --wait '41 101' -- --rootfs "$B/rootfs" -- /bin/sh -c 'stty size; while [ "$(stty size)" != "41 101" ]; do sleep 0.05; done; stty size'
  status_is 0
}

@test "the caller's terminal has its modes again afterwards" {
  status=0
  eval 'timeout 60 "$HELPERS/tool" pty --wait modes-are-the-same -- sh -c "before=\$(stty -g); \"$RUNTIME\" box --rootfs \"$B/rootfs\" -- /bin/true; after=\$(stty -g); [ \"\$before\" = \"\$after\" ] && echo modes-are-the-same" >"$W/out" 2>"$W/err"' "$CLOSE" || status=$?
  status_is 0
}

@test "--tty=false on a terminal gives none; output of a pipe is not changed" {
  on_terminal --wait done -- --rootfs "$B/rootfs" --tty=false -- /bin/sh -c 'ls -l /proc/self/fd/0; echo done'
  status_is 0
  box --rootfs "$B/rootfs" -- printf 'a\nb'
  same "$(od -c <<<"$out" | head -1)" "$(printf 'a\nb\n' | od -c | head -1)"
}

@test "much output through a terminal arrives whole" {
  on_terminal --limit 40000 --wait end-of-it -- --rootfs "$B/rootfs" -- /bin/sh -c 'seq 1 20000; echo end-of-it'
  status_is 0
  same "$(grep -cE '^[0-9]+$' <<<"$out")" 20000
}

@test "an ordinary user: the host's files, in a user namespace" {
  as_user "$W/tare" box -- sh -c 'id -u; echo $$; hostname'
  ok
  same "$(tr '\n' ' ' <<<"$out")" '0 1 box '
}

@test "an ordinary user: a root of his own, bind, status, nothing left" {
  mkdir "$W/his"
  cp -a "$TEMPLATE" "$W/his/rootfs"
  chown -R 1234:1234 "$W/his"
  as_user "$W/tare" box --rootfs "$W/his/rootfs" --bind "$W/his:/his" -- /bin/sh -c 'touch /his/made; exit 6'
  status_is 6
  same "$(stat -c %u "$W/his/made")" 1234
  as_user "$W/tare" box -- no-such-command
  status_is 127
}

@test "an ordinary user cannot read what he could not before" {
  as_user "$W/tare" box -- sh -c 'cat /etc/shadow; cat /proc/1/environ | grep -c . ; touch /etc/x'
  ! grep -q root: <<<"$out" || false
  [ ! -e /etc/x ]
}

@test "an ordinary user who asks for limits that he cannot have is told so" {
  as_user "$W/tare" box --memory 64M -- true
  if [ "$status" != 0 ]; then
    status_is 125
    err_has 'memory|cgroup'
  fi
}

@test "tare that is killed leaves no program running" {
  (eval 'exec "$RUNTIME" box --name "$ID" --env TARE_TEST="$ID" -- sleep 1000 >/dev/null 2>&1' "$CLOSE") &
  local runner=$!
  sleeping() { [ "$(processes_of "$ID" | wc -l)" -ge 2 ]; }
  until_true sleeping
  kill -KILL $runner
  wait $runner || true
  "$RUNTIME" delete --force "$ID" >/dev/null 2>&1 || true
  gone() { [ -z "$(processes_of "$ID")" ]; }
  until_true gone
}

@test "help says what of the host is shown" {
  box --help
  ok
  out_has 'hidden|Hidden'
  out_has shadow
  out_has '125'
}
