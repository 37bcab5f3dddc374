# Files that contradict themselves, or end early, and numbers that have no room: one line, and the
# old output stays.
file-formats make >names
wrong() { # SCHEMA OPTION-OR-FILE...
  schema=$1
  shift
  for how in "" "--check" "--merge"; do
    echo old >out
    recsort -s $schema.yaml $how "$@" >out 2>why
    echo "exit $?, $(wc -c <out) $(wc -l <why)"
  done | sort | uniq -c
  cat why
}
patch() { # FILE OFFSET BYTES
  cp $1 bad
  printf "$3" | dd of=bad bs=1 seek=$2 conv=notrunc status=none
}
echo "-- counts that differ"
patch las.1 10 '\132'
wrong las bad
patch fortran.1 459 '\1'
wrong fortran bad
cat bad | recsort -s fortran.yaml | wc -c
patch footer.1 459 '\1'
wrong footer bad
sed 's/POINTS 91/POINTS 90/' pcd.1 >bad
wrong pcd bad
cat bad | recsort -s pcd.yaml | wc -c
echo "-- no number, no whole records, no end"
sed 's/POINTS 91/POINTS ..../' pcd.1 >bad
wrong pcd bad
sed 's/POINTS 91/POINT 91/' pcd.1 >bad
wrong pcd bad
sed 's/DATA binary/DATA ascii/' pcd.1 >bad
wrong pcd bad
sed 's/^end_header.*/end_headers/' ply.1 >bad
wrong ply bad
patch wav.1 40 '\4'
wrong wav bad
patch fortran.1 0 '\377\377'
wrong fortran bad
patch shx.1 4 '\0\0\0\3'
wrong shx bad
patch table.1 29 'x'
wrong table bad
patch pak.1 4 '\7'
wrong pak bad
echo "-- padding"
head -c -1 table.1 >bad && printf x >>bad
wrong table bad
cat bad | recsort -s table.yaml | wc -c
recsort -s table.yaml table.3 --head 5 -o short # 50 + 25, and 25 blanks
head -c 75 short >bare # without its padding, at the end of the file
recsort -s table.yaml bare | cmp - bare && cat bare | recsort -s table.yaml | cmp - bare && echo "as it was"
recsort -s table.yaml bare --head 4 | wc -c
cat bare | recsort -s table.yaml bare - | wc -c
patch fits.1 2900 ' '
head -c 5000 fits.1 >bad && tail -c +5002 fits.1 >>bad
wrong fits bad
echo "-- no room"
sed '/^count/s/.*/count: {offset: 0, type: uint8}/; /^skip/s/.*/skip: 1/; /^pad/d' table.yaml >byte.yaml
{ printf '\310'; head -c 1000 /dev/zero; } >many
recsort -s byte.yaml --merge many many >out || wc -c <out
recsort -s byte.yaml many many -o many || wc -c <many
sed 's/^skip.*/skip: 30/; s/^expect.*//' dat.yaml >fixed.yaml
{ printf '%% rows 9 x\n'; head -c 19 /dev/zero | tr '\0' '%'; head -c 45 /dev/zero; } >nine
recsort -s fixed.yaml nine nine >out || wc -c <out
recsort -s fixed.yaml nine --head 3 | head -c 12
sed 's/count: {.*/count: [{word: "% rows"}, {offset: 11, type: uint8}]/' dat.yaml >both.yaml
{ printf '%% rows 9 %%\n\11'; head -c 45 /dev/zero; } >nine # a field behind the line, which must not move
sed 's/^skip.*/skip: 12/' both.yaml >both12.yaml
recsort -s both12.yaml nine nine >out || wc -c <out
recsort -s shx.yaml --skip 20 shx.1 --head 3 | head -c 8 | od -An -t x1
sed 's/size: 8/size: 5/; s/unit: 2/unit: 4/' shx.yaml >units.yaml
printf '\0\0\0\0\0\0\0\12ssssssssssssaaaaabbbbbcccccddddd' >units
recsort -s units.yaml units --head 3 -o units || head -c 8 units | od -An -t x1
echo "-- none of the places is there"
sed 's/^count.*/count: {offset: 0, type: uint8, when: {offset: 1, type: uint8, value: 7}}\ntrailer: any/; /^pad/d; /^skip/s/.*/skip: 2/' table.yaml >when.yaml
printf '\1\7aaaaaEND' | recsort -s when.yaml && echo
printf '\1\6aaaaaEND' >bad
wrong when bad
echo "-- cut short anywhere"
for n in $(cat names); do
  recsort -s $n.yaml $n.3 -o whole
  size=$(wc -c <whole)
  for at in $(seq 0 $((size > 300 ? size / 97 : 1)) $((size - 1))); do
    head -c $at whole >cut
    for from in cut -; do
      echo old >out
      recsort -s $n.yaml $from -o out <cut 2>why
      status=$?
      if [ $status = 0 ]; then
        # what may be missing at the end: all of a trailer of any size, and padding
        cmp -s out cut || echo "$n $at $from: another file"
      else
        [ "$status $(cat out) $(wc -l <why)" = "2 old 1" ] || echo "$n $at $from: exit $status, $(cat why)"
      fi
    done
  done
done
