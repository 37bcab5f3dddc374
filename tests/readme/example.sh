#!/bin/sh
# Usage: example.sh CC CXX SOURCE_FOLDER LIBRARY_FOLDER
# The README's examples in C and C++ have at most 25 lines, compile unchanged, and sort.
set -eu
cc=$1 cxx=$2 source=$3 library=$4
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$source"

try() { # LANGUAGE SUFFIX ORDER COMPILER...
  sed -n '/^```'"$1"'$/,/^```$/{/^```/d;p}' README.md > "$folder/example.$2"
  order=$3
  lines=$(wc -l < "$folder/example.$2")
  [ "$lines" -gt 0 ] && [ "$lines" -le 25 ] || { echo "the example has $lines lines"; exit 1; }
  shift 3
  "$@" -Wall -Wextra -Werror -Icore/include "$folder"/example.c* -L"$library" -lrecsort \
    -Wl,-rpath,"$library" $CFLAGS -o "$folder/example"
  rm "$folder"/example.c*
  got=$("$folder/example" | tr '\n' ' ')
  [ "$got" = "$order" ] || { echo "printed '$got', not '$order'"; exit 1; }
}
try c c '3 2 1 ' "$cc" -std=c11
try cpp cpp '4 2 1 ' "$cxx" -std=c++17
