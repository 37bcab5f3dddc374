#!/bin/sh
# Usage: example.sh CC SOURCE_FOLDER LIBRARY_FOLDER
# The README's C example has at most 25 lines, compiles unchanged, and sorts.
set -eu
cc=$1 source=$2 library=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
sed -n '/^```c$/,/^```$/{/^```/d;p}' "$source/README.md" > "$folder/example.c"
lines=$(wc -l < "$folder/example.c")
[ "$lines" -gt 0 ] && [ "$lines" -le 25 ] || { echo "the example has $lines lines"; exit 1; }
"$cc" -std=c11 -Wall -Wextra -Werror -I"$source/core/include" "$folder/example.c" -L"$library" -lrecsort \
  -Wl,-rpath,"$library" $CFLAGS -o "$folder/example"
cd "$source"
[ "$("$folder/example")" = "3
2
1" ]
