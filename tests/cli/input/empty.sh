# An empty input is a sorted one.
: >in
recsort -s "$SCHEMAS/entity.yaml" in | wc -c
recsort -s "$SCHEMAS/entity.yaml" </dev/null | wc -c
: | recsort -s "$SCHEMAS/entity.yaml" -u --head 3 --index -o out && wc -c <out
recsort -s "$SCHEMAS/entity.yaml" -m in in | wc -c
recsort -s "$SCHEMAS/entity.yaml" -c in && echo sorted
