#!/bin/sh
# Usage: tools/test.sh [all | CONFIGURATION...]
# Installs what is missing, builds and tests, each configuration in a folder of build/test.
# Without a word it is the gate, about twenty minutes on two processors: gcc, sanitize and threads, without
# the tests that have the label "long", and without what needs nvcc or MPI. With "all" it is every
# configuration, with every test; with names, these configurations:
#   gcc, clang            as released; gcc builds everything, clang also fuzzes
#   sanitize              by gcc with assertions, the address and undefined behaviour sanitizers
#   threads               by clang with the thread and undefined behaviour sanitizers
#   arm64, big-endian     for other processors, run by an emulator: what depends on them
#   musl, windows         the library with another C library, and for Windows, run by Wine
#   coverage              which of the library's branches the tests take; fails below a floor
set -eu
cd "$(dirname "$0")/.."
every='gcc sanitize clang coverage threads arm64 big-endian musl windows'

gate=
case $*: in
  :) gate=yes; set -- gcc sanitize threads ;;
  all:) set -- $every ;;
esac
for name in "$@"; do
  case " $every " in
    *" $name "*) ;;
    *) sed -n '2,13s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
  esac
done

if [ "$gate" ]; then tools/setup.sh gate; else tools/setup.sh test; fi
mkdir -p build/test
jobs=$(nproc)
# How nvcc compiles what nothing here runs. This takes the least time: code that is not optimized at
# all is so long that the assembler takes more.
export CUDAFLAGS='-Xcicc=-O1 -Xptxas=-O0'
summary=build/test/summary
: > $summary

folder() { echo "build/test/${gate:+gate-}$1"; }

foreign() { # NAME TRIPLET
  tests/foreign/fetch.sh "$2" "build/test/$1-root" &&
    cmake -S . -B "$(folder "$1")" -G Ninja -DRECSORT_WERROR=ON -DCMAKE_BUILD_TYPE=Release \
      --toolchain tests/foreign/toolchain.cmake -DRECSORT_TRIPLET="$2" \
      -DRECSORT_ROOT="$PWD/build/test/$1-root"
}

configure() { # NAME
  case $1 in
    arm64) foreign "$1" aarch64-linux-gnu; return ;;
    big-endian) foreign "$1" s390x-linux-gnu; return ;;
    musl) foreign "$1" x86_64-linux-musl; return ;;
    windows) foreign "$1" x86_64-w64-mingw32; return ;;
    clang | threads) compilers='-DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++' ;;
    *) compilers='-DCMAKE_C_COMPILER=gcc -DCMAKE_CXX_COMPILER=g++' ;;
  esac
  # nvcc compiles the same plugin in all configurations. So one builds it, for one GPU, and checks
  # that it compiles for the oldest; code for every GPU would take minutes. It also builds what needs
  # MPI, and makes the Debian packages, which install in /usr.
  case $1$gate in
    gcc) compilers="$compilers -DRECSORT_CUDA_ARCHITECTURES=90 -DCMAKE_INSTALL_PREFIX=/usr" ;;
    *) compilers="$compilers -DCMAKE_CUDA_COMPILER=NOTFOUND -DRECSORT_MPI=OFF" ;;
  esac
  # With -O1, tests of sanitized code are twice as fast and find as much.
  case $1 in
    clang) kind='-DCMAKE_BUILD_TYPE=Release -DRECSORT_FUZZ_SECONDS=20' ;;
    # gcc gives false warnings in code that it sanitizes.
    sanitize) kind='-DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O1 -DRECSORT_SANITIZE=address,undefined -DRECSORT_WERROR=OFF' ;;
    threads) kind='-DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O1 -DRECSORT_SANITIZE=thread,undefined' ;;
    coverage) kind='-DCMAKE_BUILD_TYPE=Debug -DRECSORT_COVERAGE=ON' ;;
    *) kind='-DCMAKE_BUILD_TYPE=Release' ;;
  esac
  # Unquoted: each is several words. Without flags of a release nvcc leaves the host code as it is.
  cmake -S . -B "$(folder "$1")" -G Ninja -DRECSORT_WERROR=ON -DCMAKE_CUDA_FLAGS_RELEASE= $compilers $kind
}

# What a configuration builds, as words for cmake: all, or what the tests that it runs need.
targets() { # NAME
  library='unit tests/threads/all tests/conformance/all tests/faults/all'
  case $1$gate in
    threads*) echo "$library tests/files/all recsort recgen" ;;
    coverage) echo "$library tests/schema/all tests/cuda/all tests/fuzz/all" ;;
    sanitizeyes) echo "$library tests/files/all tests/schema/all tests/cuda/all tests/fuzz/all tools/all" ;;
    *) echo all ;;
  esac
}

# Which tests a configuration runs, as words for ctest. gcc runs all.
chosen() { # NAME
  case $1$gate in
    gccyes) echo '-LE ^long$' ;;
    # The library on hostile input, with failing memory, and through the plugin's host code.
    sanitizeyes) echo '-R ^(unit|schema|threads|files|faults\.hook|fuzz|cuda\.(devices|failures|merges|pairs)|cli\.(input|output)) -LE ^long$' ;;
    threadsyes) echo '-R ^(unit\.test_(base|buckets|merge|merging|permute|run_merge|sorter)|threads\.(pool|tasks)|files\.(file|random\.15)|conformance\.few|faults\.hook)$' ;;
    # What depends on the compiler: not kernels, which clang only compiles for its warnings; nor
    # how commands take options and deal with the system; nor processors without AVX; nor clang-tidy.
    clang) echo '-E ^(emulation|law\.tidy|cuda|bench|no-avx|conformance\.plain|cli\.(input|options|output|robust|tmpfs)|real\.readers)|disk' ;;
    # Not those that run no compiled code, trace calls and send signals, or depend on the kind of disk.
    sanitize) echo '-E ^(cli\.robust|cpp\.refused|law|promises|readme\.(figures|pages))|tmpfs|disk' ;;
    # Not two that run on one thread, mostly.
    threads) echo '-R ^(unit|threads\.(pool|tasks)|files|conformance\.few|faults\.hook) -E ^unit\.test_(budget|runs)$|disk' ;;
    coverage) echo '-R ^(unit|schema|faults|threads|cuda\.(devices|merges|pairs|resident|shards)|fuzz|conformance\.few|no-avx|coverage)' ;;
  esac
}

# Builds one configuration. What fails is kept in a file for `examine`.
prepare() { # NAME
  to=$(folder "$1")
  start=$(date +%s)
  rm -f "$to.broken"
  if ! configure "$1" > "$to.log" 2>&1; then
    echo 'could not be configured' > "$to.broken"
  elif ! cmake --build "$to" --parallel "$jobs" --target $(targets "$1") > "$to.log" 2>&1; then
    echo 'could not be built' > "$to.broken"
  fi
  echo $(($(date +%s) - start)) > "$to.seconds"
}

# Tests it. Its line in the summary is ctest's, or says what failed.
examine() { # NAME
  at=$(folder "$1")
  began=$(date +%s)
  echo "==== $1"
  if [ -e "$at.broken" ]; then
    cat "$at.log"
    result=$(cat "$at.broken")
  else
    # Unquoted: several words, or none.
    ctest --test-dir "$at" --output-on-failure --parallel $((jobs + 1)) $(chosen "$1") 2>&1 |
      tee "$at.log"
    result=$(grep '% tests passed' "$at.log" || echo 'could not be tested')
  fi
  echo "$1: $result ($(($(date +%s) - began + $(cat "$at.seconds"))) s)" >> $summary
}

# While a configuration is tested the next one is built, and one test more runs than there are
# processors: tests also wait, for the network and for disks.
trap 'kill 0' INT
prepare "$1"
while [ $# -gt 0 ]; do
  [ $# = 1 ] || prepare "$2" &
  examine "$1"
  wait
  shift
done

echo
echo '==== Summary'
cat $summary
# The summary. Fails if a test failed or a configuration did not get to its tests.
awk '/ tests? failed out of / { failed += $5; total += $(NF - 2); next } { broken++ }
  END {
    if (broken) printf "%d configurations were not tested\n", broken
    share = total ? int(100 * (total - failed) / total) : 0
    printf "%d%% tests passed, %d tests failed out of %d\n", share, failed, total
    exit failed || broken || !total
  }' $summary
