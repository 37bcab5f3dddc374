# A file that is not a whole number of records is refused, before anything is replaced.
entities of 3 2 1 >whole
head -c 47 whole >in
echo old >out
for command in '' -m; do
  recsort -s "$SCHEMAS/entity.yaml" $command in -o out
  echo "exit $?"
  cat in | recsort -s "$SCHEMAS/entity.yaml" $command -o out
  echo "exit $?"
  recsort -s "$SCHEMAS/entity.yaml" $command whole in -o out
  echo "exit $?"
done
recsort -s "$SCHEMAS/entity.yaml" -r -c in
echo "exit $?"
cat in | recsort -s "$SCHEMAS/entity.yaml" -r -c
echo "exit $?"
cat out
ls -A
