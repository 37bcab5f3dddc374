# Several threads read and write a large file: a failure in any of them is reported once, and no
# data is lost. On tmpfs this applies if no space can be reserved.
strace -f -e trace=none true 2>/dev/null || { echo "strace cannot trace here"; exit 77; }
export ASAN_OPTIONS=detect_leaks=0 # leak detection does not work under a tracer
entities make 1000000 >in
echo old >out
fails() { # CALL HOW WHEN [-P FILE]
  call=$1 how=$2 when=$3
  shift 3
  strace -qq -f -o /dev/null "$@" -e trace="$call,fallocate" -e inject=fallocate:error=EOPNOTSUPP \
    -e inject="$call:$how:when=$when" \
    recsort -s "$SCHEMAS/entity.yaml" --threads 4 in -o out
  echo "exit $?"
  cat out
  ls -A
}
fails pwrite64 error=ENOSPC 2
fails pread64 error=EIO 1 -P "$PWD/in"
fails pread64 retval=0 1 -P "$PWD/in"
(ulimit -f 16000 && recsort -s "$SCHEMAS/entity.yaml" in -o out)
echo "exit $?"
cat out
recsort -s "$SCHEMAS/entity.yaml" --threads 3 in -o out && recsort -s "$SCHEMAS/entity.yaml" --check out
cat in | recsort -s "$SCHEMAS/entity.yaml" | cmp - out && echo "the same as through pipes"
