# --verify accepts correct results and gives the same bytes.
entities make 20000 >in
entities sort desc <in >expected
for verify in full default; do
  recsort -s "$SCHEMAS/entity.yaml" --plugin cpu --verify=$verify in | cmp - expected
done
recsort -s "$SCHEMAS/entity.yaml" --plugin cpu --verify=full -o in in && cmp in expected
recsort -s "$SCHEMAS/entity.yaml" --plugin cpu --verify=full --explain | grep -c '^verify: full'
recsort -s "$SCHEMAS/entity.yaml" --verify=none in
echo "exit $?"
