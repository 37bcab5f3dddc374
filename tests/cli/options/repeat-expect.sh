# Each header of a file that repeats them must have what the schema expects: version 5 in packets of NetFlow.
recgen -s "$SCHEMAS/netflow5.yaml" -n 90 -d equal -o good
{ head -c 1464 good; printf '\0\t'; tail -c +1467 good; } > bad
cmp -s good bad && echo 'no change'
recsort -s "$SCHEMAS/netflow5.yaml" good -o out && cmp good out
for words in '-o out' --check; do
  recsort -s "$SCHEMAS/netflow5.yaml" bad $words
  echo "status $?"
done
recsort -s "$SCHEMAS/netflow5.yaml" < bad
echo "status $?"
