# Disorder on either side of the boundary between two pieces; the memory does not grow.
entities make 500000 >in
recsort -s "$SCHEMAS/entity.yaml" in -o sorted
recsort -s "$SCHEMAS/entity.yaml" -c sorted
echo "exit $?"
cat sorted | recsort -s "$SCHEMAS/entity.yaml" -c
echo "exit $?"
entities of 1000 >high
for place in 209715 209716 499999; do
  cp sorted broken
  dd if=high of=broken bs=20 seek=$place conv=notrunc status=none
  recsort -s "$SCHEMAS/entity.yaml" -c broken 2>&1 | sed 's/(.*//'
  cat broken | recsort -s "$SCHEMAS/entity.yaml" -c 2>&1 | sed 's/(.*//'
done
