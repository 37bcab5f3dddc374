# --explain needs no input, and prints offsets as a C compiler has them.
recsort -s "$SCHEMAS/entity.yaml" --plugin cpu --explain
cat >nested.yaml <<'END'
record: Nested
endian: big
skip: 16
trailer: 4
fields:
  - {name: flags, type: uint32}
  - {name: level, type: bitfield, base: flags, bit: 3, width: 5}
  - {name: name, type: char, count: 7}
  - {name: kind, type: enum, base: uint8, values: [none, low, high]}
  - name: items
    type: struct
    count: 3
    fields:
      - {name: id, type: int16}
      - {name: price, type: float64}
keys:
  - {field: level, order: desc}
  - {field: kind}
  - {field: 'items[2].price', nan: first}
END
recsort -s nested.yaml --plugin cpu --algorithm sequential --explain
