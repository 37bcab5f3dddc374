#!/bin/sh
# Usage: tests/fuzz/run.sh SECONDS [TARGET...]
# The long form of the fuzz tests: runs the targets schema, sort, key, options and npy, or those named,
# one after the other, each in one process. Builds them with clang in build/fuzz. New inputs go to
# build/fuzz/found; a minimal set of them that covers the same code joins the corpus, and
# tests/fuzz/results.txt records the run. Fails, and shows the input, if a target fails.
set -eu
[ $# -gt 0 ] || { sed -n '2,6s/^# \{0,1\}//p' "$0" >&2; exit 2; }
seconds=$1
shift
[ $# -gt 0 ] || set -- schema sort key options npy
cd "$(dirname "$0")/../.."
build=$PWD/build/fuzz
export LSAN_OPTIONS="suppressions=$build/leaks:print_suppressions=0"
targets=$(printf 'fuzz_%s ' "$@")

# Unquoted: each is several words.
cmake -S . -B "$build" -G Ninja -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ \
  -DCMAKE_CUDA_COMPILER=NOTFOUND > /dev/null
cmake --build "$build" --target $targets > /dev/null
echo 'leak:libomp' > "$build/leaks"

# The edges that the inputs in a folder cover.
edges() { # PROGRAM FOLDER
  "$1" -runs=0 "$2" 2>&1 | sed -n 's/.*INITED cov: \([0-9]*\).*/\1/p'
}

fuzz() { # TARGET
  program=$build/tests/fuzz/fuzz_$1 corpus=$build/corpus/$1
  found=$build/found/$1 least=$build/least/$1 faults=$build/faults/$1
  mkdir -p "$found" "$faults"
  rm -rf "$least" "$corpus"
  mkdir -p "$least" "$corpus"
  tar -xzf "tests/fuzz/corpus/$1.tar.gz" -C "$corpus"
  before=$(edges "$program" "$corpus")
  status=0
  nice "$program" -max_total_time="$seconds" -timeout=10 -max_len=4096 -rss_limit_mb=4096 \
    -print_final_stats=1 -artifact_prefix="$faults/" "$found" "$corpus" > "$build/$1.log" 2>&1 ||
    status=$?
  "$program" -set_cover_merge=1 -use_counters=0 "$least" "$corpus" "$found" > /dev/null 2>&1
  for input in "$least"/*; do # existing ones keep their names
    same=no
    for kept in "$corpus"/*; do cmp -s "$input" "$kept" && same=yes && break; done
    [ $same = yes ] || cp "$input" "$corpus/"
  done
  tests/fuzz/pack.sh "$1" "$corpus"
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$build/$1.log")
  echo "$1: $runs inputs in $seconds s, exit status $status; the kept corpus took $before edges," \
    "now $(edges "$program" "$corpus") by $(ls "$corpus" | wc -l) inputs of $(cat "$corpus"/* | wc -c) bytes"
  [ $status = 0 ] || tail -n 30 "$build/$1.log" >&2
  return $status
}

failed=0
{
  echo "$(date -u +%Y-%m-%d), $(clang --version | head -n 1)"
  for target in "$@"; do fuzz "$target" || failed=1; done
} > "$build/results"
cat "$build/results"
cp "$build/results" tests/fuzz/results.txt
exit $failed
