# With large records, a check holds one, a merge one of each input, and a sort makes no copy.
if grep -q __asan_init "$(command -v recsort)"; then
  echo "the address sanitizer needs the address space"
  exit 77
fi
[ "$(df --output=avail -k . | tail -n 1)" -gt 200000 ] || { echo "needs 200 MB here"; exit 77; }
export MALLOC_ARENA_MAX=1 # other arenas reserve address space
cat >large.yaml <<'END'
record: Large
size: 20000000
fields:
  - {name: value, type: uint16}
  - {name: text, type: char, count: 3}
keys: [value, text]
END
records() { # FILE FIELDS...
  name=$1
  : >"$name"
  shift
  for fields; do
    start=$(stat -c %s "$name")
    printf "$fields" >>"$name"
    truncate -s $((start + 20000000)) "$name"
  done
}
records a '\1\0aaa'
records b '\1\0bbb'
records c '\2\0aaa'
records sorted '\1\0aaa' '\1\0bbb' '\2\0aaa'
records mixed '\2\0aaa' '\1\0aaa' '\1\0bbb'
within() { # MIB OPTION...
  limit=$(($1 * 1024))
  shift
  (ulimit -v $limit && exec recsort -s large.yaml --plugin cpu --threads 1 "$@")
}
within 38 --check sorted && echo sorted
within 38 --check a b c && echo "sorted in three"
cat sorted | within 38 --check && echo "sorted through a pipe"
within 38 --check mixed
echo "exit $?"
within 38 --check a c b
echo "exit $?"
within 20 --check sorted 2>&1 | sed 's/[0-9]* MiB/N MiB/g'
within 58 --merge a c -o out && cat a c | cmp - out && echo merged
within 58 --merge --unique a a | cmp - a && echo "merged, once"
within 36 --merge a c 2>&1 | sed 's/[0-9]* MiB/N MiB/g'
within 77 mixed -o out && cmp out sorted && echo "in order"
within 77 --unique mixed | cmp - sorted && echo "in order, once"
