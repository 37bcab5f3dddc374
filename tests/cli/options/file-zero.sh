# A count of 0 with records behind it, as a program writes that cannot go back: refused, or with
# zero: all, all records there are, and their number in the output.
cat >las.yaml <<'YAML'
record: Point
layout: packed
skip: 16
count: [{offset: 0, type: uint32}, {offset: 4, type: uint16}]
after: {offset: 8, type: uint64}
trailer: any
fields: [{name: key, type: uint8}, {name: tag, type: char, count: 2}]
keys: [key]
YAML
cat >wav.yaml <<'YAML'
record: Sample
layout: packed
skip: 12
length: {offset: 8, type: uint32}
after: {offset: 4, type: uint32}
pad: {to: 2}
fields: [{name: key, type: uint8}, {name: tag, type: char, count: 2}]
keys: [key]
YAML
for n in las wav; do sed 's/^skip/zero: all\n&/' $n.yaml >$n-all.yaml; done
rows='3aa1bb3cc1dd2ee'
printf '\0\0\0\0\0\0..\0\0\0\0\0\0\0\0%s' $rows >las
printf '\0\0\0\0\0\0..\20\0\0\0\0\0\0\0EVLREVLR' >none # something else begins where the records end
printf '\2\0\0\0\2\0..\0\0\0\0\0\0\0\09xx0yy' >two
printf 'RIFF\0\0\0\0\0\0\0\0%s\0' $rows >wav
printf 'RIFF\377\377\377\377\377\377\377\377%s\0' $rows >ones
printf 'RIFF\4\0\0\0\0\0\0\0%s' $rows >known # what the length says of 0 records, without padding
printf 'RIFF\4\0\0\0\0\0\0\0%s\0' $rows >padded
printf 'RIFF\5\0\0\0\3\0\0\09xx\0' >one
show() { od -An -c | tr -s ' '; }
echo "-- refused"
for words in 'las las' 'las two las' 'wav wav' 'wav ones' 'wav known' 'wav one wav' 'wav --merge one wav' 'wav --check wav'; do
  set -- $words
  schema=$1
  shift
  echo old >out
  recsort -s $schema.yaml "$@" >out
  echo "exit $?, $(wc -c <out)"
done
cat wav | recsort -s wav.yaml | wc -c
cat las | recsort -s las.yaml --check || echo "exit $?"
reccat -s las.yaml las || echo "exit $?"
echo "-- all"
recsort -s las-all.yaml las | show
cat las | recsort -s las-all.yaml | show
recsort -s las-all.yaml two las | show
cat las | recsort -s las-all.yaml two - --head 3 | show
for file in wav ones known padded; do
  recsort -s wav-all.yaml $file | show
  cat $file | recsort -s wav-all.yaml | show
done
recsort -s wav-all.yaml --head 2 wav | show
recsort -s wav-all.yaml one wav | show
recsort -s wav-all.yaml wav -o sorted && recsort -s wav.yaml --check sorted && echo sorted
printf 'RIFF\0\0\0\0\0\0\0\0' >head && printf '1bb2cc3aa\0' | cat head - >streamed
recsort -s wav-all.yaml --merge streamed one | show
cat streamed | recsort -s wav-all.yaml --merge - one | wc -c
printf 'RIFF\0\0\0\0\0\0\0\0%s!' $rows >odd
recsort -s wav-all.yaml odd
cat odd | recsort -s wav-all.yaml
echo "-- none"
recsort -s las.yaml none | cmp - none && recsort -s las-all.yaml none | cmp - none && cat none | recsort -s las.yaml | cmp - none && echo same
recsort -s las.yaml --count 0 las | cmp - las && echo same
head -c 16 las >empty && recsort -s las.yaml empty | cmp - empty && cat empty | recsort -s las-all.yaml | cmp - empty && echo same
recsort -s las.yaml empty two | show
