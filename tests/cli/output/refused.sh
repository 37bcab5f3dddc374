# Outputs that cannot be written are refused before anything is read.
mkdir folder
entities of 1 2 >in
for output in folder folder/ . / missing/out in/out ''; do
  recsort -s "$SCHEMAS/entity.yaml" missing-input -o "$output"
  echo "exit $?"
done
recsort -s "$SCHEMAS/entity.yaml" in >&-
echo "exit $?"
ls -A
