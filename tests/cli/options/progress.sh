# --progress draws on standard error only, and clears what it drew.
entities make 1000 >in
for mode in --progress --progress=always; do
  recsort -s "$SCHEMAS/entity.yaml" $mode in >out 2>bar
  tr '\r' '\n' <bar | grep -c 'reading\|sorting\|writing'
  tail -c 4 bar | od -An -c
done
recsort -s "$SCHEMAS/entity.yaml" --progress=always -c out 2>bar && tr '\r' '\n' <bar | grep -c checking
recsort -s "$SCHEMAS/entity.yaml" --progress=always -m out 2>bar >again && tr '\r' '\n' <bar | grep -c merging
for mode in auto never; do recsort -s "$SCHEMAS/entity.yaml" --progress=$mode in >out; done
recsort -s "$SCHEMAS/entity.yaml" --progress=some in
echo "exit $?"
