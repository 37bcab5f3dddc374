# The value that a message shows, for each kind of key.
cat >all.yaml <<'END'
record: All
layout: packed
fields:
  - {name: name, type: char, count: 4}
  - {name: raw, type: bytes, count: 2}
  - {name: kind, type: enum, base: uint8, values: [none, low, high]}
  - {name: items, type: struct, count: 2, fields: [{name: id, type: int16, endian: big}]}
  - {name: flag, type: bool}
END
printf 'b\0\0\0\2\3\2\0\1\0\5\1a\0\0\0\2\1\1\0\1\0\4\0' >in
for key in name raw kind 'items[1].id' flag; do
  recsort -s all.yaml -k "$key" -c in || echo "exit $?"
  recsort -s all.yaml -k 'items[0].id' -k "$key" -c in || echo "exit $?"
done

echo "what is long, or not plain"
cat >long.yaml <<'END'
record: Long
layout: packed
fields: [{name: text, type: char, count: 100}, {name: raw, type: bytes, count: 100}]
keys: [{field: text}]
END
python3 - <<'END' >long
import sys
sys.stdout.buffer.write(b"\xff\"\\" + b"z" * 97 + b"\xee" * 100 + b"a" * 100 + b"\xdd" * 100)
END
recsort -s long.yaml -c long
echo "exit $?"
recsort -s long.yaml -k raw -c long
echo "exit $?"

echo "floats as reccat has them"
cat >floats.yaml <<'YAML'
record: Floats
layout: packed
fields: [{name: half, type: float16}, {name: single, type: float32}, {name: double, type: float64}]
YAML
python3 -c 'import struct, sys
for row in (0.2, 100000.0, 1e22), (0.1, 0.1, 0.1):
    sys.stdout.buffer.write(struct.pack("<efd", *row))' >floats
for key in half single double; do
  recsort -s floats.yaml -k "$key" -c floats || echo "exit $?"
done
