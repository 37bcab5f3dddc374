# A uuid in every tool, compared with Python's uuid module.
cat >uuid.yaml <<'YAML'
record: Row
fields:
  - {name: flag, type: uint8}
  - {name: ids, type: uuid, count: 2}
  - {name: n, type: uint16}
keys: [{field: "ids[1]"}]
YAML
recsort -s uuid.yaml --plugin cpu --explain | sed '/^plugin/,$d'
recgen -s uuid.yaml -n 5000 >in
recsort -s uuid.yaml in >out
reccat -s uuid.yaml -f csv out | tr -d '\r' >out.csv
recgen -s uuid.yaml -n 5000 -d sorted | recsort -s uuid.yaml -c && echo "sorted is sorted"
recsort -s uuid.yaml -c in 2>message
echo "exit $?"
python3 - <<'PYTHON'
import csv, re, uuid
SIZE = 36  # uint8, two uuids of alignment 1, padding, uint16
data, result = open("in", "rb").read(), open("out", "rb").read()
records = [data[i:i + SIZE] for i in range(0, len(data), SIZE)]
text = lambda record, element: str(uuid.UUID(bytes=record[1 + 16 * element:17 + 16 * element]))
assert len({text(record, element) for record in records for element in (0, 1)}) == 10000
records.sort(key=lambda record: text(record, 1))
assert b"".join(records) == result
rows = [(row["ids[0]"], row["ids[1]"]) for row in csv.DictReader(open("out.csv"))]
assert rows == [(text(record, 0), text(record, 1)) for record in records]
number, after, before = re.fullmatch(
    r"recsort: in: record (\d+) is out of order \(key ids\[1\] = (\S+) after (\S+)\)\n",
    open("message").read()).groups()
at = int(number) * SIZE
assert after == text(data[at:at + SIZE], 1) < before == text(data[at - SIZE:at], 1)
print("as Python has it")
PYTHON
printf '\001\000\021\042\063\104\125\146\167\210\231\252\273\314\335\356\377%16s\0\007\000' '' | tr ' ' '\001' >one
reccat -s uuid.yaml one
reccat -s uuid.yaml -f jsonl one
recsort -s uuid.yaml -k 'ids[0]:nan=first' one || echo "exit $?"
