#!/bin/sh
# Usage: tools/test.sh [CONFIGURATION...]
# Installs what is missing, builds and tests. The configurations, all of them by default, each in
# build/test/NAME, with warnings as errors:
#   gcc, clang                       as released
#   gcc-sanitize, clang-sanitize     debug, with the address and undefined behaviour sanitizers
set -eu
cd "$(dirname "$0")/.."
all='gcc clang gcc-sanitize clang-sanitize'

for name in "$@"; do
  case " $all " in
    *" $name "*) ;;
    *) sed -n '2,6s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
  esac
done
[ $# -gt 0 ] || set -- $all

tools/setup.sh test
mkdir -p build/test
jobs=$(nproc)
summary=build/test/summary
: > $summary
# What clang's OpenMP keeps for its threads is no leak of ours.
echo 'leak:libomp' > build/test/leaks
export LSAN_OPTIONS="suppressions=$PWD/build/test/leaks:print_suppressions=0"

configure() { # NAME
  case $1 in
    gcc*) compilers='-DCMAKE_C_COMPILER=gcc -DCMAKE_CXX_COMPILER=g++' ;;
    clang*) compilers='-DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++' ;;
  esac
  case $1 in
    *-sanitize) kind='-DCMAKE_BUILD_TYPE=Debug -DRECSORT_SANITIZE=address,undefined' ;;
    *) kind='-DCMAKE_BUILD_TYPE=Release' ;;
  esac
  # Unquoted: each is several words.
  cmake -S . -B "build/test/$1" -G Ninja -DRECSORT_WERROR=ON $compilers $kind
}

# Builds and tests one configuration; its line in the summary is that of ctest, or says what failed.
run() { # NAME
  folder=build/test/$1
  start=$(date +%s)
  echo "==== $1"
  if ! configure "$1" > $folder.log 2>&1; then
    cat $folder.log
    result='could not be configured'
  elif ! cmake --build $folder --parallel "$jobs" > $folder.log 2>&1; then
    cat $folder.log
    result='could not be built'
  else
    ctest --test-dir $folder --output-on-failure --parallel "$jobs" 2>&1 | tee $folder.log
    result=$(grep '% tests passed' $folder.log || echo 'could not be tested')
  fi
  echo "$1: $result ($(($(date +%s) - start)) s)" >> $summary
}

for name in "$@"; do run "$name"; done

echo
echo '==== Summary'
cat $summary
# The sum, in ctest's own words; it fails if a test failed or a configuration never got to its tests.
awk '/ tests? failed out of / { failed += $5; total += $(NF - 2); next } { broken++ }
  END {
    if (broken) printf "%d configurations were not tested\n", broken
    share = total ? int(100 * (total - failed) / total) : 0
    printf "%d%% tests passed, %d tests failed out of %d\n", share, failed, total
    exit failed || broken || !total
  }' $summary
