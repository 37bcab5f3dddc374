# What a file says about its records stays true when their number changes: counts, lengths, offsets
# of what follows, padding. Python writes each format as its own programs do, with the rows that
# the output should have. Rows have ties, and tags that tell them apart.
cat >formats.py <<'END'
"""formats.py make: makes files and schemas. formats.py same NAME HEAD UNIQUE OUTPUT SEED...: compares."""
import random, struct, sys
def rows(name, seed):
    """Rows of the size that the format has: a key, a tag, and bytes that are padding to recsort."""
    r = random.Random(seed * 7)
    count = {0: 0, 1: 91, 2: 1234, 3: 9}[seed]
    size = {"las": 11, "wav": 3, "shx": 8, "dbf": 8}.get(name, 5)
    return [bytes([r.randrange(60)]) + struct.pack(">H", i) + bytes([i % 251] * (size - 3)) for i in range(count)]
def padded(data, to, value=b"\0"):
    return data + value * (-len(data) % to)
def las(r, first):
    """A size of records in the header; a count that is not used; an offset behind them, and one that is 0."""
    h = bytearray(b"LASF".ljust(100, b"x"))
    struct.pack_into("<HBBHIIQQQ", h, 4, 100, 1, 6, 11, 0, 77, len(r), 100 + 11 * len(r), 0)
    return bytes(h) + b"".join(r) + b"EVLR" * (5 + first)
LAS = """skip: {offset: 4, type: uint16}
size: {offset: 8, type: uint16}
expect: [{offset: 0, bytes: "LASF"}, {offset: 6, type: uint8, value: 1}]
count: [{offset: 10, type: uint32}, {offset: 18, type: uint64, when: {offset: 7, type: uint8, least: 6}},
        {offset: 14, type: uint32, when: {offset: 7, type: uint8, value: [1, 2, 3]}}]
after: [{offset: 26, type: uint64}, {offset: 34, type: uint64}]
trailer: any
"""
def fits(r, first):
    """Padding behind records and a heap; an offset of the heap from the start of the records."""
    heap = b"heap" * (700 if first == 2 else 3)
    h = b"".join(b"%-8s= %20d / x" % card for card in
                 [(b"NAXIS2", len(r)), (b"PCOUNT", len(heap)), (b"THEAP", 5 * len(r))]).ljust(2880, b" ")
    return padded(h + b"".join(r) + heap, 2880) + b"NEXT HDU".ljust(2880, b".")
FITS = """skip: 2880
count: {offset: 10, type: char, count: 20}
pad: {to: 2880, heap: {offset: 44, type: char, count: 20}}
after: {offset: 78, type: char, count: 20, unpadded: true}
trailer: any
"""
def table(r, first):
    """The same without a heap; the padding is blanks, and nothing follows it."""
    return padded((b"%-8s= %20d" % (b"NAXIS2", len(r))).ljust(50, b" ") + b"".join(r), 100, b" ")
TABLE = """skip: 50
count: {offset: 10, type: char, count: 20}
pad: {to: 100, with: 32}
"""
def wav(r, first):
    """The length of the records, and one of the whole file."""
    data = b"".join(r)
    tail = b"LIST" + struct.pack("<I", 4 + 2 * first) + b"INFO" + b"ab" * first
    body = b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, 9, 9, 3, 24) + b"data" + struct.pack("<I", len(data)) + padded(data, 2) + tail
    return b"RIFF" + struct.pack("<I", len(body)) + body
WAV = """skip: 44
size: {offset: 32, type: uint16}
expect: [{offset: 0, bytes: "RIFF"}, {offset: 36, bytes: ["data", "DATA"]}]
length: {offset: 40, type: uint32}
after: {offset: 4, type: uint32}
pad: {to: 2}
trailer: any
"""
def shx(r, first):
    """A length in words of 16 bits, with that of the header."""
    return struct.pack(">II", 9994, (20 + 8 * len(r)) // 2).ljust(20, b"s") + b"".join(r)
SHX = """skip: 20
length: {offset: 4, type: uint32, endian: big, unit: 2, plus: 20}
"""
def fortran(r, first):
    """A length before the records and behind them."""
    mark = struct.pack("<i", 5 * len(r))
    return mark + b"".join(r) + mark
FORTRAN = """skip: 4
trailer: 4
length: [{offset: 0, type: int32}, {trailer: 0, type: int32}]
"""
def footer(r, first):
    """A trailer with a count, and with the offset at which it begins itself; no header."""
    return b"".join(r) + b"foot" + struct.pack("<IQ", len(r), 5 * len(r)) + b"FOOT"
FOOTER = """trailer: 20
count: {trailer: 4, type: uint32}
after: {trailer: 8, type: uint64}
"""
def dbf(r, first):
    return struct.pack("<BBBBIHH", 3, 26, 1, 1, len(r), 65, 8).ljust(64, b"d") + b"\r" + b"".join(r) + b"\x1a"
DBF = """skip: {offset: 8, type: uint16}
size: {offset: 10, type: uint16}
count: {offset: 4, type: uint32}
trailer: any
"""
def width(first, count):
    return b"%-*d" % (len(b"%d" % len(rows("pcd", first))), count)
def pcd(r, first):
    """Two counts in lines, behind a comment that has the first word; a count that grows moves the rest."""
    n = width(first, len(r))
    return b"# .PCD v0.7\nWIDTHS 7\nWIDTH %s\nHEIGHT 1\nPOINTS %s\nDATA binary\n" % (n, n) + b"".join(r)
PCD = """skip: {line: "DATA binary"}
expect: [{line: "DATA binary"}, {line: "HEIGHT 1"}]
count: [{word: "WIDTH"}, {word: "POINTS"}]
"""
def ply(r, first):
    return b"ply\r\nformat x\r\nelement vertex %s\r\nelement face 2\r\nend_header\r\n" % width(first, len(r)) + b"".join(r) + b"faces"
PLY = """skip: {line: "end_header"}
expect: {offset: 0, bytes: "ply"}
count: {word: "element vertex"}
trailer: 5
"""
def dat(r, first):
    return b"% a\n%%b\n% rows " + width(first, len(r)) + b"\n" + b"".join(r)
DAT = """skip: {lines: "%"}
count: {word: "% rows"}
"""
def pak(r, first):
    """The header says where the rows are, behind other data, and their length."""
    return b"PACK" + struct.pack("<II", 24, 5 * len(r)).ljust(20, b"p") + b"".join(r)
PAK = """skip: {offset: 4, type: uint32}
length: {offset: 8, type: uint32}
"""
formats = {name: (globals()[name], globals()[name.upper()]) for name in
           "las fits table wav shx fortran footer dbf pcd ply dat pak".split()}
if sys.argv[1] == "make":
    for name, (write, words) in formats.items():
        size = {"shx": "size: 8\n"}.get(name, "" if "size:" in words else "size: 5\n")
        with open(name + ".yaml", "w") as f:
            f.write("record: R\nlayout: packed\n" + size + words + "fields:\n  - {name: key, type: uint8}\n"
                    "  - {name: tag, type: uint16, endian: big}\nkeys: [key]\n")
        for seed in 0, 1, 2, 3:
            with open(f"{name}.{seed}", "wb") as f:
                f.write(write(rows(name, seed), seed))
    print(*formats)
else:
    name, head, unique, output, seeds = sys.argv[2], int(sys.argv[3]), sys.argv[4] == "yes", sys.argv[5], [*map(int, sys.argv[6:])]
    want = sorted((row for seed in seeds for row in rows(name, seed)), key=lambda row: row[0])
    if unique:
        want = [row for i, row in enumerate(want) if i == 0 or row[0] != want[i - 1][0]]
    want = formats[name][0](want[:head], seeds[0])
    got = open(output, "rb").read()
    if got != want:
        print("WRONG:", *sys.argv[2:], len(got), len(want), next((i for i, (a, b) in enumerate(zip(got, want)) if a != b), ""))
END
names=$(python3 formats.py make)
same() { python3 formats.py same "$@"; }
quietly() { # COMMAND...: without the line that says that trailers are dropped
  "$@" 2>errors
  status=$?
  grep -v 'are dropped: the output gets those of the first input$' errors
  return $status
}
mkfifo fifo
for n in $names; do
  s="-s $n.yaml"
  recsort $s $n.1 -o out && same $n 9999 no out 1
  cat $n.1 | recsort $s | cat >out && same $n 9999 no out 1
  recsort $s <$n.1 | cat >out && same $n 9999 no out 1
  (head -c 7 $n.1; sleep 0.01; tail -c +8 $n.1) | recsort $s --head 5 -o out && same $n 5 no out 1
  recsort $s $n.1 --head 5 | cat >out && same $n 5 no out 1
  recsort $s $n.1 --head 0 -o out && same $n 0 no out 1
  recsort $s $n.2 --unique -o out && same $n 9999 yes out 2
  cat $n.2 | recsort $s --unique --head 40 >out && same $n 40 yes out 2
  recsort $s --threads 4 $n.2 --head 1000 -o out && same $n 1000 no out 2
  cp $n.2 copy && recsort $s copy -o copy && same $n 9999 no copy 2
  cp $n.2 copy && recsort $s copy 1<>copy && same $n 9999 no copy 2
  [ $n != fits ] || continue # its heaps: see below
  quietly recsort $s $n.1 $n.2 $n.3 -o out && same $n 9999 no out 1 2 3
  none=0 # of an empty file, these cannot tell which places are used, or what is behind no records
  case $n in las | wav | footer) none=3 ;; esac
  quietly recsort $s $n.$none $n.2 | cat >out && same $n 9999 no out $none 2
  cat $n.1 | quietly recsort $s $n.3 - -o out && same $n 9999 no out 3 1
  cp $n.1 copy && quietly recsort $s copy $n.2 1<>copy && same $n 9999 no copy 1 2
  recsort $s $n.1 -o s1 && recsort $s $n.2 -o s2 && recsort $s $n.$none -o s0
  recsort $s --check s1 && cat s2 | recsort $s --check || echo "exit $?"
  quietly recsort $s --merge s1 s2 s0 -o out && same $n 9999 no out 1 2 $none
  quietly recsort $s --merge s0 s2 s1 | cat >out && same $n 9999 no out $none 2 1
  quietly recsort $s --merge --head 50 s2 s1 >out && same $n 50 no out 2 1
  [ $n = footer ] && continue # of a pipe, its count comes last
  cat s1 | quietly recsort $s --merge - s2 -o out && same $n 9999 no out 1 2
  timeout 5 sh -c 'cat s1 >fifo' &
  cat s2 | quietly recsort $s --merge - fifo --head 100 >out && same $n 100 no out 2 1
  wait
done
echo "sorted and merged"
for n in $names; do
  recsort -s $n.yaml --index=32 $n.2 | wc -c | tr '\n' ' '
  cat $n.2 | reccat -s $n.yaml -f csv | wc -l
  recgen -s $n.yaml -n 300 -o made && recsort -s $n.yaml made -o made && recsort -s $n.yaml --check made &&
    [ "$(reccat -s $n.yaml -f csv made | wc -l)" = 301 ] || echo "$n: recgen"
done
# What records may refer to is not dropped.
echo old >out
recsort -s fits.yaml fits.1 fits.3 -o out || cat out
recsort -s fits.yaml fits.1 -o s1 && recsort -s fits.yaml fits.2 -o s2
recsort -s fits.yaml --merge s1 s2 >out || wc -c <out
cat s1 | recsort -s fits.yaml --merge - s2 >out || wc -c <out
quietly recsort -s fits.yaml fits.1 fits.2 --keep-trailer -o out && same fits 9999 no out 1 2
# A trailer that is dropped is said.
recsort -s las.yaml las.1 las.2 -o out && same las 9999 no out 1 2
cat las.2 | recsort -s las.yaml las.1 - -o out && same las 9999 no out 1 2
recsort -s las.yaml las.1 las.2 las.3 las.1 -o out
recsort -s las.yaml --merge las.0 las.0 las.0 >out && cmp out las.0
# Where the places are.
for n in las fits shx pcd dat footer; do recsort -s $n.yaml --explain --plugin cpu --threads 1 | grep -E '^(file|record)'; done
recsort -s las.yaml --explain --plugin cpu --threads 1 las.1 las.2 | grep -E '^record|  las'
recsort -s fits.yaml --explain --plugin cpu --threads 1 fits.1 | grep '  fits'
