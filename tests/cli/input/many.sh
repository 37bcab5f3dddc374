# More inputs than the limit of open files: a sort reads them one by one. options/merge-many.sh merges them.
entities of 1 >in
inputs=$(yes in | head -n 100)
(ulimit -n 20 && recsort -s "$SCHEMAS/entity.yaml" $inputs | wc -c)
recsort -s "$SCHEMAS/entity.yaml" -m $inputs | wc -c
