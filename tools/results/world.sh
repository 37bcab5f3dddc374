#!/bin/sh
# Usage: tools/results/world.sh [SEEDS]
# Sorts of MPI, and on a stand-in for Ray, in a world that misbehaves: tests/world by 10,000 seeds or SEEDS, and
# tests/python/test_world.py by a twentieth of them. Builds a Release and writes tools/results/world.txt. PYTHON has NumPy,
# PyArrow and pytest. Exit status: 0 all held.
set -eu
results=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$results/../.." && pwd)
build=${BUILD:-$source/build-world}
seeds=${1:-10000}
failed=0

cmake -S "$source" -B "$build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_CUDA_COMPILER=NOTFOUND -DRECSORT_MPI=OFF >/dev/null
cmake --build "$build" --parallel --target world recsort_shared >/dev/null

work=$(mktemp -d)
new=$(mktemp "$results/.world-XXXXXX")
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
ray() {
  mkdir "$work/lib"
  ln -s "$build/core/librecsort.so" "$work/lib/librecsort.so.1"
  LD_LIBRARY_PATH=$work/lib PYTHONPATH=$source/tools/python/src PYTHONDONTWRITEBYTECODE=1 \
    RECSORT_WORLD_SEEDS=$((seeds / 20)) "${PYTHON:-python3}" -m pytest -q -s -p no:cacheprovider \
    --basetemp="$work/pytest" "$source/tests/python/test_world.py"
}

version=$(git -C "$source" describe --always --dirty)
cpu=$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1)
say "commit $version, $(date -u +%Y-%m-%d)"
say "${cpu:-$(uname -m)}, $(nproc) cores, Linux $(uname -r | cut -d. -f1,2), load $(cut -d' ' -f1 /proc/loadavg)"
say "$(cc --version | head -n 1), Release"
step "MPI: seeds 0 to $((seeds - 1))" "$build/tests/world/world" --seeds 0 "$seeds"
step "Ray, a stand-in: seeds 0 to $((seeds / 20 - 1)), each in the weather alone, with a fault, and that again" ray
chmod 644 "$new"
mv "$new" "$results/world.txt"
exit $failed
