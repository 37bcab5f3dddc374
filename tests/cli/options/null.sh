# Integers with values that stand for no number, in every tool. Python puts them last or first.
cat >null.yaml <<'YAML'
record: Row
layout: packed
fields:
  - {name: depth, type: int16, null: -99}
  - {name: code, type: uint8, null: [0, 255, 7]}
  - {name: price, type: int32, endian: big, scale: 0.01, null: 0x7fffffff}
  - {name: far, type: uint64, null: [0xffffffffffffffff, 5]}
  - {name: id, type: uint24}
keys: [id]
YAML
cat >check.py <<'PYTHON'
import csv, random, struct, subprocess
random.seed(3)
few = lambda *values: random.choice(values)
NULLS = {"depth": {-99}, "code": {0, 255, 7}, "price": {2**31 - 1}, "far": {2**64 - 1, 5}}
def row(i):
    return dict(depth=few(-99, -99, -100, -98, 0, 32767, -32768), code=few(0, 255, 7, 8, 6, 254, 1),
                price=few(2**31 - 1, 2**31 - 2, -2**31, 0, -1, 12345), far=few(2**64 - 1, 5, 4, 6, 0, 2**63), id=i)
def pack(r):
    return (struct.pack("<hB", r["depth"], r["code"]) + struct.pack(">i", r["price"])
            + struct.pack("<Q", r["far"]) + r["id"].to_bytes(3, "little"))
rows = [row(i) for i in range(2000)]
open("in", "wb").write(b"".join(map(pack, rows)))
def run(*words):
    done = subprocess.run(words, capture_output=True)
    assert done.returncode == 0, done.stderr
    return done.stdout
for name, nulls in NULLS.items():
    for order in "asc", "desc":
        for nan in "last", "first", "total":
            def rank(r):
                value = r[name] if order == "asc" else -r[name]
                if nan == "total" or r[name] not in nulls:
                    return 0, value
                return 1 if nan == "last" else -1, 0
            want = b"".join(map(pack, sorted(rows, key=rank)))
            assert run("recsort", "-s", "null.yaml", "-k", f"{name}:{order}:nan={nan}", "in") == want, (name, order, nan)
            open("sorted", "wb").write(want)
            run("recsort", "-s", "null.yaml", "-c", "-k", f"{name}:{order}:nan={nan}", "sorted")
kept = run("recsort", "-s", "null.yaml", "-k", "code", "-u", "in")
assert len(kept) // 18 == len({r["code"] for r in rows} - NULLS["code"]) + 1  # all null values are equal
table = csv.DictReader(run("reccat", "-s", "null.yaml", "-f", "csv", "in").decode().splitlines())
assert [(int(t["depth"]), int(t["code"]), int(t["id"])) for t in table] == [(r["depth"], r["code"], r["id"]) for r in rows]
print("as Python has it")
PYTHON
python3 check.py
recsort -s null.yaml --plugin cpu --explain -k depth:desc -k code:nan=first -k price | sed '/^plugin/,$d'
python3 - <<'PYTHON' >two
import struct, sys
for depth, code, price in (-99, 7, 2**31 - 1), (-98, 0, 150):
    sys.stdout.buffer.write(struct.pack("<hB", depth, code) + struct.pack(">i", price) + bytes(11))
PYTHON
recsort -s null.yaml -k code -k depth -c two
recsort -s null.yaml -k price -c two
recsort -s null.yaml -k id:nan=first two || echo "exit $?"
