# At a terminal: installs the packages, sorts points of a scan, in place too, merges, checks, and gives wrong input.
get /release/debian/librecsort1_*.deb /release/debian/recsort_*.deb
recsort -s las --explain 2> log || true
recgen -s entity -n 100000 -o scan.bin
recsort -s entity scan.bin -o sorted.bin
recsort -s entity --check sorted.bin
if recsort -s entity --check scan.bin 2> log; then exit 1; fi
recsort -s entity < scan.bin | cmp - sorted.bin
cp scan.bin same.bin
recsort -s entity same.bin -o same.bin
cmp same.bin sorted.bin
recsort -s entity --merge sorted.bin same.bin -o twice.bin
[ "$(stat -c %s twice.bin)" = "$((2 * $(stat -c %s scan.bin)))" ]
recsort -s entity --check twice.bin
reccat -s entity --head 3 sorted.bin
reccat -s entity --json --head 3 sorted.bin > rows.json
[ -s rows.json ]
# One line, exit 2, and the output stays.
wrong() {
  if recsort "$@" 2> log; then exit 1; else [ $? = 2 ]; fi
  [ "$(wc -l < log)" = 1 ] || { cat log; exit 1; }
  cmp same.bin sorted.bin
}
head -c 1001 scan.bin > torn.bin
wrong -s entity torn.bin -o same.bin
wrong -s entity -k nothing scan.bin -o same.bin
wrong -s nothing scan.bin -o same.bin
wrong -s entity missing.bin -o same.bin
