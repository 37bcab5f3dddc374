# On a file system whose locks may not reach other hosts, each host removes only its own leftovers.
mkdir mounted
unshare -mu sh -c 'mount -t ramfs none mounted && hostname one' 2>/dev/null ||
  { echo "needs the right to mount, and to name the host"; exit 77; }
entities of 1 2 >in
unshare -mu sh -c '
mount -t ramfs none mounted
mkfifo input
hostname one
without-tmpfile recsort -s "$SCHEMAS/entity.yaml" -o mounted/out <input &
exec 3>input
for i in $(seq 60000); do [ -n "$(ls -A mounted)" ] || sleep 0.01; done
kill -9 $!
wait $! 2>/dev/null
exec 3>&-
ls -A mounted
for name in two one; do
  hostname $name
  recsort -s "$SCHEMAS/entity.yaml" in -o mounted/out
  echo "on $name: exit $?"
  ls -A mounted
done' 2>&1
