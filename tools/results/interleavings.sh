#!/bin/sh
# Usage: tools/results/interleavings.sh
# Explores the protocols between threads in all orders, and with each memory order weakened and each
# lock, fence and signal left out. Builds a Release and writes tools/results/interleavings.txt. Exit
# status: 0 if the code never fails and the mutants that survive are those of
# tests/interleave/survivors.tsv.
set -eu
results=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$results/../.." && pwd)
build=${BUILD:-$source/build-interleavings}
failed=0

cmake -S "$source" -B "$build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_CUDA_COMPILER=NOTFOUND \
  -DRECSORT_TESTS=ON >/dev/null
cmake --build "$build" --target interleave >/dev/null

new=$(mktemp "$results/.interleavings-XXXXXX")
trap 'rm -f "$new"' EXIT
trap 'exit 2' HUP INT TERM
cd "$source" # whose files the program reads
{
  echo "commit $(git describe --always --dirty), $(date -u +%Y-%m-%d)"
  echo "$(cc --version | head -n 1), Release"
  echo
  "$build/tests/interleave/interleave" --all || failed=1
  "$build/tests/interleave/interleave" --mutants tests/interleave/survivors.tsv || failed=1
} >"$new"
chmod 644 "$new"
mv "$new" "$results/interleavings.txt"
exit $failed
