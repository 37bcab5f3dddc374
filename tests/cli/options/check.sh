# --check names the first record out of order, from a file or a pipe, over several inputs.
entities of 3 2.5 2.25 3.5 4 >in
entities of 9 8 7 >first
entities of 6 5 >second
entities of 8 >third
recsort -s "$SCHEMAS/entity.yaml" -c in
echo "exit $?"
cat in | recsort -s "$SCHEMAS/entity.yaml" --check
echo "exit $?"
recsort -s "$SCHEMAS/entity.yaml" -c first second
echo "exit $?"
recsort -s "$SCHEMAS/entity.yaml" -c first second third
echo "exit $?"
recsort -s "$SCHEMAS/entity.yaml" -c -r first
echo "exit $?"
recsort -s "$SCHEMAS/entity.yaml" -c -k spriteIndex -k x first
echo "exit $?"
: | recsort -s "$SCHEMAS/entity.yaml" -c
echo "exit $?"
