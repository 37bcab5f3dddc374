# --head finds few records without sorting the others: these are the first ones of the whole order.
entities make 70000 >in
entities sort desc <in >sorted
schema="$SCHEMAS/entity.yaml"
first() { head -c $(($1 * 20)) sorted; }
algorithm() { recsort -s "$schema" in -o out --stats "$@" 2>&1 | grep '^algorithm'; }

for n in 1 100 4375 4376 69999 70000 70001; do
  recsort -s "$schema" --head $n in -o out && first $n | cmp - out && echo "$n"
  recsort -s "$schema" --head $n --threads 1 <in | cat >out && first $n | cmp - out
done
recsort -s "$schema" --head 100 --verify full in | cmp - out -n 2000 && echo verified
recsort -s "$schema" --head 100 --index=32 in >few && recsort -s "$schema" --index=32 in >all
cmp -n 400 few all && wc -c <few
recsort -s "$schema" --unique in >unique
recsort -s "$schema" --unique --head 100 in >few && cmp -n 2000 few unique && wc -c <few
cat in in >twice
recsort -s "$schema" --head 100 in in >few && recsort -s "$schema" twice >all && cmp -n 2000 few all

algorithm --head 0 --plugin cpu
algorithm --head 4375 --plugin cpu
algorithm --head 4376 --plugin cpu
algorithm --head 1 --plugin cpu --unique
algorithm --head 1 --plugin cpu --verify full
