#!/bin/sh
# Usage: msvc.sh CLANG SOURCE-FOLDER
# Compiles msvc.cpp for Microsoft's ABI, with stand-ins for the standard headers, and reads the
# result of all_right, which the optimizer finds, from the code. clang-cl, the same compiler with the
# options of Microsoft's, accepts it, too.
set -eu
clang=$1
source=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

grep -o '^#include <[a-z_]*>' "$source/core/include/recsort/recsort.hpp" | tr -d '<>' |
  while read -r _ name; do
    echo '#include "standard.h"' > "$folder/$name"
  done
for more in "" -fno-exceptions; do
  # shellcheck disable=SC2086 # none, or one
  "$clang" --target=x86_64-pc-windows-msvc -std=c++17 -fms-extensions $more -ffreestanding \
    -nostdlibinc -Wall -Wextra -Wconversion -Wpedantic -Werror -O2 -S -emit-llvm \
    -I"$folder" -I"$source/tests/cpp" -I"$source/core/include" \
    "$source/tests/cpp/msvc.cpp" -o "$folder/code"
  sed -n '/define.* @all_right(/,/^}/p' "$folder/code" > "$folder/all_right"
  grep -q 'ret i1 true' "$folder/all_right" || { cat "$folder/all_right"; exit 1; }
done
for standard in 17 20; do
  "$clang" --driver-mode=cl --target=x86_64-pc-windows-msvc "/std:c++$standard" /Zs /EHsc /W4 /WX \
    /clang:-ffreestanding /clang:-nostdlibinc "-I$folder" "-I$source/tests/cpp" \
    "-I$source/core/include" -- "$source/tests/cpp/msvc.cpp" # its path may look like an option
done
