# --key replaces the schema's keys; several keys; a schema without keys.
entities of 3 1 2 1 3 >in
echo "distance ascending"
recsort -s "$SCHEMAS/entity.yaml" -k distanceFromPlayer in | entities show
echo "x descending"
recsort -s "$SCHEMAS/entity.yaml" --key x:desc in | entities show
echo "distance ascending, x descending"
recsort -s "$SCHEMAS/entity.yaml" -k distanceFromPlayer:asc -k x:desc in | entities show
cat >plain.yaml <<'END'
record: Plain
fields:
  - {name: position, type: float32, count: 3}
  - {name: id, type: int16}
  - {name: value, type: float32}
END
echo "no keys in the schema"
recsort -s plain.yaml in
echo "exit $?"
recsort -s plain.yaml -k 'position[0]:desc' in | entities show
