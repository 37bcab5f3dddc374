#!/bin/sh
# Measures recsort on this machine: builds a Release, runs recbench, and writes its tables beside this
# script. Options are passed on to recbench. Then run performance.py.
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

# The old file is replaced only when the new one is complete.
new=$(mktemp "$results/.new-XXXXXX")
trap 'rm -f "$new"' EXIT
trap 'exit 2' HUP INT TERM
"$build/tools/bench/recbench" --suite all "$@" >"$new"
cat "$new"
chmod 644 "$new"
mv "$new" "$results/$slug.txt"
echo "wrote $results/$slug.txt"
