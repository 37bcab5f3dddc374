# Merging takes 14 MiB an input and at most 56; with less memory the result is the same.
if grep -q __asan_init "$(command -v recsort)"; then
  echo "the address sanitizer takes memory of its own"
  exit 77
fi
schema="$SCHEMAS/entity.yaml"
recgen -s "$schema" -n 2000000 -o in
split -b 2500000 in part-
for part in part-*; do recsort -s "$schema" -o "$part" "$part"; done
recsort -s "$schema" part-* -o expected
# The most memory that was in use, in MiB.
peak() { # OPTION...
  python3 - "$@" <<'END'
import resource, subprocess, sys
subprocess.run(['recsort', '--plugin', 'cpu', '--threads', '2', *sys.argv[1:]], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10)
END
}
own=8 # the program and what its threads need besides
[ "$(peak -s "$schema" -m part-aa part-ab -o out)" -le $((2 * 14 + own)) ] && echo "two inputs"
most=$(peak -s "$schema" -m part-* -o out)
[ "$most" -gt 40 ] && [ "$most" -le $((56 + own)) ] && cmp out expected && echo "sixteen inputs"
(ulimit -v 50000 && exec recsort -s "$schema" --plugin cpu --threads 1 -m part-* -o out)
cmp out expected && echo "with less memory"
