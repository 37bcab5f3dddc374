# Integers of 3, 5, 6 and 7 bytes in every tool: as fields, keys, bases and numbers of a header.
# Python reads them by int.from_bytes.
cat >check.py <<'PYTHON'
import csv, random, subprocess
random.seed(4)
TYPES = [(sign + f"int{bits}", bits // 8, not sign) for bits in (24, 40, 48, 56) for sign in ("", "u")]
def run(*words, given=None):
    done = subprocess.run(words, capture_output=True, input=given)
    assert done.returncode == 0, done.stderr
    return done.stdout
for name, size, signed in TYPES:
    for endian in "little", "big":
        open("s.yaml", "w").write(f"""record: Row
layout: c
endian: {endian}
skip: 8
count: {{offset: 0, type: u{name.lstrip("u")}}}
fields:
  - {{name: flag, type: uint8}}
  - {{name: x, type: {name}}}
  - {{name: low, type: bitfield, base: x, bit: 3, width: 15}}
  - {{name: kind, type: enum, base: {name}, values: [zero, one, {{name: two, value: 2}}]}}
  - {{name: id, type: uint16}}
""")
        whole = 1 + 2 * size + (1 + 2 * size) % 2 + 2
        rest = random.choice
        def row(i):
            least = -(1 << (8 * size - 1)) if signed else 0
            value = rest([least, least + (1 << 8 * size) - 1, 0, 1, 255, 256, least + random.randrange(1 << 8 * size)])
            kind = random.randrange(3)
            return value, kind, (b"\7" + value.to_bytes(size, endian, signed=signed) + kind.to_bytes(size, endian)).ljust(
                whole - 2, b"\0") + i.to_bytes(2, endian)
        rows = [row(i) for i in range(1500)]
        header = len(rows).to_bytes(size, endian).ljust(8, b"h")
        data = header + b"".join(r[2] for r in rows)
        def sort(key, *words):
            return run("recsort", "-s", "s.yaml", "-k", key, *words, given=data)
        def same(got, order):
            assert got == header + b"".join(r[2] for r in sorted(rows, key=order)), (name, endian)
        same(sort("x"), lambda r: r[0])
        same(sort("x:desc"), lambda r: -r[0])
        same(sort("low"), lambda r: (r[0] >> 3) & 0x7fff)
        same(sort("kind:desc"), lambda r: -r[1])
        assert sort("x", "--head", "3")[:size] == (3).to_bytes(size, endian)
        table = csv.DictReader(run("reccat", "-s", "s.yaml", "-f", "csv", given=data).decode().splitlines())
        shown = [(int(t["x"]), t["kind"]) for t in table]
        assert shown == [(r[0], ["zero", "one", "two"][r[1]]) for r in rows]
        made = run("recgen", "-s", "s.yaml", "-n", "50", "-d", "sorted")
        assert len(made) == 8 + 50 * whole
print("as Python has it")
PYTHON
python3 check.py
cat >s.yaml <<'YAML'
record: Row
fields: [{name: a, type: uint8}, {name: b, type: int24, count: 2}, {name: c, type: uint56}, {name: d, type: uint32}]
keys: [b, {field: c, order: desc}]
YAML
recsort -s s.yaml --plugin cpu --explain | sed '/^plugin/,$d'
