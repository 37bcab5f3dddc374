#!/bin/sh
# Usage: test_recgen.sh RECGEN RECCAT RECSORT SCHEMAS
# The same bytes everywhere (golden.txt holds their SHA-256), distributions as documented, and one
# clear line for each error.
set -eu
recgen=$1 reccat=$2 recsort=$3 schemas=$4
here=$(cd "$(dirname "$0")" && pwd)
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

# Schemas with what the examples lack: all key types at once, those with few values first, a
# bitfield and its base as keys, a nested path; and one without keys.
cat > keys.yaml <<'END'
record: keys
endian: big
fields:
  - {name: flag, type: bool}
  - {name: kind, type: enum, base: int8, values: [{name: b, value: 5}, {name: a, value: -3}]}
  - {name: bits, type: uint16}
  - {name: low, type: bitfield, base: bits, bit: 3, width: 4}
  - {name: at, type: struct, count: 2, fields: [{name: v, type: bfloat16}, {name: h, type: float16}]}
  - {name: text, type: char, count: 2}
  - {name: big, type: int64}
keys:
  - {field: flag, order: desc}
  - {field: kind}
  - {field: low, order: desc}
  - {field: bits}
  - {field: "at[1].v", order: desc, nan: first}
  - {field: "at[0].h"}
  - {field: text, order: desc}
  - {field: big}
END
cat > none.yaml <<'END'
record: none
fields:
  - {name: outer, type: struct, fields: [{name: first, type: uint32}]}
  - {name: second, type: float64}
END
cat > new.yaml <<'END'
record: new
layout: packed
fields:
  - {name: nibble, type: int4, null: [-8, 3]}
  - {name: small, type: float8_e4m3fn}
  - {name: third, type: float8_e8m0fnu}
  - {name: text, type: cstring, count: 6}
  - {name: odd, type: int24, endian: big, null: -1}
  - {name: wide, type: uint56}
keys:
  - {field: nibble, order: desc, nan: first}
  - small
  - {field: third, order: desc}
  - text
  - {field: odd, order: desc}
  - wide
END

distributions='uniform sorted reverse nearly few equal zipf saw organ-pipe'
for path in "$schemas"/entity.yaml "$schemas"/everything.yaml "$schemas"/gensort.yaml keys.yaml \
            new.yaml none.yaml; do
  for distribution in $distributions; do
    sum=$("$recgen" -s "$path" -n 1000 --seed 7 -d "$distribution" | sha256sum)
    echo "$(basename "$path" .yaml) $distribution ${sum%% *}"
  done
done > golden.txt
sum=$("$recgen" -s "$schemas/everything.yaml" -n 1000 --special | sha256sum)
echo "everything special ${sum%% *}" >> golden.txt
if ! diff -u "$here/golden.txt" golden.txt; then
  failures=$((failures + 1))
  cp golden.txt "${RECGEN_GOLDEN:-/dev/null}"
fi
checks=$((checks + $(wc -l < golden.txt)))

# `sorted` is sorted, for any keys and any count; the other orders are not, if they can differ
for path in "$schemas"/*.yaml keys.yaml new.yaml; do
  name=$(basename "$path" .yaml)
  [ "$name" != particle ] || continue # a computed key
  for count in 0 1 2 3 15 16 17 255 1000 70001; do
    "$recgen" -s "$path" -n $count -d sorted -o sorted.bin
    check "$name: sorted $count" "$recsort" -s "$path" --check sorted.bin
  done
  for distribution in uniform reverse nearly few zipf saw organ-pipe; do
    "$recgen" -s "$path" -n 1000 -d $distribution -o it.bin
    if "$recsort" -s "$path" --check it.bin 2> log; then state=sorted; else state=disorder; fi
    check "$name: $distribution is not sorted" test $state = disorder
  done
  "$recgen" -s "$path" -n 1000 -d equal -o it.bin
  check "$name: equal is sorted" "$recsort" -s "$path" --check it.bin
  check "$name: equal is one value" test "$("$recsort" -s "$path" -u --index=32 it.bin |
    wc -c)" = 4
done

# what is behind a NUL is left over, in any distribution; null values come with --special
for distribution in uniform sorted; do
  "$recgen" -s new.yaml -n 1000 -d $distribution | python3 -c '
import sys
data = sys.stdin.buffer.read()
texts = [data[i + 3:i + 9] for i in range(0, len(data), 19)]
ended = [text for text in texts if 0 in text[:-1]]
sys.exit(not (len(ended) > 100 and any(text.rstrip(b"\0").count(0) for text in ended)))'
  check "$distribution: leftovers behind a NUL" test $? = 0
done
nulls() { "$recgen" -s new.yaml -n 1000 "$@" | "$reccat" -s new.yaml -f csv |
  awk -F, '$(NF - 1) == "-1" { n++ } END { print n + 0 }'; }
check 'special: null values' test "$(nulls --special)" -gt 30
check 'no null values' test "$(nulls)" -eq 0

# the promises of each distribution, by the values of a key that distinguishes all ranks
values() { # DISTRIBUTION COUNT
  "$recgen" -s none.yaml -n "$2" -d "$1" | "$reccat" -s none.yaml -f csv | tr -d '\r' |
    sed 1d | cut -d, -f1
}
descents() { awk 'NR > 1 && $1 < last { n++ } { last = $1 } END { print n + 0 }'; }
check 'reverse descends' test "$(values reverse 1000 | descents)" = 999
check 'few has 16 values' test "$(values few 1000 | sort -u | wc -l)" = 16
check 'equal has one' test "$(values equal 1000 | sort -u | wc -l)" = 1
check 'saw has 16 teeth' test "$(values saw 1000 | descents)" = 15
check 'organ-pipe has one top' test "$(values organ-pipe 1000 | descents)" = 499
values sorted 10000 > sorted.txt
values nearly 10000 > nearly.txt
check 'nearly displaces 1%' test "$(paste sorted.txt nearly.txt | awk '$1 != $2' | wc -l)" = 100
sort -n nearly.txt > again.txt
check 'nearly loses nothing' cmp -s sorted.txt again.txt
# the most frequent of 2^14 - 1 values: 1 in 10.3 (the sum of 1/k), the second half as often
zipf=$(values zipf 16000 | sort | uniq -c | sort -rn | awk 'NR <= 2 { printf "%d ", $1 }')
check "zipf: $zipf" awk -v both="$zipf" 'BEGIN { split(both, n, " ");
  exit !(n[1] > 1400 && n[1] < 1720 && n[2] > 680 && n[2] < 880) }'

# seeds; a record does not depend on the count
"$recgen" -s none.yaml -n 1000 -o a
"$recgen" -s none.yaml -n 1000 --seed 2 -o b
"$recgen" -s none.yaml -n 400 -o c
check 'another seed, other bytes' differ a b
check 'a prefix is the same' cmp -s -n "$(wc -c < c)" a c
check 'header and trailer' test "$("$recgen" -s "$schemas/everything.yaml" -n 0 | tr -d '\0' |
  wc -c)" = 0

# files say how many records they have
said() { "$recgen" -s "$schemas/$1.yaml" -n "$2" | od -An -v "-t$3" -j "$4" -N "$5" | tr -d ' \n'; }
check 'WAV: bytes of the frames' test "$(said wav 3 u4 40 4)" = 12
check 'WAV: it is one' test "$(said wav 3 c 8 8)" = 'WAVEfmt'
check 'SHX: words of the file' test "$(said shx 3 x1 24 4)" = 0000003e
check 'LAS: bytes of a point' test "$(said las 3 u2 105 2)" = 28
check 'LAS: points' test "$(said las 3 u4 107 4)" = 3
check 'FITS: rows' test "$(said fits 3 c 3210 20)" = 3
check 'FITS: padding' test "$("$recgen" -s "$schemas/fits.yaml" -n 3 | wc -c)" = 8640
check 'PLY: vertices' test "$("$recgen" -s "$schemas/ply.yaml" -n 3 | grep -ac '^element vertex 3 *$')" = 1
cat > mark.yaml <<'END'
record: mark
skip: 4
trailer: 4
length: [{offset: 0, type: uint32}, {trailer: 0, type: uint32}]
fields: [{name: a, type: uint16}]
END
check 'lengths on both sides' test "$("$recgen" -s mark.yaml -n 3 | od -An -v -tu4 -j10 -N4 | tr -d ' ')" = 6

# floats are finite unless asked otherwise
specials() { "$recgen" -s "$schemas/entity.yaml" -n 1000 "$@" |
  "$reccat" -s "$schemas/entity.yaml" | grep -cE 'nan|inf' || true; }
check 'finite' test "$(specials)" = 0
check 'special' test "$(specials --special)" -gt 50

refused() { # TEXT ARGUMENT...
  wanted=$1
  shift
  status=0
  "$recgen" "$@" > out 2> log || status=$?
  check "$*: exit 2" test $status = 2
  check "$*: nothing written" test ! -s out
  check "$*: says $wanted" grep -q "^recgen: .*$wanted" log
}
refused 'schema' -n 1
refused 'count' -s none.yaml
refused "--count: '-1' is not a number from 0 to 18446744073709551615, such as 500, 4K or 1M" -s none.yaml -n -1
refused "--seed: 'x' is not a number from 0" -s none.yaml -n 1 --seed x
refused "unknown distribution 'odd'" -s none.yaml -n 1 -d odd
refused "unknown option '--bogus'" --bogus
refused 'is computed, so only the distribution uniform can be made' \
  -s "$schemas/particle.yaml" -n 1 -d sorted
refused "unexpected argument 'x'" -s none.yaml -n 1 x
refused 'more than a file can hold' -s none.yaml -n 9000000000000000000
sed 's/^length.*/size: {offset: 0, type: uint32, unit: 4}/' mark.yaml > odd.yaml
refused "the header cannot say the size of the schema's records" -s odd.yaml -n 1
refused 'no.yaml' -s no.yaml -n 1
refused 'no/such' -s none.yaml -n 1 -o no/such
check 'help fits' test "$("$recgen" --help | wc -l)" -le 24
check 'help is narrow' test "$("$recgen" --help | awk '{ if (length > n) n = length } END { print n }')" -le 80

echo "$checks checks, $failures failures"
test $failures = 0
