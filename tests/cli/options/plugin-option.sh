# Options for plugins: no plugin here has these, unless there is a GPU.
entities make 1000 >in
entities sort desc <in >expected
sort="recsort -s $SCHEMAS/entity.yaml"
$sort --plugin cpu --plugin-option device=0 in
echo "exit $?"
$sort --plugin cpu --plugin-option a=1 --plugin-option b=2 --explain
echo "exit $?"
$sort --plugin-option colour=red in 2>stderr | cmp - expected
sed -n 's/.*\(option "colour"\).*/a note on \1/p' stderr
for bad in colour =red colour=; do
  $sort --plugin-option "$bad" in
  echo "exit $?"
done
