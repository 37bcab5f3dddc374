# --reverse reverses the keys and leaves equal records in order.
entities make 3000 >in
entities sort asc <in >expected
recsort -s "$SCHEMAS/entity.yaml" -r in | cmp - expected
recsort -s "$SCHEMAS/entity.yaml" --reverse -k distanceFromPlayer:desc in | cmp - expected
