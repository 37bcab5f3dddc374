# The header and trailer of the first input are kept, so that the same schema reads the output.
cat >framed.yaml <<'END'
record: Framed
skip: 5
trailer: 3
fields:
  - {name: value, type: uint16}
keys:
  - {field: value}
END
printf 'HEAD1\3\0\1\0\2\0END' >in1
printf 'HEAD2\5\0\4\0XXX' >in2
recsort -s framed.yaml --keep-trailer in1 in2 | od -An -c
cat in1 | recsort -s framed.yaml --keep-trailer - in2 | od -An -c
recsort -s framed.yaml in1 -o in1 && recsort -s framed.yaml -c in1 && echo sorted
recsort -s framed.yaml in2 -o in2
recsort -s framed.yaml -m --keep-trailer in1 in2 | od -An -c
cat in1 | recsort -s framed.yaml -m --keep-trailer - in2 | od -An -c
recsort -s framed.yaml -m --keep-trailer --head 1 in1 in2 | od -An -c
cat in1 | recsort -s framed.yaml -m --keep-trailer --head 0 - in2 | od -An -c
recsort -s framed.yaml --index=32 in1 | od -An -t u1
printf 'HEAD1END' >none
recsort -s framed.yaml none | od -An -c
cat none | recsort -s framed.yaml | od -An -c
for text in '' HEAD HEAD1EN HEAD1xEND; do
  printf '%s' "$text" >short
  recsort -s framed.yaml short
  echo "exit $?"
  cat short | recsort -s framed.yaml
  echo "exit $?"
done
