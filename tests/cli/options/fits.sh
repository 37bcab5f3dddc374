# A table in a FITS file: blocks of 2,880 bytes, a header, rows, and zeros to the end of the block,
# which are whole rows by accident. Only its header says how many rows there are.
cat >table.yaml <<'YAML'
record: Row
endian: big
layout: packed
skip: 5760
fields:
  - {name: star, type: int32}
  - {name: flux, type: float32}
  - {name: name, type: char, count: 10}
  - {name: flags, type: int16}
  - {name: error, type: float64}
  - {name: pad, type: bytes, count: 4}
keys: [star]
YAML
python3 - <<'END'
import random, struct
ROWS = 1000
random.seed(7)
def block(*cards):
    return "".join(card.ljust(80) for card in (*cards, "END")).ljust(2880).encode()
def star(row):
    return struct.unpack(">i", row[:4])[0]
header = block("SIMPLE  = T", "BITPIX  = 8", "NAXIS   = 0")
header += block("XTENSION= 'BINTABLE'", "NAXIS1  = 32", f"NAXIS2  = {ROWS}")
rows = [struct.pack(">if10shd4x", random.randrange(1, 10**6), i, b"star", i % 3, 0.5)
        for i in range(ROWS)]
padding = bytes(-32 * ROWS % 2880)
open("table.fits", "wb").write(header + b"".join(rows) + padding)
open("expected", "wb").write(header + b"".join(sorted(rows, key=star)) + padding)
print(len(padding) // 32, "rows of zeros")
END
recsort -s table.yaml --plugin cpu --threads 1 --explain table.fits | grep -A 1 'header '
recsort -s table.yaml --plugin cpu --threads 1 --explain --count 1000 table.fits | grep -A 1 'header '
recsort -s table.yaml table.fits | cmp -s - expected || echo "with the padding it is wrong"
recsort -s table.yaml --count 1000 table.fits | cmp - expected && echo sorted
cat table.fits | recsort -s table.yaml --count 1000 | cmp - expected && echo sorted
recsort -s table.yaml --count 1000 table.fits -o table.fits && cmp table.fits expected && echo replaced
recsort -s table.yaml --count 1000 --check table.fits && echo checked
