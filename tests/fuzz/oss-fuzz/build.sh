#!/bin/sh
# Usage: CC=CLANG CXX=CLANG++ CFLAGS=... CXXFLAGS=... LIB_FUZZING_ENGINE=... OUT=FOLDER build.sh
# Builds the fuzz targets as OSS-Fuzz wants them, in the current folder's checkout: in $OUT each gets
# TARGET, TARGET_seed_corpus.zip, TARGET.options and, if its input is text, TARGET.dict.
# Intermediate files go to $WORK, if it is given. tools/fuzz.sh and a test build with this script too.
set -eu
for name in CC CXX CFLAGS CXXFLAGS LIB_FUZZING_ENGINE OUT; do
  eval "[ \"\${$name:-}\" ]" || { sed -n '2,5s/^# \{0,1\}//p' "$0" >&2; exit 2; }
done
fuzz=tests/fuzz
work=${WORK:-}
[ "$work" ] || { work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT; }
mkdir -p "$work" "$OUT"

# Unquoted from here on: lists of flags and of files.
python3 -B tools/amalgamate.py . fuzz "$work" core/*.c core/*/*.c core/base/platform/*/*.c \
  plugins/builtin.c plugins/cpu/*.c plugins/runs/*.c
include="-I $work -I core/include -I core -I plugins -I tests -I . -I tools -I files/include"
define='-D_GNU_SOURCE -DRECSORT_YAML -DRECSORT_PLUGINS -DRECSORT_ASSERTIONS -DRS_INTERNAL= -DTOOL_SCHEMAS="/nowhere"'
flags="-UNDEBUG -ffp-contract=off $define $include"

compile() { # SOURCE OBJECT
  case $1 in
    *.cpp) $CXX $CXXFLAGS -std=c++17 $flags -c "$1" -o "$work/$2" ;;
    *) $CC $CFLAGS -std=c11 $flags -c "$1" -o "$work/$2" ;;
  esac
}

compile "$work/recsort.c" recsort.o & # takes as long as all others
library=$!
for source in tools/support/*.c tools/support/*.cpp files/*.c tools/recsort/options.c \
  tools/recsort/npy.c tools/recsort/dtype.c tools/recsort/literal.c; do
  compile "$source" "$(echo "$source" | tr / _).o"
done
rm -f "$work/tools.a"
ar rc "$work/tools.a" "$work"/tools_*.o "$work"/files_*.o
wait $library

for source in $fuzz/fuzz_*.c; do
  target=$(basename "$source" .c) kind=$(basename "$source" .c | sed 's/^fuzz_//')
  compile "$source" "$target.o"
  $CXX $CXXFLAGS "$work/$target.o" "$work/tools.a" "$work/recsort.o" $LIB_FUZZING_ENGINE \
    -l:libyaml.a -lpthread -ldl -lm -o "$OUT/$target"
  rm -rf "$work/corpus"
  mkdir "$work/corpus"
  tar -xmzf "$fuzz/corpus/$kind.tar.gz" -C "$work/corpus"
  rm -f "$OUT/${target}_seed_corpus.zip"
  (cd "$work/corpus" && python3 -m zipfile -c "$OUT/${target}_seed_corpus.zip" *)
  printf '[libfuzzer]\nmax_len = 4096\n' > "$OUT/$target.options"
  python3 -B $fuzz/dictionary.py . "$kind" > "$work/dict"
  if [ -s "$work/dict" ]; then cp "$work/dict" "$OUT/$target.dict"; fi
done
