# Files that are truncated, or grow, while they are read: an error, no SIGBUS, nothing replaced.
# A merge has opened its first input, and read one piece of it, when it waits for the second.
entities make 200000 | recsort -s "$SCHEMAS/entity.yaml" >sorted
entities of -1 >low
echo old >out
mkfifo second
for change in 'truncate -s 2000000' 'truncate -s 0' 'truncate -s +20' touch; do
  cp sorted first
  touch -d '2020-01-01' first
  recsort -s "$SCHEMAS/entity.yaml" -m first second -o out &
  exec 3>second # opened by the merge once it has read from the first
  $change first
  cat low >&3
  exec 3>&-
  wait $!
  echo "$change: exit $?"
done
cat out
ls -A
