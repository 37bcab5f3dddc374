#!/bin/sh
# Usage: test.sh BIN-FOLDER WITHOUT-LIBDW SOURCE-FOLDER CC CXX
# From structs to schemas: recsort, with the schema that recschema reads from compiled code, sorts as
# C itself compares the members, here and on a big-endian machine. From schemas to structs and back:
# the same layout. WITHOUT-LIBDW is a recschema that was built so.
set -eu
bin=$1 without=$2 source=$3 cc=$4 cxx=$5
recschema=$bin/recschema recsort=$bin/recsort here=$source/tests/recschema
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/tmp"
export TMPDIR="$scratch/tmp" LC_ALL=C CC="$cc" CXX="$cxx"
cd "$scratch"

fail() {
  echo "$*"
  exit 1
}

build() { # STRUCT KEYS COMPILER...
  struct=$1 keys=$2
  shift 2
  "$@" -I"$source/tests" -I"$here" -DKEYS_STRUCT="\"$struct\"" -DKEYS="\"$keys\"" -o oracle
}

# Sorts by each key as the program `oracle` does, which COMMAND runs.
compare() { # NAME COMMAND...
  "$recschema" --from-elf oracle --struct "$1" > schema.yaml
  shift
  "$@" ./oracle keys > keys
  "$@" ./oracle records > records
  while read -r number path; do
    "$@" ./oracle sort "$number" > expected
    cmp -s records expected && fail "$path: the records are in order already"
    "$recsort" -s schema.yaml -k "$path" records -o sorted
    cmp sorted expected || fail "$path: not as $* sorts"
  done < keys
  [ "$(wc -l < keys)" -ge 10 ] || fail 'too few keys'
  echo "$(wc -l < keys) keys: as C sorts them"
}

# ---- C, C++, another machine

build sample.h keys.h "$cc" -std=gnu11 -g "$here/oracle.c"
compare sample
tail -n +2 schema.yaml > fields
grep -q 'as_int,.*# one of a union' fields
grep -q 'word,.*# one of a union' fields
for options in '-gdwarf-2 -gstrict-dwarf' -gdwarf-4 '-gdwarf-5 -fdebug-types-section'; do
  # Unquoted: several words.
  build sample.h keys.h "$cc" -std=gnu11 $options "$here/oracle.c"
  "$recschema" --from-elf oracle --struct sample | tail -n +2 | cmp - fields || fail "$options"
done
for name in sample 'struct sample'; do
  "$recschema" --from-header "$here/sample.h" --struct "$name" -- -std=gnu11 | tail -n +2 |
    cmp - fields
done

build sample.hpp keys.hpp "$cxx" -x c++ -std=c++17 -g "$here/oracle.c"
compare game::sample
tail -n +2 schema.yaml > fields
build sample.hpp keys.hpp "$cxx" -x c++ -std=c++17 -gdwarf-4 "$here/oracle.c"
"$recschema" --from-elf oracle --struct game::sample | tail -n +2 | cmp - fields
"$recschema" --from-elf oracle --struct game--sample 2> said && fail 'game--sample is found'
"$recschema" --from-header "$here/sample.hpp" --struct 'class game::sample' -- -std=c++17 2> said |
  tail -n +2 | cmp - fields
"$recschema" --from-header "$here/sample.hpp" --struct game::closed -- -std=c++17 2> said | sed 1d > got
cat > expected <<'END'
# keys:
#   - {field: NAME, order: desc}
record: "game::closed"
layout: explicit
size: 24
fields:
  - {name: reference, type: uint64, offset: 0} # an address
  # pointer is left out: it has no fixed size
  - name: secret
    type: struct
    offset: 16
    fields:
      - {name: first, type: float32, offset: 0}
      - {name: second, type: float32, offset: 4}
END
diff expected got

# An array of char is a C string. Rows of it are none together: their bytes all count.
printf 'typedef char line[4]; struct text { char one[4]; line two; char rows[2][4]; line typed[2]; };' > text.h
"$recschema" --from-header text.h --struct text | sed -n 's/.*{name: \(.*\), offset.*/\1/p' > got
diff - got <<'END'
one, type: cstring, count: 4
two, type: cstring, count: 4
rows, type: char, count: 8
typed, type: char, count: 8
END

if command -v s390x-linux-gnu-gcc qemu-s390x-static > /dev/null; then
  build sample.h keys.h s390x-linux-gnu-gcc -static -std=gnu11 -g "$here/oracle.c"
  compare sample qemu-s390x-static
  grep -qx 'endian: big' schema.yaml
fi

# ---- There and back

layout() { # SCHEMA: offset, size and name of each field but bitfields and padding
  key=$(sed -n '/^fields:/,$s/.*name: "\{0,1\}\([^",]*\).*/\1/p' "$1" | head -n 1)
  { "$recsort" -s "$1" -k "$key" --explain 2> said || "$recsort" -s "$1" -k "$key[0]" --explain; } |
    awk '/^key:/ { exit } / bits [0-9]/ || /padding/ { next } $1 ~ /^[0-9]+$/ { print $1, $2, $NF }'
}
trips=0
for schema in "$source"/schemas/*.yaml; do
  name=$(sed -n 's/^record: //p' "$schema")
  "$recschema" --emit-header -s "$schema" > record.h
  echo '#include "record.h"' | "$cxx" -std=c++11 -Wall -Wextra -Werror -fsyntax-only -I. -x c++ -
  "$recschema" --from-header record.h --struct "$name" -- -std=c11 -Wall -Wextra -Wpedantic -Werror > back.yaml
  layout "$schema" > first
  layout back.yaml > second
  [ -s first ] || fail "$schema: no layout"
  diff first second || fail "$schema: another layout"
  trips=$((trips + 1))
done
[ "$trips" -ge 6 ] || fail 'too few schemas'

# Names that C does not have, members where C would not put them: the assertions show that it is
# right, and that they would notice if it was not.
"$recschema" --emit-header -s "$here/awkward.yaml" > record.h
"$cc" -std=c11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -x c record.h
for change in 's/uint16_t two_words/uint32_t two_words/' 's/padding_at_0\[3]/padding_at_0[2]/' \
  's/^};/  char more;};/'; do
  sed "$change" record.h > other.h
  cmp -s record.h other.h && fail "$change: no change"
  "$cc" -std=c11 -fsyntax-only -x c other.h 2> said && fail "$change: compiles"
  grep -q 'static assertion failed\|static_assert failed' said
done
diff - record.h < "$here/awkward.h"

# Where the records of a file are.
for name in las stl everything netflow5 fits shx ply; do
  "$recschema" --emit-header -s "$source/schemas/$name.yaml" | sed -n '1d; s|^/\* \(.*\) \*/$|\1|p'
done > places
cat > behind.yaml <<'EOF'
record: R
skip: 4
trailer: 4
length: {trailer: 0, type: int32}
fields: [{name: a, type: int32}]
EOF
"$recschema" --emit-header -s behind.yaml | sed -n '1d; s|^/\* \(.*\) \*/$|\1|p' >> places
diff - places <<'EOF'
The uint32 at byte 96 of a file is the offset of the first record.
The uint16 at byte 105 of a file is the size of a record.
The uint32 at byte 107 of a file is the number of records.
The uint64 at byte 247 of a file is the number of records, in some files.
The uint64 at byte 227 of a file is an offset behind the records, in some files.
The uint64 at byte 235 of a file is an offset behind the records, in some files.
The uint32 at byte 80 of a file is the number of records.
A file has 84 bytes before the first record.
A file has 16 bytes before the first record.
A file has 8 bytes after the last record.
The uint16 at byte 2 of a file is the number of records.
A file has 24 bytes before the first record.
Headers and records are repeated.
The text at byte 3130 of a file is the size of a record.
The text at byte 3210 of a file is the number of records.
The text at byte 3290 of a file is the length of what is between records and padding.
A file has 5760 bytes before the first record.
Bytes of 0 follow the records, up to a multiple of 2880.
The int32 at byte 24 of a file is the length of all records, in units of 2 bytes, and 100 bytes.
A file has 100 bytes before the first record.
The number behind "element vertex" in the header is the number of records.
The int32 at byte 0 behind the records is the length of all records.
A file has 4 bytes before the first record.
A file has 4 bytes after the last record.
EOF

# ---- Refusals

refuse() { # WORDS ARGUMENT...
  words=$1
  shift
  set +e
  "$recschema" "$@" > out 2> said
  status=$?
  set -e
  [ "$status" = 2 ] && [ ! -s out ] && [ "$(grep -vc '^Run' said)" = 1 ] && grep -q "^recschema: .*$words" said ||
    { cat out said; fail "$* should say '$words'"; }
}
printf 'struct point { int x; }; struct point p;' > one.c
printf 'struct point { int y; }; struct point q; int main(void) { return 0; }' > two.c
"$cc" -g -o both one.c two.c
"$cc" -o stripped two.c
"$cc" -g -c one.c
refuse 'different structs "point"' --from-elf both --struct point
refuse 'no debug information' --from-elf stripped --struct point
refuse 'no struct "line"' --from-elf one.o --struct line
refuse 'none: No such file' --from-elf none --struct point
refuse 'one.c: ' --from-elf one.c --struct point
refuse 'is missing' --from-elf one.o
refuse 'is missing' --emit-header
refuse 'one of --emit-header' -s schema.yaml
refuse 'one of --emit-header' --emit-header -s schema.yaml --from-elf one.o
refuse 'goes with' --emit-header -s schema.yaml --struct point
refuse 'unexpected argument' --from-elf one.o --struct point more
refuse 'unknown option' --from-nothing
refuse 'needs a value' --struct
refuse 'No such file' --emit-header -s none.yaml
printf 'struct wide { char bytes[3000000000]; };' > wide.h
refuse 'field "bytes": it ends beyond the 2147483647 bytes' --from-header wide.h --struct wide
printf 'struct {' > broken.h
"$recschema" --from-header broken.h --struct point 2> said && fail 'broken.h compiles'
tail -n 1 said | grep -q "^recschema: broken.h: $cc did not compile it"
CC=no-such-compiler
"$recschema" --from-header one.c --struct point 2> said && fail 'no compiler'
grep -q '^recschema: no-such-compiler: No such file' said
rmdir tmp || fail 'a temporary file was left'

"$without" --emit-header -s "$here/awkward.yaml" | cmp - record.h
recschema=$without
refuse 'built without libdw.*package libdw-dev' --from-elf one.o --struct point
refuse 'built without libdw' --from-header one.c --struct point
