# A schema of a few bytes can require more memory than there is: an error, and the old output stays.
if grep -q __asan_init "$(command -v recsort)"; then
  echo "the address sanitizer needs the address space"
  exit 77
fi
cat >wide.yaml <<'END'
record: Wide
fields: [{name: a, type: bool, count: 1000000000}, {name: key, type: int8}]
keys: [key]
END
echo old >out
: >none
truncate -s 1000000001 one
ulimit -v 200000
recsort -s wide.yaml none | wc -c
reccat -s wide.yaml none
echo "exit $?"
recgen -s wide.yaml -n 1 -o out
echo "exit $?"
recsort -s wide.yaml one -o out 2>err
echo "exit $?, $(grep -c '^recsort: ' err) line of $(wc -l <err)"
cat out
