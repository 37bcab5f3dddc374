# What users of sort(1) try: -C, --parallel, several keys in one -k, sizes with suffixes, -o twice.
schema=$SCHEMAS/entity.yaml
entities of 3 2 1 >sorted
entities of 1 3 2 3 1 2 >mixed
said() {
  "$@" 2>&1
  echo "exit $?"
}
echo '-C:'
said recsort -s "$schema" -C sorted
said recsort -s "$schema" -C mixed
said recsort -s "$schema" --check=quiet mixed
said recsort -s "$schema" -C -c mixed
said recsort -s "$schema" --check=loud mixed
said recsort -s "$schema" -C -m mixed
said recsort -s "$schema" -C missing
echo 'keys:'
recgen -s "$schema" -n 3000 -d few -o in
recsort -s "$schema" -k spriteIndex -k distanceFromPlayer:desc -k x in -o apart
recsort -s "$schema" -k spriteIndex,distanceFromPlayer:desc -k x in | cmp - apart && echo same
recsort -s "$schema" -k spriteIndex,distanceFromPlayer:desc,x in | cmp - apart && echo same
said recsort -s "$schema" -k spriteIndex, in
said recsort -s "$schema" -k ,x in
echo 'numbers:'
recsort -s "$schema" in -o all
recsort -s "$schema" --parallel 1K in | cmp - all && echo same
recsort -s "$schema" --head 1K in | wc -c
recsort -s "$schema" --head 0G in | wc -c
recgen -s "$schema" -n 2K | wc -c
for number in 1k 1KK K 1Ki 16777216T 18014398509481984K; do
  said recsort -s "$schema" --head "$number" in
done
said recsort -s "$schema" --parallel x in
echo '-o:'
said recsort -s "$schema" -o one -o two mixed
ls one two 2>/dev/null
echo "$(cat mixed | wc -c) bytes in"
