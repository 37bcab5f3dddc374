# A device that is always full, as a file and as standard output.
entities of 2 1 >in
for option in '' -m '--index'; do
  recsort -s "$SCHEMAS/entity.yaml" $option --head 1 in -o /dev/full
  echo "exit $?"
  recsort -s "$SCHEMAS/entity.yaml" $option --head 1 in >/dev/full
  echo "exit $?"
done 2>&1
