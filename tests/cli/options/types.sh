# Addresses, integers of 128 bits, times and whole arrays as keys, in every tool. Python sorts the
# same records and writes the same texts.
cat >types.yaml <<'YAML'
record: Row
layout: packed
fields:
  - {name: v4, type: ipv4}
  - {name: v6, type: ipv6}
  - {name: mac, type: mac}
  - {name: i, type: int128}
  - {name: u, type: uint128, endian: big}
  - {name: t, type: datetime_ms}
  - {name: day, type: "<M8[D]"}
  - {name: a, type: int16, count: 3}
  - {name: f, type: float32, count: 2}
  - {name: ids, type: mac, count: 2}
  - {name: n, type: uint32}
keys: [n]
YAML
cat >check.py <<'END'
import csv, datetime, ipaddress, math, random, struct, subprocess, sys
random.seed(5)
NAT = -2**63
few = lambda *values: random.choice(values)
def row(n):
    i = few(-2**127, 2**127 - 1, -1, 0, 10**30, -10**30, 2**64, 2**64 - 1, random.randrange(-2**127, 2**127))
    u = few(0, 2**128 - 1, 2**64, 2**63, 10**38, random.randrange(2**128))
    t = few(NAT, 0, -1, -62135596800000, 253402300799999, 951782400000, random.randrange(-10**12, 10**12))
    day = few(NAT, 0, -1, -719162, 11016, random.randrange(-10**5, 10**5))
    return dict(v4=random.randbytes(4) if n % 3 else bytes([10, 0, 0, n % 5]),
                v6=random.randbytes(16) if n % 3 else bytes(14) + bytes([n % 2, 0]),
                mac=bytes([0, 1, 2, 3, n % 4, 255]), i=i, u=u, t=t, day=day,
                a=[few(-1, 0, 300), few(-32768, 5), few(1, 2)],
                f=[few(1.5, math.nan, -0.0, 0.0), few(-math.inf, 2.5, math.nan)],
                ids=[bytes([0, 0, 0, 0, 0, few(1, 2)]), bytes([few(9, 200), 0, 0, 0, 0, 0])], n=n)
def pack(r):
    return (r["v4"] + r["v6"] + r["mac"] + r["i"].to_bytes(16, "little", signed=True)
            + r["u"].to_bytes(16, "big") + struct.pack("<qq3h2f", r["t"], r["day"], *r["a"], *r["f"])
            + b"".join(r["ids"]) + struct.pack("<I", r["n"]))
rows = [row(n) for n in range(3000)]
packed = {r["n"]: pack(r) for r in rows}
open("in", "wb").write(b"".join(pack(r) for r in rows))
real = lambda x: (1, 0) if math.isnan(x) else (0, x)
time = lambda x: (1, 0) if x == NAT else (0, x)
orders = {
    "v4": lambda r: r["v4"], "v6": lambda r: r["v6"], "i": lambda r: r["i"], "i:desc": lambda r: -r["i"],
    "u": lambda r: r["u"], "u:desc": lambda r: -r["u"], "t": lambda r: time(r["t"]),
    "t:desc": lambda r: time(r["t"]) if r["t"] == NAT else (0, -r["t"]),
    "t:nan=first": lambda r: (-1, 0) if r["t"] == NAT else (0, r["t"]),
    "t:desc:nan=first": lambda r: (-1, 0) if r["t"] == NAT else (0, -r["t"]),
    "day:nan=total": lambda r: r["day"], "day:desc:nan=total": lambda r: -r["day"],
    "a": lambda r: r["a"], "a:desc": lambda r: [-x for x in r["a"]], "f": lambda r: [real(x) for x in r["f"]],
    "a[1] mac f:desc": lambda r: (r["a"][1], r["mac"], [real(-x) for x in r["f"]]),
    "ids": lambda r: r["ids"]}
recsort = ["recsort", "-s", "types.yaml"]
run = lambda *args: subprocess.run(args, capture_output=True)
for keys, order in orders.items():
    options = [word for key in keys.split() for word in ("-k", key)]
    want = b"".join(packed[r["n"]] for r in sorted(rows, key=order))
    open("out", "wb").write(want)
    good = run(*recsort, *options, "in").stdout == want
    good &= run(*recsort, *options, "--check", "out").returncode == 0
    good &= run(*recsort, *options, "--check", "in").returncode == 1
    firsts = [r for i, r in enumerate(sorted(rows, key=order))
              if i == 0 or order(r) != order(sorted(rows, key=order)[i - 1])] if keys in ("a", "ids") else None
    if firsts is not None:
        good &= run(*recsort, *options, "--unique", "in").stdout == b"".join(packed[r["n"]] for r in firsts)
    print("right" if good else "WRONG", keys)
def moment(r):
    if r["t"] == NAT: return "NaT"
    value = datetime.datetime(1970, 1, 1) + datetime.timedelta(milliseconds=r["t"])
    return value.isoformat(timespec="milliseconds")
def date(r):
    return "NaT" if r["day"] == NAT else (datetime.date(1970, 1, 1) + datetime.timedelta(r["day"])).isoformat()
text = run("reccat", "-s", "types.yaml", "-f", "csv", "in").stdout.decode()
mac = lambda b: ":".join(f"{x:02x}" for x in b)
wrong = 0
for r, shown in zip(rows, csv.DictReader(text.splitlines()), strict=True):
    want = dict(v4=str(ipaddress.ip_address(r["v4"])), i=str(r["i"]), u=str(r["u"]),
                t=moment(r), day=date(r), mac=mac(r["mac"]))
    want["ids[1]"] = mac(r["ids"][1])
    wrong += any(shown[name] != value for name, value in want.items())
    wrong += ipaddress.ip_address(shown["v6"]) != ipaddress.ip_address(r["v6"])
print(wrong, "wrong texts of", len(rows))
END
python3 check.py
recsort -s types.yaml -k i -k a:desc -k t:nan=first --explain --plugin cpu --threads 1 | sed -n '/offset/,/^plugin/p'
# Records that are made in order are in order, and out of order otherwise.
for key in v4 v6 mac i u t day a f ids; do
  sed "s/^keys.*/keys: [{field: $key, order: desc}]/" types.yaml >one.yaml
  recgen -s one.yaml -n 5000 -d sorted | recsort -s one.yaml --check || echo "$key: exit $?"
  recgen -s one.yaml -n 5000 | recsort -s one.yaml --check 2>/dev/null && echo "$key is in order"
done
sed 's/^keys.*/keys: [{field: "a[1]", order: desc}, a, {field: "ids[0]", order: desc}, ids]/' types.yaml >one.yaml
recgen -s one.yaml -n 5000 -d sorted | recsort -s one.yaml --check && echo "shared elements too"
reccat -s types.yaml --head 1 in
reccat -s types.yaml -f jsonl --head 1 in
for key in i t a v4; do recsort -s types.yaml -k $key --check in; done
recsort -s types.yaml -k i:nan=first in
# Years of more or fewer than four digits.
printf 'record: T\nfields: [{name: t, type: datetime_s}]\nkeys: [t]\n' >time.yaml
python3 -c '
import struct, sys
for t in -62167219201, -62198755200, 253402300800, 31494784780799999, 31494784780800000, -2**63 + 1, 2**63 - 1:
    sys.stdout.buffer.write(struct.pack("<q", t))' >times
reccat -s time.yaml -f csv times
