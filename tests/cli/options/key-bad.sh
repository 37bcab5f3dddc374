# Invalid keys.
entities of 1 2 >in
for key in '' distanceFromPlayer:up distanceFromPlayer:nan=never 'x[1]' nothing; do
  recsort -s "$SCHEMAS/entity.yaml" -k "$key" in
  echo "exit $?"
done
# A long list of names is cut short, and so is a long name.
{
  printf 'record: R\nfields:\n'
  for name in $(seq -f 'field%.0f' 40); do echo "  - {name: $name, type: uint8}"; done
} >many.yaml
recsort -s many.yaml -k nothing in
printf 'record: R\nfields:\n  - {name: %0200d, type: uint8}\n' 0 >long.yaml
recsort -s long.yaml -k nothing in
recsort -s long.yaml -k -x in
