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
  [ "$(wc -l <"$work/err")" -eq 1 ] || fail "$*: more than a line: $(cat "$work/err")"
}

mkdir "$work/folder"
set -- --suite all --count 1000 --threads 1,3 --repeat 3 --size 64K
"$recbench" "$@" --recsort "$recsort" --folder "$work/folder" --json "$work/json" --svg "$work/svg" \
  >"$work/table" || fail "the run failed"
"$python" "$here/check.py" "$work/json" "$work/svg" || fail "the JSON or the picture is not as it should be"
[ "$(ls -A "$work/folder")" = "" ] || fail "files are left in the folder"
grep -q '^keys: key128, random, 1000 records of 32 bytes$' "$work/table" || fail "no table"
grep -q 'extra bytes a record of recsort FILE' "$work/table" || fail "no target"
[ "$(wc -L <"$work/table")" -le 80 ] || fail "the table is too wide"

set -- --suite entity --count 17 --repeat 1
"$recbench" "$@" --algorithm all >"$work/table" || fail "the run of every algorithm failed"
for algorithm in parallel sequential; do
  grep -q "^  recsort cpu/$algorithm, first  *1 " "$work/table" || fail "no $algorithm"
done
"$recbench" --suite threads --repeat 1 >"$work/table" || fail "the suite threads failed"
for line in 'sort alone: median' 'sort beside a busy process on each processor: median'; do
  grep -q "^$line" "$work/table" || fail "no line: $line"
done
"$recbench" --suite head --count 1000,101 --repeat 2 --threads 1 >"$work/table" || fail "the suite head failed"
for line in 'recsort cpu/parallel, head 100 ' 'std::partial_sort, head 1 '; do
  grep -q "^  $line" "$work/table" || fail "no line: $line"
done
"$recbench" --suite peers --record entity,key32,key128 --distribution random --count 1000,9000 --repeat 2 --threads 1,2 >"$work/table" || fail "the suite peers failed"
[ "$(grep -c '^  packed, LSD radix ' "$work/table")" -eq 12 ] || fail "peers are left out"
"$recbench" --suite entity --against="$recbench" --count 1000 --repeat 1 >"$work/table" || fail "--against failed"
grep -q '^std::stable_sort: geometric mean [0-9.]*, from' "$work/table" || fail "no ratio of two builds"

# The suites of another program, for which a script stands in.
mkdir "$work/bench"
cp "$recbench" "${recbench%/*}/charts.py" "$work/bench"
ln -s "${recbench%/*}/recbench-sorts" "$work/bench/recbench-sorts"
cp "$here/fake_gpu.py" "$work/bench/recbench-gpu"
for suite in pairs resident top segments shards; do
  "$work/bench/recbench" --suite $suite --plugin cpu --algorithm all --repeat 2 >"$work/table" || fail "the suite $suite failed"
  grep -q '^  recsort .*, graph   *1.000     1.000     1.000   1.00$' "$work/table" || fail "$suite: no contender"
  grep -q '^  cub::Sort   *2.000     2.000     2.000   0.50$' "$work/table" || fail "$suite: no peer"
done
grep -q '^shards: entity, skewed, 134217728 records of 8 bytes, 4 on 4$' "$work/table" || fail "not so many shards"
driver=$recbench recbench=$work/bench/recbench
export FAKE_WRONG=cub::Sort
refused "wrong result: cub::Sort" --suite top --plugin cpu
rm "$work/bench/recbench-gpu"
refused "recbench-gpu is not there" --suite top --plugin cpu
refused "cannot be used here" --suite top
recbench=$driver

"$recbench" --list | grep -q '^cpu: ' || fail "--list"
"$recbench" --version | grep -q '^recbench [0-9]' || fail "--version"
[ "$("$recbench" --help | wc -l)" -le 24 ] || fail "--help is too long"
[ "$("$recbench" --help | wc -L)" -le 80 ] || fail "--help is too wide"

refused "'nothing'" --suite nothing
refused "'0'" --count 0
refused "'20000000000000000000'" --count 20000000000000000000
refused "'17179869184G'" --count 17179869184G
refused "too many" --suite entity --count 17179869183G
refused "'f31'" --record f31
refused "'1,x'" --threads 1,x
refused "''" --threads ''
refused "--repeat" --repeat 0
refused "'absent'" --plugin absent
refused "arguments: file" file
refused "absent" --suite file --folder "$work/absent" --size 1K
refused "absent" --suite file --folder "$work/folder" --recsort "$work/absent" --size 1K
refused "json" "$@" --json "$work/absent/json"
refused "a record" --suite file --size 19
refused "No space" "$@" --json /dev/full
[ "$(ls -A "$work/folder")" = "" ] || fail "files are left after a failure"

# A signal ends it, and removes its files.
"$recbench" --suite file --folder "$work/folder" --recsort "$recsort" --size 16M >"$work/out" 2>&1 &
until [ "$(ls -A "$work/folder")" != "" ]; do sleep 0.05; done
kill $!
wait $!
[ $? -gt 128 ] || fail "the signal did not end it"
[ "$(ls -A "$work/folder")" = "" ] || fail "files are left after a signal"

# A plugin whose result is a permutation, but a wrong one.
export RECSORT_PLUGIN_PATH="$plugins"
"$recbench" "$@" --plugin scripted >"$work/out" || fail "the plugin does not sort"
export RECSORT_TEST_SCRIPT=sort-unsorted
refused "wrong result" "$@" --plugin scripted

# A command whose output is wrong.
printf '#!/bin/sh\nfor word do [ "$last" = -o ] && out=$word; last=$word; done\n[ -z "$out" ] || cp "$last" "$out"\n' \
  >"$work/copies"
chmod +x "$work/copies"
unset RECSORT_PLUGIN_PATH
refused "wrong result: .*output" --suite file --folder "$work/folder" --recsort "$work/copies" --size 64K --repeat 1
exit 0
