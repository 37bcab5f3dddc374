#!/bin/sh
# Usage: same.sh SCHEMA-FOLDER PROGRAM...
# Programs with another build of the library each print the same.
set -eu
schemas=$1
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for program in "$@"; do
  "$program" "$schemas"/*.yaml > "$folder/this"
  [ -e "$folder/first" ] || cp "$folder/this" "$folder/first"
  cmp "$folder/this" "$folder/first"
done
grep -c threads: "$folder/first"
