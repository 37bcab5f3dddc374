# --check writes nothing.
for option in -u -oout --head=3 --index -m --explain; do
  recsort -s "$SCHEMAS/entity.yaml" -c $option
  echo "exit $?"
done
