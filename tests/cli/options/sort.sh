# The schema's keys, compared with Python's sort, with files and with standard streams.
entities make 5000 >in
entities sort desc <in >expected
recsort -s "$SCHEMAS/entity.yaml" in -o out && cmp out expected
recsort --schema="$SCHEMAS/entity.yaml" in --output=long && cmp long expected
recsort -s "$SCHEMAS/entity.yaml" in | cmp - expected
recsort -s "$SCHEMAS/entity.yaml" <in | cmp - expected
recsort -s "$SCHEMAS/entity.yaml" - <in | cmp - expected
cat in | recsort -s "$SCHEMAS/entity.yaml" -o - | cmp - expected
