# On tmpfs an output's space is reserved, mapped and filled in place; failures of each step.
[ "$(stat -f -c %T .)" = tmpfs ] || { echo "needs a folder on tmpfs"; exit 77; }
strace -f -e trace=none true 2>/dev/null || { echo "strace cannot trace here"; exit 77; }
export ASAN_OPTIONS=detect_leaks=0 # leak detection does not work under a tracer
entities make 600000 >in
entities make 1000 >less
entities sort desc <in >expected
entities sort desc <less >expected-less
traced() { # OPTION...
  strace -qq -f -o trace -e trace=fallocate,pwrite64 "$@"
}
for option in '' --index --unique --head=500000; do
  echo "$option: exit $(traced recsort --threads 4 -s "$SCHEMAS/entity.yaml" $option in -o out; echo $?)," \
    "reserved $(grep -c fallocate trace), written to $(grep -c pwrite64 trace)"
done
traced recsort -s "$SCHEMAS/entity.yaml" --threads 3 in -o out
echo "by 3 threads: reserved $(grep -c fallocate trace), written to $(($(grep -c pwrite64 trace) > 0))"
fails() { # HOW
  echo old >out
  traced -e inject="fallocate:$1" recsort --threads 4 -s "$SCHEMAS/entity.yaml" in -o out
  echo "$1: exit $?, $(grep -c fallocate trace) times"
  cmp -s out expected && echo new || cat out
}
fails error=EOPNOTSUPP
fails error=EINTR:when=1
fails error=ENOSPC
fails error=EDQUOT
# An input that shrinks after its size was read and before it is opened.
rm trace
strace -qq -f -o trace -P "$PWD/in" -e trace=openat,%%stat -e inject=openat:delay_enter=5000000 \
  recsort --threads 4 -s "$SCHEMAS/entity.yaml" "$PWD/in" -o out &
until grep -q stat trace 2>/dev/null || ! kill -0 $!; do sleep 0.01; done
cp less in
wait $!
cmp out expected-less && echo "as small as its input"
ls -A
