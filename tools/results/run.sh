#!/bin/sh
# Measures recsort on this machine: builds a Release, runs recbench, and writes the results beside
# this script. Options are passed on to recbench. Then run performance.py.
#   tools/results/run.sh [OPTION]...
set -eu

results=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$results/../.." && pwd)
build=${BUILD:-$source/build-results}

cpu=$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1)
slug=$(printf '%s-%s-cores' "${cpu:-$(uname -m)}" "$(nproc)" |
  tr '[:upper:]' '[:lower:]' | sed 's/[^a-z0-9][^a-z0-9]*/-/g')

cmake -S "$source" -B "$build" -DCMAKE_BUILD_TYPE=Release -DRECSORT_TESTS=OFF
cmake --build "$build" --parallel

# Old files are replaced only when both new ones are complete.
new=$(mktemp -d "$results/.new-XXXXXX")
trap 'rm -rf "$new"' EXIT
trap 'exit 2' HUP INT TERM
"$build/tools/recbench/recbench" --suite all --json "$new/json" "$@" >"$new/txt"
cat "$new/txt"
for kind in json txt; do
  chmod 644 "$new/$kind"
  mv "$new/$kind" "$results/$slug.$kind"
done
echo "wrote $results/$slug.json and .txt"
