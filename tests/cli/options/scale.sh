# Fixed-point numbers: integers with a scale, in every tool, compared with Python's decimal module.
cat >make.py <<'PYTHON'
import struct
FIELDS = [("a", "int32", "i", "0.001"), ("b", "int16", "h", "1e-7"), ("c", "uint8", "B", "2.5e2"), ("d", "int64", "q", "0.00025"),
          ("e", "uint64", "Q", "999999999999999999"), ("f", "int64", "q", "5.9604644775390625e-08"), ("g", "int8", "b", ".5"),
          ("h", "uint16", "H", "1e+18"), ("i", "uint64", "Q", "1.23456789012345678e-18"), ("j", "int32", "i", "1")]
VALUES = [0, 1, -1, 7, 1000, -1000, 12345, -12345]


def values():
    """Small ones, and the least and greatest of each type."""
    for value in VALUES:
        yield [max(value, -100) if c in "b" else abs(value) % 256 if c.isupper() else value for _, _, c, _ in FIELDS]
    bits = [8 * struct.calcsize("<" + c) for _, _, c, _ in FIELDS]
    yield [0 if c.isupper() else -1 << b - 1 for b, (_, _, c, _) in zip(bits, FIELDS)]
    yield [(1 << b) - 1 if c.isupper() else (1 << b - 1) - 1 for b, (_, _, c, _) in zip(bits, FIELDS)]


def rows():
    for row in values():
        yield [max(-128, min(127, v)) if c == "b" else v for v, (_, _, c, _) in zip(row, FIELDS)]


FORMAT = "<" + "".join(c for _, _, c, _ in FIELDS)
if __name__ == "__main__":
    open("in", "wb").write(b"".join(struct.pack(FORMAT, *row) for row in rows()))
    with open("fixed.yaml", "w") as schema:
        schema.write("record: Fixed\nlayout: packed\nfields:\n")
        for name, kind, _, scale in FIELDS:
            schema.write(f"  - {{name: {name}, type: {kind}, scale: {scale}}}\n")
        schema.write("keys: [a, {field: g, order: desc}]\n")
PYTHON
python3 make.py
reccat -s fixed.yaml in -f csv >csv
reccat -s fixed.yaml in -f jsonl >jsonl
reccat -s fixed.yaml in >table
recsort -s fixed.yaml in -o out && recsort -s fixed.yaml -c out && echo sorted
recsort -s fixed.yaml -c in
echo "exit $?"
python3 - <<'PYTHON'
import csv, json, struct
from decimal import Decimal, getcontext
from make import FIELDS, FORMAT, rows
getcontext().prec = 100
given = list(rows())


def text(value, scale):
    """With as many decimals as the scale has: what the product of decimals has too."""
    return f"{Decimal(value) * Decimal(scale):f}"


expected = [[text(value, scale) for value, (_, _, _, scale) in zip(row, FIELDS)] for row in given]
# Decimal keeps the sign of no zero here, and writes 0E+1 as 0.
assert list(csv.reader(open("csv")))[1:] == expected, (list(csv.reader(open("csv")))[1:], expected)
found = [list(json.loads(line, parse_float=str, parse_int=str).values()) for line in open("jsonl")]
assert found == expected, (found, expected)
lines = open("table").read().splitlines()
assert len({len(line) for line in lines}) == 1 and [line.split() for line in lines[1:]] == expected
size = struct.calcsize(FORMAT)
data = open("out", "rb").read()
result = [list(struct.unpack_from(FORMAT, data, at)) for at in range(0, len(data), size)]
assert result == sorted(given, key=lambda row: (row[0], -row[6]))
print("as Python has it")
PYTHON
