# --explain says what each input holds, and how much memory sorting them takes.
cat >framed.yaml <<'END'
record: Framed
skip: 5
trailer: 3
fields:
  - {name: value, type: uint16}
keys: [value]
END
explain() {
  recsort -s framed.yaml --plugin cpu --threads 1 --explain "$@" >text
  status=$?
  sed -n '2,/^$/p; /^ *header /,$p' text | sed 's/to sort: .* (\([0-9]*\) bytes of records, .*/to sort \1 bytes/'
  echo "exit $status"
}
printf 'HEAD1\3\0\1\0\2\0END' >in
printf 'HEAD1END' >none
explain
explain in none
explain --count 1 in
explain --skip 0 --trailer 0 in
explain --skip 4 --trailer 0 in
explain in missing
mkfifo fifo
explain fifo
explain - <in
explain .
# More records take more memory, and so do longer keys.
memory() {
  recsort --plugin cpu --threads 1 --explain "$@" | sed -n 's/.*records, \([0-9]*\) to work in.*/\1/p'
}
truncate -s 8000000 many
truncate -s 16000000 more
few=$(memory -s framed.yaml --skip 0 --trailer 0 many)
[ "$(memory -s framed.yaml --skip 0 --trailer 0 more)" -gt $((few * 3 / 2)) ] && echo more
sed 's/uint16/bytes, count: 40/' framed.yaml >long.yaml
[ "$(memory -s long.yaml --skip 0 --trailer 0 many)" -gt $((8000000 + 16 * 200000)) ] && echo longer
