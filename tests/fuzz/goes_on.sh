#!/bin/sh
# Usage: goes_on.sh SOURCE-FOLDER BUILD-FOLDER
# Builds the targets as OSS-Fuzz does, with clang and its libFuzzer for the engine, and runs each over
# its seed corpus. tools/fuzz.sh then fuzzes them for some seconds, and says so if a target fails.
set -eu
[ $# = 2 ] || { sed -n '2,4s/^# \{0,1\}//p' "$0" >&2; exit 2; }
source=$1 build=$2
fail() { echo "$*"; exit 1; }
rm -rf "$build"
mkdir -p "$build"
cd "$source"

flags='-O1 -g -fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=all'
CC=clang CXX=clang++ CFLAGS=$flags CXXFLAGS=$flags LIB_FUZZING_ENGINE=-fsanitize=fuzzer \
  OUT=$build/targets tests/fuzz/oss-fuzz/build.sh
for file in tests/fuzz/fuzz_*.c; do
  target=$(basename "$file" .c) seeds=$build/seeds/$(basename "$file" .c)
  mkdir -p "$seeds"
  python3 -m zipfile -e "$build/targets/${target}_seed_corpus.zip" "$seeds"
  [ -e "$build/targets/$target.options" ] || fail "$target: no options"
  dictionary=
  [ ! -e "$build/targets/$target.dict" ] || dictionary=-dict=$build/targets/$target.dict
  "$build/targets/$target" -runs=0 $dictionary "$seeds" > "$build/$target.log" 2>&1 || {
    cat "$build/$target.log"
    fail "$target fails"
  }
  grep -q " $(ls "$seeds" | wc -l) files found in $seeds" "$build/$target.log" ||
    fail "$target: it did not read its seeds"
done
for kind in schema sort options npy; do
  [ -s "$build/targets/fuzz_$kind.dict" ] || fail "fuzz_$kind: no dictionary"
done

BUILD=$build/hours TARGETS=$build/targets tools/fuzz.sh 0.004 "$build/results" || fail 'tools/fuzz.sh fails'
for file in tests/fuzz/fuzz_*.c; do
  awk -v target="$(basename "$file" .c)" '$1 == target && $2 > 0 && $3 > 0 && $4 >= $3 && $6 > 0 && $7 == 0 { found = 1 }
    END { exit !found }' "$build/results" || { cat "$build/results"; fail "$file: no such row"; }
done

# A target that fails with inputs that begin with x.
mkdir -p "$build/broken"
cat > "$build/broken.c" <<END
#include <stdint.h>
#include <stdlib.h>
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  if (size && *data == 'x') abort();
  return 0;
}
END
clang -O1 -fsanitize=fuzzer "$build/broken.c" -o "$build/broken/fuzz_broken"
cp "$build/targets/fuzz_key_seed_corpus.zip" "$build/broken/fuzz_broken_seed_corpus.zip"
touch "$build/broken/fuzz_broken.options"
if BUILD=$build/hours TARGETS=$build/broken tools/fuzz.sh 0.004 > "$build/out" 2>&1; then
  fail 'a target that fails is not noticed'
fi
grep -q "^  $build/hours/crashes/fuzz_broken/crash-" "$build/out" || { cat "$build/out"; fail 'the input is not shown'; }
