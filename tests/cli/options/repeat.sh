# Headers and records that are repeated, as in a file of NetFlow packets: every header stays in its place
# with as many records behind it, and the records are sorted across all of them. Python says what is right.
cat >flow.yaml <<'YAML'
record: Flow
endian: big
layout: packed
skip: 24
count: {offset: 2, type: uint16}
repeat: true
fields:
  - {name: bytes, type: uint32}
  - {name: tag, type: uint16}
keys: [bytes]
YAML
cat >varied.yaml <<'YAML'
record: Varied
layout: packed
skip: {offset: 0, type: uint8}
count: {offset: 1, type: uint8}
repeat: true
fields:
  - {name: bytes, type: uint32, endian: big}
  - {name: tag, type: uint16}
keys: [{field: bytes, order: desc}]
YAML
sed '/^count/s/.*/count: 7/' flow.yaml >fixed.yaml
cat >blocks.py <<'END'
"""blocks.py make: makes files. blocks.py same KIND OUTPUT INPUT: compares."""
import random, struct, sys
random.seed(4)
def rows(n):
    return [struct.pack(">IH", random.randrange(40), random.randrange(65536)) for _ in range(n)]
def flow(n, i):
    return struct.pack(">HHI", 5, n, i).ljust(24, b"h")
def varied(n, i):
    return bytes([2 + i % 5, n]) + b"abcd"[:i % 5]
def make(name, header, counts):
    open(name, "wb").write(b"".join(header(n, i) + b"".join(rows(n)) for i, n in enumerate(counts)))
def split(kind, data):
    headers, found, at = [], [], 0
    while at < len(data):
        size, n = ((24, struct.unpack_from(">H", data, at + 2)[0]) if kind == "flow" else
                   (24, 7) if kind == "fixed" else (data[at], data[at + 1]))
        headers.append((data[at:at + size], n))
        found += [data[i:i + 6] for i in range(at + size, at + size + 6 * n, 6)]
        at += size + 6 * n
    return headers, found
if sys.argv[1] == "make":
    make("flows", flow, [30, 1, 0, 29, 30, 0, 0, 17] * 99)
    make("few", flow, [3, 0, 2])
    make("empty", flow, [0, 0])
    make("varied", varied, [random.randrange(9) for _ in range(700)])
    make("fixed", lambda n, i: b"H" * 24, [7] * 50)
else:
    kind, output, source = sys.argv[2:]
    headers, found = split(kind, open(source, "rb").read())
    found.sort(key=lambda r: struct.unpack_from(">I", r)[0] * (-1 if kind == "varied" else 1))
    want = b""
    for header, n in headers:
        want += header + b"".join(found[:n])
        del found[:n]
    print("right:" if open(output, "rb").read() == want else "WRONG:", *sys.argv[2:])
END
python3 blocks.py make
same() { python3 blocks.py same "$@"; }
recsort -s flow.yaml flows -o out && same flow out flows
cat flows | recsort -s flow.yaml >out && same flow out flows
(sleep 0.1; head -c 50 few; sleep 0.1; tail -c +51 few) | recsort -s flow.yaml -o out && same flow out few
recsort -s flow.yaml <few | cat >out && same flow out few
recsort -s varied.yaml varied -o out && same varied out varied
recsort -s fixed.yaml fixed >out && same fixed out fixed
recsort -s flow.yaml empty >out && same flow out empty
cp flows copy && recsort -s flow.yaml copy -o copy && same flow copy flows
recsort -s flow.yaml flows 1<>new && same flow new flows
recsort -s flow.yaml --check copy && cat copy | recsort -s flow.yaml --check && echo sorted
recsort -s flow.yaml --check copy few
echo "exit $?"
recsort -s flow.yaml --index=32 few | od -An -t u4
recsort -s flow.yaml --index few few few | wc -c
reccat -s varied.yaml -f csv varied | wc -l
recgen -s flow.yaml -n 100 | recsort -s flow.yaml | reccat -s flow.yaml -f csv | wc -l
recsort -s flow.yaml --explain --plugin cpu --threads 1 | grep file
refused() {
  echo old >out
  recsort -s flow.yaml "$@" -o out
  echo "exit $?, $(cat out)"
}
refused few few
refused --unique few
refused --head 3 few
refused --merge few
refused --trailer 3 few
recsort -s flow.yaml --explain few
for size in 1 23 24 25 47 49; do
  head -c $size few >short
  refused short
  cat short | recsort -s flow.yaml >out || echo "exit $?"
done
printf '\1\1' >early
recsort -s varied.yaml early
# recgen makes packets of 30 flows.
recgen -s "$SCHEMAS/netflow5.yaml" -n 70 -o made && wc -c <made && od -An -t x1 -j 2 -N 2 made && od -An -t x1 -j 2930 -N 2 made
recsort -s "$SCHEMAS/netflow5.yaml" made -o made && reccat -s "$SCHEMAS/netflow5.yaml" -f csv made | wc -l
sed '/^repeat/d; /^count/d' flow.yaml >plain.yaml
recgen -s plain.yaml -n 70 | reccat -s plain.yaml -f csv >plain.csv
recgen -s flow.yaml -n 70 | reccat -s flow.yaml -f csv | cmp - plain.csv && echo "the same records"
recgen -s fixed.yaml -n 21 | recsort -s fixed.yaml | wc -c
recgen -s fixed.yaml -n 22 -o out || cat out
recgen -s flow.yaml -n 0 | wc -c
