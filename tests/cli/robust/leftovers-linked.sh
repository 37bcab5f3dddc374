# A sort that is killed after its file got a name; one that cannot lock; the first process of a
# container, which ignores signals that it sends to itself.
strace -qq -o /dev/null true 2>/dev/null || { echo "needs strace, and the right to trace"; exit 77; }
export ASAN_OPTIONS=detect_leaks=0 # leak detection does not work under a tracer
entities of 1 2 >in
entities of 1 2 3 >old
cp old out
(
  strace -qq -o /dev/null -e inject=renameat:error=EIO:signal=SIGKILL \
    recsort -s "$SCHEMAS/entity.yaml" in -o out
  echo "exit $?"
) 2>/dev/null
cmp out old
ls -A
echo "without locks"
for command in '' without-tmpfile; do
  strace -qq -f -o /dev/null -e inject=flock:error=ENOLCK $command recsort -s "$SCHEMAS/entity.yaml" in -o out
  echo "exit $?, $(stat -c %s out) bytes"
done
ls -A
recsort -s "$SCHEMAS/entity.yaml" in -o out
ls -A

unshare -pf true 2>/dev/null || exit 0
mkfifo input
cp old out
unshare -pf without-tmpfile recsort -s "$SCHEMAS/entity.yaml" -o out <input &
exec 3>input
for i in $(seq 60000); do [ -e .out.recsort-0 ] || sleep 0.01; done
kill -TERM $(cat /proc/$!/task/$!/children)
wait $!
echo "exit $?"
cmp out old
ls -A
