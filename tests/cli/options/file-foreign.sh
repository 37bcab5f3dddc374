# Compressed files, and files in columns, are known by their whole signature: they are refused, and
# so is .npy, by every front end, from files and pipes. What only begins alike is records.
cat >row.yaml <<'YAML'
record: Row
layout: packed
fields: [{name: key, type: bytes, count: 2}]
keys: [key]
YAML
printf 'ccbbaabb' >rows
cat >make.py <<'END'
import bz2, gzip, io, lzma, zipfile
rows = open("rows", "rb").read() * 5
files = {"gz": gzip.compress(rows), "bz2": bz2.compress(rows), "xz": lzma.compress(rows), "nothing.bz2": bz2.compress(b"")}
with zipfile.ZipFile("zip", "w") as z:
    z.writestr("rows", rows)
files["zip"] = open("zip", "rb").read()
files["zst"] = b"\x28\xb5\x2f\xfd" + rows
files["lz4"] = b"\x04\x22\x4d\x18" + rows
files["7z"] = b"7z\xbc\xaf\x27\x1c" + rows
files["h5"] = b"\x89HDF\r\n\x1a\n" + rows
files["arrow"] = b"ARROW1\0\0" + rows
files["parquet"] = b"PAR1" + rows * 1000 + b"PAR1"
files["npy"] = b"\x93NUMPY\1\0" + b"v\0{'descr': '|V2', 'fortran_order': False, 'shape': (2,), }".ljust(119) + b"\naabb"
print(*files)
# Another flag, level, block, digit, or end; or the same bytes elsewhere: these are rows.
rows = {"gz": b"\x1f\x8b\x08\x20", "bz2": b"BZh0\x31\x41\x59\x26\x53\x59", "bz2-2": b"BZh9\x31\x41\x59\x26\x53\x58",
        "zip": b"PK\x05\x04", "xz": b"\xfd7zXY\0", "parquet": b"PAR1aaPAR2", "parquet-2": b"aaR1aaPAR1", "h5": b"\x89HDF\r\n\x1a\r",
        "npy": b"\x92NUMPY", "gz-2": b"\x1f\x8b", "late": b"aa\x1f\x8b\x08\x00"}
for name, data in files.items():
    open("x." + name, "wb").write(data + b"\0" * (len(data) % 2) if name not in ("parquet",) else data)
for name, data in rows.items():
    data += b"\0" * (len(data) % 2)
    open("rows." + name, "wb").write(data)
    open("sorted." + name, "wb").write(b"".join(sorted(data[i:i + 2] for i in range(0, len(data), 2))))
END
names=$(python3 make.py)
for name in $names; do
  recsort -s row.yaml x.$name -o out
  for how in '' --merge --check --index --unique; do
    echo old >out
    recsort -s row.yaml $how x.$name >out 2>why
    echo "exit $?, $(wc -c <out), $(wc -l <why)"
    cat x.$name | recsort -s row.yaml $how >out 2>why
    status=$?
    # a merge or check of a pipe is over before its end shows
    [ $name$how = parquet--merge ] || [ $name$how = parquet--check ] && continue
    echo "exit $status, $(wc -c <out), $(wc -l <why)"
    [ "$how" = --check ] || [ "$how" = --merge ] && continue # rows are out of order
    recsort -s row.yaml $how rows x.$name >out 2>why
    echo "exit $?, $(wc -c <out), $(wc -l <why)"
  done | sort | uniq -c
  reccat -s row.yaml x.$name >out 2>why
  echo "reccat: exit $?, $(wc -c <out)"
  recsort -s row.yaml --explain --plugin cpu x.$name >out 2>why
  echo "explain: exit $?"
done
cat x.gz | recsort -s row.yaml
echo "-- insisted"
for name in $names; do
  recsort -s row.yaml --raw x.$name -o out && [ "$(wc -c <out)" = "$(wc -c <x.$name)" ] || echo "WRONG: $name"
  cat x.$name | recsort -s row.yaml --raw | cmp - out
  reccat -s row.yaml --raw -f csv x.$name | tail -n +2 | wc -l >lines
  [ $((2 * $(cat lines))) = "$(wc -c <x.$name)" ] || echo "WRONG: reccat $name"
done
sed 's/^fields/skip: 4\nexpect: {offset: 0, bytes: "PK\\x03\\x04"}\n&/' row.yaml >zip.yaml
recsort -s zip.yaml x.zip | head -c 4 | od -An -c
recsort -s row.yaml --skip 128 x.npy | cmp - x.npy && echo "npy, skipped"
reccat -s row.yaml --skip 128 -f csv x.npy | tr -d '\r' | tr '\n' ' ' && echo
echo "-- records"
for file in rows.*; do
  recsort -s row.yaml $file | cmp - sorted.${file#rows.} || echo "WRONG: $file"
  cat $file | recsort -s row.yaml | cmp - sorted.${file#rows.} || echo "WRONG: $file from a pipe"
done
