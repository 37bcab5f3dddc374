#!/bin/sh
# run.sh - runs the command-line tests: run.sh BIN_FOLDER SCHEMA_FOLDER [PATTERN]
#
# A test is FOLDER/NAME.sh. It runs in an empty folder of its own, with the tools and support/ on
# the PATH, and must give exactly NAME.stdout, NAME.stderr and the exit status in NAME.exit; a
# missing file means no output, or status 0. A test that cannot run here exits with 77 after
# printing why. What it writes to a file named `note` is shown beside its name. With ACCEPT=1 the
# results become the expected ones; read them before you commit them.
set -u
here=$(cd "$(dirname "$0")" && pwd)
bin=$(cd "$1" && pwd)
SCHEMAS=$(cd "$2" && pwd)
pattern=${3:-}
export SCHEMAS
export PATH="$bin:$here/support:$PATH"
export LC_ALL=C
export PYTHONDONTWRITEBYTECODE=1
ulimit -c 0

root=$(mktemp -d) || exit 2
chmod 755 "$root"
trap 'rm -rf "$root"' EXIT
trap 'exit 2' INT TERM HUP
passed=0
failed=0
skipped=0

# Replaces an expected result by the actual one, unless it is what a missing file means.
accept() {
  for stream in stdout stderr exit; do
    rm -f "$1.$stream"
    [ -s "$root/$stream" ] && cp "$root/$stream" "$1.$stream"
  done
  [ "$(cat "$1.exit")" = 0 ] && rm "$1.exit"
}

# Prints the difference between the actual and the expected result.
differences() {
  for stream in stdout stderr exit; do
    [ "$stream" = exit ] && echo 0 >"$root/expected" || : >"$root/expected"
    [ -e "$1.$stream" ] && cp "$1.$stream" "$root/expected"
    diff -u --label "expected $stream" --label "$stream" "$root/expected" "$root/$stream"
  done
}

run_test() {
  name=${1#"$here"/}
  name=${name%.sh}
  expected=${1%.sh}
  mkdir -p "$root/work"
  cd "$root/work" || exit 2
  sh "$1" >"$root/stdout" 2>"$root/stderr" </dev/null
  status=$?
  cd "$root" || exit 2
  if [ "$status" = 77 ]; then
    skipped=$((skipped + 1))
    echo "skip $name: $(tail -n 1 "$root/stdout")"
  else
    echo "$status" >"$root/exit"
    [ -n "${ACCEPT:-}" ] && accept "$expected"
    differences "$expected" >"$root/diff"
    if ! [ -s "$root/diff" ]; then
      passed=$((passed + 1))
      echo "ok   $name$([ -e work/note ] && echo ": $(cat work/note)")"
    else
      failed=$((failed + 1))
      echo "FAIL $name"
      sed 's/^/     /' "$root/diff"
    fi
  fi
  rm -rf "$root/work"
}

for test in "$here"/*/*.sh; do
  case $test in *"$pattern"*) run_test "$test" ;; esac
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
