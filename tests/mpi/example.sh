#!/bin/sh
# Usage: example.sh SOURCE-FOLDER MPICC OUTPUT LIBRARY...
# Compiles the program of docs/scale.md.
set -eu
source=$1 mpicc=$2 output=$3
shift 3
sed -n '/^## In a program/,/^## How it works/{/^```c$/,/^```$/{/^```/!p}}' "$source/docs/scale.md" > "$output.c"
$mpicc -std=c11 -Wall -Wextra -Werror "-I$source/core/include" "-I$source/tools/mpi/include" "$output.c" "$@" \
  "-Wl,-rpath,${1%/*}" -o "$output"
