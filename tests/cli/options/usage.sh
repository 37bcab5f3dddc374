# Invalid command lines.
recsort
echo "exit $?"
recsort in
echo "exit $?"
recsort --schema
echo "exit $?"
recsort -s "$SCHEMAS/entity.yaml" --what
echo "exit $?"
for option in --emit-header --from-header=entity.h --from-elf --structs; do
  recsort $option -s "$SCHEMAS/entity.yaml"
  echo "exit $?"
done
recsort -s "$SCHEMAS/entity.yaml" --explain --merge
echo "exit $?"
recsort -s missing.yaml in
echo "exit $?"
