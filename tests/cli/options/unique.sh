# --unique keeps the first of each run of equal keys.
entities of 1 2 1 3 2 1 >in
recsort -s "$SCHEMAS/entity.yaml" -u in | entities show
recsort -s "$SCHEMAS/entity.yaml" --unique --reverse in | entities show
recsort -s "$SCHEMAS/entity.yaml" -u --head 2 in | entities show
