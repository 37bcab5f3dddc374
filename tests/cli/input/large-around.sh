# A header and a trailer take no memory, however large: they are copied in pieces.
if grep -q __asan_init "$(command -v recsort)"; then
  echo "the address sanitizer needs the address space"
  exit 77
fi
[ "$(df --output=avail -k . | tail -n 1)" -gt 200000 ] || { echo "needs 200 MB here"; exit 77; }
export MALLOC_ARENA_MAX=1 # other arenas reserve address space
size=40000000
cat >framed.yaml <<END
record: Framed
skip: $size
trailer: $size
fields:
  - {name: value, type: char}
keys: [value]
END
framed() { # FILE RECORDS
  truncate -s $size "$1"
  printf "$2" >>"$1"
  truncate -s +$size "$1"
}
framed in cab
framed sorted abc
framed twice aabbcc
within() {
  (ulimit -v 36000 && exec recsort -s framed.yaml --plugin cpu --threads 1 "$@")
}
within in -o out && cmp out sorted && echo "from a file to a file"
within in | cmp - sorted && echo "to a pipe"
cat in | within --count 3 -o out && cmp out sorted && echo "from a pipe, counted"
within --merge --keep-trailer sorted sorted -o out && cmp out twice && echo merged
cat sorted | within --merge --keep-trailer --count 3 - sorted | cmp - twice && echo "merged from a pipe"
within --check sorted in
echo "exit $?"
within --index=32 in | od -An -t u4
within in 1<>new && cmp new sorted && echo "to an open file"
