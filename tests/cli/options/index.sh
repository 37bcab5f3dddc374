# --index writes the permutation, little-endian.
entities of 1 2 1 3 2 1 >in
recsort -s "$SCHEMAS/entity.yaml" --index in | od -An -v -t u1 -w8
recsort -s "$SCHEMAS/entity.yaml" --index=64 --head 1 in | od -An -v -t u1 -w8
recsort -s "$SCHEMAS/entity.yaml" --index=32 -u in | od -An -v -t u1 -w4
recsort -s "$SCHEMAS/entity.yaml" --index=16 in
echo "exit $?"
