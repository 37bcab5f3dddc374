# .npy files need no schema. Python writes them and says what is right, without NumPy;
# tests/real/readers.py does it with NumPy. npy-dtypes.sh has the rarer dtypes.
cat >npy.py <<'END'
"""npy.py make: makes files. npy.py same ORDER HEAD UNIQUE OUTPUT INPUT...: compares."""
import math, random, struct, sys
def header(descr, shape, fortran=False, version=1, align=64, extra=0):
    text = "{'descr': %s, 'fortran_order': %s, 'shape': %s, }" % (descr, fortran, shape)
    before = 10 if version == 1 else 12
    text += " " * ((-len(text) - before - 1) % align + extra) + "\n"
    body = text.encode("utf-8" if version == 3 else "latin-1")
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(body)) + body
def split(data):
    small = data[6] == 1
    length = struct.unpack_from("<H" if small else "<I", data, 8)[0]
    at = (10 if small else 12) + length
    return eval(data[10 if small else 12:at]), data[:at], data[at:]
POINT = ("[('id', '<i2'), ('', '|V2'), ('place', [('xy', '>f4', (2,)), ('é', '|i1')]), (('a title', 'name'), '<U2'),"
         " ('tag', '|S3', (2,)), ('ok', '|b1'), ('when', '<M8[s]')]")
WIDTH = 37
def point(i, r=random.Random(3)):
    return struct.pack("<h", r.randrange(-2, 2)) + b"\xAA%c" % (i % 251) + struct.pack(
        ">ff", r.choice([1.5, math.nan, -2]), r.choice([0.0, -0.0, 7])) + struct.pack(
        "<b", r.choice([-1, 3])) + r.choice(["a", "é", "\U0001F600", "ab"]).encode("utf-32-le").ljust(8, b"\0") + \
        r.choice([b"xy", b"xyz"]).ljust(3, b"\0") + r.choice([b"k", b"l"]).ljust(3, b"\0") + bytes([r.randrange(3)]) + \
        struct.pack("<q", r.choice([-2**63, 0, 5]))
real = lambda x: (1, 0) if math.isnan(x) else (0, x)
def point_key(b):
    when = struct.unpack_from("<q", b, 27 + 0)[0] if False else struct.unpack_from("<q", b, 28)[0]
    return (struct.unpack_from("<h", b)[0], *map(real, struct.unpack_from(">ff", b, 4)), struct.unpack_from("<b", b, 12)[0],
            [ord(c) for c in b[13:21].decode("utf-32-le")], b[21:27], b[27] != 0, (when == -2**63, when))
ORDERS = {"double": (8, lambda b: real(struct.unpack("<d", b)[0])),
          "down": (8, lambda b: (lambda x: real(x) if math.isnan(x) else (0, -x))(struct.unpack("<d", b)[0])),
          "point": (36, point_key), "tag": (36, lambda b: b[21:27]),
          "row": (6, lambda b: struct.unpack(">3h", b)), "second": (6, lambda b: struct.unpack(">3h", b)[1])}
def doubles(n, seed):
    r = random.Random(seed)
    return b"".join(struct.pack("<d", r.choice([1.5, math.nan, -0.0, 0.0, -math.inf, r.random()])) for _ in range(n))
def make(name, head, data):
    open(name, "wb").write(head + data)
if sys.argv[1] == "make":
    make("d9", header("'<f8'", "(9,)"), doubles(9, 1))
    make("d300", header("'<f8'", "(300,)", version=2), doubles(300, 2))
    make("d99", header("'<f8'", "(99,)", align=1), doubles(99, 3))       # no room for a digit
    make("bare", header("'<f8'", "(9,)", align=1)[:-1] + b" ", doubles(9, 4))  # no newline
    make("latin", header("[('é', '<i2')]", "(4,)"), struct.pack("<4h", 3, -1, 2, 0))
    make("d0", header("'<f8'", "(0,)"), b"")
    make("points", header(POINT, "(500,)", version=3), b"".join(map(point, range(500))))
    r = random.Random(9)
    make("rows", header("'>i2'", "(400, 3)"), b"".join(struct.pack(">3h", *(r.randrange(-3, 3) for _ in "abc")) for _ in range(400)))
    make("deep", header("'>i2'", "(200, 1, 3)"), b"".join(struct.pack(">3h", *(r.randrange(-3, 3) for _ in "abc")) for _ in range(200)))
    make("fortran", header("'>i2'", "(4, 3)", fortran=True), bytes(24))
    make("flat", header("'>i2'", "(4,)", fortran=True), bytes(8))
    make("structs", header("[('a', '<i4'), ('b', [('x', '<i2')], (2,))]", "(3,)"), bytes(24))
    make("matrix", header("[('a', '<i4')]", "(3, 2)"), struct.pack("<6i", 3, 1, 1, 5, 2, 0))
    for name, descr in {"object": "'|O'", "complex": "'<c16'", "quad": "'<f16'", "empty": "'<U0'",
                        "wrong": "[('a', )]", "twice": "[('a', '<i2'), ('a', '<i2')]", "none": "[]", "quote": "'<\"4'",
                        "nested": "[('a'," * 99 + "'<i4'" + ")]" * 99}.items():
        make(name, header(descr, "(2,)"), bytes(8))
    make("scalar", header("'<i4'", "()"), bytes(4))
    make("hollow", header("'<i4'", "(3, 0)"), b"")
    make("huge", header("'<i4'", "(99999999999999999999,)"), b"")
    make("most", header("'<i4'", "(9223372036854775807,)"), b"")
    make("any", header("'<i4'", "(18446744073709551615,)"), bytes(12))
    make("short", header("'<i4'", "(3,)"), bytes(8))
    make("long", header("'<i4'", "(3,)"), bytes(17))
    make("cut", header("'<i4'", "(3,)")[:30], b"")
    make("magic", b"\x93NUMPX\1\0", bytes(99))
    make("version", header("'<i4'", "(1,)").replace(b"Y\1", b"Y\4"), bytes(4))
    make("open", header("'<i4'", "(1,)").replace(b"}", b" "), bytes(4))
else:
    size, key = ORDERS[sys.argv[2]]
    head, unique, output, inputs = int(sys.argv[3]), sys.argv[4] == "yes", sys.argv[5], sys.argv[6:]
    parts = [split(open(name, "rb").read()) for name in inputs]
    want = sorted((data[i:i + size] for _, _, data in parts for i in range(0, len(data), size)), key=key)
    if unique:
        want = [b for i, b in enumerate(want) if i == 0 or key(b) != key(want[i - 1])]
    want = want[:head]
    said, kept, data = split(open(output, "rb").read())
    first = parts[0][0]
    shape = (len(want), *first["shape"][1:])
    good = data == b"".join(want) and said == {**first, "shape": shape}
    good &= shape != first["shape"] or kept == parts[0][1]
    good &= len(kept) == len(parts[0][1]) or len(kept) % 64 == 0
    print("right:" if good else "WRONG:", *sys.argv[2:])
END
python3 npy.py make
same() { python3 npy.py same "$@"; }
recsort d9 -o out && same double 999 no out d9
cat d300 | recsort >out && same double 999 no out d300
recsort -k value:desc <d300 -o out && same down 999 no out d300
recsort d9 d300 -o out && same double 999 no out d9 d300
cat d99 | recsort - d9 d300 -o out && same double 999 no out d99 d9 d300
recsort d99 d0 d9 >out && same double 999 no out d99 d0 d9
recsort bare -o out && same double 999 no out bare
recsort latin -k é:desc | tail -c 8 | od -An -t d2
recsort d0 >out && same double 999 no out d0
recsort --unique d300 >out && same double 999 yes out d300
cat d300 | recsort --head 3 >out && same double 3 no out d300
cp d300 copy && recsort copy -o copy && same double 999 no copy d300
recsort points >out && same point 999 no out points
cat points | recsort -k tag -o out && same tag 999 no out points
recsort rows >out && same row 999 no out rows
recsort rows -k 'value[1]' -o out && same second 999 no out rows
recsort deep >out && same row 999 no out deep
recsort flat | cmp - flat && echo flat
recsort matrix -k 'value[1].a' | od -An -t d4 -j 128
recsort -k 'b[1].x' structs | cmp - structs && echo structs
for name in d9 d99 d300; do recsort $name -o sorted-$name; done
recsort --check sorted-d9 && cat sorted-d300 | recsort --check && echo checked
recsort --check d9 d300
echo "exit $?"
recsort --merge sorted-d9 sorted-d99 sorted-d300 -o out && same double 999 no out d9 d99 d300
cat sorted-d300 | recsort --merge --head 20 - sorted-d9 >out && same double 20 no out d300 d9
recsort --merge --unique sorted-d9 sorted-d9
recsort --index=32 d9 | od -An -t u4
recsort --explain --plugin cpu --threads 1 points points | sed '/^plugin/,/^why/d;/^transfer/d;/^memory/d'
printf 'more' | cat d9 - >followed
recsort followed >out
recsort --trailer 4 followed | tail -c 4 && echo
# What is refused.
for name in object complex quad empty wrong twice none quote nested scalar hollow huge most any short \
  long cut magic version open fortran structs matrix; do
  echo old >out
  recsort $name -o out || echo "$name: exit $?, $(cat out)"
done
recsort d9 rows
recsort d9 cut
cat d9 | recsort - rows
cat rows | recsort >out && same row 999 no out rows
cat cut | recsort
recsort --skip 3 d9
recsort -k price d9
recsort missing
recsort </dev/null
# A schema without `skip` would make records of the header.
printf 'record: R\nfields: [{name: b, type: uint8}]\nkeys: [b]\n' >byte.yaml
recsort -s byte.yaml byte.yaml d9 -o out || echo "exit $?"
cat d9 | recsort -s byte.yaml | wc -c
recsort -s byte.yaml --skip 0 d9 | wc -c
recsort -s byte.yaml --skip 10 d9 | wc -c
wc -c <d9
mkfifo pipe
recsort pipe
cat d9 d9 | recsort - - 2>&1 | head -n 1
