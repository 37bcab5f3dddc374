#!/bin/sh
# Usage: run.sh CPUBENCH COMMIT > RESULT
# Runs cpubench for each size, order, key and number of threads that docs/cpu-sort.md has figures of.
# COMMIT is the one that the library was built from. Takes about eight minutes with 16 processors.
set -eu
bench=$1 all=$(nproc)
printf 'CPU      %s, %s processors\n' "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)" "$all"
printf 'kernel   %s\n' "$(uname -sr)"
printf 'date     %s\n' "$(date -u +%FT%TZ)"
printf 'recsort  commit %s\n' "$2"
printf 'bench    tools/bench/cpu, each result compared with std::stable_sort, turns in another order each round,\n'
printf '         least times; the second column is the time beside that of recsort_sort\n\n'

hold() { # THREADS SECONDS BITS ORDERS SIZES
  for order in $4; do
    for size in $5; do "$bench" "$1" "$2" /dev/null "$size" "$order" "$3"; done
  done
}

hold 1 2 32 'random few nearly' '100 2^7 2^10 2^14 2^17 2^20 2^22'
hold 1 8 32 random 2^24
[ "$all" -le 2 ] || hold 2 2 32 random '2^14 2^17 2^20 2^22'
hold "$all" 2 32 'random few nearly' '2^14 2^17 2^20 2^22'
hold "$all" 8 32 random 2^24
for bits in 64 128; do
  hold 1 2 $bits 'random few nearly' 2^20
  hold "$all" 2 $bits 'random few nearly' 2^20
  hold "$all" 8 $bits random 2^24
done
