# A mapped output, as with 4 threads on tmpfs, has the same bytes as one written to a pipe: with
# header and trailer, with --head, from pipes and files, with few and many records.
cat >framed.yaml <<'END'
record: Framed
skip: 4099
trailer: 3
fields:
  - {name: x, type: float32}
  - {name: y, type: float32}
  - {name: angle, type: float32}
  - {name: spriteIndex, type: int16}
  - {name: distanceFromPlayer, type: float32}
keys:
  - {field: distanceFromPlayer, order: desc, nan: last}
END
entities make 400000 >many
entities make 7 2 >few
head -c 4099 many >header
printf END >trailer
: >none
for records in many few none; do
  cat header $records trailer >framed-$records
done
same() {
  echo old >out
  recsort --threads 4 "$@" -o out && recsort "$@" | cmp - out
}
for records in many few none; do
  same -s "$SCHEMAS/entity.yaml" $records
  same -s framed.yaml framed-$records
  for option in --head=1 --head=0 --head=300000 --unique --index --index=32 '--index --head=5'; do
    same -s framed.yaml --keep-trailer $option framed-$records
  done
  cat framed-$records | recsort -s framed.yaml --threads 4 -o out
  recsort -s framed.yaml framed-$records | cmp - out
done
same -s framed.yaml --keep-trailer framed-few framed-many framed-none framed-few
entities sort desc <many >expected
recsort -s "$SCHEMAS/entity.yaml" --threads 4 many -o out && cmp out expected
recsort -s framed.yaml --threads 4 framed-many -o framed-many && cat header expected trailer | cmp - framed-many
stat -c '%n %s' framed-many framed-none
