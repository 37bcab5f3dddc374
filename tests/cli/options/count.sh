# --count, --skip and --trailer say where a file's records are, if the schema cannot.
cat >row.yaml <<'YAML'
record: Row
layout: packed
endian: big
fields:
  - {name: id, type: uint16}
  - {name: text, type: char, count: 2}
keys: [id]
YAML
show() {
  od -An -c
  echo "exit $?"
}
# The bytes behind the records stay there, unchanged.
printf 'HEAD\0\3cc\0\1aa\0\2bbPADDING' >in
recsort -s row.yaml --skip 4 --count 3 in | show
cat in | recsort -s row.yaml --skip 4 --count 3 | show
recsort -s row.yaml --skip 4 --count 2 in | show
recsort -s row.yaml --skip 4 --trailer 7 in | show
recsort -s row.yaml --skip 4 --count 3 --trailer 7 in | show
recsort -s row.yaml --skip 4 --count 0 in | cmp - in && echo the same
cp in copy
recsort -s row.yaml --skip 4 --count 3 copy -o copy && show <copy
# The count applies to each input; header and trailer are the first one's.
printf 'head\0\0zz\0\2yy\0\1xxrest' >more
recsort -s row.yaml --skip 4 --keep-trailer --count 3 in more | show
cat more | recsort -s row.yaml --skip 4 --keep-trailer --count 3 in - | show
cat in | recsort -s row.yaml --skip 4 --keep-trailer --count 3 - more | show
recsort -s row.yaml --skip 4 --keep-trailer --count 3 --unique in more | show
recsort -s row.yaml --skip 4 --keep-trailer --count 3 --head 1 in more | show
recsort -s row.yaml --skip 4 --count 3 --index=32 in | od -An -t u4
for input in in more; do
  recsort -s row.yaml --skip 4 --count 3 $input -o sorted-$input
  recsort -s row.yaml --skip 4 --count 3 --check sorted-$input && echo sorted
  cat sorted-$input | recsort -s row.yaml --skip 4 --count 3 --check && echo sorted
done
recsort -s row.yaml --skip 4 --count 3 --check in more
echo "exit $?"
recsort -s row.yaml --skip 4 --count 3 --keep-trailer --merge sorted-in sorted-more | show
cat sorted-in | recsort -s row.yaml --skip 4 --count 3 --keep-trailer --merge --head 2 - sorted-more | show
cat sorted-more | recsort -s row.yaml --skip 4 --count 3 --keep-trailer --merge sorted-in - | show
# reccat takes them too.
for input in sorted-in -; do
  reccat -s row.yaml -f csv --skip 4 --count 3 $input <sorted-in | tr -d '\r' | tr '\n' ' ' && echo
  reccat -s row.yaml -f csv --skip 4 --trailer 7 --head 1 $input <sorted-in | tr -d '\r' | tr '\n' ' ' && echo
done
reccat -s row.yaml --checksum --skip 4 --count 3 in >sum
reccat -s row.yaml --checksum --skip 4 --count 3 sorted-in | cmp - sum
reccat -s row.yaml --skip 4 in
reccat -s row.yaml --count 9 in
reccat -s row.yaml --trailer many in
# The options take precedence over the schema.
sed 's/^fields/skip: 1\ntrailer: 1\n&/' row.yaml >framed.yaml
recsort -s framed.yaml --skip 4 --trailer 7 in | show
recsort -s framed.yaml --skip 4 --count 3 in | show
recsort -s framed.yaml --skip 0 --trailer 0 in | show
# Contradictions.
refused() {
  echo old >out
  recsort -s row.yaml "$@" -o out <in
  echo "exit $?, $(cat out)"
}
for input in in -; do
  refused --skip 4 --count 3 --trailer 6 $input
  refused --skip 4 --count 3 --trailer 8 $input
  refused --skip 4 --count 6 $input
  refused --skip 40 --count 0 $input
  refused --skip 4 --count 2305843009213693951 $input
done
cat in | recsort -s row.yaml --skip 4 --count 3 --trailer 6 -o out
cat in | recsort -s row.yaml --skip 4 --count 3 --trailer 8 -o out
cat in | recsort -s row.yaml --skip 4 --count 6 -o out
cat out
recsort -s row.yaml --count 1 - -
echo "exit $?"
for option in --count --skip --trailer; do
  recsort -s row.yaml $option=x in 2>&1 | head -n 1
  recsort -s row.yaml $option=9223372036854775807 in 2>&1 | head -n 1
done
