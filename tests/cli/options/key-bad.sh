# Invalid keys.
entities of 1 2 >in
for key in '' distanceFromPlayer:up distanceFromPlayer:nan=never 'x[1]' nothing; do
  recsort -s "$SCHEMAS/entity.yaml" -k "$key" in
  echo "exit $?"
done
