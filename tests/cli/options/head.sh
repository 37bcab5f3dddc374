# --head, and arguments that are not a number of records.
entities of 1 2 3 >in
for n in 0 2 3 4 18446744073709551615; do
  echo "$n: $(recsort -s "$SCHEMAS/entity.yaml" --head $n in | wc -c)"
done
for n in -1 x '' 1k 18446744073709551616; do
  recsort -s "$SCHEMAS/entity.yaml" --head="$n" in
  echo "exit $?"
done
