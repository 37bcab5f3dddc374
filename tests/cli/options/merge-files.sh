# Files larger than the blocks in which they are read, and many of them: --merge gives what sorting
# gives, and names the record that is out of order, wherever it is in its block.
export TMPDIR=$PWD
schema="$SCHEMAS/entity.yaml"
make() { # FILE COUNT SEED DISTRIBUTION
  recgen -s "$schema" -n "$2" --seed "$3" -d "$4" | recsort -s "$schema" -o "$1"
}
make a 700000 1 few
make b 500000 2 few
make c 300000 3 uniform
for threads in 1 2 4; do
  recsort -s "$schema" --threads $threads a b c -o expected
  recsort -s "$schema" --threads $threads -m a b c -o out && cmp out expected
done
recsort -s "$schema" -m a b c | cmp - expected && echo "through a pipe"
recsort -s "$schema" -u a b c -o unique
recsort -s "$schema" -m -u a b c | cmp - unique && echo "once"
head -c 9000000 expected >first
recsort -s "$schema" -m --head 450000 a b c | cmp - first && echo "the first"
recsort -s "$schema" -m --head 0 a b c | wc -c
# The library takes 256 files at once; with two blocks of each these are more.
mkdir many
split -a 3 -b 80000 a many/a
split -a 3 -b 80000 b many/b
ls many | wc -l
recsort -s "$schema" a b -o expected
recsort -s "$schema" -m many/* | cmp - expected && echo "many"
# One record out of order, at the borders of blocks of 2 MiB and elsewhere.
for at in 104856 104857 104858 300000 499999; do
  cp b bad
  head -c 20 b | dd of=bad bs=20 seek=$at conv=notrunc status=none
  recsort -s "$schema" -m a bad -o out || echo "exit $?"
done
# A value out of its enum.
cat >enum.yaml <<'YAML'
record: E
fields:
  - {name: kind, type: enum, base: uint8, values: [x, y]}
  - {name: tag, type: uint8}
keys: [kind]
YAML
printf '\0a\0b\1c\1d' >good
printf '\0e\1f\7g' >bad
recsort -s enum.yaml -m good bad || echo "exit $?"
# Header and trailer are the first file's.
printf 'HEAD\0a\1b..' >in1
printf 'head\0c\1d,,' >in2
recsort -s enum.yaml -m --keep-trailer --skip 4 --count 2 in1 in2 | od -An -c
recsort -s enum.yaml -m --keep-trailer --skip 4 --trailer 2 in2 in1 | od -An -c
: >none
recsort -s enum.yaml -m none good none | cmp - good && echo "empty ones"
