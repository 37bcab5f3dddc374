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


def test_numbers_that_the_header_says_are_those_without_it():
    fields = 'fields: [{name: a, type: int32}, {name: b, type: int8}]\nlayout: packed\n'
    own = Schema.from_yaml(f'record: R\nskip: 96\nsize: 16\n{fields}')
    assert (own.skip, own.dtype.itemsize) == (96, 16)
    header = 'skip: {type: uint32, offset: 96}\nsize: {type: uint16, offset: 105}\n'
    said = Schema.from_yaml(f'record: R\n{header}{fields}')
    assert (said.skip, said.dtype.itemsize) == (0, 5)
    assert Schema.from_yaml(f'record: R\nskip: {{line: "end_header"}}\n{fields}').skip == 0


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


def test_the_depth_along_an_axis():
    text = '''record: P
fields:
  - {name: p, type: float32, count: 3}
  - {name: d, type: float64}
keys:
  - {dot: {fields: ["p[0]", "p[1]", "p[2]"], with: forward}, order: desc}
  - dot: {fields: [d], with: [-0.5]}
'''
    schema = Schema.from_yaml(text)
    assert Schema.from_yaml(schema.to_yaml()).to_yaml() == schema.to_yaml()
    records = np.zeros(500, schema.dtype)
    random = np.random.default_rng(7)
    records['p'], records['d'] = random.integers(-4, 5, (500, 3)), random.integers(0, 3, 500)
    sorter = Sorter(schema)
    with pytest.raises(RecsortError, match='forward'):
        sorter.sort(records)
    for axis in (0.6, 0.0, 0.8), (1, 0, 0), (0, 0, 0):
        sorter.set_parameter('forward', axis)
        depth = np.zeros(500)
        for part in range(3):
            depth += records['p'][:, part].astype('f8') * axis[part]
        order = np.lexsort((-records['d'], -depth.astype('f4')))
        assert sorter.argsort(records).tolist() == order.tolist()


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


def test_scale_and_null_and_types_that_numpy_lacks_are_kept():
    fields = [
        '{name: "cents", type: int64, offset: 0, scale: 0.01, null: [-99, -1]}',
        '{name: "most", type: uint64, offset: 8, null: [3, 18446744073709551615]}',
        '{name: "text", type: cstring, offset: 16, count: 5}',
        '{name: "third", type: uint24, offset: 21, count: 2, endian: big}',
        '{name: "small", type: float8_e4m3fn, offset: 27}',
    ]
    schema = Schema.from_yaml(
        f'record: R\nlayout: explicit\nsize: 28\nfields: [{", ".join(fields)}]\n'
        'keys: [{field: cents, nan: first}, {field: most, order: desc}, text]\n'
    )
    assert [line[4:] for line in schema.to_yaml().splitlines() if line[:4] == '  - '][:5] == fields
    assert Schema.from_yaml(schema.to_yaml()).to_yaml() == schema.to_yaml()
    formats = ['i8', 'u8', 'S5', ('V3', 2), 'V1']
    offsets = [0, 8, 16, 21, 27]
    assert schema.dtype == np.dtype(
        {'names': schema.dtype.names, 'formats': formats, 'offsets': offsets, 'itemsize': 28}
    )
    records = np.zeros(6, schema.dtype)
    records['cents'], records['most'] = [5, -99, 5, 4, -1, -5], [7, 3, 9, 3, 9, 2**64 - 1]
    records['text'] = [b'', b'b\0x', b'', b'', b'b\0a', b'']
    for sorter in Sorter(schema), Sorter(Schema.from_yaml(schema.to_yaml())):
        assert sorter.argsort(records).tolist() == [4, 1, 5, 3, 2, 0]


def test_padding_has_a_name_that_nothing_else_has():
    inner = '{name: a, type: int32}, {name: padding, type: uint8}'
    bits = '{name: padding_, type: bitfield, base: padding, bit: 0}'
    schema = Schema.from_yaml(
        f'record: R\nfields: [{{name: s, type: struct, fields: [{inner}, {bits}]}}]\nkeys: [s.a]\n'
    )
    assert '{name: "padding__", type: bytes, offset: 5, count: 3}' in schema.to_yaml()
    assert Schema.from_yaml(schema.to_yaml()).dtype.itemsize == schema.dtype.itemsize == 8


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
        [('when', '>M8[25s]'), ('z', 'c16'), ('name', 'U3'), ('words', 'S2', (2, 2)), ('wide', 'g')]
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


def test_fields_whose_names_the_language_lacks_are_left_out():
    inner = np.dtype([('u', 'i2'), ('w[0]', 'i4'), ('v', 'u1'), ('.', 'm8')], align=True)
    dtype = np.dtype(
        [('x [m]', 'f4'), ('a', 'i2'), ('s', inner, 2), ('a.b', 'U1'), ('\n', 'i4'), ('\udc80', 'g')]
    )
    schema = Schema.from_dtype(dtype, ['-a', 's[1].v'])
    assert schema.dtype.names == ('a', 's') and schema.dtype.itemsize == dtype.itemsize
    assert schema.dtype['s'].base.names == ('u', 'v', 'padding')
    records = records_of(dtype, 200, np.random.default_rng(11))
    columns = [(records['a'], True), (records['s']['v'][:, 1], False)]
    assert Sorter(schema).argsort(records).tolist() == order_of(columns, 'last')[0].tolist()
    for key in 'x [m]', '-x [m]', 'a.b', 's[0].w[0]', '\n':
        with pytest.raises(RecsortError, match='^key ".*": a schema has no names with '):
            Schema.from_dtype(dtype, key)
    with pytest.raises(RecsortError, match='^no field has bytes and a name that a schema can have$'):
        Schema.from_dtype([('a.b', 'i4')])


def test_fields_left_out_are_part_of_no_key():
    inner = np.dtype([('x', 'i4'), ('y.z', 'i4')])
    overlaid = np.dtype({'names': ['a', 'a.b'], 'formats': ['u4', 'f4'], 'offsets': [0, 0]})
    hidden = np.dtype([('a', [('b', 'i4')]), ('a.b', 'i4')])  # sort takes the longest name
    for dtype, key in ([('p', inner)], 'p'), (overlaid, 'a.b'), (hidden, 'a.b'):
        with pytest.raises(RecsortError, match='^key ".*": a schema has no names with '):
            Schema.from_dtype(dtype, key)


# A struct, an array of strings, an array of two dimensions and parts of these; what a schema calls them.
PATHS = {
    's': 's[0].value s[1].value',
    's[1]': 's[1].value',
    'u': 'u[0].value u[1].value',
    'g': 'g',
    'g[1]': 'g[2] g[3]',
    'g[1,0]': 'g[2]',
    'p': 'p.x p.w[0].v p.w[1].v',
    'p.w': 'p.w[0].v p.w[1].v',
    'name': 'name',
}


@pytest.mark.parametrize('key', PATHS)
@pytest.mark.parametrize('down', [False, True])
def test_keys_of_several_values_are_those_of_sort(key, down):
    inner = np.dtype([('x', '>i2'), ('w', [('v', 'f4')], 2)], align=True)
    fields = [('s', 'S2', 2), ('u', 'U2', 2), ('g', 'i2', (2, 2)), ('p', inner), ('name', '>U2')]
    records = np.zeros(300, fields)
    rng = np.random.default_rng(14)
    letters = np.array(['', 'a', 'b', 'ab'])
    records['s'], records['u'] = (rng.choice(letters, (300, 2)) for _ in range(2))
    records['name'] = rng.choice(letters, 300)
    records['g'], records['p']['x'] = rng.integers(-1, 2, (300, 2, 2)), rng.integers(-1, 2, 300)
    records['p']['w']['v'] = rng.choice([-np.inf, 0, -0.0, np.nan], (300, 2))
    p = [records['p']['x'], *records['p']['w']['v'].T]
    columns = {
        's': [*records['s'].T],
        's[1]': [records['s'][:, 1]],
        'u': [*records['u'].T],
        'g': [*records['g'].reshape(300, 4).T],
        'g[1]': [*records['g'][:, 1].T],
        'g[1,0]': [records['g'][:, 1, 0]],
        'p': p,
        'p.w': p[1:],
        'name': [records['name'].astype('U2')],
    }[key]
    schema = Schema.from_dtype(records.dtype, ['-' * down + key, 'p.x'])
    paths = dict.fromkeys([*PATHS[key].split(), 'p.x'])
    text = schema.to_yaml()
    assert [line.split('"')[1] for line in text[text.index('keys:') :].splitlines()[1:]] == [*paths]
    order = order_of([(column, down) for column in columns] + [(p[0], False)], 'last')[0].tolist()
    for sorter in Sorter(schema), Sorter(Schema.from_yaml(text)):
        assert sorter.argsort(records).tolist() == order != sorted(order)


@pytest.mark.parametrize('kind', ['c8', '>c16'])
def test_halves_of_complex_numbers_are_keys(kind):
    records = np.zeros(200, [('id', 'u1'), ('z', kind), ('more', [('z', kind, (2, 2))])])
    rng = np.random.default_rng(15)
    records['z'] = rng.integers(0, 3, 200) + 1j * rng.integers(0, 3, 200)
    records['more']['z'] = rng.integers(0, 3, (200, 2, 2)) * (1 - 1j)
    schema = Schema.from_dtype(records.dtype, ['-z.imag', 'more.z[1,0].real', 'z.real'])
    columns = [(records['z'].imag, True), (records['more']['z'][:, 1, 0].real, False)]
    expected = order_of([*columns, (records['z'].real, False)], 'last')[0].tolist()
    assert Sorter(schema).argsort(records).tolist() == expected
    for key in 'z', '-z', 'more', 'more.z[1]':
        with pytest.raises(
            RecsortError, match='no order of .*; name its halves, with .real and .imag$'
        ):
            Schema.from_dtype(records.dtype, key)
    with pytest.raises(RecsortError, match='^no field "z.size"$'):
        Schema.from_dtype(records.dtype, 'z.size')


def test_a_struct_named_like_halves_is_itself():
    records = np.zeros(4, [('z', [('imag', 'i4'), ('real', 'i4')]), ('z.real', 'c8')])
    records['z']['imag'] = [3, 1, 2, 1]
    assert Sorter(Schema.from_dtype(records.dtype, 'z.imag')).argsort(records).tolist() == [1, 3, 2, 0]


def test_control_characters_are_escaped_in_messages():
    with pytest.raises(RecsortError, match=r'^no field "a\\u0085\\n"$'):
        Schema.from_dtype([('a', 'i4')], 'a\x85\n')


def test_names_that_begin_with_a_minus_are_keys_of_a_schema():
    schema = Schema.from_dtype([('-a', 'i2'), ('a', 'i2'), ('-', 'i2', 2)], ['--a', '-[1]'])
    records = records_of(schema.dtype, 200, np.random.default_rng(12))
    first, second, third = records['-a'], records['-'][:, 1], records['a']
    for keys, columns in [
        (None, [(first, True), (second, False)]),
        ('-a', [(first, False)]),
        (['--a', 'a'], [(first, True), (third, False)]),
        (['--[1]', '-a'], [(second, True), (first, False)]),
    ]:
        expected = order_of(columns, 'last')[0].tolist()
        assert Sorter(schema, keys).argsort(records).tolist() == expected


@pytest.mark.parametrize('nan', ['last', 'first', 'total'])
@pytest.mark.parametrize('kind', ['f4', '>f8', 'M8[D]', '>M8[ns]', 'M8[h]', '>M8[25s]', 'm8[ms]', 'm8'])
def test_nan_is_kept_for_times_and_for_all_elements_of_an_array(kind, nan):
    records = records_of(np.dtype([('id', 'u1'), ('x', kind, 2)]), 300, np.random.default_rng(13))
    records['x'][::5, 0] = 'nan' if kind[-2] == 'f' else 'NaT'
    schema = Schema.from_dtype(records.dtype, '-x', nan=nan)
    own = kind in ('f4', '>f8', 'M8[D]', '>M8[ns]')  # the language has no others
    assert schema.dtype['x'].base == np.dtype(kind if own else '>i8' if '>' in kind else 'i8')
    expected = order_of([(column, True) for column in records['x'].T], nan)[0]
    assert Sorter(schema).argsort(records).tolist() == expected.tolist()


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
        (lambda: Schema.from_yaml('record: R\ud800'), 'is no text that UTF-8 can hold$'),
        (lambda: Schema.from_yaml(5), '^5 is no text'),
        (lambda: Schema.from_dtype('nonsense'), "^'nonsense' is no dtype: "),
        (
            lambda: Schema.from_dtype([('a', 'i4')], 'a', nan='error'),
            "^nan='error'; give one of last, ",
        ),
        (lambda: Schema.from_dtype([('a', 'i4')], 'a', name='\ud800'), 'is no text that UTF-8'),
        (lambda: Sorter(Schema.from_dtype([('a', 'i4')], 'a'), 'a\ud800'), 'is no text that UTF-8'),
        (lambda: Sorter(Schema.from_dtype([('a', 'i4')], 'a'), 'a\0b'), 'has a NUL; leave it out$'),
        (lambda: Schema.from_dtype([('a', 'O')]), 'cannot be sorted'),
        (lambda: Schema.from_dtype([('a', 'i4')], 'b'), 'no field "b"'),
        (lambda: Schema.from_dtype([('a', 'g')], 'a'), 'no order of'),
        (
            lambda: Schema.from_dtype({'names': 'ab', 'formats': ['i4', 'i2'], 'offsets': [0, 2]}),
            '^field "b": at offset 2 it overlaps field "a"',
        ),
        (
            lambda: Schema.from_dtype([('a', 'S0'), ('b', 'i4')], 'a'),
            '^key "a": the field has no bytes and orders nothing; leave it out$',
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
