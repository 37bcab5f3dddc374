# An input that is not sorted ends a merge, and nothing is replaced.
entities of 5 4 3 >in1
entities of 5 4 6 >in2
echo old >out
recsort -s "$SCHEMAS/entity.yaml" -m in1 in2 -o out
echo "exit $?"
cat out
ls -A
recsort -s "$SCHEMAS/entity.yaml" -m --index in1
echo "exit $?"
