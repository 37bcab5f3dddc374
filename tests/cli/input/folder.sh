# Inputs that cannot be read.
mkdir folder
echo old >out
for input in folder missing folder/missing ''; do
  recsort -s "$SCHEMAS/entity.yaml" -o out "$input"
  echo "exit $?"
  recsort -s "$SCHEMAS/entity.yaml" -c "$input"
  echo "exit $?"
done
recsort -s "$SCHEMAS/entity.yaml" <folder
echo "exit $?"
recsort -s "$SCHEMAS/entity.yaml" <&-
echo "exit $?"
cat out
ls -A
