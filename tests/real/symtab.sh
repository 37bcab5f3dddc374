#!/bin/sh
# Usage: symtab.sh RECSORT RECCAT CXX SCHEMA
# Real input: the symbol table of an ELF binary, sorted in place in its file by st_value with the
# schema's `skip` and `trailer`, agrees with nm --numeric-sort. The binary is linked here from the
# whole C++ library, as Debian strips the binaries that it ships.
set -eu
recsort=$1 reccat=$2 cxx=$3 schema=$4
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

echo 'int main() {}' > main.cpp
"$cxx" -static -o binary main.cpp -Wl,--whole-archive -lstdc++ -Wl,--no-whole-archive
# Offset and size of .symtab, from the section table.
set -- $(readelf -SW binary | sed -n 's/.* \.symtab  *SYMTAB  *[0-9a-f]* \([0-9a-f]*\) \([0-9a-f]*\) .*/\1 \2/p')
skip=$((0x$1)) size=$((0x$2)) total=$(wc -c < binary)
{
  cat "$schema"
  echo "skip: $skip"
  echo "trailer: $((total - skip - size))"
} > symtab.yaml

"$recsort" -s symtab.yaml binary -o sorted
"$recsort" -s symtab.yaml --check sorted
[ "$("$reccat" -s symtab.yaml --checksum binary)" = "$("$reccat" -s symtab.yaml --checksum sorted)" ]
"$reccat" -s symtab.yaml --format csv sorted > sorted.csv
nm --numeric-sort binary > nm.txt
python3 - binary sorted.csv nm.txt <<'PYTHON'
import csv, itertools, subprocess, sys

binary, ours, theirs = sys.argv[1:]
for line in subprocess.check_output(["readelf", "-SW", binary], text=True).splitlines():
    words = line.replace("[ ", "[").split()
    if len(words) > 5 and words[1] == ".strtab":
        start, size = int(words[4], 16), int(words[5], 16)
names = open(binary, "rb").read()[start:start + size]

def name(offset):
    return names[offset:names.index(b"\0", offset)].decode()

SECTION, FILE = 3, 4  # types of symbols that nm does not show by default
rows = list(csv.DictReader(open(ours)))
assert len(rows) >= 10000, f"only {len(rows)} symbols"
got = [(int(r["st_value"]), name(int(r["st_name"]))) for r in rows
       if r["st_shndx"] != "0" and int(r["type"]) not in (SECTION, FILE)]
want = []
for line in open(theirs):
    if line[0] != " ":  # undefined: no value
        value, kind, text = line.rstrip("\n").split(" ", 2)
        want.append((int(value, 16), text))
assert [v for v, _ in got] == [v for v, _ in want], "the addresses differ"
def groups(pairs):
    return [(v, sorted(n for _, n in g)) for v, g in itertools.groupby(pairs, lambda p: p[0])]
assert groups(got) == groups(want), "the names at an address differ"
ties = len(got) - len({v for v, _ in got})
assert ties > 0
print(f"{len(rows)} symbols, {ties} ties, in the order of nm --numeric-sort")
PYTHON
