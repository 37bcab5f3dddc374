#!/bin/sh
# smoke.sh RECBENCH RECSORT PYTHON PLUGINS - runs recbench on tiny inputs and checks its output. It
# asserts nothing about time.
set -u

recbench=$1 recsort=$2 python=$3 plugins=$4
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
unset RECSORT_PLUGIN_PATH

fail() {
  echo "smoke.sh: $*" >&2
  exit 1
}

# refused WORDS OPTION... - exit 2, with one line that holds WORDS.
refused() {
  words=$1
  shift
  "$recbench" "$@" >"$work/out" 2>"$work/err"
  [ $? -eq 2 ] || fail "not refused: $*"
  grep -q "^recbench: .*$words" "$work/err" || fail "$*: $(cat "$work/err")"
}

mkdir "$work/folder"
set -- --suite all --count 1000,17 --threads 1,3 --repeat 3 --size 64K --algorithm all
"$recbench" "$@" --recsort "$recsort" --folder "$work/folder" --json "$work/json" >"$work/table" ||
  fail "the run failed"
"$python" "$here/check.py" "$work/json" || fail "the JSON is not as it should be"
[ "$(ls -A "$work/folder")" = "" ] || fail "files are left in the folder"
grep -q '^keys: key128, random, 17 records of 32 bytes$' "$work/table" || fail "no table"
grep -q 'extra bytes a record of recsort FILE' "$work/table" || fail "no target"
[ "$(wc -L <"$work/table")" -le 80 ] || fail "the table is too wide"

set -- --suite entity --count 100 --repeat 1
if command -v gnuplot >"$work/out"; then
  "$recbench" "$@" --svg "$work/svg" >"$work/out" || fail "no picture"
  "$python" -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' "$work/svg" ||
    fail "the picture is no XML"
fi
mkdir "$work/empty"
PATH=$work/empty "$recbench" "$@" --svg "$work/none" >"$work/out" 2>"$work/err"
[ $? -eq 2 ] || fail "drawn without gnuplot"
grep -q '^recbench: gnuplot is needed' "$work/err" || fail "gnuplot is not asked for"
[ ! -e "$work/none" ] || fail "half a picture is left"

"$recbench" --list | grep -q '^cpu: ' || fail "--list"
"$recbench" --version | grep -q '^recbench [0-9]' || fail "--version"
[ "$("$recbench" --help | wc -l)" -le 24 ] || fail "--help is too long"
[ "$("$recbench" --help | wc -L)" -le 80 ] || fail "--help is too wide"

refused "'nothing'" --suite nothing
refused "'0'" --count 0
refused "'20000000000000000000'" --count 20000000000000000000
refused "'17179869184G'" --count 17179869184G
refused "'f31'" --record f31
refused "more than 6" --distribution few,few,few,few,few,few,few
refused "'x'" --threads 1,x
refused "''" --threads ''
refused "--repeat" --repeat 0
refused "'absent'" --plugin absent
refused "unexpected" file
refused "absent" --suite file --folder "$work/absent" --size 1K
refused "absent" --suite file --folder "$work/folder" --recsort "$work/absent" --size 1K
refused "json" "$@" --json "$work/absent/json"
[ "$(ls -A "$work/folder")" = "" ] || fail "files are left after a failure"

# A plugin whose result is a permutation, but a wrong one.
export RECSORT_PLUGIN_PATH="$plugins"
set -- --suite entity --count 100 --repeat 1 --plugin scripted
"$recbench" "$@" >"$work/out" || fail "the plugin does not sort"
export RECSORT_TEST_SCRIPT=sort-unsorted
refused "wrong result" "$@"
exit 0
