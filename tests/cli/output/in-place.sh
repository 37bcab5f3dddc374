# The output may be an input; the file that the name leads to is replaced, and keeps its mode.
entities make 4000 >in
entities sort desc <in >expected
chmod 640 in
recsort -s "$SCHEMAS/entity.yaml" in -o in && cmp in expected
stat -c %a in
umask 027
recsort -s "$SCHEMAS/entity.yaml" in -o new && cmp new expected
stat -c %a new
ls -A
