# What a schema expects of a file, in every front end, before anything is written; and the size of
# a record that the header says.
cat >kind.yaml <<'YAML'
record: Point
layout: packed
skip: 8
expect:
  - {offset: 0, bytes: ["PT", "pt"]}
  - {offset: 2, type: uint8, value: [1, 3]}
  - {offset: 4, type: uint16, endian: big, least: 8}
  - {offset: 6, type: int16, value: -2}
size: {offset: 3, type: uint8}
fields: [{name: key, type: uint8}, {name: tag, type: char}]
keys: [key]
YAML
file() { printf "PT\\$1\\$2\0\10\376\377"; }
{ file 1 2; printf '2a1b2c1d'; } >a2
{ file 3 5; printf '2a...1b:::2c;;;1d///'; } >a5
{ file 3 5; printf '3x???1y!!!'; } >b5
recsort -s kind.yaml a2 | tail -c 8 && echo
recsort -s kind.yaml a5 | tail -c 20 && echo
cat a5 | recsort -s kind.yaml | tail -c 20 && echo
recsort -s kind.yaml a5 b5 --keep-trailer | tail -c 30 && echo
recsort -s kind.yaml -k tag:desc a5 -o out && tail -c 20 out && echo
recsort -s kind.yaml --unique --keep-trailer a5 | tail -c 10 && echo
recsort -s kind.yaml --index=32 a5 | od -An -t u4
recsort -s kind.yaml a5 -o s5 && recsort -s kind.yaml b5 -o t5 && recsort -s kind.yaml --check s5 && echo sorted
recsort -s kind.yaml --check - <a5
cat a5 | recsort -s kind.yaml --check
recsort -s kind.yaml --keep-trailer -m s5 t5 | tail -c 30 && echo
mkfifo fifo
timeout 60 sh -c 'cat s5 >fifo' &
cat t5 | recsort -s kind.yaml --keep-trailer -m fifo - | tail -c 30 && echo
timeout 60 sh -c 'cat a5 >fifo' &
recsort -s kind.yaml fifo | tail -c 20 && echo
recsort -s kind.yaml --explain --plugin cpu --threads 1 a5 | grep -E '^record|  a5'
recsort -s kind.yaml --explain --plugin cpu --threads 1 | grep '^record'
reccat -s kind.yaml -f csv a5 | tr -d '\r' | tr '\n' ' ' && echo
cat a2 | reccat -s kind.yaml -f csv | wc -l
recgen -s kind.yaml -n 30 | recsort -s kind.yaml | recsort -s kind.yaml --check && echo made
echo "-- refused"
refused() { # FILE
  echo "$1:"
  for how in '' --check --merge --index; do
    echo old >out
    recsort -s kind.yaml $how $1 >out 2>why
    echo "exit $?, $(wc -c <out) bytes, $(cat why)"
    cat $1 | recsort -s kind.yaml $how >out 2>why
    echo "exit $?, $(wc -c <out) bytes, $(cat why)"
  done | sort | uniq -c
  recsort -s kind.yaml --explain --plugin cpu $1 2>&1 | tail -n 1
  reccat -s kind.yaml $1
  reccat -s kind.yaml - <$1
}
printf 'XX\1\2\0\10\376\3772a1b' >magic
printf 'PT\2\2\0\10\376\3772a1b' >kind
printf 'PT\1\2\0\7\376\3772a1b' >least
printf 'PT\1\2\0\10\375\3772a1b' >value
printf 'PT\1\1\0\10\376\3772a1b' >small
printf 'PT\1\0\0\10\376\377' >zero
printf 'PT\1' >short
: >empty
for name in magic kind least value small zero short empty; do refused $name; done
# Inputs of different sizes, and a later one that is another file.
for words in 'a5 a2' '--merge a5 a2' '--check a5 a2' 'a2 magic' '--merge a2 magic' '--index a5 a2'; do
  recsort -s kind.yaml --keep-trailer $words >out
  echo "exit $?, $(wc -c <out)"
done
cat a2 | recsort -s kind.yaml --keep-trailer a5 - >out || wc -c <out
