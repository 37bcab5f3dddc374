"""Tables, against the stable sort of each table's own library."""

import datetime
import decimal
import random

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
import recsort
from hypothesis import given
from hypothesis import strategies as st
from oracle import order_of, records_of
from pandas.testing import assert_frame_equal
from recsort import RecsortError, sort_table

seeds = st.integers(0, 2**32)
keys = st.lists(st.tuples(st.integers(0, 99), st.booleans()), min_size=1, max_size=3)
counts = st.sampled_from([0, 1, 2, 30, 90])
WORDS = ['', 'a', 'ab', 'a\0', 'b', 'ÿ', '\uffff', '😀', 'aa' * 20]
DAYS = [
    datetime.datetime(1969, 12, 31),
    datetime.datetime(2020, 3, 29, 1, 30),
    datetime.datetime(2020, 3, 29, 3),
]
CENTS = [decimal.Decimal(text) for text in ('-1.25', '0.00', '0.50', '98765432109876543.21')]


def some(values, count, rng, null=None):
    """Values with ties, and often with nulls."""
    values = values + [null] * rng.choice([0, 2])
    return [rng.choice(values) for _ in range(count)]


def picked(kinds, names):
    """Keys as a user writes them, and what the libraries take."""
    chosen = {names[number % len(names)]: down for number, down in kinds}
    by = ['-' * down + name for name, down in chosen.items()]
    return by, list(chosen), list(chosen.values())


# ---- pandas ----

PANDAS = {
    'bool': lambda n, r: np.array(some([True, False], n, r, False), bool),
    'int16': lambda n, r: np.array(some([-128, 0, 127], n, r, 0), 'i2'),
    'uint64': lambda n, r: np.array(some([0, 1, 2**64 - 1], n, r, 0), 'u8'),
    'float': lambda n, r: np.array(some([0.0, -0.0, 1.5, np.inf, -np.inf], n, r, np.nan), 'f4'),
    'half': lambda n, r: np.array(some([0.0, -0.0, 1.5], n, r, np.nan), 'f2'),
    'complex': lambda n, r: np.array(
        some([0j, 1j, 1 - 1j, complex(np.nan, 1), complex(0, np.nan)], n, r, 2), complex
    ),
    'time': lambda n, r: np.array(some(DAYS, n, r), 'M8[ns]'),
    'zone': lambda n, r: pd.to_datetime(some(DAYS, n, r), utc=True).tz_convert('Europe/Berlin'),
    'span': lambda n, r: np.array(some([-1, 0, 2], n, r, 'NaT'), 'm8[s]'),
    'period': lambda n, r: pd.PeriodIndex(some(['2020', '1969', '2021'], n, r, 'NaT'), freq='Y'),
    'category': lambda n, r: pd.Categorical(
        some(['b', 'a', 'c'], n, r), categories=['c', 'a', 'b', 'd']
    ),
    'ordered': lambda n, r: pd.Categorical(some([3, 1], n, r), categories=[3, 2, 1], ordered=True),
    'str': lambda n, r: pd.array(some(WORDS, n, r), dtype='str'),
    'string': lambda n, r: pd.array(some(WORDS, n, r), dtype='string[python]'),
    'text': lambda n, r: np.array(some(WORDS, n, r) + [None], object)[:-1],
    'bytes': lambda n, r: np.array(some([b'', b'a\0', b'\xff'], n, r) + [None], object)[:-1],
    'Int64': lambda n, r: pd.array(some([-(2**63), 0, 2**63 - 1], n, r, pd.NA), dtype='Int64'),
    'Float32': lambda n, r: pd.array(some([-1.5, 0.0, -0.0], n, r, pd.NA), dtype='Float32'),
    'boolean': lambda n, r: pd.array(some([True, False], n, r, pd.NA), dtype='boolean'),
    'arrow': lambda n, r: pd.array(some([3, 1, 2], n, r), dtype=pd.ArrowDtype(pa.int16())),
    'cents': lambda n, r: pd.array(some(CENTS, n, r), dtype=pd.ArrowDtype(pa.decimal128(30, 2))),
    'stamp': lambda n, r: pd.array(some(DAYS, n, r), dtype=pd.ArrowDtype(pa.timestamp('us', 'UTC'))),
}


def pandas_frame(count, rng, names=PANDAS):
    frame = pd.DataFrame({name: PANDAS[name](count, rng) for name in names})
    frame.index = pd.MultiIndex.from_arrays(
        [np.arange(count), some(['x', 'y'], count, rng, 'z')], names=['row', 'level']
    )
    frame.attrs['unit'] = 'm'
    return frame


@given(keys, counts, st.sampled_from(['last', 'first']), seeds)
def test_pandas(kinds, count, nulls, seed):
    frame = pandas_frame(count, random.Random(seed))
    by, names, down = picked(kinds, [*PANDAS, 'level'])
    before = frame.copy()
    found = sort_table(frame, by, nulls=nulls)
    ascending = [not one for one in down]
    expected = frame.sort_values(names, ascending=ascending, kind='stable', na_position=nulls)
    assert (
        found.index.get_level_values('row').tolist() == expected.index.get_level_values('row').tolist()
    )
    assert_frame_equal(found, expected)
    assert found.attrs == frame.attrs
    assert_frame_equal(frame, before)


@pytest.mark.parametrize('name', PANDAS)
@pytest.mark.parametrize('down', [False, True])
def test_every_type_of_pandas_alone_and_before_another(name, down):
    for seed in range(4):
        for names in {(name,), (name, 'int16'), ('bool', name)} - {
            ('int16', 'int16'),
            ('bool', 'bool'),
        }:
            frame = pandas_frame(50, random.Random(seed), names)
            by = ['-' * down + one for one in names]
            expected = frame.sort_values([*names], ascending=not down, kind='stable')
            assert_frame_equal(sort_table(frame, by), expected)


def test_pandas_of_a_subclass_and_of_any_labels():
    class Frame(pd.DataFrame):
        @property
        def _constructor(self):
            return Frame

    frame = Frame({'a': [2, 1, 2], '-a': [1, 2, 3]})
    found = sort_table(frame, 'a')
    assert type(found) is Frame and found.index.tolist() == [1, 0, 2]
    assert sort_table(frame, '-a').index.tolist() == [0, 1, 2]  # the name of a column
    assert sort_table(frame, ['-0', '--a']).index.tolist() == [2, 0, 1]
    labelled = pd.DataFrame([[1, 5], [2, 4]], columns=[1, 0])
    assert sort_table(labelled, 0).index.tolist() == [1, 0]  # a label before a position
    assert sort_table(labelled, '-1').index.tolist() == [1, 0]
    assert sort_table(labelled, np.int64(1)).index.tolist() == [0, 1]


# ---- Polars ----

POLARS = {
    'bool': (pl.Boolean, [True, False]),
    'int8': (pl.Int8, [-128, 0, 127]),
    'uint64': (pl.UInt64, [0, 2**64 - 1]),
    'float': (pl.Float32, [0.0, -0.0, 1.5, float('inf'), float('nan'), -2.0]),
    'string': (pl.String, WORDS),
    'binary': (pl.Binary, [b'', b'a', b'a\0', b'\xff']),
    'category': (pl.Categorical, ['b', 'a', 'c']),
    'enum': (pl.Enum(['c', 'a', 'b']), ['b', 'a', 'c']),
    'date': (pl.Date, [day.date() for day in DAYS]),
    'zone': (pl.Datetime('us', 'UTC'), DAYS),
    'span': (pl.Duration, [datetime.timedelta(-1), datetime.timedelta(2)]),
    'time': (pl.Time, [datetime.time(0), datetime.time(23)]),
    'cents': (pl.Decimal(30, 2), CENTS),
    'null': (pl.Null, [None]),
}


def polars_frame(count, rng):
    columns = {
        name: pl.Series(name, some(values, count, rng), dtype=dtype)
        for name, (dtype, values) in POLARS.items()
    }
    frame = pl.DataFrame({**columns, 'row': range(count), 'list': [[at] for at in range(count)]})
    at = rng.randint(0, count)
    return rng.choice([frame, pl.concat([frame[:at], frame[at:]], rechunk=False)])


@given(keys, counts, st.sampled_from(['last', 'first']), seeds)
def test_polars(kinds, count, nulls, seed):
    frame = polars_frame(count, random.Random(seed))
    by, names, down = picked(kinds, [*POLARS])
    found = sort_table(frame, by, nulls=nulls)
    expected = frame.sort(names, descending=down, nulls_last=nulls == 'last', maintain_order=True)
    assert found['row'].to_list() == expected['row'].to_list()
    assert found.equals(expected) and found.schema == frame.schema


# ---- pyarrow ----

ARROW = {
    'bool': (pa.bool_(), [True, False]),
    'int8': (pa.int8(), [-128, 0, 127]),
    'uint64': (pa.uint64(), [0, 2**64 - 1]),
    'float': (pa.float64(), [0.0, -0.0, 1.5, float('inf'), float('nan'), -2.0]),
    'string': (pa.string(), WORDS),
    'large': (pa.large_string(), WORDS),
    'binary': (pa.binary(), [word.encode() for word in WORDS]),
    'fixed': (pa.binary(2), [b'\0a', b'\xff\0', b'\xff\1']),
    'date': (pa.date32(), [day.date() for day in DAYS]),
    'zone': (pa.timestamp('us', 'Asia/Tokyo'), DAYS),
    'span': (pa.duration('ms'), [datetime.timedelta(-1), datetime.timedelta(2)]),
    'time': (pa.time64('us'), [datetime.time(0), datetime.time(23)]),
    'cents': (pa.decimal128(30, 2), CENTS),
}


def arrow_table(count, rng):
    columns = {name: pa.array(some(values, count, rng), kind) for name, (kind, values) in ARROW.items()}
    table = pa.table({**columns, 'row': range(count)}).replace_schema_metadata({'unit': 'm'})
    at = rng.randint(0, count)
    return rng.choice([table, pa.concat_tables([table[:at], table[at:]])])


@given(keys, counts, st.sampled_from(['last', 'first']), seeds)
@pytest.mark.filterwarnings('ignore:Specifying null_placement')
def test_pyarrow(kinds, count, nulls, seed):
    table = arrow_table(count, random.Random(seed))
    by, names, down = picked(kinds, [*ARROW])
    order = [(name, 'descending' if one else 'ascending') for name, one in zip(names, down)]
    place = {'last': 'at_end', 'first': 'at_start'}[nulls]
    expected = table.take(pc.sort_indices(table, order, null_placement=place))
    found = sort_table(table, by, nulls=nulls)
    assert found['row'].to_pylist() == expected['row'].to_pylist()
    assert type(found) is pa.Table and found.schema.equals(table.schema, check_metadata=True)
    for batch in table.combine_chunks().to_batches():
        part = sort_table(batch, by, nulls=nulls)
        assert type(part) is pa.RecordBatch and part['row'].to_pylist() == expected['row'].to_pylist()


# ---- DuckDB ----

DUCKDB = {
    'bool': ('boolean', ['true', 'false']),
    'int8': ('tinyint', ['-128', '0', '127']),
    'uint64': ('ubigint', ['0', '18446744073709551615']),
    'huge': ('hugeint', ['-1', '0', '99999999999999999999999999999']),
    'float': ('float', ["'0'", "'-0'", "'1.5'", "'inf'", "'nan'", "'-2'"]),
    'string': ('varchar', ["''", "'a'", "'ab'", "'ÿ'", "'😀'"]),
    'binary': ('blob', ["''", "'a'", r"'\x00'", r"'\xff'"]),
    'mood': ("enum('sad', 'happy', 'ok')", ["'ok'", "'sad'", "'happy'"]),
    'id': ('uuid', [f"'{first}0000000-0000-0000-0000-000000000000'" for first in '08f']),
    'date': ('date', ["'1969-12-31'", "'2020-03-29'"]),
    'zone': ('timestamptz', ["'1969-12-31 01:00:00+02'", "'2020-03-29 01:00:00+00'"]),
    'time': ('time', ["'00:00:00'", "'23:00:00'"]),
    'cents': ('decimal(30, 2)', ['-1.25', '0', '98765432109876543.21']),
}


def relation_of(count, rng, connection):
    connection.sql(
        'create or replace table t ("row" integer, '
        + ', '.join(f'"{name}" {kind}' for name, (kind, _) in DUCKDB.items())
        + ')'
    )
    lists = [some(values, count, rng, 'null') for _, values in DUCKDB.values()]
    rows = [f'({at}, {", ".join(row)})' for at, row in enumerate(zip(*lists))]
    if rows:
        connection.sql('insert into t values ' + ', '.join(rows))
    return connection.table('t').order('"row"')


@given(keys, st.sampled_from([0, 1, 30]), st.sampled_from(['last', 'first']), seeds)
def test_duckdb(kinds, count, nulls, seed):
    relation = relation_of(count, random.Random(seed), duckdb)
    by, names, down = picked(kinds, [*DUCKDB])
    order = [f'"{name}" {"desc" if one else "asc"} nulls {nulls}' for name, one in zip(names, down)]
    expected = relation.order(', '.join([*order, '"row"']))
    found = sort_table(relation, by, nulls=nulls)
    assert type(found) is type(relation)
    assert found.columns == relation.columns and found.types == relation.types
    assert str(found.fetchall()) == str(expected.fetchall())


# ---- Dicts of arrays ----


@given(
    st.lists(
        st.sampled_from(['?', 'i2', '>u4', 'f4', 'f8', 'g', 'c8', 'M8[s]', 'm8[D]', 'S3', 'U2', 'V3']),
        min_size=1,
        max_size=3,
    ),
    counts,
    st.booleans(),
    st.sampled_from(['last', 'first']),
    seeds,
)
def test_dicts_of_arrays(kinds, count, down, nulls, seed):
    rng = np.random.default_rng(seed)
    columns = [records_of(np.dtype(kind), count, rng) for kind in kinds]
    expected = order_of([(column, down) for column in columns], nulls)[0]
    beside = {
        'rows': rng.random((count, 2)),
        'objects': np.array([object() for _ in range(count)], object),
    }
    beside |= {'masked': np.ma.array(np.arange(count), mask=np.arange(count) % 2)}
    arrays = {**{str(at): column for at, column in enumerate(columns)}, **beside}
    found = sort_table(arrays, ['-' * down + str(at) for at in range(len(kinds))], nulls=nulls)
    assert type(found) is dict and list(found) == list(arrays)
    for name, array in arrays.items():
        assert type(found[name]) is type(array) and found[name].dtype == array.dtype
        assert found[name].tobytes() == array[expected].tobytes()


def test_a_dict_may_have_columns_of_every_library():
    days = pd.Series(pd.Categorical(['x', 'z', 'y'], categories=['z', 'y', 'x']), index=[7, 8, 9])
    arrays = {
        'n': np.array([1, 2, 1]),
        'days': days,
        'f': pl.Series([float('nan'), 1, 2]),
        'a': pa.array(['p', 'q', None]),
    }
    for by, order in (
        ['days', [1, 2, 0]],
        ['-f', [0, 2, 1]],
        ['a', [0, 1, 2]],
        [['-n', 'days'], [1, 2, 0]],
    ):
        found = sort_table(arrays, by)
        assert found['n'].tolist() == arrays['n'][order].tolist()
        assert found['days'].index.tolist() == days.index[order].tolist()
        assert found['f'].to_list()[-1] == arrays['f'].to_list()[order[-1]] or order[-1] == 0
        assert found['a'].to_pylist() == [arrays['a'].to_pylist()[at] for at in order]


# ---- Refusals ----

FRAME = pd.DataFrame(
    {'a': [1, 2], 'b': [[1], [2]], 'c': [1, 'x'], 'd': [0.5, 1]}, index=pd.Index([1, 2], name='n')
)
LISTS = pl.DataFrame(
    {'a': [[1], [2]], 'o': pl.Series([object(), 3], dtype=pl.Object), 's': [{'x': 1}] * 2}
)


@pytest.mark.parametrize(
    ('call', 'message'),
    [
        (lambda: sort_table(FRAME, 'aa'), '^no column "aa"; did you mean "a"\\?$'),
        (lambda: sort_table(FRAME, 4), '^no column "4"$'),
        (
            lambda: sort_table(FRAME, -1),
            '^by has -1; positions count from 0: write "-1", as a text, to let 1 descend$',
        ),
        (lambda: sort_table(FRAME, 1.5), '^by=1.5; give a list$'),
        (lambda: sort_table(FRAME, [True]), '^by has True; give names, or positions from 0$'),
        (lambda: sort_table(FRAME, []), '^by is empty; name a column$'),
        (lambda: sort_table(FRAME, 'b'), '^column "b" of dtype object: this has no order here'),
        (lambda: sort_table(FRAME, ['a', '-c']), '^column "c" of dtype object: this has no order here'),
        (lambda: sort_table(FRAME.rename(columns={'b': 'a'}), 'a'), '^"a" names more than one column$'),
        (lambda: sort_table(FRAME.rename(columns={'b': 'n'}), 'n'), '^"n" names more than one column$'),
        (
            lambda: sort_table(FRAME.astype({'a': pd.SparseDtype('i8')}), 'a'),
            r'^column "a" of dtype Sparse\[int64, 0\]: ',
        ),
        (
            lambda: sort_table(pd.DataFrame({'i': pd.interval_range(0, 2)}), 'i'),
            r'^column "i" of dtype interval',
        ),
        (
            lambda: sort_table(
                pd.DataFrame(
                    {'f': pd.Series(pa.array([1.0, np.nan]), dtype=pd.ArrowDtype(pa.float64()))}
                ),
                'f',
            ),
            r'^column "f" of dtype double\[pyarrow\]: NaN beside nulls',
        ),
        (
            lambda: sort_table(pd.DataFrame({'s': ['\ud800', 'a']}, dtype=object), 's'),
            '^column "s" of dtype object cannot be read: ',
        ),
        (
            lambda: sort_table(pd.DataFrame({'i': [2**70, 1]}), 'i'),
            '^column "i" of dtype object cannot be read: ',
        ),
        (lambda: sort_table(LISTS, 'a'), r'^column "a" of dtype List\(Int64\): '),
        (lambda: sort_table(LISTS, 'o'), '^column "o" of dtype Object: '),
        (lambda: sort_table(LISTS, 's'), r'^column "s" of dtype Struct\('),
        (
            lambda: sort_table(pl.DataFrame({'i': pl.Series([1], dtype=pl.Int128)}), 'i'),
            '^column "i" of dtype Int128 cannot be read: ',
        ),
        (lambda: sort_table(LISTS.lazy(), 'a'), '^a LazyFrame is no table .*; collect it first$'),
        (
            lambda: sort_table(pa.table({'s': pa.array([{'x': 1}])}), 's'),
            r'^column "s" of dtype struct<x: int64>: ',
        ),
        (
            lambda: sort_table(duckdb.sql('select [1] as l, 1 as i'), 'l'),
            r'^column "l" of dtype INTEGER\[\]: ',
        ),
        (
            lambda: sort_table(duckdb.sql("select '101'::bit as b, 1 as i"), 'i'),
            '^column "b" of dtype BIT: Arrow has it as BLOB; cast it$',
        ),
        (
            lambda: sort_table(duckdb.sql('select interval 1 day as i'), 'i'),
            '^column "i" of dtype INTERVAL: ',
        ),
        (lambda: sort_table({'a': [1]}, 'a'), '^column "a" is a list, not an array$'),
        (
            lambda: sort_table({'a': np.zeros(2), 'b': np.zeros(3)}, 'a'),
            '^column "b" has 3 rows, "a" 2$',
        ),
        (
            lambda: sort_table({'a': np.zeros((2, 2))}, 'a'),
            '^column "a" of dtype float64: a column has 2 dimensions, not 1$',
        ),
        (
            lambda: sort_table({'a': np.array([None])}, 'a'),
            '^column "a" of dtype object: .*Python objects',
        ),
        (
            lambda: sort_table({'a': np.ma.array([1, 2], mask=[0, 1])}, 'a'),
            '^column "a" of dtype int64: a masked array',
        ),
        (lambda: sort_table({}, 'a'), '^no column "a"$'),
        (lambda: sort_table(np.zeros(3), 'a'), '^a ndarray is no table'),
        (lambda: sort_table(FRAME, 'a', nulls='no'), "^nulls='no'"),
        (lambda: sort_table(FRAME, 'a', plugin='none'), 'none'),
    ],
)
def test_refusals(call, message):
    with pytest.raises(RecsortError, match=message) as refusal:
        call()
    assert '\n' not in str(refusal.value)


def test_wrong_arguments_are_sort_tables():
    for call in (lambda: sort_table(FRAME), lambda: sort_table(FRAME, 'a', ascending=False)):
        with pytest.raises(TypeError, match=r'^sort_table\(\) '):
            call()


def test_what_the_docstring_says_of_duckdb_and_polars_holds():
    frame = pl.DataFrame({'f': [1.0, float('nan'), None]})
    assert str(sort_table(frame, '-f')['f'].to_list()) == '[nan, 1.0, None]'
    assert (
        str(sort_table(duckdb.sql('select * from frame'), 'f', nulls='first').fetchall())
        == '[(None,), (1.0,), (nan,)]'
    )
    assert recsort.sort_table(pd.DataFrame({'f': [None, 2.0, 1.0]}), 'f')['f'].tolist()[:2] == [1, 2]
