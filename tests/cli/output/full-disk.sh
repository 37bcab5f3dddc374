# A disk with space for 0, 1, n-1 and n pages of an output of n: the old file or the whole new one.
# An output shorter than the input needs only its own space.
mkdir mounted
unshare -m mount -t tmpfs none mounted 2>/dev/null || { echo "needs the right to mount"; exit 77; }
entities make 16384 >in # 80 pages of 4096 bytes
entities sort desc <in >expected
page=$(getconf PAGESIZE)
pages=$(((327680 + page - 1) / page))
export page pages
unshare -m sh -c '
for room in 0 1 $((pages - 1)) $pages; do
  mount -t tmpfs -o size=$(((pages + room + 4) * page)),huge=never none mounted
  cp in mounted/out
  free=$(stat -f -c %a mounted)
  dd if=/dev/zero of=mounted/filler bs=$page count=$((free - room)) status=none
  [ "$(stat -f -c %a mounted)" = "$room" ] || echo "not $room pages"
  recsort -s "$SCHEMAS/entity.yaml" --threads 4 in -o mounted/out
  echo "room for $((room == pages ? 999 : room == pages - 1 ? 998 : room)): exit $?"
  cmp -s mounted/out in && echo old
  cmp -s mounted/out expected && echo new
  ls -A mounted
  recsort -s "$SCHEMAS/entity.yaml" --threads 4 --head 204 in -o mounted/short && rm mounted/short
  recsort -s "$SCHEMAS/entity.yaml" --threads 4 --unique --key angle in -o mounted/short && rm mounted/short
  umount mounted
done'
