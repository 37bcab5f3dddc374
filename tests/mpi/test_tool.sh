#!/bin/sh
# Usage: test_tool.sh MPIRUN RECSORT-MPI TOOLS SCHEMAS SHIM [all]
# recsort-mpi by 1 to 7 processes writes what recsort does; what goes wrong on one of them is one error,
# and leaves the old output as it was. With `all`, wrong calls too, which one MPI library is enough for.
set -u
mpirun=$1 program=$2 tools=$3 schemas=$4 shim=$5
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
failures=0

complain() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}

run() { # PROCESSES ARGUMENT...
  processes=$1
  shift
  timeout 600 "$mpirun" -n "$processes" "$program" "$@" > stdout 2> stderr
}

# The lines that are ours: mpirun adds its own when a process fails.
ours() {
  grep '^recsort-mpi: ' stderr
}

same() { # WANTED FOUND WHAT...
  if ! cmp -s "$1" "$2"; then
    shift 2
    complain "other bytes: $*"
    cat stderr
  fi
}

# Nothing but what was there before: no temporary file.
no_leftovers() {
  left=$(find folder -name '.*.recsort-*')
  [ -z "$left" ] || complain "$1 leaves $left"
}

# ---- The same bytes ----

entity=$schemas/entity.yaml
"$tools/recgen" -s "$entity" -n 701 -d few -o a.bin
"$tools/recgen" -s "$entity" -n 5 --seed 2 -d few -o b.bin
"$tools/recgen" -s "$entity" -n 90 --seed 3 -o c.bin
: > empty.bin
"$tools/recgen" -s "$schemas/las.yaml" -n 333 -d few -o scan.las
"$tools/recsort" -s "$entity" a.bin empty.bin b.bin c.bin -o wanted.bin
"$tools/recsort" -s "$schemas/las.yaml" -k classification,z:desc scan.las -o wanted.las
python3 - <<'END'
import struct
header = b"{'descr': [('a', '<u2'), ('b', '<f4')], 'fortran_order': False, 'shape': (300,), }"
header = header.ljust(117) + b'\n'
rows = b''.join(struct.pack('<Hf', i * i % 7, i % 5) for i in range(300))
open('a.npy', 'wb').write(b'\x93NUMPY\1\0' + struct.pack('<H', len(header)) + header + rows)
END
"$tools/recsort" -k b a.npy -o wanted.npy
mkdir folder
for processes in 1 2 3 4 5 6 7; do
  run $processes -s "$entity" a.bin empty.bin b.bin c.bin -o folder/sorted.bin || complain "$processes: status $?"
  same wanted.bin folder/sorted.bin "$processes processes"
done
cp scan.las folder/scan.las
run 3 -s "$schemas/las.yaml" -k classification,z:desc folder/scan.las -o folder/scan.las || complain "las: $?"
same wanted.las folder/scan.las "a file with a header, in place"
run 2 -k b a.npy -o folder/sorted.npy || complain "npy: $?"
same wanted.npy folder/sorted.npy "an .npy file"
# --stats: as many records are sent as have another place's process, and no step took longer than all of them.
head -c 128 a.npy | sed 's/(300,), }   /(100200,), }/' > many.npy
for i in $(seq 334); do tail -c 1800 a.npy; done >> many.npy
for small in '' '--threads 1 -S 400K'; do
  # Unquoted: several words or none.
  run 3 -k b many.npy -o folder/many.npy --stats=json $small || complain "--stats=json: $(cat stderr)"
  grep '^{' stderr > figures
  python3 - "$small" <<'END' || complain "--stats=json: $(cat stderr)"
import json, sys
count, ranks, size = 100200, 3, 6
order = sorted(range(count), key=lambda i: i % 300 % 5)
sent = [sum(order[place] * ranks // count == rank and place * ranks // count != rank for place in range(count))
        for rank in range(ranks)]
found = json.load(open('figures'))  # one line, of one process
assert (found['records'], found['bytes'], found['processes']) == (count, count * size, ranks)
assert found['temporary_files'] == (sys.argv[1] != '')
assert (found['sent'], found['most_sent']) == (sum(sent), max(sent)), sent
assert list(found['seconds']) == ['prepare', 'read', 'sort', 'split', 'exchange', 'merge', 'write', 'total']
for step in found['seconds'].values():
    assert 0 <= step['mean'] <= step['most'] * 1.000001 and step['most'] <= found['seconds']['total']['most']
    assert step['mean'] == 0 or abs(step['imbalance'] * step['mean'] - step['most']) <= 1e-9 + step['most'] / 1000
assert found['seconds']['write']['mean'] > 0
END
done
run 2 -k b a.npy -o folder/sorted.npy --stats || complain "--stats: $?"
[ "$(grep -c '^records *300$' stderr)" = 1 ] || complain "--stats: $(cat stderr)"
[ "$(grep -cE '^(prepare|read|sort|split|exchange|merge|write|total) +[0-9.]+ +[0-9.]+ +[0-9.]+$' stderr)" = 8 ] ||
  complain "--stats: $(cat stderr)"
# What a file says about its records, behind them too, is that of the output.
cat > framed.yaml <<'END'
record: Framed
layout: packed
expect: {offset: 0, bytes: "RIFF"}
skip: 13
size: {offset: 12, type: uint8}
length: {offset: 8, type: uint32}
after: {offset: 4, type: uint32}
pad: {to: 4}
trailer: any
fields: [{name: key, type: uint8}, {name: tag, type: uint8}]
keys: [key]
END
printf 'RIFF\30\0\0\0\11\0\0\0\3cc.bb.aa.\0\0LIST' > f1.bin
printf 'RIFF\20\0\0\0\6\0\0\0\3ba.ca.\0' > f2.bin
printf 'RIFF\34\0\0\0\17\0\0\0\3aa.bb.ba.cc.ca.LIST' > wanted.frame
run 3 -s framed.yaml f1.bin f2.bin -o folder/framed.bin || complain "framed: $?"
same wanted.frame folder/framed.bin "a file that says much about its records"
run 4 -s "$entity" empty.bin -o folder/none.bin || complain "empty: $?"
same empty.bin folder/none.bin "no records"
run 7 -s "$entity" b.bin -o folder/few.bin || complain "few: $?"
"$tools/recsort" -s "$entity" b.bin -o wanted.few
same wanted.few folder/few.bin "fewer records than processes"
no_leftovers 'a sort'

# ---- More than memory holds ----

# 400 KiB for each process. The least is less for these records, and all of these inputs are too large.
small='--threads 1 -S 400K'
spilled() { # WANTED PROCESSES WHAT ARGUMENT...
  wanted=$1 n=$2 what=$3
  shift 3
  run "$n" $small "$@" || complain "$what, spilled by $n processes: $(cat stderr)"
  same "$wanted" folder/spilled "$what, spilled by $n processes"
  no_leftovers "$what, spilled"
}

"$tools/recgen" -s "$entity" -n 90000 -d few -o large.bin
"$tools/recsort" -s "$entity" large.bin b.bin -o wanted.large
python3 - <<'END'
import struct
data = open('wanted.large', 'rb').read()
open('equal.bin', 'wb').write(b''.join(data[:16] + struct.pack('<I', i) for i in range(90000)))
half = len(data) // 40 * 20
open('turned.bin', 'wb').write(data[half:] + data[:half])
open('around.bin', 'wb').write(b'thirteen long' + data[half:] + data[:half] + b'seven..')
rows = b''.join(struct.pack('<HfQ', i * i % 7, i % 5, i) for i in range(90000))
header = b"{'descr': [('a', '<u2'), ('b', '<f4'), ('c', '<u8')], 'fortran_order': False, 'shape': (90000,), }"
header = header.ljust(117) + b'\n'
open('large.npy', 'wb').write(b'\x93NUMPY\1\0' + struct.pack('<H', len(header)) + header + rows)
open('kinds.large', 'wb').write(bytes(i % 2 for i in range(600000)))
open('bad.large', 'wb').write(bytes(7 if i in (399999, 599999) else i % 2 for i in range(600000)))
END
for input in equal.bin turned.bin; do
  "$tools/recsort" -s "$entity" $input -o wanted.$input
done
"$tools/recsort" -s "$entity" -r large.bin -o reversed.bin
"$tools/recsort" -s "$entity" reversed.bin -o wanted.reversed
for processes in 1 2 3 4; do
  spilled wanted.large $processes 'few keys' -s "$entity" large.bin b.bin -o folder/spilled
done
spilled wanted.equal.bin 3 'equal keys' -s "$entity" equal.bin -o folder/spilled
spilled wanted.turned.bin 2 'two sorted halves' -s "$entity" turned.bin -o folder/spilled
spilled wanted.turned.bin 3 'two sorted halves' -s "$entity" turned.bin -o folder/spilled
timeout 600 "$mpirun" -n 1 "$program" --threads 1 -S 400K -s "$entity" large.bin b.bin -o folder/spilled : \
  -n 2 "$program" --threads 1 -S 1M -s "$entity" large.bin b.bin -o folder/spilled > stdout 2> stderr ||
  complain "unequal memories: $(cat stderr)"
same wanted.large folder/spilled 'unequal memories'
cp reversed.bin folder/spilled
spilled wanted.reversed 3 'in place' -s "$entity" folder/spilled -o folder/spilled
spilled wanted.reversed 4 'sorted already' -s "$entity" wanted.reversed -o folder/spilled
mkdir one two
spilled wanted.large 3 'two folders' -s "$entity" large.bin b.bin -T one -T two -o folder/spilled
sed 's/^fields/skip: 13\ntrailer: 7\n&/' "$entity" > around.yaml
"$tools/recsort" -s around.yaml around.bin --keep-trailer -o wanted.around
spilled wanted.around 3 'header and trailer' -s around.yaml around.bin --keep-trailer -o folder/spilled
"$tools/recsort" -k b large.npy -o wanted.large.npy
rm folder/spilled
run 3 $small -k b large.npy -o folder/large.npy || complain "npy, spilled: $(cat stderr)"
same wanted.large.npy folder/large.npy 'an .npy file, spilled'

# ---- What goes wrong ----

# The status is not 0, the error is this one line, the output is the old one, and nothing else is there.
fails() { # LINE PROCESSES ARGUMENT...
  line=$1
  shift
  cp wanted.few folder/old.bin
  status=0
  run "$@" -o folder/old.bin || status=$?
  [ $status -eq 2 ] || complain "status $status: $*"
  [ "$(ours)" = "recsort-mpi: $line" ] || complain "wanted: $line; found: $(cat stderr)"
  same wanted.few folder/old.bin "the old output: $*"
  no_leftovers "$*"
}

cat > kinds.yaml <<'END'
record: Kind
fields:
  - {name: kind, type: enum, base: uint8, values: [x, y]}
keys: [kind]
END
printf '\1\0\1\0\1\0\1' > kinds.bin
printf '\1\0\1\0\1\0\7\0\7' > bad.bin
"$tools/recsort" -s kinds.yaml kinds.bin bad.bin -o /dev/null 2> serial
fails "$(sed 's/^recsort: //' serial)" 3 -s kinds.yaml kinds.bin bad.bin
"$tools/recsort" -s kinds.yaml kinds.large bad.large -o /dev/null 2> serial
fails "$(sed 's/^recsort: //' serial)" 3 $small -s kinds.yaml kinds.large bad.large
fails 'missing: a temporary file could not be made: No such file or directory' \
  3 $small -T missing -s "$entity" large.bin
run 3 --threads 1 -S 20K -s "$entity" large.bin -o folder/old.bin && complain 'little memory is no error'
least=$(ours | sed 's/.*needs at least \([0-9]*\) KiB .*/\1/')
fails "not enough memory: each process needs at least $least KiB for records of 20 bytes" \
  3 --threads 1 -S $((least * 3 / 4))K -s "$entity" large.bin
run 3 --threads 1 -S "${least}K" -s "$entity" large.bin b.bin -o folder/old.bin ||
  complain "$least KiB, the least: $(cat stderr)"
same wanted.large folder/old.bin 'the least memory'

export LD_PRELOAD="$shim" SHIM_DO=full
for rank in 0 2; do
  export SHIM_RANK=$rank
  fails 'folder/old.bin: No space left on device' 3 -s "$entity" a.bin
done
SHIM_DO=limit
fails 'folder/old.bin: File too large' 3 -s "$entity" a.bin
SHIM_DO=kill
for rank in 0 1; do
  SHIM_RANK=$rank
  cp wanted.few folder/old.bin
  run 3 -s "$entity" a.bin empty.bin b.bin c.bin -o folder/old.bin && complain 'a killed process is no failure'
  same wanted.few folder/old.bin 'the old output, after a process was killed'
done
# The disk is full, or a process ends, while it writes its sorted records, what it gets, or the output.
SHIM_DO=full SHIM_RANK=1
export SHIM_AFTER
here=$(pwd -P)
SHIM_AFTER=0
fails "$here/folder: no room for a temporary file beyond 0 MiB: No space left on device; name another folder" \
  3 $small -s "$entity" large.bin
afters='20 80 140 200'
for SHIM_DO in full kill; do
  for SHIM_AFTER in $afters; do
    cp wanted.few folder/old.bin
    run 3 $small -s "$entity" large.bin -o folder/old.bin && complain "$SHIM_DO after $SHIM_AFTER writes is no failure"
    [ $SHIM_DO = kill ] || [ "$(ours | grep -c 'No space left')" = 1 ] || complain "$SHIM_AFTER writes: $(cat stderr)"
    same wanted.few folder/old.bin "the old output, $SHIM_DO after $SHIM_AFTER writes"
  done
  afters='140 200'
done
unset SHIM_AFTER
unset LD_PRELOAD SHIM_DO SHIM_RANK
run 3 -s "$entity" a.bin empty.bin b.bin c.bin -o folder/old.bin || complain "after a kill: $?"
same wanted.bin folder/old.bin 'the sort after a process was killed'
no_leftovers 'the sort after a kill'

if [ "${6-}" != all ]; then
  [ $failures -eq 0 ]
  exit
fi
fails 'nowhere.bin: No such file or directory' 2 -s "$entity" a.bin nowhere.bin
head -c 43 b.bin > odd.bin
fails "odd.bin: 43 bytes are not a multiple of the record size (20): 3 left over" 2 -s "$entity" odd.bin
# One function opens inputs for all programs: what recsort refuses, this does too.
printf 'record: R\nfields: [{name: a, type: uint16}]\nkeys: [a]\n' > plain.yaml
refuses() { # ARGUMENT...
  "$tools/recsort" "$@" -o /dev/null 2> serial && complain "recsort takes $*"
  fails "$(sed 's/^recsort: //; s/| recsort/| recsort-mpi/' serial)" 2 "$@"
}
cp a.npy folder/in.npy
refuses -s plain.yaml folder/in.npy
cmp a.npy folder/in.npy || complain 'the .npy file was touched'
printf '\37\213\10\0aa' > gzip.bin
refuses -s plain.yaml gzip.bin
cp f2.bin folder/f4.bin && printf '\4' | dd of=folder/f4.bin bs=1 seek=12 conv=notrunc 2> stderr
refuses -s framed.yaml f2.bin folder/f4.bin
refuses -s framed.yaml gzip.bin
sed 's/^fields/skip: 2\ntrailer: 2\n&/' plain.yaml > around.yaml
refuses -s around.yaml gzip.bin gzip.bin --raw
run 2 -s around.yaml gzip.bin gzip.bin --raw --keep-trailer -o folder/kept.bin || complain "kept: $?"
printf '\37\213\10\0\10\0aa' > wanted.kept
same wanted.kept folder/kept.bin 'a trailer that is kept'
mkfifo pipe
fails 'pipe: it is no regular file, of which each process could read a part' 2 -s "$entity" pipe
fails 'an input file is needed' 2 -s "$entity"
fails 'this only sorts whole files: no --check, --merge, --unique, --head, --index, --explain, --list-plugins or --completion' 2 -s "$entity" a.bin --unique
run 2 -s "$entity" a.bin && complain 'no output is no error'
[ "$(ours)" = 'recsort-mpi: an output file is needed: --output FILE' ] || complain "no output: $(cat stderr)"
run 2 -s "$entity" a.bin -o /dev/null && complain 'a device is no error'
[ "$(ours)" = 'recsort-mpi: /dev/null: it is no regular file, to which all processes could write' ] ||
  complain "a device: $(cat stderr)"
run 2 --help || complain "--help: $?"
[ "$(grep -c Usage: stdout)" = 1 ] || complain '--help is printed more than once'
[ "$(wc -l < stdout)" -le 24 ] || complain '--help is too long'

[ $failures -eq 0 ] || exit 1
