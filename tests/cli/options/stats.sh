# --stats as text and as JSON.
entities make 1000 >in
recsort -s "$SCHEMAS/entity.yaml" --plugin cpu --stats in 2>&1 >out | sed 's/[0-9.]* s$/SECONDS/; s/threads .*/threads/'
recsort -s "$SCHEMAS/entity.yaml" --plugin cpu --stats=json in 2>json >out
python3 - <<'END'
import json
stats = json.load(open("json"))
print(stats["records"], stats["bytes"], stats["key_bits"], stats["plugin"], stats["algorithm"],
      stats["choice"], stats["fallback"], sorted(stats["seconds"]))
assert all(0 <= s <= stats["seconds"]["total"] for s in stats["seconds"].values())
END
for command in -c -m; do
  recsort -s "$SCHEMAS/entity.yaml" $command --stats=json out 2>json >again
  python3 -c 'import json; print(json.load(open("json"))["records"])'
done
recsort -s "$SCHEMAS/entity.yaml" --stats=xml in
echo "exit $?"
