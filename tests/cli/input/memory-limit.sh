# Running out of memory is an error in one line, which says what to do if the records are too many.
if grep -q __asan_init "$(command -v recsort)"; then
  echo "the address sanitizer needs the address space"
  exit 77
fi
entities make 200000 >in
echo old >out
failures=0 advice=0
for limit in $(seq 4000 1000 60000); do
  (ulimit -v $limit && exec recsort -s "$SCHEMAS/entity.yaml" --threads 1 in -o out) 2>stderr
  status=$?
  if [ $status = 2 ]; then
    failures=$((failures + 1))
    grep -q '^recsort: in: .* merge them: MEMORY in recsort(1) shows how$' stderr && advice=$((advice + 1))
    [ "$(wc -l <stderr)" = 1 ] && grep -q '^recsort: ' stderr || cat stderr
    [ "$(cat out)" = old ] || echo "limit $limit: the output was touched"
  elif [ $status = 0 ]; then
    break
  elif [ $status != 127 ]; then # 127: the libraries could not be loaded
    echo "limit $limit: exit $status"
    cat stderr
  fi
done
echo "$failures limits" >note
[ $failures -gt 0 ] && echo "some failed"
[ $advice -gt 0 ] && echo "some say what to do"
