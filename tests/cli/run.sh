#!/bin/sh
# run.sh - runs the command-line tests: run.sh BIN_FOLDER SCHEMA_FOLDER [PATTERN...]
#
# FOLDER/GROUP.test holds tests, with an empty line between them:
#
#   ==== NAME
#   the lines of a shell script
#   ---- stdout
#   what it prints
#   ---- stderr
#   what it says
#   ---- exit STATUS
#
# The last three are left out if there is none of it, or the status is 0. A script runs in an empty
# folder of its own, with the tools and support/ on the PATH. If it cannot run here, it exits with 77
# after printing why. What it writes to a file named `note` is shown beside its name. A PATTERN chooses
# tests: it is a part of /FOLDER/GROUP/NAME/. With ACCEPT=1 the results become the expected ones; read
# them before you commit them.
set -u
here=$(cd "$(dirname "$0")" && pwd)
bin=$(cd "$1" && pwd)
SCHEMAS=$(cd "$2" && pwd)
shift 2
patterns=${*:-/}
export SCHEMAS
export PATH="$bin:$here/support:$PATH"
export LC_ALL=C
export PYTHONDONTWRITEBYTECODE=1
ulimit -c 0

root=$(mktemp -d) || exit 2
chmod 755 "$root"
trap 'rm -rf "$root"' EXIT
trap 'exit 2' INT TERM HUP
group=$root/group
passed=0
failed=0
skipped=0

# Divides a group: its NAMEs go to the file `names`, its comment to `comment`, each part to NAME.PART.
divide() {
  rm -rf "$group"
  mkdir "$group"
  awk -v folder="$group/" '
    function start(part) { close(file); file = folder part; empty = 0 }
    BEGIN { start("comment") }
    /^==== / { name = $2; print name >(folder "names"); start(name ".sh"); next } # after an empty line
    empty { print "" >file; empty = 0 }
    /^---- / { start(name "." $2); if ($2 == "exit") print $3 >file; next }
    /^$/ { empty = 1; next }
    { print >file }' "$1"
}

# Replaces an expected result by the actual one, unless it is what a missing part means.
accept() {
  for part in stdout stderr exit; do
    rm -f "$1.$part"
    [ -s "$root/$part" ] && cp "$root/$part" "$1.$part"
  done
  [ "$(cat "$1.exit")" = 0 ] && rm "$1.exit"
}

# Prints a group from its parts.
join() {
  cat "$group/comment"
  while read -r name; do
    printf '\n==== %s\n' "$name"
    cat "$group/$name.sh"
    for part in stdout stderr; do
      [ -e "$group/$name.$part" ] && echo "---- $part" && cat "$group/$name.$part"
    done
    if [ -e "$group/$name.exit" ]; then echo "---- exit $(cat "$group/$name.exit")"; fi
  done <"$group/names"
}

# Prints the difference between the actual and the expected result.
differences() {
  for part in stdout stderr exit; do
    [ "$part" = exit ] && echo 0 >"$root/expected" || : >"$root/expected"
    [ -e "$1.$part" ] && cp "$1.$part" "$root/expected"
    diff -u --label "expected $part" --label "$part" "$root/expected" "$root/$part"
  done
}

run_test() { # FOLDER/GROUP/NAME
  expected=$group/${1##*/}
  mkdir -p "$root/work"
  cd "$root/work" || exit 2
  sh "$expected.sh" >"$root/stdout" 2>"$root/stderr" </dev/null
  status=$?
  cd "$root" || exit 2
  if [ "$status" = 77 ]; then
    skipped=$((skipped + 1))
    echo "skip $1: $(tail -n 1 "$root/stdout")"
  else
    echo "$status" >"$root/exit"
    [ -n "${ACCEPT:-}" ] && accept "$expected"
    differences "$expected" >"$root/diff"
    if ! [ -s "$root/diff" ]; then
      passed=$((passed + 1))
      echo "ok   $1$([ -e work/note ] && echo ": $(cat work/note)")"
    else
      failed=$((failed + 1))
      echo "FAIL $1"
      sed 's/^/     /' "$root/diff"
    fi
  fi
  rm -rf "$root/work"
}

chosen() { # /FOLDER/GROUP/NAME/
  for pattern in $patterns; do
    case $1 in *"$pattern"*) return 0 ;; esac
  done
  return 1
}

for file in "$here"/*/*.test; do
  divide "$file"
  path=${file#"$here"/}
  path=${path%.test}
  while read -r name <&3; do
    chosen "/$path/$name/" && run_test "$path/$name" 3<&-
  done 3<"$group/names"
  [ -n "${ACCEPT:-}" ] && join >"$root/joined" && cp "$root/joined" "$file"
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
