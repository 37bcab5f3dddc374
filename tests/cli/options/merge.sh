# --merge gives the same output as sorting; equal records are in the order of the inputs.
for seed in 1 2 3 4 5; do
  entities make 30000 $seed | recsort -s "$SCHEMAS/entity.yaml" -o in$seed
done
recsort -s "$SCHEMAS/entity.yaml" in1 in2 in3 in4 in5 -o expected
recsort -s "$SCHEMAS/entity.yaml" -m in1 in2 in3 in4 in5 | cmp - expected
cat in3 | recsort -s "$SCHEMAS/entity.yaml" --merge in1 in2 - in4 in5 | cmp - expected
recsort -s "$SCHEMAS/entity.yaml" -m in1 | cmp - in1
recsort -s "$SCHEMAS/entity.yaml" -m <in1 | cmp - in1
recsort -s "$SCHEMAS/entity.yaml" -u in1 in2 in3 -o expected-unique
recsort -s "$SCHEMAS/entity.yaml" -m -u in1 in2 in3 | cmp - expected-unique
recsort -s "$SCHEMAS/entity.yaml" -m -u --head 7 in1 in2 in3 >seven
head -c 140 expected-unique | cmp - seven
for n in 1 2; do recsort -s "$SCHEMAS/entity.yaml" -r in$n -o up$n; done
recsort -s "$SCHEMAS/entity.yaml" -r in1 in2 -o expected-up
recsort -s "$SCHEMAS/entity.yaml" -k distanceFromPlayer up1 up2 | cmp - expected-up
recsort -s "$SCHEMAS/entity.yaml" -r -m up1 up2 -o up1 && cmp up1 expected-up
: >empty
recsort -s "$SCHEMAS/entity.yaml" -m empty in1 empty | cmp - in1
