#!/bin/sh
# Usage: test_reccat.sh RECGEN RECCAT RECSORT SCHEMAS
# Values as text in all three formats, the two ends of a file, and the checksum.
set -eu
recgen=$1 reccat=$2 recsort=$3 schemas=$4
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
checks=0
failures=0

differ() { ! cmp -s "$1" "$2"; }
check() { # TEXT COMMAND...
  text=$1
  shift
  checks=$((checks + 1))
  "$@" || { failures=$((failures + 1)); echo "not so: $text"; }
}
same() { # TEXT EXPECTED GOT
  checks=$((checks + 1))
  if [ "$2" != "$3" ]; then
    failures=$((failures + 1))
    printf 'not so: %s\nexpected: %s\ngot:      %s\n' "$1" "$2" "$3"
  fi
}

cat > all.yaml <<'END'
record: all
layout: packed
fields:
  - {name: on, type: bool}
  - {name: small, type: int8}
  - {name: large, type: uint64}
  - {name: half, type: float16}
  - {name: brain, type: bfloat16}
  - {name: single, type: float32}
  - {name: double, type: float64}
  - {name: name, type: char, count: 8}
  - {name: raw, type: bytes, count: 3}
  - {name: kind, type: enum, base: uint8, values: [{name: tree, value: 1}, {name: bush, value: 2}]}
  - {name: pos, type: struct, count: 2, fields: [{name: v, type: int16, endian: big, count: 2}]}
END
{
  printf '\001\200\377\377\377\377\377\377\377\377\146\056\315\075\315\314\314\075'
  printf '\232\231\231\231\231\231\271\077a,"\\\303\251\377\000\000\177\377\002\000\001\377\377\001\000\200\000'
  printf '\000\177\001\000\000\000\000\000\040\000\000\374\200\177\001\000\000\000'
  printf '\000\000\000\000\000\000\360\177plain\000\000\000\001\002\003\007\000\000\000\000\000\000\000\000'
} > all.bin

same 'csv' 'on,small,large,half,brain,single,double,name,raw,kind,pos[0].v[0],pos[0].v[1],pos[1].v[0],pos[1].v[1]
true,-128,18446744073709551615,0.1,0.1,0.1,0.1,"a,""\\é\xff",007fff,bush,1,-1,256,-32768
false,127,9007199254740993,-inf,inf,1e-45,inf,plain,010203,7,0,0,0,0' \
  "$("$reccat" -s all.yaml -f csv all.bin | tr -d '\r')"
same 'json' '{"on":true,"small":-128,"large":18446744073709551615,"half":0.1,"brain":0.1,"single":0.1,"double":0.1,"name":"a,\"\\\\é\\xff","raw":"007fff","kind":"bush","pos":[{"v":[1,-1]},{"v":[256,-32768]}]}
{"on":false,"small":127,"large":9007199254740993,"half":"-inf","brain":"inf","single":1e-45,"double":"inf","name":"plain","raw":"010203","kind":"7","pos":[{"v":[0,0]},{"v":[0,0]}]}' \
  "$("$reccat" -s all.yaml -f jsonl all.bin)"
same 'lines of a table have one width' 1 \
  "$("$reccat" -s all.yaml all.bin | sed 's/é/e/' | awk '{ print length }' | sort -u | wc -l)"
same 'csv ends its lines as RFC 4180 wants' 3 "$("$reccat" -s all.yaml -f csv all.bin | grep -c '
')"

# every format of every schema, read by others
for path in "$schemas"/*.yaml; do
  name=$(basename "$path" .yaml)
  "$recgen" -s "$path" -n 300 --special -o it.bin
  "$reccat" -s "$path" -f jsonl --index it.bin > it.jsonl
  "$reccat" -s "$path" -f csv --index it.bin > it.csv
  check "$name: JSON and CSV are such" python3 - <<'END'
import csv, json
records = [json.loads(line) for line in open('it.jsonl', encoding='utf-8')]
rows = list(csv.reader(open('it.csv', newline='', encoding='utf-8')))
assert [r['#'] for r in records] == list(range(300))
assert [int(r[0]) for r in rows[1:]] == list(range(300))
assert {len(r) for r in rows} == {len(rows[0])}
END
  same "$name: a table has a line a record" 301 "$("$reccat" -s "$path" it.bin | wc -l)"
done

# several files: their records are one sequence, without the headers of any
"$recgen" -s "$schemas/las.yaml" -n 20000 -o one.las
"$recgen" -s "$schemas/las.yaml" -n 7 --seed 2 -o two.las
same 'json' "$("$reccat" -s "$schemas/las.yaml" -f jsonl two.las)" "$("$reccat" -s "$schemas/las.yaml" --json two.las)"
{ "$reccat" -s "$schemas/las.yaml" -f csv one.las; "$reccat" -s "$schemas/las.yaml" -f csv two.las | tail -n +2; } > each.csv
"$reccat" -s "$schemas/las.yaml" -f csv one.las two.las > both.csv
check 'two files' cmp each.csv both.csv
"$reccat" -s "$schemas/las.yaml" -f csv one.las - < two.las > both.csv
check 'a file and standard input' cmp each.csv both.csv
same 'the tail of two files' "$(tail -n 8 each.csv)" "$("$reccat" -s "$schemas/las.yaml" -f csv --tail 8 one.las two.las | tail -n +2)"
same 'the head of two files' "$(head -n 20003 each.csv | tail -n 4)" \
  "$("$reccat" -s "$schemas/las.yaml" -f csv --head 20002 one.las two.las | tail -n 4)"
same 'numbers go on' '19999 20000 20001' "$("$reccat" -s "$schemas/las.yaml" --json --index --tail 8 one.las two.las | head -n 3 |
  python3 -c 'import json, sys; print(*(json.loads(line)["#"] for line in sys.stdin))')"
"$recsort" -s "$schemas/las.yaml" one.las two.las -o sorted.las
same 'the checksum of two files' "$("$reccat" -s "$schemas/las.yaml" --checksum sorted.las)" \
  "$("$reccat" -s "$schemas/las.yaml" --checksum two.las one.las)"

# float texts read back as the same value, and no shorter text does
cat > floats.yaml <<'END'
record: floats
fields: [{name: f, type: float32}, {name: pad, type: uint32}, {name: d, type: float64}]
END
python3 - > floats.bin <<'END'
import random, struct, sys
random.seed(1)
for _ in range(3000):
    sys.stdout.buffer.write(struct.pack('<IIQ', random.getrandbits(32), 0, random.getrandbits(64)))
for exponent in range(-323, 309):
    sys.stdout.buffer.write(struct.pack('<fId', 10.0 ** max(-45, min(38, exponent)), 0,
                                        float(f'1e{exponent}')))
END
"$reccat" -s floats.yaml -f csv floats.bin > floats.csv
check 'floats' python3 - <<'END'
import csv, math, struct
data = open('floats.bin', 'rb').read()
rows = list(csv.reader(open('floats.csv', newline='')))[1:]
single = lambda x: struct.unpack('<f', struct.pack('<f', x))[0]
digits = lambda text: len(text.lstrip('-').split('e')[0].replace('.', '').strip('0'))
for i, row in enumerate(rows):
    f, _, d = struct.unpack_from('<fId', data, 16 * i)
    assert float(row[2]) == d or math.isnan(d), row
    assert math.isnan(d) or math.isinf(d) or digits(row[2]) <= digits(repr(d)), (row, d)
    if math.isfinite(f):
        assert single(float(row[0])) == f, row
        kept = digits(row[0])
        assert kept < 2 or abs(f) >= 1e6 or single(float(f'{f:.{kept - 2}e}')) != f, row
END

# all floats of 16 bits too
cat > halves.yaml <<'END'
record: halves
fields: [{name: h, type: float16}, {name: b, type: bfloat16}]
END
python3 -c 'import struct, sys
for i in range(65536): sys.stdout.buffer.write(struct.pack("<HH", i, i))' > halves.bin
"$reccat" -s halves.yaml -f csv halves.bin > halves.csv
check 'halves' python3 - <<'END'
import csv, math, struct
rows = list(csv.reader(open('halves.csv', newline='')))[1:]
half = lambda i: struct.unpack('<e', struct.pack('<H', i))[0]
brain = lambda i: struct.unpack('<f', struct.pack('<I', i << 16))[0]
digits = lambda text: len(text.lstrip('-').split('e')[0].replace('.', '').strip('0'))
assert len(rows) == 65536
for i, row in enumerate(rows):
    for value, text in zip((half(i), brain(i)), row):
        if math.isnan(value):
            assert text == ('-nan' if i >> 15 else 'nan'), (i, text)
            continue
        assert math.copysign(1, float(text)) == (-1 if i >> 15 else 1), (i, text)
        if math.isinf(value):
            assert float(text) == value, (i, text)
    if math.isfinite(half(i)):
        assert struct.pack('<e', float(row[0])) == struct.pack('<H', i), (i, row)
        kept = digits(row[0])
        assert kept < 2 or abs(half(i)) >= 1e3 or \
            struct.pack('<e', float(f'{half(i):.{kept - 2}e}')) != struct.pack('<H', i), (i, row)
    if math.isfinite(brain(i)) and brain(i):
        read, beside = float(row[1]), [brain(j) for j in (i - 1, i + 1) if math.isfinite(brain(j))]
        assert all(abs(read - brain(i)) <= abs(read - other) for other in beside), (i, row)
END

# names and texts that need quotes, and a header that is longer than any line
long=$(printf 'n%.0s' $(seq 300))
cat > names.yaml <<END
record: names
fields:
  - {name: kind, type: enum, base: uint8, values: [{name: "a\"b", value: 1}, {name: 'c,\\', value: 2}]}
  - {name: $long, type: uint8}
END
printf '\001\007\002\010' > names.bin
same 'names in CSV' "kind,$long
\"a\"\"b\",7
\"c,\\\",8" "$("$reccat" -s names.yaml -f csv names.bin | tr -d '\r')"
same 'names in JSON' "{\"kind\":\"a\\\"b\",\"$long\":7}
{\"kind\":\"c,\\\\\",\"$long\":8}" "$("$reccat" -s names.yaml -f jsonl names.bin)"

# --head and --tail, from a file and from a pipe
entity=$schemas/entity.yaml
"$recgen" -s "$entity" -n 30000 -o it.bin
"$reccat" -s "$entity" -f csv --index it.bin | sed 1d > whole.csv
for ends in '0 0' '1 0' '0 1' '3 5' '0 20000' '29999 1' '29998 7' '40000 3' '0 40000'; do
  head=${ends% *} tail=${ends#* }
  awk -v h="$head" -v t="$tail" 'NR <= h || NR > 30000 - t' whole.csv > expected.csv
  "$reccat" -s "$entity" -f csv --index --head "$head" --tail "$tail" it.bin | sed 1d > got.csv
  check "--head $head --tail $tail" cmp -s expected.csv got.csv
  cat it.bin | "$reccat" -s "$entity" -f csv --index --head "$head" --tail "$tail" | sed 1d > got.csv
  check "--head $head --tail $tail from a pipe" cmp -s expected.csv got.csv
done

# the checksum does not depend on the order, but on the records
sum() { "$reccat" -s "$entity" --checksum "$@"; }
"$recsort" -s "$entity" it.bin -o sorted.bin
check 'sorting moves records' differ it.bin sorted.bin
same 'the order does not matter' "$(sum it.bin)" "$(sum sorted.bin)"
same 'how many' 30000 "$(sum it.bin | sed 's/.* records //')"
head -c 599980 it.bin > less.bin
{ head -c 599980 it.bin; head -c 20 it.bin; } > twice.bin
{ head -c 599999 it.bin; printf '\001'; } > changed.bin
for other in less twice changed; do
  check "$other: another checksum" test "$(sum it.bin)" != "$(sum $other.bin)"
done

refused() { # TEXT ARGUMENT...
  wanted=$1
  shift
  status=0
  "$reccat" "$@" > out 2> log || status=$?
  same "$*: exit status" 2 $status
  check "$*: says $wanted" grep -q "^reccat: .*$wanted" log
}
head -c 599990 it.bin > odd.bin
refused 'odd.bin' -s "$entity" odd.bin
refused 'schema' it.bin
refused 'missing.bin' -s "$entity" missing.bin
refused "unknown format 'xml'" -s "$entity" -f xml it.bin
refused "--head: 'x' is not a number from 0 to 18446744073709551615, such as 500, 4K or 1M" -s "$entity" --head x it.bin
refused "needs a value" --schema
refused 'no-such-file: No such file' -s "$entity" it.bin no-such-file
refused '[Dd]irectory' -s "$entity" .
if [ -c /dev/full ]; then
  status=0
  "$reccat" -s "$entity" it.bin > /dev/full 2> log || status=$?
  same 'a full disk' 2 $status
  same 'a full disk: one line' 'reccat: standard output: No space left on device' "$(cat log)"
fi
check 'help fits' test "$("$reccat" --help | wc -l)" -le 24
check 'help is narrow' test "$("$reccat" --help | awk '{ if (length > n) n = length } END { print n }')" -le 80

echo "$checks checks, $failures failures"
test $failures = 0
