#!/bin/sh
# Usage: tools/fuzz.sh HOURS [RESULTS]
# Fuzzes for so many hours, such as 8 or 0.1: each target in turn, on all processors. Builds them by
# tests/fuzz/oss-fuzz/build.sh with clang, AddressSanitizer and UBSan. Inputs are kept in
# build/fuzz/corpus, to go on from there the next time: inputs that cover no further edge are removed.
# tests/fuzz/pack.sh puts them into the repository. Inputs that a target fails with go to
# build/fuzz/crashes; then the exit status is 1. Writes a table to the file RESULTS as well.
# The environment may say BUILD, in place of build/fuzz, and TARGETS, a folder of targets that are built.
set -eu
[ $# = 1 ] || [ $# = 2 ] || { sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
hours=$1
cd "$(dirname "$0")/.."
results=${2:-/dev/null}
build=${BUILD:-$PWD/build/fuzz}
targets=${TARGETS:-$build/targets}
mkdir -p "$build/corpus" "$build/crashes" "$build/logs"

if [ -z "${TARGETS:-}" ]; then
  flags='-O1 -g -fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=all'
  CC=clang CXX=clang++ CFLAGS=$flags CXXFLAGS=$flags LIB_FUZZING_ENGINE=-fsanitize=fuzzer \
    OUT=$targets WORK=$build/work tests/fuzz/oss-fuzz/build.sh
fi
count=$(ls "$targets"/fuzz_*.options | wc -l)
seconds=$(awk "BEGIN { s = int($hours * 3600 / $count); print s < 2 ? 2 : s }")

# The edges that the inputs in a folder cover. Fails if a target does.
edges() { # TARGET FOLDER
  "$targets/$1" -runs=0 "$2" > "$build/logs/$1.edges" 2>&1 || { cat "$build/logs/$1.edges" >&2; return 1; }
  sed -n 's/.*INITED cov: \([0-9]*\).*/\1/p' "$build/logs/$1.edges"
}

fuzz() { # TARGET
  corpus=$build/corpus/$1 crashes=$build/crashes/$1 log=$build/logs/$1
  mkdir -p "$corpus" "$crashes"
  python3 -m zipfile -e "$targets/${1}_seed_corpus.zip" "$corpus"
  dictionary=
  [ ! -e "$targets/$1.dict" ] || dictionary=-dict=$targets/$1.dict
  before=$(edges "$1" "$corpus") || return 1
  status=0
  # Unquoted: nothing, if there is none.
  nice "$targets/$1" -fork="$(nproc)" -max_total_time="$seconds" -timeout=60 -rss_limit_mb=4096 \
    -max_len=4096 -artifact_prefix="$crashes/" $dictionary "$corpus" > "$log" 2>&1 || status=$?
  rm -rf "$corpus.least"
  mkdir "$corpus.least"
  "$targets/$1" -merge=1 "$corpus.least" "$corpus" > "$log.merge" 2>&1 || status=$?
  rm -rf "$corpus"
  mv "$corpus.least" "$corpus"
  after=$(edges "$1" "$corpus") || return 1
  runs=$(sed -n 's/^#\([0-9]*\): cov: .*/\1/p' "$log" | tail -n 1)
  printf '%-14s %12s %8s %8s %8s %8s %8s\n' "$1" "${runs:-0}" "$before" "$after" "$((after - before))" \
    "$(ls "$corpus" | wc -l)" "$(ls "$crashes" | wc -l)"
  for input in "$crashes"/*; do
    [ ! -e "$input" ] || { echo "  $input"; status=1; }
  done
  [ $status = 0 ] || tail -n 30 "$log" >&2
  return $status
}

failed=0
{
  cpu=$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1)
  echo "commit $(git describe --always --dirty), $(date -u +%Y-%m-%d)"
  echo "${cpu:-$(uname -m)}, $(nproc) processors, Linux $(uname -r | cut -d. -f1,2)"
  echo "$(clang --version | head -n 1), -O1, AddressSanitizer and UBSan, libFuzzer"
  echo "$count targets, $seconds seconds each. edges: those that the kept inputs cover, before and after"
  echo
  printf '%-14s %12s %8s %8s %8s %8s %8s\n' target executions edges after growth inputs crashes
  for options in "$targets"/fuzz_*.options; do fuzz "$(basename "$options" .options)" || failed=1; done
} > "$build/results"
cat "$build/results"
[ "$results" = /dev/null ] || cp "$build/results" "$results"
exit $failed
