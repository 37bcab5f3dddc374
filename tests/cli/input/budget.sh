# The memory for a sort is computed from the plan and the plugin, not guessed: a key of 64 bytes
# takes more than one of 4. Files that do not fit are refused before they are read.
if grep -q __asan_init "$(command -v recsort)"; then
  echo "the address sanitizer needs the address space"
  exit 77
fi
[ "$(df --output=avail -k . | tail -n 1)" -gt 200000 ] || { echo "needs 200 MB here"; exit 77; }
export MALLOC_ARENA_MAX=1 # other arenas reserve address space
cat >long.yaml <<'END'
record: Long
fields:
  - {name: key, type: bytes, count: 64}
keys: [key]
END
sed 's/count: 64/count: 4/; s/^fields/size: 64\n&/' long.yaml >short.yaml
head -c 32000000 /dev/urandom >in
within() { # KIB OPTION...
  limit=$1
  shift
  (ulimit -v "$limit" && exec recsort --plugin cpu --threads 1 "$@")
}
tell() { # the status and the message, without numbers
  status=$?
  echo "$1: exit $status"
  sed 's/[0-9][0-9]* MiB/N MiB/g; s/^/  /' stderr
}
for schema in short long; do
  echo old >out
  within 76000 -s $schema.yaml in -o out 2>stderr
  tell "$schema"
  recsort -s $schema.yaml --check out 2>stderr || tail -c 4 out
  cat in | within 76000 -s $schema.yaml 2>stderr | wc -c
  sed 's/[0-9][0-9]* MiB/N MiB/g; s/^/  /' stderr
done
# What recsort(1) says to do then: these parts fit where the whole does not.
split -b 8000000 --filter='ulimit -v 76000 && exec recsort --plugin cpu --threads 1 -s long.yaml >$FILE' in part. &&
  within 76000 -s long.yaml --merge part.* -o out
recsort -s long.yaml --check out && recsort -s long.yaml in | cmp - out && echo "$(ls part.* | wc -l) parts"
# The memory that --explain says is enough, besides that of the program and 2 MiB of huge pages for
# each part.
for schema in short long; do
  bytes=$(recsort -s $schema.yaml --plugin cpu --threads 1 --explain in |
    sed -n 's/^memory to sort: .*(\([0-9]*\) bytes of records, \([0-9]*\) to work in, \([0-9]*\) to write)$/\1+\2+\3/p')
  within $((($bytes) / 1024 + 24000)) -s $schema.yaml in -o out && recsort -s $schema.yaml --check out && echo enough
done
