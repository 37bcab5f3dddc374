#!/bin/sh
# Usage: seed.sh RECSORT RECGEN RECCAT SCHEMA COUNT
# The seed experiment: COUNT entities at random distances, farthest first. Ends with --check passing
# and with the checksum of the set of records unchanged.
set -eu
recsort=$1 recgen=$2 reccat=$3 schema=$4 count=$5
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$recgen" --schema "$schema" --count "$count" --seed 1 -o "$folder/entities"
before=$("$reccat" --schema "$schema" --checksum "$folder/entities")
"$recsort" --schema "$schema" --stats "$folder/entities" -o "$folder/entities"
"$recsort" --schema "$schema" --check "$folder/entities"
after=$("$reccat" --schema "$schema" --checksum "$folder/entities")
echo "before: $before"
echo "after:  $after"
[ "$before" = "$after" ]
