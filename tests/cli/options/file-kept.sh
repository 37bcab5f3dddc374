# A header that is kept while the number of records changes: a warning, unless the schema says where
# the file has that number. With bytes behind the records it is an error, before anything is written.
cat >row.yaml <<'YAML'
record: Row
skip: 4
fields: [{name: key, type: uint16, endian: big}]
keys: [key]
YAML
sed 's/^skip: 4/&\ntrailer: 3/' row.yaml >framed.yaml
printf 'HEAD\0\3\0\1\0\1' >a
printf 'head\0\2' >b
printf 'HEAD\0\1\0\1\0\3' >sorted
printf 'HEAD\0\3\0\1\0\1END' >fa
printf 'head\0\2end' >fb
printf 'HEAD\0\1\0\1\0\3END' >fsorted
show() { od -An -c | tr -s ' '; }
echo "-- warned"
recsort -s row.yaml --head 2 a | show
recsort -s row.yaml -u a | show
recsort -s row.yaml a b | show
cat a | recsort -s row.yaml - b | show
recsort -s row.yaml --merge sorted b | show
cat sorted | recsort -s row.yaml --merge - b | show
recsort -s row.yaml --merge --unique sorted | show
recsort -s row.yaml --skip 2 --head 1 a | show
cat a | recsort -s row.yaml --head 2 -o out && show <out
echo "-- not: as many, no header, no records, insisted"
recsort -s row.yaml a --head 3 | show
recsort -s row.yaml --merge sorted --head 9 | show
cat sorted | recsort -s row.yaml --merge | cmp - sorted
recsort -s row.yaml --skip 0 --head 1 a | show
recsort -s row.yaml --index=32 --head 1 a | show
recsort -s row.yaml --check sorted && echo sorted
recsort -s row.yaml --keep-trailer --head 2 a | show
echo "-- refused"
refused() {
  recsort -s framed.yaml "$@" >pipe # an open file: nothing may be written there
  echo "exit $?, $(wc -c <pipe)"
  echo old >out
  recsort -s framed.yaml "$@" -o out 2>/dev/null
  echo "exit $?, $(cat out)"
}
refused --head 2 fa
refused --unique fa
refused fa fb
refused --merge fsorted fb
refused --merge --unique fsorted
refused --merge --head 1 fsorted
for words in '--head 2' '--unique' '- fb' '--merge - fb' '--merge --unique' '--merge --head 1'; do
  cat fsorted | recsort -s framed.yaml $words | wc -c
done
cat fsorted | recsort -s framed.yaml | cmp - fsorted
cat fsorted | recsort -s framed.yaml --merge | cmp - fsorted
recsort -s framed.yaml fa -o out && cmp out fsorted
echo "-- insisted"
for words in '--head 2' '--unique' '- fb' '--merge - fb' '--merge --unique' '--merge --head 1'; do
  cat fsorted | recsort -s framed.yaml --keep-trailer $words | show
done
# Bytes that follow a pipe's records are seen before the first byte is written.
cat fsorted | recsort -s row.yaml --count 3 --head 1 | wc -c
cat sorted | recsort -s row.yaml --count 3 --head 1 | show
# The input is replaced.
cp fsorted both
recsort -s framed.yaml --keep-trailer both fb -o both
show <both
