#!/bin/sh
# Usage: tools/results/soak.sh
# The long forms of tests whose short forms run in every test run: a million frames of a program
# that embeds the library (T15), thousands of kills (T6), power cuts with many choices of the data
# that is lost. Builds a Release and writes tools/results/soak.txt. Exit status: 0 all held.
set -eu
results=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$results/../.." && pwd)
build=${BUILD:-$source/build-soak}
failed=0

cmake -S "$source" -B "$build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_CUDA_COMPILER=NOTFOUND >/dev/null
cmake --build "$build" --parallel \
  --target soak unload crash crash_shim plugin_scripted recsort recgen reccat >/dev/null

work=$(mktemp -d)
new=$(mktemp "$results/.soak-XXXXXX")
trap 'rm -rf "$work" "$new"' EXIT
trap 'exit 2' HUP INT TERM

# The old file is replaced only when the new one is complete.
say() { echo "$*" | tee -a "$new"; }
step() { # TITLE COMMAND...
  say
  say "$1"
  shift
  start=$(date +%s)
  if "$@" >"$work/out" 2>&1; then held=held; else held="FAILED, status $?" failed=1; fi
  sed 's/^/  /' "$work/out" | tee -a "$new"
  say "  $held, after $(($(date +%s) - start)) s"
}
kills() {
  mkdir "$work/kills"
  cd "$work/kills"
  PATH=$build/tools:$source/tests/cli/support:$PATH SCHEMAS=$source/schemas \
    PYTHONDONTWRITEBYTECODE=1 kill-sort 5000 >"$work/kill.out"
  cat note
  echo
  cat "$work/kill.out"
  # what the test `kill` expects
  sed -n '/^==== kill$/,/^$/{/^==== /,/^---- stdout$/d;/^$/d;p}' "$source/tests/cli/robust/replacing.test" |
    cmp - "$work/kill.out"
}

version=$(git -C "$source" describe --always --dirty)
cpu=$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1)
say "commit $version, $(date -u +%Y-%m-%d)"
say "${cpu:-$(uname -m)}, $(nproc) cores, Linux $(uname -r | cut -d. -f1,2)"
say "$(cc --version | head -n 1), Release"
step 'A million frames, 10^4 sorters and schemas, threads that end; then four leaks on purpose' \
  "$build/tests/soak/soak" 1000000
step 'The library loaded and unloaded 2000 times' \
  "$build/tests/threads/unload" "$build/core/librecsort.so" 2000
step 'SIGKILL at 5000 instants of a sort that replaces its input' kills
step 'Power cuts: of each instant, with all, none and 20 choices of the blocks that were not flushed' \
  "$build/tests/crash/crash" "$build/tools/recsort" "$source/schemas/entity.yaml" \
  "$build/tests/crash/libcrash_shim.so" 20
chmod 644 "$new"
mv "$new" "$results/soak.txt"
exit $failed
