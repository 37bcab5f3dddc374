# A schema may come through a pipe.
entities of 1 3 2 >in
cat "$SCHEMAS/entity.yaml" | recsort -s /dev/stdin in -o out
recsort -s "$SCHEMAS/entity.yaml" --check out && echo sorted
