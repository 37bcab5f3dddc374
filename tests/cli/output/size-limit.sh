# A limit on the size of files: an error instead of SIGXFSZ.
entities make 100000 >in
echo old >out
(ulimit -f 1000 && recsort -s "$SCHEMAS/entity.yaml" --threads 4 in -o out)
echo "exit $?"
(ulimit -f 1000 && recsort -s "$SCHEMAS/entity.yaml" --threads 4 in >other)
echo "exit $?"
cat out
