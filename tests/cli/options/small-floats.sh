# The floats and integers of ml_dtypes, each in a byte, in every tool. Python has the formula of each.
cat >check.py <<'PYTHON'
import csv, json, math, random, subprocess
random.seed(8)
# bits of exponent and fraction, bias, and which bits are NaN
FLOATS = {"float8_e3m4": (3, 4, 3, "ieee"), "float8_e4m3": (4, 3, 7, "ieee"), "float8_e4m3b11fnuz": (4, 3, 11, "-0"),
          "float8_e4m3fn": (4, 3, 7, "ones"), "float8_e4m3fnuz": (4, 3, 8, "-0"), "float8_e5m2": (5, 2, 15, "ieee"),
          "float8_e5m2fnuz": (5, 2, 16, "-0"), "float8_e8m0fnu": (8, 0, 127, "ones"), "float6_e2m3fn": (2, 3, 1, None),
          "float6_e3m2fn": (3, 2, 3, None), "float4_e2m1fn": (2, 1, 1, None)}
def real(byte, exponent_bits, fraction_bits, bias, nan):
    bits = exponent_bits + fraction_bits
    sign = bits < 8 and byte >> bits & 1
    magnitude = byte & (1 << bits) - 1
    exponent, fraction = divmod(magnitude, 1 << fraction_bits)
    ends = exponent == (1 << exponent_bits) - 1
    if nan == "ieee" and ends:
        return math.nan if fraction else -math.inf if sign else math.inf
    if nan == "ones" and magnitude == (1 << bits) - 1 or nan == "-0" and sign and not magnitude:
        return math.nan
    if fraction_bits and not exponent:
        value = fraction * 2.0 ** (1 - bias - fraction_bits)
    else:
        value = (1 + fraction / (1 << fraction_bits)) * 2.0 ** (exponent - bias)
    return -value if sign else value
INTS = {f"{sign}int{bits}": (bits, not sign) for bits in (1, 2, 4) for sign in ("", "u")}
def whole(byte, bits, signed):
    value = byte & (1 << bits) - 1
    return value - (1 << bits) if signed and value >> (bits - 1) else value
def run(*words, given=None):
    done = subprocess.run(words, capture_output=True, input=given)
    assert done.returncode == 0, done.stderr
    return done.stdout
for name in [*FLOATS, *INTS]:
    value = (lambda byte: real(byte, *FLOATS[name])) if name in FLOATS else lambda byte: whole(byte, *INTS[name])
    open("s.yaml", "w").write(f"record: R\nfields: [{{name: x, type: {name}}}, {{name: i, type: uint8}}]\nkeys: [x]\n")
    rows = [(random.randrange(256), i % 251) for i in range(1500)]
    data = b"".join(map(bytes, rows))
    for order in "asc", "desc":
        for nan in ("last", "first") if name in FLOATS else ("last",):
            def rank(row):
                x = value(row[0])
                if math.isnan(x):
                    return 1 if nan == "last" else -1, 0
                return 0, x if order == "asc" else -x
            got = run("recsort", "-s", "s.yaml", "-k", f"x:{order}" + f":nan={nan}" * (name in FLOATS), given=data)
            assert got == b"".join(map(bytes, sorted(rows, key=rank))), (name, order, nan)
    every = b"".join(bytes([byte, 0]) for byte in range(256))
    table = csv.DictReader(run("reccat", "-s", "s.yaml", "-f", "csv", given=every).decode().splitlines())
    for byte, text in enumerate(row["x"] for row in table):
        want, got = value(byte), float(text)
        if math.isnan(want):
            assert math.isnan(got), (name, byte, text)
            continue
        others = [value(other) for other in range(256) if not math.isnan(value(other))]
        nearest = min(others, key=lambda other: (abs(other - got) if other != got else 0, other != want))
        assert nearest == want and len(text) <= 10, (name, byte, text)
    made = run("recgen", "-s", "s.yaml", "-n", "500", "-d", "sorted")
    values = [value(byte) for byte in made[::2]]
    assert values == sorted(values) and len(set(values)) > (1 if name.endswith("t1") else 2)
    if name in FLOATS:
        special = [value(byte) for byte in run("recgen", "-s", "s.yaml", "-n", "2000", "--special")[::2]]
        assert any(map(math.isnan, special)) == (FLOATS[name][3] is not None), name
print("as Python has it")
PYTHON
python3 check.py
cat >s.yaml <<'YAML'
record: R
fields: [{name: a, type: float8_e4m3fn, count: 3}, {name: b, type: int4}, {name: c, type: float4_e2m1fn}]
keys: [a, {field: b, order: desc}, {field: c, nan: first}]
YAML
recsort -s s.yaml --plugin cpu --explain | sed '/^plugin/,$d'
printf '\005\176\177\017\007' | reccat -s s.yaml
printf '\005\176\177\017\007\005\176\176\010\107' | recsort -s s.yaml -c
printf 'record: R\nfields: [{name: a, type: float8}]\n' >wrong.yaml
recsort -s wrong.yaml || echo "exit $?"
