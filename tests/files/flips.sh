#!/bin/sh
# Usage: flips.sh TOOLS-FOLDER SCHEMAS SHIM
# A bit of a temporary file of recsort changes: there is one line and the old output, or the right result.
set -eu
tools=$1 schemas=$2 shim=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

try() { # RECORDS MEMORY RECSORT'S-OPTION...; many writes have a wrong bit once
  records=$1 memory=$2
  shift 2
  "$tools/recgen" -s "$schemas/entity.yaml" -n "$records" -o in
  "$tools/recsort" -s "$schemas/entity.yaml" "$@" in -o wanted
  at=1 errors=0 right=0
  while [ $at -le 31 ]; do
    echo old > out
    if FLIP_AT=$at LD_PRELOAD=$shim "$tools/recsort" -s "$schemas/entity.yaml" -S "$memory" -T . "$@" in -o out 2> line; then
      cmp out wanted
      right=$((right + 1))
    else
      [ "$(cat out)" = old ]
      [ "$(cat line)" = "recsort: in: .: a temporary file does not hold what was written to it" ]
      errors=$((errors + 1))
    fi
    at=$((at + 2))
  done
  echo "recsort $*: $errors errors, $right right results"
  [ $errors -gt 2 ]
}

try 60000 1100K
try 60000 1100K --index
try 60000 1100K --unique
try 60000 1100K --head=30000
try 60000 1100K --unique --head=20000
try 3000 60K --unique --head=1000 # it reads one record of each run at a time
