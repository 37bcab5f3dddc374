#!/bin/sh
# Usage: tools/gpu-check.sh [OPTION]...
# Checks and measures the CUDA plugin on this machine's GPU. Writes tools/results/GPU.txt, with the
# machine, every check and the medians.
#   --build DIR      use what is built there, here or elsewhere; else it is built, with nvcc
#   --packages DIR   Debian packages that are not installed, unpacked by dpkg -x; repeatable
#   --only STEP      conformance, files, sanitizers, device (tests of records and pairs in its memory, and of
#                    recsort.cuh),
#                    exhaustive (all orderings of up to 8 elements by all kernels; 7 with --quick),
#                    device-sanitizers (the same with few), shards (tests of records on several
#                    devices, and how their throughput grows, where the time goes, and other sorts), soak (100,000 frames of such sorts),
#                    benchmark (data on the device), records (data of the host), verify and checked
#                    (what it costs to check results of the host's data, and of the device's) or large;
#                    repeatable; else all but large, which sorts more than 2^32 records in the host's
#                    memory, of which it takes up to 100 GiB
#   --quick          the benchmark with fewer counts
#   --name NAME      write GPU-NAME.txt
#   --output DIR     in place of tools/results
#   --append         add to the text that is there
#   --collect DIR    only copy what these steps need of a build, and its libraries, to DIR; then, on
#                    another machine: --build DIR --packages DIR/packages
# Exit status: 0 all is right, 1 something is not, 2 it could not be run.
set -eu

source=$(cd "$(dirname "$0")/.." && pwd)
build='' packages='' only='' quick='' name='' append='' collect='' failed=0
output=$source/tools/results

fail() { echo "gpu-check.sh: $*" >&2; exit 2; }
usage() { sed -n '2,23s/^# \{0,1\}//p' "$0"; exit "$1"; }
folder() { (cd "$1" 2> /dev/null && pwd) || fail "$1 is no folder"; }

while [ $# -gt 0 ]; do
  case $1 in
    --build | --packages | --only | --name | --output | --collect) [ $# -gt 1 ] || usage 2 >&2 ;;
  esac
  case $1 in
    --build) build=$(folder "$2"); shift ;;
    --packages) packages="$packages $(folder "$2")"; shift ;;
    --only) only="$only $2"; shift ;;
    --name) name=-$2; shift ;;
    --output) mkdir -p "$2"; output=$(folder "$2"); shift ;;
    --collect) mkdir -p "$2"; collect=$(folder "$2"); shift ;;
    --quick) quick=--quick ;;
    --append) append=yes ;;
    --help) usage 0 ;;
    *) usage 2 >&2 ;;
  esac
  shift
done
for step in $only; do
  case $step in conformance | files | sanitizers | device | exhaustive | device-sanitizers | shards | soak | benchmark | records | verify | checked | large) ;; *) usage 2 >&2 ;; esac
done
wanted() { case " ${only:-$1} " in *" $1 "*) ;; *) return 1 ;; esac; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM

# ---- Libraries and programs ----

# Collects everything that was unpacked in one folder, which stands for the root folder.
use_packages() {
  mkdir "$work/root"
  for each in $packages; do cp -a "$each/." "$work/root"; done
  for libraries in "$work"/root/usr/lib/*-linux-gnu "$work/root/usr/lib"; do
    LD_LIBRARY_PATH=$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    LIBRARY_PATH=$libraries${LIBRARY_PATH:+:$LIBRARY_PATH}
    PKG_CONFIG_PATH=$libraries/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
  done
  export LD_LIBRARY_PATH LIBRARY_PATH PKG_CONFIG_PATH
  export PATH="$PATH:$work/root/usr/bin" PKG_CONFIG_SYSROOT_DIR="$work/root"
}

build_here() {
  command -v nvcc > /dev/null || fail "there is no nvcc; give a build by --build"
  cmake -S "$source" -B "$source/build-gpu" -DCMAKE_BUILD_TYPE=Release >&2
  cmake --build "$source/build-gpu" --parallel --target all recbench-gpu device-check pairs-check shards-check shards-random kernels-check header-check header-examples header-both device-soak >&2
  build=$source/build-gpu
}

[ -z "$packages" ] || use_packages
export PATH="$PATH:/usr/local/cuda/bin"
[ -n "$build" ] || build_here
LD_LIBRARY_PATH=$build/core${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH RECSORT_PLUGIN_PATH="$build/plugins/cuda"
export OMP_WAIT_POLICY=passive # several programs run at the same time
device_programs='tests/gpu/device-check tests/gpu/pairs-check tests/gpu/header-check tests/gpu/header-examples
  tests/gpu/header-both tests/gpu/device-soak'
bench='tools/bench/recbench tools/bench/charts.py tools/bench/recbench-sorts tools/bench/recbench-gpu'
shard_programs="tests/gpu/shards-check tests/gpu/shards-random $bench"
programs=
for step in ${only:-all}; do
  case $step in
    device | device-sanitizers | soak) programs="$programs $device_programs" ;;
    exhaustive) programs="$programs tests/gpu/kernels-check" ;;
    shards) programs="$programs $shard_programs" ;;
    *) programs="$device_programs $shard_programs tests/gpu/kernels-check tests/conformance/conformance tools/recsort tools/recgen
      tests/large/many_records" ;;
  esac
done
for program in $programs; do
  [ -e "$build/$program" ] || fail "$build/$program is not there"
done

# Other sorts of several devices, if they were built.
peers=$(cd "$build" && ls tools/bench/libshard-peers.so 2> /dev/null || true)

describe_build() {
  cat "$build/commit" 2> /dev/null && return
  flags=$(sed -n 's/^CMAKE_CUDA_FLAGS:[A-Z]*=//p' "$build/CMakeCache.txt")
  echo "$(git -C "$source" describe --always --dirty)${flags:+, built with $flags}"
}

# Copies the programs, and the libraries that are not part of a base system.
collect_into() { # DIR
  describe_build > "$1/commit"
  (cd "$build" && tar -chf - core/librecsort.so* plugins/cuda/librecsort_cuda.so $programs $peers) |
    tar -xf - -C "$1"
  mkdir -p "$1/packages/usr/lib"
  for program in $programs; do ldd "$build/$program" 2> /dev/null || true; done |
    awk '/ => / && $1 ~ /^lib(yaml|cmocka|cjson|gomp|omp|xxhash|tbb|hwy|atomic|cub-of-headers)/ { print $3 }' | sort -u |
    xargs -I @ cp -L @ "$1/packages/usr/lib"
}
if [ -n "$collect" ]; then collect_into "$collect"; exit 0; fi
recsort="$build/tools/recsort -s $source/schemas/entity.yaml"

# ---- Output ----

say() { echo "$*" | tee -a "$work/text"; }
# Writes the result of a check: its name, its status, and the last line of its log.
judge() { # NAME STATUS LOG
  say "$1: $([ "$2" = 0 ] && echo passed || echo FAILED): $(tail -n 1 "$3")"
  [ "$2" = 0 ] || { failed=1; grep -v '^cuda ' "$3" | head -n 20 | tee -a "$work/text"; }
}

describe_machine() {
  say "GPU      $(nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader | uniq -c | sed 's/^ *1 //; s/^ *//')"
  say "CPU      $(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1), $(nproc) processors"
  say "kernel   $(uname -sr)"
  say "compiler $(nvcc --version 2> /dev/null | tail -n 1 || echo unknown)"
  say "commit   $(describe_build)"
  say "date     $(date -u +%Y-%m-%dT%H:%M:%SZ)"
}

# ---- Steps ----

algorithms() {
  "$build/tools/recsort" --list-plugins |
    awk '/^[^ ]/ { ours = $1 == "cuda" && / score / } ours && /^  [^-]/ && NR > 1 && line++ { print $1 }
         /^[^ ]/ { line = 0 }'
}

# Runs in one process, so that the oracle runs only once for all algorithms.
check_conformance() {
  status=0
  "$build/tests/conformance/conformance" cuda > "$work/log" 2>&1 || status=$?
  judge "conformance of $(echo $names)" "$status" "$work/log"
}

check_file() { # COUNT ALGORITHM [MEMORY]
  status=0
  RECSORT_CUDA_MEMORY=${3-} $recsort --plugin cuda --algorithm "$2" --stats=json "$work/in" \
    -o "$work/out" 2> "$work/log" || status=$?
  [ "$status" = 0 ] && { cmp "$work/out" "$work/expected" >> "$work/log" 2>&1 || status=1; }
  [ "$status" = 0 ] && echo "the bytes of cpu:sequential" > "$work/log"
  judge "file of $1, $2${3:+, in $3 of device memory}" "$status" "$work/log"
}

# Files of entities, also of more than 2^24, must be sorted as the CPU sorts them, byte for byte;
# with the default algorithm also in runs.
check_files() {
  for count in 1 1000003 16777219; do
    "$build/tools/recgen" -s "$source/schemas/entity.yaml" -n "$count" -o "$work/in"
    $recsort --plugin cpu --algorithm sequential "$work/in" -o "$work/expected"
    for algorithm in $names; do check_file $count "$algorithm"; done
  done
  for memory in 250M 60M; do check_file $count sample $memory; done
  rm -f "$work/in" "$work/out" "$work/expected"
}

# A few pairs with every algorithm, and enough for the default to sort them as many.
check_sanitizers() {
  "$build/tools/recgen" -s "$source/schemas/entity.yaml" -n 300001 -o "$work/some"
  for tool in memcheck racecheck initcheck synccheck; do
    (status=0
      compute-sanitizer --tool "$tool" --error-exitcode 9 \
        "$build/tests/conformance/conformance" --few cuda > "$work/$tool.log" 2>&1 || status=$?
      compute-sanitizer --tool "$tool" --error-exitcode 9 \
        "$build/tools/recsort" -s "$source/schemas/entity.yaml" --plugin cuda "$work/some" \
        -o "$work/some.$tool" >> "$work/$tool.log" 2>&1 || status=$?
      echo "$status" > "$work/$tool.status") &
  done
  wait
  for tool in memcheck racecheck initcheck synccheck; do
    judge "$tool" "$(cat "$work/$tool.status")" "$work/$tool.log"
  done
}

check_device() {
  for program in device-check pairs-check header-check header-examples header-both; do
    status=0
    "$build/tests/gpu/$program" > "$work/log" 2>&1 || status=$?
    judge "$program" "$status" "$work/log"
  done
}

# As several processes, since each of them mostly launches kernels, and waits.
check_exhaustive() {
  elements=8
  [ -z "$quick" ] || elements=7
  all='sorts merges moves segments heads few carried'
  for test in $all; do
    (status=0
      "$build/tests/gpu/kernels-check" "$elements" "test_$test" > "$work/$test.log" 2>&1 || status=$?
      echo "$status" > "$work/$test.status") &
  done
  wait
  for test in $all; do
    judge "all orderings, $test" "$(cat "$work/$test.status")" "$work/$test.log"
  done
}

# Without graphs, which the sanitizers do not understand: they look at what is copied before it has
# been computed, and know nothing of the memory that a conditional node reads. A build with
# -DCMAKE_CUDA_FLAGS=-DRECSORT_DECIDES_ON_HOST has no such nodes, but runs their kernels.
# Rows: PROGRAM;MOST-RECORDS;TESTS.
sanitized='device-check;20000;* pairs-check;20000;* device-check;300001;starts_* pairs-check;3000000;leaves_*'
start_sanitizer() { # TOOL PROGRAM MOST TESTS LOG
  status=0
  RECSORT_TEST_STREAM=1 RECSORT_TEST_MOST=$3 RECSORT_TEST_ONLY=$4 timeout 210 \
    compute-sanitizer --tool "$1" --error-exitcode 9 "$build/tests/gpu/$2" > "$5" 2>&1 || status=$?
  echo "$status" > "$5.status"
}
check_device_sanitizers() {
  set -f
  for tool in memcheck racecheck initcheck synccheck; do
    for row in $sanitized; do
      IFS=';'
      start_sanitizer "$tool" $row "$work/$tool-$row.log" &
      unset IFS
    done
  done
  wait
  for tool in memcheck racecheck initcheck synccheck; do
    for row in $sanitized; do
      log="$work/$tool-$row.log"
      judge "$tool of $row" "$(cat "$log.status")" "$log"
    done
  done
  set +f
}

check_shards() {
  status=0
  "$build/tests/gpu/shards-check" > "$work/log" 2>&1 || status=$?
  judge shards-check "$status" "$work/log"
  status=0
  "$build/tests/gpu/shards-random" 500 "$(date +%s)" > "$work/log" 2>&1 || status=$?
  judge shards-random "$status" "$work/log"
  run_recbench --suite shards --repeat 7
  [ -z "$peers" ] || run_recbench --suite shard-peers --repeat 5
  if python3 -c 'import torch' 2> /dev/null; then
    say
    PYTHONPATH=$source/tools/python/src LD_LIBRARY_PATH=$build/core:${LD_LIBRARY_PATH-} \
      python3 -W ignore "$source/tools/results/shard_steps.py" 2-on-1 4-on-1 8-on-1 2-on-2 4-on-2 8-on-2 2>&1 | tee -a "$work/text"
  fi
}

check_soak() {
  status=0
  "$build/tests/gpu/device-soak" 100000 > "$work/log" 2>&1 || status=$?
  tee -a "$work/text" < "$work/log"
  judge soak "$status" "$work/log"
}

# Records of equal bytes: the permutation, and the sorted records.
check_many() { # PLUGIN[:ALGORITHM] COUNT [--wide]
  status=0
  "$build/tests/large/many_records" ${3-} "$1" "$2" > "$work/log" 2>&1 || status=$?
  cat "$work/log"
  judge "$2 records, $1${3:+, of 4 bytes}" "$status" "$work/log"
}

# Unbuffered: lines appear as they are measured.
run_recbench() { # OPTION...
  {
    status=0
    env -u OMP_WAIT_POLICY "$build/tools/bench/recbench" --threads "$(nproc)" "$@" 2>&1 || status=$?
    echo "$status" > "$work/bench.status"
  } | tee -a "$work/text"
  [ "$(cat "$work/bench.status")" = 0 ] || { failed=1; say 'recbench: FAILED'; }
}

# Data in the device's memory.
measure_device() {
  say
  if [ -n "$quick" ]; then counts='--count 1K,128K,1M,16M'; else counts=''; fi
  run_recbench --suite pairs --algorithm all --repeat 9 $counts
  for suite in resident top segments; do run_recbench --suite $suite --repeat 9; done
}

# Records in host memory, and files of them: the GPU beside all processors and the peers.
measure_records() {
  say
  if [ -n "$quick" ]; then count=4M size=256M; else count=16M size=1G; fi
  run_recbench --suite entity --count $count --repeat 9 --plugin all
  run_recbench --suite keys --count 4M --plugin all
  for plugin in cpu cuda; do
    run_recbench --suite file --size $size --folder /dev/shm --plugin $plugin --repeat 3
  done
}

slug=$(nvidia-smi --query-gpu=name --format=csv,noheader 2> /dev/null | head -n 1 |
  tr '[:upper:]' '[:lower:]' | sed 's/[^a-z0-9][^a-z0-9]*/-/g')
[ -n "$slug" ] || fail "nvidia-smi finds no GPU"
if wanted conformance || wanted files || wanted large; then
  names=$(algorithms)
  [ -n "$names" ] || fail "$("$build/tools/recsort" --list-plugins | sed -n '/^cuda/,/refused/p')"
fi
describe_machine
for step in conformance files sanitizers device exhaustive device-sanitizers shards soak; do
  if wanted $step; then check_$(echo $step | tr - _); fi
done
if wanted benchmark; then measure_device; fi
if wanted records; then measure_records; fi
if wanted verify; then
  run_recbench --suite verify --count 16K,128K,1M,4M,16M --repeat 25
fi
if wanted checked; then run_recbench --suite checked --repeat 25; fi
case $only in
  *large*)
    for count in 2^31-1 2^31+1 2^32-1 2^32+1 2^32+2097152; do check_many cuda $count; done
    for algorithm in $names; do
      for count in 2^31+1 2^32+2097152; do check_many "cuda:$algorithm" $count --wide; done
    done
    ;;
esac

[ -z "$append" ] || [ ! -e "$output/$slug$name.txt" ] || cat "$output/$slug$name.txt" > "$work/before"
touch "$work/before"
cat "$work/before" "$work/text" > "$output/$slug$name.txt"
echo "wrote $output/$slug$name.txt"
exit $failed
