# Dtypes of .npy files: what is no key is bytes, whatever its type; times are integers of which NaT is the last; names
# that no path can hold. Python writes the files and says what is right, without NumPy.
cat >dtypes.py <<'END'
"""dtypes.py make: makes files. dtypes.py same ORDER INPUT OUTPUT: compares."""
import math, random, struct, sys
R = random.Random(7)
NAT = -2**63
def make(name, descr, shape, data):
    text = "{'descr': %s, 'fortran_order': False, 'shape': %s, }" % (descr, shape)
    text += " " * (-(len(text) + 11) % 64) + "\n"
    open(name, "wb").write(b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text.encode("latin-1") + data)
def records(name, size):
    data = open(name, "rb").read()
    at = 10 + struct.unpack_from("<H", data, 8)[0]
    return data[:at], [data[i:i + size] for i in range(at, len(data), size)]
# Types without an order, fields without bytes, names that no path can hold or that padding would get.
MIXED = (r"[('q', '<f16'), ('c', '<c8', (2,)), ('k', '<i2'), ('e', '|V0'), ('z', '<i4', (0,)), ('n', []), ('d', '<m8[ns]'), "
         r"('m', ('|u1', {'vlen': '(]'})), ('a.b', '|u1'), ('a_b', '|u1'), ('x[m], :', '|u1'), ('padding 1', '|u1'), "
         r"('', '|V2'), ('', '|V1'), ('', '<u2'), ('it\'s\t', '|u1'), ('h', '>M8[3h]'), ('t', ('|u1', (2,))), ('f', '<V1')]")
few = lambda: R.randrange(3)
def mixed():
    return (R.randbytes(32) + struct.pack("<hq5B3sHB", R.randrange(-2, 2), R.choice([NAT, -5, 7, 2**40]), *(few() for _ in range(5)),
                                          R.randbytes(3), few() << 8, few()) +
            struct.pack(">q3B", R.choice([NAT, -5, 7]), few(), few(), R.randrange(256)))
def number(form, at):
    return lambda b: struct.unpack_from(form, b, at)[0]
def last(form, at, least, sign=1):
    """The order of values of which one, or NaN, comes last."""
    def key(b):
        x = number(form, at)(b)
        return (x == least or x != x, 0 if x == least or x != x else sign * x)
    return key
ORDERS = {"time": (8, last("<q", 0, NAT)), "time:desc": (8, last("<q", 0, NAT, -1)), "first": (8, lambda b: number("<q", 0)(b)),
          "k": (64, number("<h", 32)), "d": (64, last("<q", 34, NAT)), "h:desc": (64, last(">q", 53, NAT, -1)),
          "imag": (64, last("<f", 28, None)), "a.b": (64, number("B", 43)), "a_b": (64, number("B", 44)),
          "t[1]": (64, number("B", 62)),
          "rest": (64, lambda b: (b[45], b[46], struct.unpack_from("<H", b, 50), b[52], b[42])),
          "dotted": (2, lambda b: (b[0], b[1])), "complex": (16, lambda b: (last("<d", 8, None)(b), last("<d", 0, None)(b))),
          "nested": (5, lambda b: (b[2], b[0]))}
if sys.argv[1] == "make":
    times = [struct.pack("<q", R.choice([NAT, NAT + 1, -7, 0, 5, 2**63 - 1])) for _ in range(200)]
    for unit in sys.argv[2:]:
        make(unit, f"'<{unit}'", "(200,)", b"".join(times))
    make("mixed", MIXED, "(300L,)", b"".join(mixed() for _ in range(300)))
    make("dotted", "[('b.c', '|u1'), (u'b', '|u1')]", "(300,)", bytes(few() for _ in range(600)))
    parts = [1.5, -2, math.nan, 0, math.inf]
    make("complex", "'<c16'", "(99,)", b"".join(struct.pack("<dd", R.choice(parts), R.choice(parts)) for _ in range(99)))
    make("nested", "[('p', [('a.a', '|V1'), ('a', [('b:b', '|i1')], (2,)), ('l', '<f2')])]", "(99,)",
         b"".join(bytes(few() for _ in range(5)) for _ in range(99)))
    for name, descr in {"object": "[('a', '<i4'), ('o', '|O')]", "object8": "'O8'", "quad": "[('a', '<f16'), ('b', [('c', '<i4')])]",
                        "quads": "'<f16'", "saved": "'<V2'", "bits": "'<i16'", "empty": "'|V0'", "none": "[('a', '<U0'), ('b', '<i4', (0,))]",
                        "unit": "'<M8[q]'", "open": "'<M8[s'", "short": "'<M4[s]'", "sizeless": "'<f'", "word": "'int32'", "nul": "'<\0'",
                        "after": "'<i4' '<i4'", "many": "[('a', '<i4', (4294967296, 4294967296))]",
                        "sum": "[('a', '|V18446744073709551615'), ('b', '<i4')]", "wide": "'<U4611686018427387904'",
                        "tuples": "(" * 99 + "'<i4'" + ", (1,))" * 99, "pair": "('<i4')", "escape": "[('a\\', '<i4')]"}.items():
        make(name, descr, "(2,)", bytes(40))
    # One after the other they are refused: as bytes they would be alike.
    make("quads-too", "'<c32'", "(1,)", bytes(32))
    make("one-quads", "'<f16'", "(2,)", bytes(32))
else:
    size, key = ORDERS[sys.argv[2]]
    head, before = records(sys.argv[3], size)
    kept, after = records(sys.argv[4], size)
    print("right" if head == kept and after == sorted(before, key=key) != before else "WRONG", *sys.argv[2:4])
END
units='M8[h] M8[Y] M8[25s] M8[ps] M8[generic] M8 m8[s] m8[7D] m8'
python3 dtypes.py make $units
same() { # ORDER FILE OPTION...
  order=$1 file=$2
  shift 2
  recsort "$file" "$@" -o out && python3 dtypes.py same "$order" "$file" out
}
for unit in $units; do same time "$unit"; done
same time:desc 'M8[h]' -k value:desc
same first 'm8[s]' -k value:nan=first
same k mixed -k k
same d mixed -k d
same h:desc mixed -k h:desc
same imag mixed -k 'c[1].imag'
same a.b mixed -k 'a_b 1'
same a_b mixed -k a_b
same 't[1]' mixed -k 't[1]'
same rest mixed -k "x_m__ _,padding 1,unnamed,it's_t,m"
same dotted dotted
same complex complex -k value.imag,value.real
same nested nested -k 'p.a[1].b_b,p.a_a'
recsort --explain --plugin cpu --threads 1 -k k mixed | sed -n '/offset/,/^key/p'
recsort --check -k d mixed
# What has no order is no key.
for file in mixed complex nested quad quads saved bits one-quads; do recsort $file; done
for key in q 'c[0]' 'c' f p.l; do recsort -k "$key" mixed; done
recsort -k value saved
recsort -k b.c quad | cmp - quad && echo quad
# What is refused in any case.
for file in object object8 empty none unit open short sizeless word nul after many sum wide tuples pair escape; do
  recsort -k x $file
done
recsort -k value 'M8[h]' 'M8[Y]'
recsort -k a 'M8[h]' 'm8[s]'
