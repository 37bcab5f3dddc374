#!/bin/sh
# Usage: example.sh CC SOURCE-FOLDER LIBRARY STANDIN PLUGIN-FOLDER
# Compiles and runs the program for keys on a GPU in docs/library.md, with the stand-in for the CUDA runtime.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
sed -n '/^## Keys on a GPU/,/^## A game/{/^```c$/,/^```$/{/^```/!p}}' "$2/docs/library.md" > "$folder/program.c"
$1 -std=c11 -Wall -Wextra -Werror ${CFLAGS:-} "-I$2/core/include" "-I$2/tests/cuda" "$folder/program.c" \
  "$3" "$4" "-Wl,-rpath,$(dirname "$3"):$(dirname "$4")" -o "$folder/program"
found=$(RECSORT_PLUGIN_PATH=$5 "$folder/program")
[ "$found" = "1 3 0 2" ] || { echo "found: $found"; exit 1; }
