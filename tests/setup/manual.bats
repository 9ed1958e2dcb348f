# What `make install` puts beside the programs: man pages and completions, made of the same tables as --help.

setup_file() {
  local program
  for program in man groff zsh fish; do
    command -v $program >/dev/null || { echo "missing program: $program" >&2; return 1; }
  done
  export D=$BATS_FILE_TMPDIR/installed ROOT=$BATS_TEST_DIRNAME/../..
  make -C "$ROOT" --no-print-directory install DESTDIR="$D" prefix=/usr >"$BATS_FILE_TMPDIR/log" 2>&1 || { cat "$BATS_FILE_TMPDIR/log"; return 1; }
  export TARE=$D/usr/bin/tare
}

commands() { "$TARE" --help | sed -n '/^commands:/,/^$/p' | sed -n 's/^  \([a-z]\+\) .*/\1/p'; }

@test "every command has a page, and there is none of what is no command" {
  [ "$(commands | wc -l)" -ge 17 ]
  { echo tare.1; commands | sed 's/.*/tare-&.1/'; } | sort >"$BATS_TEST_TMPDIR/wanted"
  ls "$D/usr/share/man/man1" | sort | diff "$BATS_TEST_TMPDIR/wanted" -
}

@test "groff finds nothing to warn of in any page" {
  local page
  for page in "$D"/usr/share/man/man1/*; do
    groff -man -ww -Tutf8 "$page" 2>&1 >/dev/null | tee "$BATS_TEST_TMPDIR/warnings"
    [ ! -s "$BATS_TEST_TMPDIR/warnings" ]
  done
}

@test "a page says what --help says: every option with its text" {
  local command page option
  for command in $(commands); do
    page=$(MANWIDTH=10000 man -l "$D/usr/share/man/man1/tare-$command.1" | col -bx | tr -s ' \n' ' ')
    for option in $("$TARE" "$command" --help | grep -o '^ *\(-., \)\?--[a-z0-9-]*' | grep -o -- '--.*' | grep -v '^--help$'); do
      [[ $page == *"$option"* ]] || { echo "tare-$command(1) has no $option"; false; }
    done
  done
  page=$(MANWIDTH=10000 man -l "$D/usr/share/man/man1/tare-exec.1" | col -bx | tr -s ' \n' ' ')
  [[ $page == *"the whole process object of config.json, instead of a command"* ]]
}

completed_by_bash() { # WORD...: what bash would offer for the last one
  bash -c 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _tare; printf "%s\n" "${COMPREPLY[@]}"' \
    bash "$D/usr/share/bash-completion/completions/tare" "$@"
}

@test "bash: commands, options, containers, files" {
  diff <(commands | sort) <(completed_by_bash tare "" | sort)
  [ "$(completed_by_bash tare --root /tmp ki)" = kill ]
  completed_by_bash tare run --b | grep -qx -- --bundle
  [ -z "$(completed_by_bash tare state --b)" ]
  mkdir "$BATS_TEST_TMPDIR/bin"
  printf '#!/bin/sh\necho one; echo two\n' >"$BATS_TEST_TMPDIR/bin/tare"
  chmod +x "$BATS_TEST_TMPDIR/bin/tare"
  [ "$(PATH=$BATS_TEST_TMPDIR/bin:$PATH completed_by_bash tare kill t)" = two ]
  [ "$(completed_by_bash tare run --bundle /etc/passw)" = /etc/passwd ] || completed_by_bash tare run --bundle /etc/passw | grep -qx /etc/passwd
}

@test "fish: commands with their summaries, options, containers" {
  offered() { HOME=$BATS_TEST_TMPDIR fish --no-config -c 'source $argv[1]; complete -C $argv[2]' "$D/usr/share/fish/vendor_completions.d/tare.fish" "$1"; }
  diff <(commands | sort) <(offered "tare " | cut -f1 | sort)
  offered "tare run --bun" | grep -q "^--bundle"
  [[ $(offered "tare state --bun") != *--bundle* ]]
}

# zsh's own completion functions are replaced by ones that print what they are given: without a terminal its editor can't be
# asked what it would offer.
@test "zsh: the file is found for tare, and gives commands and their options" {
  cat >"$BATS_TEST_TMPDIR/try" <<'Z'
fpath=($1 $fpath); autoload -U compinit; compinit -u -D
[[ $_comps[tare] == _tare ]] || { print -r -- "no completion for tare: $_comps[tare]"; exit 1 }
_describe() { print -rl -- ${(P)2} }
_arguments() { [[ $1 != -C ]] || { state=rest; return }; print -rl -- "$@" }
words=($2); _tare
_tare_commands
Z
  offered() { HOME=$BATS_TEST_TMPDIR zsh -f "$BATS_TEST_TMPDIR/try" "$D/usr/share/zsh/vendor-completions" "$1"; }
  diff <(commands | sort) <(offered none | sed 's/:.*//' | sort)
  offered run | grep -q -- '--bundle='
  [[ $(offered state) != *--bundle* ]]
}
