# An output that is a mount point itself, as in containers, is refused before sorting.
mkdir mounted
unshare -m mount -t tmpfs none mounted 2>/dev/null || { echo "needs the right to mount"; exit 77; }
entities of 1 2 >in
echo old >here
echo old >there
ln -s there link
mkdir folder other
echo old >folder/file
unshare -m sh -c '
mount --bind in here && mount -t tmpfs none mounted && echo old >mounted/file && mount --bind mounted/file there
mount --bind folder other
for output in here there link; do
  recsort -s "$SCHEMAS/entity.yaml" missing -o $output
  echo "exit $?"
done
cat there
cmp here in
recsort -s "$SCHEMAS/entity.yaml" in -o other/file
echo "exit $?, $(stat -c %s folder/file)"
recsort -s "$SCHEMAS/entity.yaml" in -o /dev/fd/3 3>there
echo "exit $?, $(stat -c %s there)"'
ls -A . folder other

strace -qq -o /dev/null true 2>/dev/null || exit 0
export ASAN_OPTIONS=detect_leaks=0 # leak detection does not work under a tracer
echo "an older kernel, which does not tell before"
strace -qq -o /dev/null -e inject=renameat:error=EBUSY recsort -s "$SCHEMAS/entity.yaml" in -o in
echo "exit $?"
ls -A
