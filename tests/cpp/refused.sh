#!/bin/sh
# Usage: refused.sh CXX SOURCE-FOLDER
# Each case of refused.cpp fails to compile, with the words beside it in an error.
set -eu
cxx=$1
file=$2/tests/cpp/refused.cpp
said=$(mktemp)
trap 'rm -f "$said"' EXIT

compile() {
  LC_ALL=C "$cxx" -std=c++17 -fno-exceptions -fsyntax-only -I"$2" "-D$1" "$file" 2> "$said"
}

compile NONE "$2/core/include" || { cat "$said"; exit 1; }
cases=$(sed -n 's/.*\/\* CASE(\([A-Z_]*\)): \(.*\) \*\/$/\1 \2/p' "$file")
echo "$cases" | {
  count=0
  while read -r name words; do
    if compile "$name" "$2/core/include"; then
      echo "$name compiles"
      exit 1
    fi
    grep -qE "error: .*($words)" "$said" || { echo "$name: not '$words':"; cat "$said"; exit 1; }
    count=$((count + 1))
  done
  echo "$count cases are refused"
  [ "$count" -ge 26 ]
}
