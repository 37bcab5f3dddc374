#!/bin/sh
# Usage: report.sh SOURCE BUILD FOLDER=FLOOR...
# Prints the branches that the tests took, file by file. Fails if less than FLOOR per cent of those of
# a folder were taken. Assertions are compiled out. gcovr excludes only lines without code (the braces
# of functions and blocks).
set -eu
cd "$1"
build=$2
counts=$build/coverage.json
shift 2
gcovr --root . --object-directory "$build" --filter core/ --filter plugins/cpu/ --filter plugins/runs/ \
  --branches --exclude-unreachable-branches --json "$counts" "$build"
report() { gcovr --root . --add-tracefile "$counts" --branches "$@"; }
report
low=
for asked in "$@"; do
  folder=${asked%=*}
  echo "$folder: $(report --filter "$folder/" | awk '/^TOTAL/ { print $4 " of " $2 }') branches, must have ${asked#*=}%"
  report --filter "$folder/" --fail-under-branch "${asked#*=}" > "$build/coverage.txt" || low=yes
done
[ ! "$low" ]
