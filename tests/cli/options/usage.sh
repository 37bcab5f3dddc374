# Invalid command lines.
recsort
echo "exit $?"
recsort in
echo "exit $?"
recsort --schema
echo "exit $?"
recsort -s "$SCHEMAS/entity.yaml" --what
echo "exit $?"
recsort -s "$SCHEMAS/entity.yaml" --explain --merge
echo "exit $?"
recsort -s missing.yaml in
echo "exit $?"
