# C strings with leftovers behind their NUL, in every tool. Python cuts them at the NUL.
cat >cstring.yaml <<'YAML'
record: Row
layout: packed
fields: [{name: name, type: cstring, count: 12}, {name: n, type: int32}, {name: id, type: uint32}]
keys: [name, n]
YAML
sed 's/cstring/char/' cstring.yaml >char.yaml
sed 's/cstring/bytes/' cstring.yaml >bytes.yaml
cat >check.py <<'PYTHON'
import csv, json, random, struct, subprocess
random.seed(16)
SIZE = 20
def row(i):
    field = bytearray(random.choice([bytes(12), b"x" * 12, random.randbytes(12)]))
    name = random.choice([b"", b"al", b"bo", b"bob", b"cy", b"exactly_12_b", b"exactly_12_c", b"\xe9t\xe9"])
    field[:len(name) + 1] = name + b"\0"
    return struct.pack("<12sii", bytes(field[:12]), random.randint(0, 99), i)
records = [row(i) for i in range(3000)]
name = lambda record: record[:12].split(b"\0")[0]
number = lambda record: struct.unpack_from("<i", record, 12)[0]
open("in", "wb").write(b"".join(records))
def run(*words, tool="recsort"):
    done = subprocess.run([tool, *words], capture_output=True)
    assert done.returncode == 0, done.stderr
    return done.stdout
same = lambda got, want: got == b"".join(want)
assert same(run("-s", "cstring.yaml", "in"), sorted(records, key=lambda r: (name(r), number(r))))
assert same(run("-s", "cstring.yaml", "-k", "name:desc", "in"),
            sorted(records, key=lambda r: tuple(255 - b for b in name(r).ljust(12, b"\0"))))
for schema in "char.yaml", "bytes.yaml":  # all bytes count
    assert same(run("-s", schema, "in"), sorted(records, key=lambda r: (r[:12], number(r))))
first = {}
for record in records:
    first.setdefault(name(record), record)
assert same(run("-s", "cstring.yaml", "-u", "-k", "name", "in"), [first[n] for n in sorted(first)])
rows = csv.DictReader(run("-s", "cstring.yaml", "-f", "csv", "in", tool="reccat").decode("latin1").splitlines())
shown = lambda record: name(record).decode("latin1").replace("\xe9", "\\xe9")
assert [row["name"] for row in rows] == [shown(r) for r in records]
rows = run("-s", "cstring.yaml", "-f", "jsonl", "in", tool="reccat").decode().splitlines()
assert [json.loads(row)["name"] for row in rows] == [shown(r) for r in records]
print("as Python has it")
PYTHON
python3 check.py
recsort -s cstring.yaml --plugin cpu --explain | sed '/^plugin/,$d'

echo "keys that print alike"
printf 'ab\0dxxxxxxxx\1\0\0\0\1\0\0\0ab\0cxxxxxxxx\1\0\0\0\2\0\0\0' >alike
recsort -s cstring.yaml -c alike && echo "equal as C strings"
recsort -s char.yaml -c alike || echo "exit $?"
cat >long.yaml <<'YAML'
record: Long
layout: packed
fields: [{name: text, type: char, count: 100}, {name: f, type: float16}]
YAML
python3 -c 'import sys
sys.stdout.buffer.write(b"z" * 90 + b"b" * 10 + b"\1\x7e" + b"z" * 90 + b"a" * 10 + b"\0\x7e")' >long
recsort -s long.yaml -k text -c long || echo "exit $?"
recsort -s long.yaml -k f:nan=total -c long || echo "exit $?"

echo "dropped with other bytes behind the NUL"
recsort -s cstring.yaml -u alike | reccat -s cstring.yaml -f csv
head -c 20 alike >one
tail -c 20 alike >two
recsort -s cstring.yaml -m -u two one | reccat -s cstring.yaml -f csv
cat two | recsort -s cstring.yaml -m -u one - | reccat -s cstring.yaml -f csv
echo "the others are silent"
recsort -s char.yaml -u alike | reccat -s char.yaml -f csv
cat one one | recsort -s cstring.yaml -u - | reccat -s cstring.yaml -f csv
cat one alike | recsort -s cstring.yaml - | reccat -s cstring.yaml -f csv
printf 'ab\0dxxxxxxxx\1\0\0\0\1\0\0\0ab\0cxxxxxxxx\2\0\0\0\2\0\0\0' | # another number: not dropped
  recsort -s cstring.yaml -u | wc -c
