# --files0-from: inputs by names with NULs behind them.
schema=$SCHEMAS/entity.yaml
said() {
  "$@" 2>&1
  echo "exit $?"
}
entities of 1 3 >'first one'
entities of 2 3 >'second
one'
recsort -s "$schema" 'first one' 'second
one' -o expected
printf 'first one\0second\none\0' >names
recsort -s "$schema" --files0-from names | cmp - expected && echo file
recsort -s "$schema" --files0-from - <names | cmp - expected && echo pipe
printf 'first one\0second\none' | recsort -s "$schema" --files0-from=- | cmp - expected && echo 'no last NUL'
said recsort -s "$schema" --files0-from names -c
recsort -s "$schema" --files0-from names --explain | sed -n '/records  /,/^$/p'
said recsort -s "$schema" --files0-from names 'first one'
said recsort -s "$schema" --files0-from /dev/null
said recsort -s "$schema" --files0-from missing
said recsort -s "$schema" --files0-from .
printf 'first one\0\0' | said recsort -s "$schema" --files0-from -
printf 'first one\0-\0' | said recsort -s "$schema" --files0-from -
printf 'none\0' | said recsort -s "$schema" --files0-from -
