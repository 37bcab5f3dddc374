# Files that are truncated, or grow, while they are read: an error, no SIGBUS, nothing replaced.
# A merge has opened its first input when it waits for the second.
entities make 200000 | recsort -s "$SCHEMAS/entity.yaml" >sorted
entities of -1 >low
echo old >out
mkfifo second
for change in 'truncate -s 2000000' 'truncate -s 0' 'truncate -s +20' touch; do
  cp sorted first
  touch -d '2020-01-01' first
  recsort -s "$SCHEMAS/entity.yaml" -m first second -o out &
  exec 3>second # the merge opens it after the first
  $change first
  cat low >&3
  exec 3>&-
  wait $!
  echo "$change: exit $?"
done
cat out
ls -A

echo "the time of writing is put back"
cp sorted first
cp -p first times
recsort -s "$SCHEMAS/entity.yaml" -m first second -o out &
exec 3>second
dd if=sorted of=first bs=20 skip=100 seek=100 count=1 conv=notrunc status=none
touch -r times first
cat low >&3
exec 3>&-
wait $!
echo "exit $?, $(head -c 3 out)"
# A file that is replaced or removed while it is read is read to its end.
for change in 'mv other first' 'rm first'; do
  cp sorted first
  cp low other
  recsort -s "$SCHEMAS/entity.yaml" -m first second -o replaced &
  exec 3>second
  $change
  cat low >&3
  exec 3>&-
  wait $!
  echo "$change: exit $?"
  cat sorted low | cmp - replaced
done
