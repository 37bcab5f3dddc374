# Several inputs are one sequence.
for seed in 1 2 3; do entities make 700 $seed >in$seed; done
cat in1 in2 in3 | entities sort desc >expected
recsort -s "$SCHEMAS/entity.yaml" in1 in2 in3 | cmp - expected
cat in2 | recsort -s "$SCHEMAS/entity.yaml" in1 - in3 | cmp - expected
recsort -s "$SCHEMAS/entity.yaml" -o in2 in1 in2 in3 && cmp in2 expected
