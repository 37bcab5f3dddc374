# Plugins, algorithms and threads by name: the same bytes from each.
entities make 20000 >in
entities sort desc <in >expected
for algorithm in parallel sequential; do
  for threads in 0 1 2 3 8; do
    recsort -s "$SCHEMAS/entity.yaml" --plugin cpu --algorithm $algorithm --threads $threads in |
      cmp - expected
  done
done
recsort -s "$SCHEMAS/entity.yaml" --plugin auto in | cmp - expected
recsort -s "$SCHEMAS/entity.yaml" --plugin nothing in 2>stderr
echo "exit $?, $(grep -c '^recsort: .*nothing' stderr) line"
recsort -s "$SCHEMAS/entity.yaml" --algorithm nothing in 2>stderr
echo "exit $?, $(grep -c '^recsort: .*nothing' stderr) line"
recsort -s "$SCHEMAS/entity.yaml" --threads many in
echo "exit $?"
