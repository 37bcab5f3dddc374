# A file system that is mounted read-only.
mkdir mounted
entities of 1 2 >in
unshare -m sh -c 'mount -t tmpfs none mounted && echo old >mounted/out &&
  mount -o remount,ro mounted' 2>/dev/null || { echo "needs the right to mount"; exit 77; }
unshare -m sh -c 'mount -t tmpfs none mounted && echo old >mounted/out &&
  mount -o remount,ro mounted
  recsort -s "$SCHEMAS/entity.yaml" in -o mounted/out
  echo "exit $?"
  recsort -s "$SCHEMAS/entity.yaml" in -o mounted/new
  echo "exit $?"
  cat mounted/out
  ls -A mounted'
