# A file's own header says where its records begin and how many they are. Python makes the files and
# says what is right; the data has ties, and text that tells them apart.
cat >points.yaml <<'YAML'
record: Point
layout: packed
skip: {offset: 4, type: uint16, endian: big}
count: {offset: 7, type: uint8}
trailer: any
fields:
  - {name: key, type: uint8}
  - {name: tag, type: uint16}
keys: [key]
YAML
cat >text.yaml <<'YAML'
record: Point
layout: packed
skip: 40
count: {offset: 10, type: char, count: 20}
trailer: any
fields:
  - {name: key, type: uint8}
  - {name: tag, type: uint16}
keys: [key]
YAML
cat >files.py <<'END'
"""files.py make: makes files. files.py same HEAD UNIQUE MERGE OUTPUT INPUT...: compares."""
import random, sys
def points(skip, rows, rest):
    return b"LASF" + skip.to_bytes(2, "big") + b"-" + bytes([len(rows)]) + b"h" * (skip - 8) + b"".join(rows) + rest
def text(rows, rest):
    return b"COUNT   = " + b"%20d" % len(rows) + b" / header" + b"." + b"".join(rows) + rest
def split(data):
    if data[:4] == b"LASF":
        at, count = int.from_bytes(data[4:6], "big"), data[7]
    else:
        at, count = 40, int(data[10:30])
    return data[:at], [data[at + 3 * i:at + 3 * i + 3] for i in range(count)], data[at + 3 * count:]
def rows(count, seed):
    random.seed(seed)
    return [bytes([random.randrange(5)]) + i.to_bytes(2, "little") for i in range(count)]
if sys.argv[1] == "make":
    for name, data in {"a": points(8, rows(50, 1), b"TAIL"), "b": points(300, rows(70, 2), b"other"),
                       "none": points(20, [], b""), "many": points(9, rows(200, 3), b""),
                       "ta": text(rows(90, 4), bytes(99)), "tb": text(rows(30, 5), b"")}.items():
        open(name, "wb").write(data)
else:
    head, unique, output, inputs = int(sys.argv[2]), sys.argv[3] == "yes", sys.argv[4], sys.argv[5:]
    parts = [split(open(name, "rb").read()) for name in inputs]
    want = sorted((row for part in parts for row in part[1]), key=lambda row: row[0])
    if unique:
        want = [row for i, row in enumerate(want) if i == 0 or row[0] != want[i - 1][0]]
    want = want[:head]
    header, trailer = parts[0][0], parts[0][2]
    header = (header[:7] + bytes([len(want)]) + header[8:] if header[:4] == b"LASF"
              else header[:10] + b"%20d" % len(want) + header[30:])
    good = open(output, "rb").read() == header + b"".join(want) + trailer
    print("right:" if good else "WRONG:", *sys.argv[2:])
END
python3 files.py make
same() { python3 files.py same "$@"; }
for schema in points text; do
  [ $schema = points ] && one=a two=b || { one=ta two=tb; }
  s="-s $schema.yaml"
  recsort $s $one -o out && same 999 no out $one
  cat $one | recsort $s >out && same 999 no out $one
  recsort $s <$one -o out && same 999 no out $one
  recsort $s --head 7 $one >out && same 7 no out $one
  cat $one | recsort $s --unique -o out && same 999 yes out $one
  recsort $s $one $two -o out && same 999 no out $one $two
  cat $one | recsort $s --head 60 - $two -o out && same 60 no out $one $two
  recsort $s $one -o s1 && recsort $s $two -o s2 && recsort $s --check s1 s2 || echo "exit $?"
  cat s1 | recsort $s --check && echo checked
  recsort $s --merge s1 s2 -o out && same 999 no out $one $two
  cat s1 | recsort $s --merge - s2 -o out && same 999 no out $one $two
  recsort $s --merge --head 3 s2 s1 -o out && same 3 no out $two $one
  cp $one copy && recsort $s copy -o copy && same 999 no copy $one
  recsort $s --index=32 $one | wc -c
  reccat $s --format csv s1 | wc -l
  recsort $s --explain --plugin cpu --threads 1 $one $two | grep -E '^file|  (a|b|ta|tb)$'
  recsort $s --merge --unique s1 s2 -o out
  cat $one $two | recsort $s - -
done
recsort -s points.yaml none many -o out && same 999 no out none many
cat none | recsort -s points.yaml >out && same 999 no out none
# The options take precedence.
recsort -s points.yaml --count 2 a | head -c 14 | od -An -c
recsort -s points.yaml --skip 8 --count 50 a | cmp - s1 2>&1 | head -n 1 | cut -c 1-20
printf 'LASF\0\13-\1dxxcyybzzazz' >other
recsort -s points.yaml --skip 8 --count 4 other | tail -c 12 && echo
# A file that recgen makes is read back.
for schema in points text; do
  recgen -s $schema.yaml -n 100 --seed 3 -o made && reccat -s $schema.yaml --format csv made | wc -l
done
recgen -s points.yaml -n 300 -o made
# What is refused.
refused() {
  echo old >out
  recsort -s points.yaml "$@" -o out
  echo "exit $?, $(cat out)"
}
refused many b
head -c 60 a >short
refused short
cat short | recsort -s points.yaml
head -c 6 a >short
refused short
cat short | recsort -s points.yaml
head -c 100 b >short
refused short
cat short | recsort -s points.yaml
printf 'LASF\0\3-\1abcabc' >early
refused early
sed 's/^trailer: any/trailer: 4/' points.yaml >strict.yaml
recsort -s strict.yaml a -o out && same 999 no out a
printf 'LASF\0\10-\2abcabcabcTAIL' >more
recsort -s strict.yaml more
cat more | recsort -s strict.yaml >out
printf 'LASF\0\10-\4abcabcabcTAIL' >fewer
recsort -s strict.yaml fewer
cat fewer | recsort -s strict.yaml >out
printf 'LASF\0\10-\3abcabcabcTAIL!' >rest
recsort -s strict.yaml rest
recsort -s strict.yaml --check more
recsort -s strict.yaml --merge a more -o out
sed '/^trailer/d' text.yaml >strict.yaml
recsort -s strict.yaml ta
for count in '                 -3 ' '                    ' '3.0                 ' '99999999999999999999' '4611686018427387905 ' '18446744073709551619'; do
  { printf 'COUNT   = '; printf '%s' "$count"; printf ' / header.abcabcabc'; } >wrong
  recsort -s text.yaml wrong
done
# Digits stay on their side; NULs may follow them.
{ printf 'COUNT   = 3'; head -c 19 /dev/zero; printf ' / header.cccbbbaaa'; } >left
recsort -s text.yaml --head 2 left | od -An -c
