#!/bin/sh
# Usage: bench.sh MPI-BENCH [RANKS INPUT...]
# Runs mpi-bench with 2^22 Entities a rank and prints the machine and the tables: random input for 1
# to 16 ranks, other inputs for 16. Or only what is named. recsort has the threads that recsort-mpi
# takes. In the environment: MPIRUN, mpirun and its options; EACH, how many seconds a contestant has;
# SIZE, the logarithm of the Entities of a rank.
set -eu
bench=$1
shift
mpirun=${MPIRUN:-mpirun --use-hwthread-cpus --bind-to none}

run() { # RANKS INPUT...
  ranks=$1
  shift
  threads=$(($(nproc) / ranks))
  # Unquoted: it is several words.
  $mpirun -n "$ranks" "$bench" $((threads > 1 ? threads : 1)) "${EACH:-1}" "${SIZE:-22}" "$@"
}

echo "CPU      $(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1), $(nproc) processors"
echo "kernel   $(uname -sr)"
echo "date     $(date -u +%Y-%m-%dT%H:%M:%SZ)"
$mpirun -n 1 "$bench" --versions
echo "bench    tools/bench/mpi; median, least and most time, rounds, and times recsort's"
if [ $# -gt 0 ]; then
  run "$@"
else
  for ranks in 1 2 4 8 16; do
    run $ranks random
  done
  run 16 sorted nearly equal
fi
