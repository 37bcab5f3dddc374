#!/bin/sh
# Usage: planted.sh SOURCE-FOLDER COMPILER
# compare.py must see changes that would break programs: of a function that is kept for them, in the
# middle of a struct that has grown, and in a struct that does not grow.
set -eu
source=$1 compiler=$2
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# plant FILE PATTERN: compare.py must fail with that change.
plant() {
  rm -rf "$scratch/tree"
  mkdir "$scratch/tree"
  ln -s "$source/plugins" "$scratch/tree/plugins"
  cp -r "$source/core" "$scratch/tree/core"
  sed -i "$2" "$scratch/tree/core/$1"
  if cmp -s "$scratch/tree/core/$1" "$source/core/$1"; then
    echo "$1: nothing to change by $2"
    exit 1
  fi
  if python3 -B "$here/compare.py" "$scratch/tree" "$here/first" "$compiler" > "$scratch/log"; then
    echo "$1: not seen: $2"
    exit 1
  fi
}

plant compat.c 's/^  unsigned score;/  uint64_t score;/'
plant compat.c 's/recsort_unique\b/recsort_uniq/'
plant include/recsort/recsort.h 's/^  const recsort_key_desc \*keys; .*/  int new; &/'
plant include/recsort/recsort.h 's/^  RECSORT_INT16,/  RECSORT_INT15, &/'
plant include/recsort/plugin.h 's/^  uint16_t kind;/  uint32_t kind;/'
