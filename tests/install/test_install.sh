#!/bin/sh
# Usage: test_install.sh BUILD-FOLDER
# Installs a build and builds programs against it by find_package and by pkg-config; CC, CXX,
# CFLAGS, CXXFLAGS and LDFLAGS as usual. All of them must print the records in order.
set -eu
build=$1
source=$(cd "$(dirname "$0")/outside" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

expect() {
  got=$("$@") || { echo "$1: failed"; exit 1; }
  if [ "$got" != abcde ]; then
    echo "$1: printed '$got', not 'abcde'"
    exit 1
  fi
  echo "$(basename "$1"): right"
}

cmake --install "$build" --prefix "$scratch/first" > "$scratch/log"
mv "$scratch/first" "$scratch/root" # what is installed can be moved

cmake -S "$source" -B "$scratch/build" -DCMAKE_PREFIX_PATH="$scratch/root" > "$scratch/log"
cmake --build "$scratch/build" > "$scratch/log" || { cat "$scratch/log"; exit 1; }
expect "$scratch/build/outside_shared"
expect "$scratch/build/outside_static"
expect "$scratch/build/outside_cxx"

pc=$(find "$scratch/root" -name recsort.pc)
PKG_CONFIG_PATH=$(dirname "$pc")
export PKG_CONFIG_PATH
[ "$(pkg-config --print-requires-private recsort)" = yaml-0.1 ] # for a static link
flags=$(pkg-config --cflags --libs recsort)
library=$(pkg-config --variable=libdir recsort)
# Unquoted: each holds several words.
$CC ${CFLAGS:-} -o "$scratch/pc_c" "$source/outside.c" $flags -Wl,-rpath,"$library"
$CXX ${CXXFLAGS:-} -o "$scratch/pc_cxx" "$source/outside.cpp" $flags -Wl,-rpath,"$library"
expect "$scratch/pc_c"
expect "$scratch/pc_cxx"

for tool in recsort recgen reccat; do
  "$scratch/root/bin/$tool" --version
  test -s "$scratch/root/share/man/man1/$tool.1"
done
test -s "$scratch/root/share/recsort/schemas/entity.yaml"
"$scratch/root/bin/recgen" -s "$scratch/root/share/recsort/schemas/entity.yaml" -n 1000 |
  "$scratch/root/bin/recsort" -s "$scratch/root/share/recsort/schemas/entity.yaml" |
  "$scratch/root/bin/recsort" -s "$scratch/root/share/recsort/schemas/entity.yaml" --check
