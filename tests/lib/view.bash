# What the tests of the view share. `load ../lib/common` comes before it.
bats_require_minimum_version 1.5.0

# start WORD...: a process in the background, its pid in STARTED; it and its children end with the test.
start() {
  eval 'setsid "$@" >"$W/started.out" 2>"$W/started.err" </dev/null &' "$CLOSE"
  STARTED=$!
  ALL_STARTED+=" $STARTED"
}
more_teardown() {
  local pid
  for pid in ${ALL_STARTED:-}; do kill -KILL -- "-$pid" 2>/dev/null || true; done
}

is_named() { [ "$(cat "/proc/$1/comm")" = "$2" ]; }
child_of() {
  local child
  child=$(cut -d' ' -f1 "/proc/$1/task/$1/children")
  [ -n "$child" ] && echo "$child"
}

# inside UNSHARE-OPTION...: a sleep in namespaces of its own, its pid in INSIDE.
inside() {
  start unshare --kill-child --fork "$@" sleep 1000
  until_true child_of "$STARTED"
  INSIDE=$(child_of "$STARTED")
  until_true is_named "$INSIDE" sleep
}

# deep N: a process N pid namespaces below the test's, in DEEP.
deep() {
  local i
  start "$HELPERS/odd" levels "$1"
  until_true grep -q ready "$W/started.out"
  DEEP=$STARTED
  for ((i = 0; i < $1; i++)); do DEEP=$(child_of "$DEEP"); done
}

inode() { readlink "/proc/$1/ns/$2" | tr -dc 0-9; }
