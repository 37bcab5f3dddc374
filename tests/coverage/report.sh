#!/bin/sh
# Usage: report.sh SOURCE BUILD FLOOR
# Prints the branches that the tests took, file by file. Fails if less than FLOOR per cent of core's
# were taken. Assertions are compiled out. gcovr excludes only lines without code (the braces of
# functions and blocks).
set -eu
cd "$1"
counts=$2/coverage.json
gcovr --root . --object-directory "$2" --filter core/ --filter plugins/cpu/ --filter plugins/runs/ \
  --branches --exclude-unreachable-branches --json "$counts"
report() { gcovr --root . --add-tracefile "$counts" --branches "$@"; }
report
for part in plugins/cpu/ plugins/runs/ core/; do
  echo "$part: $(report --filter $part | awk '/^TOTAL/ { print $4 " of " $2 }') branches"
done
echo "core must have $3%"
report --filter core/ --fail-under-branch "$3" > "$2/coverage.txt"
