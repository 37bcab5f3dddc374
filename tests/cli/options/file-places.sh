# Numbers that say the count of records, where they are unusual: only behind the records, in blocks, or in no file of
# this kind; and trailers without a header.
cat >behind.yaml <<'E'
record: R
trailer: 4
count: {trailer: 0, type: uint32}
fields: [{name: k, type: uint8}]
keys: [k]
E
show() { od -An -c | tr -s ' ' | sed 's/^/ /'; }
printf '\0\0\0\0' >empty
printf 'cab\3\0\0\0' >three
printf 'cab\0\0\0\0' >unsaid
echo '-- a count only behind the records, 0 in the first input'
recsort -s behind.yaml empty three | show
recsort -s behind.yaml three empty | show
recsort -s behind.yaml three -o sorted
recsort -s behind.yaml --merge empty sorted | show
echo '-- a count behind the records that says 0'
recsort -s behind.yaml unsaid || echo "exit $?"
cat unsaid | recsort -s behind.yaml || echo "exit $?"
sed '$a\zero: all' behind.yaml >zero.yaml
recsort -s zero.yaml unsaid | show
cat unsaid | recsort -s zero.yaml --head 1 | show
echo '-- a place of another kind of file: this one says nothing'
cat >when.yaml <<'E'
record: R
skip: 2
count: {offset: 1, type: uint8, when: {offset: 0, type: uint8, value: 1}}
trailer: 4
fields: [{name: k, type: uint8}]
keys: [k]
E
printf '\7\3cab\3\0\0\0' >other
recsort -s when.yaml --head 1 other || echo "exit $?"
recsort -s when.yaml other | show
echo '-- bytes behind the records, and no header'
cat >bare.yaml <<'E'
record: R
trailer: 4
fields: [{name: k, type: uint8}]
keys: [k]
E
for words in '--head 1 three' 'three three' '--unique three' '--merge sorted sorted'; do
  recsort -s bare.yaml $words >out || echo "exit $?, $(wc -c <out) bytes"
done
recsort -s bare.yaml --keep-trailer --head 1 three | show
recsort -s bare.yaml three | show
echo '-- blocks: a length with all bits set is one; a block without a count is none'
cat >blocks.yaml <<'E'
record: R
skip: 1
length: {offset: 0, type: uint8}
repeat: true
fields: [{name: k, type: uint8}]
keys: [k]
E
python3 - <<'E'
data = bytes([1, 9, 1, 7] * 63 + [1, 3, 0])
open('blocks', 'wb').write(bytes([255]) + data + bytes([2, 5, 4]))
want = sorted(data + bytes([5, 4]))
open('wanted', 'wb').write(bytes([255, *want[:255], 2, *want[255:]]))
E
recsort -s blocks.yaml blocks | cmp - wanted && echo right
printf '\1\2zZyY\7\0aAbB' >kinds
cat >kinds.yaml <<'E'
record: R
skip: 2
count: {offset: 1, type: uint8, when: {offset: 0, type: uint8, value: 1}}
repeat: true
fields: [{name: k, type: uint16}]
keys: [k]
E
recsort -s kinds.yaml kinds || echo "exit $?"
echo '-- a header that would grow, with an offset behind the records or one that gets a digit itself'
printf 'n 9\nend\nabcdefghi\052\0\0\0' >nine
printf 'n 9 \nat 99\nend\nihgfedcba' >text
cat >nine.yaml <<'E'
record: R
skip: {line: end}
count: {word: n}
trailer: 4
after: {trailer: 0, type: uint32}
fields: [{name: k, type: char}]
keys: [k]
E
recsort -s nine.yaml nine nine || echo "exit $?"
recsort -s nine.yaml --head 1 nine | show
sed 's/^trailer.*//; s/^after.*/after: {word: at}/' nine.yaml >text.yaml
recsort -s text.yaml text text || echo "exit $?"
recsort -s text.yaml text | show
