# Messages name the invalid record and its input: in every piece, and with several inputs.
cat >kind.yaml <<'END'
record: Kind
layout: packed
fields:
  - {name: kind, type: enum, base: uint8, values: [none, low, high]}
  - {name: text, type: char, count: 63}
keys: [{field: kind}]
END
zeros() { # RECORDS
  head -c $((64 * $1)) /dev/zero
}
invalid() { # FILE RECORD
  printf '\7' | dd of="$1" bs=1 seek=$((64 * $2)) conv=notrunc status=none
}
zeros 2 >good
zeros 2 >bad
invalid bad 0
zeros 3 >last
invalid last 2
: >none
for option in -c -m ''; do
  for inputs in 'bad' 'good bad' 'good none bad' 'good none good last' 'none bad good'; do
    echo "$option $inputs"
    recsort -s kind.yaml $option $inputs
    echo "exit $?"
  done
  cat good bad | recsort -s kind.yaml $option good - none
done 2>&1 | cat
# A check reads 65536 records at a time, a merge fewer.
for place in 0 65535 65536 65537 131072 199999; do
  zeros 200000 >large
  invalid large $place
  for option in -c -m ''; do
    recsort -s kind.yaml $option large
    recsort -s kind.yaml $option good large
  done
done 2>&1 >/dev/null | uniq -c
echo "what is out of order is still counted in its input"
printf '\2' | dd of=good bs=1 seek=64 conv=notrunc status=none
zeros 1 >first
recsort -s kind.yaml -c none good none first 2>&1
