# A value between the named values of an enum sorts as a number; one outside their range is refused
# if the enum is a key.
cat >enum.yaml <<'END'
record: R
layout: packed
fields:
  - {name: kind, type: enum, base: int8, values: [{name: low, value: -3}, {name: also, value: -3}, {name: high, value: 9}]}
  - {name: text, type: char, count: 1}
END
printf '\5a\375b\11c\0d\376e' >in
recsort -s enum.yaml -k kind in | od -An -c
printf '\5a\12b' >beyond
recsort -s enum.yaml -k kind beyond
echo "exit $?"
recsort -s enum.yaml -k kind -c beyond
echo "exit $?"
recsort -s enum.yaml -k text:desc beyond | od -An -c
