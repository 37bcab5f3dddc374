"""Schemas: from dtypes, from YAML and back."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import order_of, records_of, structs

from recsort import RecsortError, Schema, Sorter

SCHEMAS = Path(os.environ['RECSORT_SCHEMAS'])
seeds = st.integers(0, 2**32)


@pytest.mark.parametrize('path', sorted(SCHEMAS.glob('*.yaml')), ids=lambda path: path.stem)
def test_examples_survive_a_round_trip(path):
    schema = Schema.from_yaml(path)
    text = schema.to_yaml()
    again = Schema.from_yaml(text)
    assert again.to_yaml() == text and again.dtype == schema.dtype
    assert (again.name, again.skip, again.trailer) == (schema.name, schema.skip, schema.trailer)
    rng = np.random.default_rng(5)
    records = np.frombuffer(bytearray(rng.bytes(300 * schema.dtype.itemsize)), schema.dtype)
    for name, least, end in ('kind', 0, 7), ('captured', 60, 61):  # enums, whose values have limits
        if name in schema.dtype.names:
            records[name] = rng.integers(least, end, 300)
    sorters = Sorter(schema), Sorter(again)
    for sorter in sorters:
        if path.stem == 'particle':
            sorter.set_parameter('camera', [1, 2, 3])
    first, second = (sorter.argsort(records).tolist() for sorter in sorters)
    assert first == second != sorted(first)


FILES = {
    'counts': """\
skip: {type: uint32, offset: 96}
count: [{type: uint32, offset: 107}, {type: uint64, offset: 247, endian: big, \
when: {type: uint16, offset: 94, least: 375}}]
after: [{type: uint32, offset: 8, unpadded: true, unit: 512}]
size: {type: uint16, offset: 105}
expect: [{offset: 0, bytes: ["LA\\u007fF", "x\\u0085\\\\"]}, {type: int16, offset: 4, value: [-2, 300]}, \
{type: uint64, offset: 8, endian: big, value: [18446744073709551615]}]
trailer: any
zero: all
""",
    'lengths': """\
skip: 4
trailer: 4
length: [{type: int32, trailer: 0, plus: -36}, {type: int32, offset: 0}]
pad: {to: 2880, with: 32, heap: {type: char, offset: 0, count: 2}}
""",
    'lines': """\
skip: {line: "end_header"}
count: [{word: "element vertex"}]
expect: [{line: ["ply", "property float x"]}]
""",
    'comments': 'skip: {lines: "%"}\n',
}


@pytest.mark.parametrize('words', FILES.values(), ids=FILES)
def test_what_files_say_survives_a_round_trip(words):
    schema = Schema.from_yaml(f'record: R\n{words}fields: [{{name: a, type: int32}}]\n')
    text = schema.to_yaml()
    assert Schema.from_yaml(text).to_yaml() == text
    assert set(words.splitlines()) <= set(text.splitlines())


def test_the_order_of_computed_keys_is_theirs():
    schema = Schema.from_yaml(SCHEMAS / 'particle.yaml')
    records = np.zeros(500, schema.dtype)
    records['position'] = np.random.default_rng(6).integers(-4, 5, (500, 3))
    sorter = Sorter(schema)
    with pytest.raises(RecsortError, match='camera'):
        sorter.sort(records)
    sorter.set_parameter('camera', (1, 0, -2))
    distance = ((records['position'] - np.array([1, 0, -2])) ** 2).sum(axis=1)
    assert sorter.argsort(records).tolist() == np.argsort(-distance, kind='stable').tolist()
    with pytest.raises(RecsortError, match='camera'):
        sorter.set_parameter('camera', (1, 0))


@pytest.mark.parametrize('word', ['morton', 'hilbert'])
def test_curves_survive_a_round_trip(word):
    text = '\n'.join(
        [
            'record: R',
            'fields: [{name: x, type: float64}, {name: y, type: int32}]',
            f'keys: [{{{word}: {{fields: [x, y], bits: 5, min: [0, -1e-3], max: 1000000}}, order: desc, nan: first}}]',
        ]
    )
    schema = Schema.from_yaml(text)
    again = Schema.from_yaml(schema.to_yaml())
    records = records_of(schema.dtype, 300, np.random.default_rng(7))
    records['x'], records['y'] = np.random.default_rng(8).integers(0, 10**6, (2, 300))
    order = Sorter(schema).argsort(records).tolist()
    assert order == Sorter(again).argsort(records).tolist() != sorted(order)
    assert again.to_yaml() == schema.to_yaml()


def test_every_word_of_a_field_is_kept():
    schema = Schema.from_yaml(
        '\n'.join(
            [
                'record: "Größe"',
                'endian: big',
                'fields:',
                '  - {name: "true", type: enum, base: uint64, values: [{name: "a b", value: 18446744073709551615}]}',
                '  - {name: flags, type: uint16}',
                '  - {name: "new, line: {}", type: bitfield, base: flags, bit: 3, width: 2}',
                '  - {name: s, type: struct, count: 3, fields: [{name: a, type: int32, endian: little}, {name: padding, type: int8}]}',
                'keys: [{field: "new, line: {}", order: desc}, "s[1].a"]',
            ]
        )
    )
    assert schema.dtype == np.dtype(
        {
            'names': ['true', 'flags', 's'],
            'offsets': [0, 8, 12],
            'itemsize': 40,
            'formats': [
                '>u8',
                '>u2',
                (
                    np.dtype(
                        {
                            'names': ['a', 'padding'],
                            'formats': ['<i4', 'i1'],
                            'offsets': [0, 4],
                            'itemsize': 8,
                        }
                    ),
                    (3,),
                ),
            ],
        }
    )
    text = schema.to_yaml()
    assert '{name: "a b", value: 18446744073709551615}' in text
    assert '{name: "new, line: {}", type: bitfield, base: "flags", bit: 3, width: 2}' in text
    again = Schema.from_yaml(text)
    assert again.to_yaml() == text
    assert again.dtype['s'].base.itemsize == 8 and again.dtype.itemsize == 40


def test_a_name_of_a_file_is_no_text():
    with pytest.raises(RecsortError, match=r"name a file by pathlib.Path\('entity.yaml'\)"):
        Schema.from_yaml('entity.yaml')


@given(structs(choice=['x', 'y', 'naïve', 'a b']), seeds, st.data())
def test_a_schema_from_a_dtype_sorts_as_the_dtype_does(dtype, seed, data):
    plain = [name for name in dtype.names if dtype[name].kind in 'biufS' and dtype[name].itemsize <= 8]
    keys = (
        data.draw(st.lists(st.sampled_from(plain), min_size=1, max_size=3, unique=True))
        if plain
        else []
    )
    signs = [data.draw(st.booleans()) for _ in keys]
    signed = ['-' * down + key for down, key in zip(signs, keys)]
    nan = data.draw(st.sampled_from(['last', 'first', 'total']))
    schema = Schema.from_dtype(dtype, signed, nan=nan)
    again = Schema.from_yaml(schema.to_yaml())
    assert again.dtype == schema.dtype and again.dtype.itemsize == dtype.itemsize
    for name in dtype.names:
        (ours, at), (theirs, place) = schema.dtype.fields[name][:2], dtype.fields[name][:2]
        assert at == place and ours.itemsize == theirs.itemsize
    if keys:
        records = records_of(dtype, 60, np.random.default_rng(seed))
        order = order_of([(records[key], down) for key, down in zip(keys, signs)], nan)[0].tolist()
        for strided in records, np.repeat(records.view(f'V{dtype.itemsize}'), 2).view(dtype)[::2]:
            assert (
                Sorter(schema).argsort(strided).tolist()
                == Sorter(again).argsort(strided).tolist()
                == order
            )
        assert Sorter(again).sort(records) is records and Sorter(again).is_sorted(records)


def test_values_without_a_type_become_what_the_docstring_says():
    dtype = np.dtype(
        [('when', '>M8[s]'), ('z', 'c16'), ('name', 'U3'), ('words', 'S2', (2, 2)), ('wide', 'g')]
    )
    assert Schema.from_dtype(dtype).dtype == np.dtype(
        [
            ('when', '>i8'),
            ('z', [('real', 'f8'), ('imag', 'f8')]),
            ('name', 'u4', (3,)),
            ('words', [('value', 'S2')], (4,)),
            ('wide', f'V{dtype["wide"].itemsize}'),
        ]
    )


@pytest.mark.parametrize('nan', ['last', 'first', 'total'])
def test_a_schema_keeps_where_nan_goes(nan):
    records = records_of(np.dtype([('x', 'f4'), ('id', 'i4')]), 200, np.random.default_rng(10))
    records['x'][::5] = np.copysign(np.nan, records['id'][::5])
    schema = Schema.from_dtype(records.dtype, ['-x', 'id'], nan=nan)
    expected = order_of([(records['x'], True), (records['id'], False)], nan)[0]
    assert Sorter(schema).argsort(records).tolist() == expected.tolist()


def test_fields_without_bytes_are_left_out():
    dtype = np.dtype([('none', 'i1', (0,)), ('a', 'i2'), ('empty', 'V0')])
    assert Schema.from_dtype(dtype, 'a').dtype == np.dtype([('a', 'i2')])


def test_keys_of_a_sorter_replace_those_of_the_schema():
    schema = Schema.from_dtype([('a', 'i2'), ('b', 'f4', (2,))], 'a', name='Pair')
    assert schema.name == 'Pair' and repr(schema) == "<recsort.Schema 'Pair', 10 bytes>"
    records = records_of(schema.dtype, 200, np.random.default_rng(9))
    for keys, reverse, columns in [
        (None, False, [(records['a'], False)]),
        (None, True, [(records['a'], True)]),
        (['-b[1]', 'a'], False, [(records['b'][:, 1], True), (records['a'], False)]),
    ]:
        assert (
            Sorter(schema, keys, reverse=reverse).argsort(records).tolist()
            == order_of(columns, 'last')[0].tolist()
        )


@pytest.mark.parametrize(
    ('call', 'message'),
    [
        (
            lambda: Schema.from_yaml('record: R\nfields: [{name: x, type: f31}]'),
            r'^schema:2:\d+: .*f31',
        ),
        (lambda: Schema.from_yaml(SCHEMAS / 'missing.yaml'), 'missing.yaml'),
        (lambda: Schema.from_dtype('i4'), 'structured dtype'),
        (lambda: Schema.from_dtype([('a.b', 'i4')]), 'name'),
        (lambda: Schema.from_dtype([('a', [('b[', 'i4')])]), 'name'),
        (lambda: Schema.from_dtype([('a', 'O')]), 'cannot be sorted'),
        (lambda: Schema.from_dtype([('a', 'i4')], 'b'), 'no field "b"'),
        (lambda: Schema.from_dtype([('a', 'g')], 'a'), 'no order of'),
        (
            lambda: Schema.from_dtype({'names': 'ab', 'formats': ['i4', 'i2'], 'offsets': [0, 2]}),
            'overlap',
        ),
        (lambda: Sorter(Schema.from_dtype([('a', 'i4')])), 'key'),
        (lambda: Sorter(Schema.from_dtype([('a', 'i4')], 'a'), nan='first'), 'themselves'),
        (lambda: Sorter(Schema.from_dtype([('a', 'i4')], 'a'), []), 'keys is empty'),
        (
            lambda: Sorter(Schema.from_dtype([('a', 'i8')], 'a')).sort(np.array([None])),
            'Python objects',
        ),
        (lambda: Sorter(Schema.from_dtype([('a', 'i4')], 'a')).sort(np.zeros(3, 'i8')), 'dtype int64'),
    ],
)
def test_refusals(call, message):
    with pytest.raises(RecsortError, match=message):
        call()
