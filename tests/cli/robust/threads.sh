# --threads limits the threads for reading, sorting and writing. If the system refuses threads, the
# tool silently does without them.
strace -f -e trace=none true 2>/dev/null || { echo "strace cannot trace here"; exit 77; }
export ASAN_OPTIONS=detect_leaks=0 # leak detection does not work under a tracer
entities make 1000000 >in
recsort -s "$SCHEMAS/entity.yaml" in -o expected
readers() { # THREADS
  strace -qq -f -o log -P "$PWD/in" -e trace=pread64 recsort -s "$SCHEMAS/entity.yaml" --threads "$1" in -o out
  cmp expected out
  cut -d ' ' -f 1 log | sort -u | wc -l
}
echo "--threads 1: read by $(readers 1)"
[ "$(readers 3)" -le 3 ] && echo "--threads 3: read by at most 3"

for error in EAGAIN ENOMEM; do
  strace -qq -f -o /dev/null -e trace=clone,clone3 -e inject=clone,clone3:error=$error \
    recsort -s "$SCHEMAS/entity.yaml" --threads 4 in -o out
  echo "exit $?"
  cmp expected out && echo "the same bytes without any thread ($error)"
done
strace -qq -f -o /dev/null -e trace=clone3 -e inject=clone3:error=EAGAIN:when=2+ \
  recsort -s "$SCHEMAS/entity.yaml" --threads 4 in -o out
cmp expected out && echo "the same bytes with one thread more"
