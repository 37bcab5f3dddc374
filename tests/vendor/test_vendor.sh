#!/bin/sh
# Usage: test_vendor.sh SOURCE-FOLDER
# Builds, installs and runs a game that has recsort as a subproject; CC, CXX and CMAKE_GENERATOR as usual.
#   subdirectory   as it comes: the library alone, without libyaml, and nothing of it is installed
#   fetch          with YAML, and installed: then find_package gives the same targets
set -eu
source=$1
game=$(cd "$(dirname "$0")/game" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

make() { # WAY OPTION...
  way=$1
  shift
  cmake -S "$game" -B "$scratch/$way" -DWAY="$way" -DRECSORT="$source" "$@" > "$scratch/log" 2>&1 &&
    cmake --build "$scratch/$way" > "$scratch/log" 2>&1 &&
    cmake --install "$scratch/$way" --prefix "$scratch/$way-root" > "$scratch/log" 2>&1 ||
    { cat "$scratch/log"; exit 1; }
}

same() { # WHAT EXPECTED GOT
  [ "$2" = "$3" ] || { printf '%s:\n%s\nnot:\n%s\n' "$1" "$3" "$2"; exit 1; }
  echo "$1: right"
}

make subdirectory
same 'installed as it comes' 'bin/game
bin/stars' "$(cd "$scratch/subdirectory-root" && find . ! -type d | sort | cut -c3-)"
same 'game' 'depth_sort: 3 0 2 1; farthest: 3 0 2 1; YAML: text: this library was built without YAML: describe the schema in C' \
  "$("$scratch/subdirectory-root/bin/game")"
same 'stars' '1 3 2' "$("$scratch/subdirectory/stars")" # the installed one finds no shared library
for file in "$scratch/subdirectory-root/bin/game" "$scratch"/subdirectory/recsort/core/librecsort.so; do
  same "what $(basename "$file") needs of libyaml" '' "$(readelf -d "$file" | grep NEEDED | grep yaml || true)"
done

make fetch -DRECSORT_YAML=SYSTEM -DRECSORT_INSTALL=ON -DCMAKE_BUILD_TYPE=Debug
same 'game, with YAML' 'depth_sort: 3 0 2 1; farthest: 3 0 2 1; YAML: text:1:1:' \
  "$("$scratch/fetch-root/bin/game" | sed 's/\(:1:1:\).*/\1/')"
same 'stars, installed' '1 3 2' "$("$scratch/fetch-root/bin/stars")"
make installed -DCMAKE_PREFIX_PATH="$scratch/fetch-root"
same 'game, with find_package' "$("$scratch/fetch-root/bin/game")" "$("$scratch/installed/game")"
same 'stars, with find_package' '1 3 2' "$("$scratch/installed/stars")"
