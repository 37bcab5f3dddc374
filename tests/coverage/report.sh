#!/bin/sh
# Usage: report.sh SOURCE BUILD FLOOR
# The branches that the tests have taken, file by file; fails if those of core are fewer than FLOOR
# per cent. Assertions are compiled out. gcovr leaves out lines without code of their own (the
# braces of functions and blocks), and nothing else.
set -eu
cd "$1"
counts=$2/coverage.json
gcovr --root . --object-directory "$2" --filter core/ --filter plugins/cpu/ --filter tools/ \
  --branches --exclude-unreachable-branches --json "$counts"
report() { gcovr --root . --add-tracefile "$counts" --branches "$@"; }
report
for part in plugins/cpu/ tools/ core/; do
  echo "$part: $(report --filter $part | awk '/^TOTAL/ { print $4 " of " $2 }') branches"
done
echo "core must have $3%"
report --filter core/ --fail-under-branch "$3" > "$2/coverage.txt"
