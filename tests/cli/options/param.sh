# Keys that are distances from a point.
cat >point.yaml <<'END'
record: Point
fields: [{name: x, type: float32}, {name: y, type: float32}]
keys:
  - {distance: {fields: [x, y], from: eye}, order: desc}
  - {morton: {fields: [x, y], bits: 4, min: 0, max: 16}}
END
python3 - <<'END' >in
import struct, sys
for point in [(1, 0), (0, 3), (4, 4), (0, 1), (0, 0), (-1, 0), (9, 9)]:
    sys.stdout.buffer.write(struct.pack('<2f', *point))
END
show() { reccat -s point.yaml -f csv "$1" | tr -d '\r' | sed 1d | tr '\n' ' '; echo; }
for eye in 0,0 4,4 -1e3,.5; do
  recsort -s point.yaml --param "eye=$eye" in -o out && show out
  recsort -s point.yaml --param "eye=$eye" --check out && echo "sorted"
  recsort -s point.yaml --param "eye=$eye" --merge out out | recsort -s point.yaml --param "eye=$eye" -c
done
recsort -s point.yaml --param eye=9,9 --param eye=0,0 -r in -o out && show out

echo "out of order"
recsort -s point.yaml --param eye=0,0 --check in
echo "exit $?"
recsort -s point.yaml --param eye=1,1 -k x -k 'distance(x, y from eye)' --check in
echo "exit $?"

echo "invalid"
for given in --reverse --param=eye=1 --param=ear=1,2 --param=eye=1,2,3 --param=eye= --param==1,2 \
  --param=eye=1,,2 --param=eye=1,inf --param=eye=1,2x --param=eye=1,2,3,4,5,6,7,8,9 --param=eye; do
  recsort -s point.yaml "$given" in >out
  echo "$given: exit $?"
  [ ! -s out ] || echo "something was written"
done
recsort -s point.yaml --explain | sed -n '/bits/,/^$/p'
