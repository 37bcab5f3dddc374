# More inputs than the limit of open files: a sort reads them one by one, a merge reports an error.
entities of 1 >in
inputs=$(yes in | head -n 100)
(ulimit -n 20 && recsort -s "$SCHEMAS/entity.yaml" $inputs | wc -c)
(ulimit -n 20 && recsort -s "$SCHEMAS/entity.yaml" -m $inputs)
echo "exit $?"
recsort -s "$SCHEMAS/entity.yaml" -m $inputs | wc -c
