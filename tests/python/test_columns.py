"""Rows of column libraries, against what these sort themselves and against the oracle."""

import datetime
import decimal
import random

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import dtypes, fields_of, order_of, records_of

import recsort
from recsort import RecsortError, argsort_columns

seeds = st.integers(0, 2**32)
D = decimal.Decimal
WORDS = ['', 'a', 'ab', 'a\0', 'a\0b', 'b', 'ÿ', 'Ā', '\uffff', '😀', 'aa' * 40]
VALUES = {
    'bool': [True, False],
    'int8': [-128, 0, 127],
    'uint64': [0, 1, 2**64 - 1],
    'float': [0.0, -0.0, 1.5, float('inf'), float('nan'), -2.0],
    'halffloat': [np.float16(value) for value in (0, -1.5, 2)],
    'string': WORDS,
    'large_string': WORDS,
    'string_view': WORDS,
    'binary': [word.encode() for word in WORDS],
    'binary_view': [word.encode() for word in WORDS],
    'date32': [datetime.date(1969, 1, 1), datetime.date(2020, 1, 1)],
    'timestamp[us]': [datetime.datetime(1969, 1, 1), datetime.datetime(2020, 1, 1, 5)],
    'duration[ms]': [datetime.timedelta(-1), datetime.timedelta(2)],
    'time64[us]': [datetime.time(0), datetime.time(23, 59)],
    'decimal128(20, 2)': [
        D('-12345678901234567.25'),
        D('-0.01'),
        D('0'),
        D('0.5'),
        D('98765432109876543.21'),
    ],
    'decimal256(50, 1)': [
        D('-1e40'),
        D('-0.1'),
        D('1e40'),
        D('1e20'),
        D('1.1'),
        D(2**64 - 1),
        D(2**64),
        D(2**65 + 1),
        D(2**130),
        D(2**130 + 2**66),
    ],
}
ARROW = {
    'halffloat': pa.float16(),
    'decimal128(20, 2)': pa.decimal128(20, 2),
    'decimal256(50, 1)': pa.decimal256(50, 1),
    'timestamp[us]': pa.timestamp('us'),
    'duration[ms]': pa.duration('ms'),
    'time64[us]': pa.time64('us'),
    'float': pa.float32(),
    'binary_view': pa.binary_view(),
    'string_view': pa.string_view(),
    'large_string': pa.large_string(),
}


def arrow_type(name):
    return ARROW[name] if name in ARROW else getattr(pa, name + '_' * (name == 'bool'))()


def python_order(rows, flags, nulls):
    """The stable order of tuples of Python values; NaN is behind numbers, and nulls are as asked."""

    def key(value, down):
        if value is None:
            return (2 if nulls == 'last' else -1, 0)
        return (1, 0) if value != value else (0, value)

    order = list(range(len(rows)))
    for column, down in reversed(list(enumerate(flags))):
        keys = [key(row[column], down) for row in rows]
        numbers = sorted({at for kind, at in keys if kind == 0})
        order.sort(
            key=lambda at: (
                keys[at][0],
                (-1 if down else 1) * (numbers.index(keys[at][1]) if keys[at][0] == 0 else 0),
            )
        )
    return order


@given(
    st.lists(st.tuples(st.sampled_from(sorted(VALUES)), st.booleans()), min_size=1, max_size=3),
    st.integers(0, 60),
    st.sampled_from(['last', 'first']),
    seeds,
)
def test_arrow_columns_of_every_type(kinds, count, nulls, seed):
    rng = random.Random(seed)
    lists = [
        [rng.choice(VALUES[kind] + [None] * rng.choice([0, 2])) for _ in range(count + 3)]
        for kind, _ in kinds
    ]
    flags = [down for _, down in kinds]
    columns = []
    for (kind, _), values in zip(kinds, lists):
        array = pa.array(values, arrow_type(kind))[3:]  # with an offset
        at = rng.randint(0, count)
        columns.append(rng.choice([array, pa.chunked_array([array[:at], array[at:]])]))
    rows = list(zip(*(values[3:] for values in lists)))
    assert argsort_columns(columns, descending=flags, nulls=nulls).tolist() == python_order(
        rows, flags, nulls
    )
    table = pa.table({str(at): column for at, column in enumerate(columns)})
    expected = python_order(rows, [flags[0]] * len(flags), nulls)
    for whole in table, *table.combine_chunks().to_batches()[:1]:
        assert argsort_columns([whole], descending=flags[0], nulls=nulls).tolist() == expected


@given(dtypes, st.integers(0, 60), seeds, st.booleans(), st.sampled_from(['last', 'first']))
def test_numpy_columns(dtype, count, seed, down, nan):
    rng = np.random.default_rng(seed)
    first, second = records_of(dtype, 2 * count, rng)[::2], records_of(np.dtype('u1'), count, rng)
    columns = [(column, down) for column in fields_of(first)] + [(second, not down)]
    expected = order_of(columns, nan)[0].tolist()
    assert argsort_columns([first, second], descending=[down, not down], nan=nan).tolist() == expected


@pytest.mark.parametrize('seed', range(5))
def test_polars_and_duckdb(seed):
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            'mag': rng.integers(0, 5, 400) / 4,
            'name': rng.choice(['x', 'yy', 'ÿ', ''], 400),
            'kind': pl.Series(rng.choice(['b', 'a', 'c'], 400), dtype=pl.Enum(['c', 'a', 'b'])),
            'id': np.arange(400),
        }
    )
    frame = frame.with_columns(mag=pl.when(pl.col('id') % 7 == 0).then(None).otherwise('mag'))
    expected = frame.sort(
        'kind', 'mag', 'name', descending=[False, True, False], nulls_last=True, maintain_order=True
    )['id'].to_list()
    columns = [frame['kind'], frame['mag'], frame['name']]
    assert argsort_columns(columns, descending=[False, True, False]).tolist() == expected
    text = frame.sort(pl.col('kind').cast(pl.String), maintain_order=True)['id'].to_list()
    assert argsort_columns([frame['kind'].cast(pl.Categorical)]).tolist() == text
    relation = duckdb.sql('select kind::varchar, mag, name, id from frame order by id')
    expected = duckdb.sql(
        'select id from frame order by kind::varchar desc nulls first, mag desc nulls first, name desc, id desc'
    ).fetchall()
    assert argsort_columns([relation], descending=True, nulls='first').tolist() == [
        row[0] for row in expected
    ]


def test_tables_with_nulls_in_structs_and_dictionaries():
    struct = pa.array([{'a': 2}, None, {'a': None}, {'a': 1}])
    assert argsort_columns([struct]).tolist() == [3, 0, 1, 2]
    dictionary = pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 2]), pa.array(['b', 'a', 'b']))
    assert argsort_columns([dictionary]).tolist() == [1, 0, 3, 2]
    ordered = pa.DictionaryArray.from_arrays(
        pa.array([0, 1, None, 2]), pa.array(['b', 'a', 'c']), ordered=True
    )
    assert argsort_columns([ordered], descending=True).tolist() == [3, 1, 0, 2]
    assert argsort_columns([pa.nulls(3), [3, 1, 2]]).tolist() == [1, 2, 0]


def test_a_table_is_its_columns():
    """Also one that has fewer rows than columns: its length is that of its rows."""
    data = {'a': [1, 1], 'b': [5, 5], 'c': [2, 1]}
    frame = pl.DataFrame(data)
    relation = duckdb.sql('select * from frame')
    tables = [frame, pa.table(data), relation, pd.DataFrame(data)]
    for table in *tables, [frame], [pa.table(data)]:
        assert argsort_columns(table).tolist() == [1, 0]
    for table in tables:
        assert argsort_columns(table, descending=[True, True, False]).tolist() == [1, 0]
        assert argsort_columns(table, descending=[False, False, True]).tolist() == [0, 1]
    values, chunks = [3, 1, 2], pa.chunked_array([[3], [1, 2]])
    for column in np.array(values), pa.array(values), pl.Series(values), pd.Series(values), chunks:
        assert argsort_columns(column).tolist() == [1, 2, 0]
    rows = np.array([(1, 2), (1, 1), (0, 3)], [('a', 'i4'), ('b', 'i4')])
    assert argsort_columns(rows).tolist() == [2, 1, 0]
    assert argsort_columns(np.array([[1, 1, 0], [2, 1, 3]])).tolist() == [2, 1, 0]


def test_a_column_without_arrows_interface_is_one_column():
    class Old:  # a Series of pandas 2, and a tensor of torch
        ndim = 1

        def __array__(self, dtype=None, copy=None):
            return np.array([3, 1, 2])

        def __iter__(self):
            return iter([np.array(3), np.array(1), np.array(2)])

    assert argsort_columns(Old()).tolist() == [1, 2, 0]


def test_keys_choose_columns_by_names_and_positions():
    data = {'a': [1, 1, 0], 'b': [5, 6, 7]}
    rows = np.array([(1, 5), (1, 6), (0, 7)], [('a', 'i4'), ('b', 'i4')])
    for table in pl.DataFrame(data), pa.table(data), pd.DataFrame(data), data, rows, [*data.values()]:
        first, second = ('0', '1') if isinstance(table, list) else ('a', 'b')
        for by, order in (
            (['-' + first, second], [0, 1, 2]),
            ([first, '-' + second], [2, 1, 0]),
            ('-1', [2, 1, 0]),
            (1, [0, 1, 2]),
            ([0, '-' + second], [2, 1, 0]),
        ):
            assert argsort_columns(table, by).tolist() == order
    with pytest.raises(RecsortError, match='^by says itself what descends: leave descending out$'):
        argsort_columns(data, 'a', descending=True)
    with pytest.raises(RecsortError, match='^no column "c"$'):
        argsort_columns(data, 'c')


@pytest.mark.parametrize(
    'column', [np.zeros(3, 'V0'), np.zeros(3, [('a', 'i1', (0,))]), pa.array(['', '', ''])]
)
def test_rows_without_bytes(column):
    assert argsort_columns([column]).tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    'column',
    [
        [],
        pa.array([], pa.string()),
        pa.chunked_array([], pa.int8()),
        pa.table({'a': pa.array([], pa.date32())}),
    ],
)
def test_no_rows(column):
    assert argsort_columns([column]).tolist() == []


def test_descending_may_be_of_numpy():
    columns = [[1, 1, 2], [3, 4, 5]]
    for flags in np.True_, 1, [True, np.True_], np.array([True, True]), (1, 1):
        assert argsort_columns(columns, descending=flags).tolist() == [2, 1, 0]
    for flags in np.False_, 0, [False, np.False_]:
        assert argsort_columns(columns, descending=flags).tolist() == [0, 1, 2]


class Broken:
    """A column whose library fails to hand it out."""

    def __arrow_c_stream__(self, schema=None):
        raise KeyError('in two\nlines')


def test_options_are_the_librarys():
    with pytest.raises(RecsortError, match='none'):
        argsort_columns([[1]], plugin='none')
    values = np.random.default_rng(1).integers(0, 99, 1 << 17)
    assert np.array_equal(
        argsort_columns([values], threads=2, plugin='cpu'), np.argsort(values, kind='stable')
    )


SPARSE = pd.DataFrame({'a': pd.arrays.SparseArray([0, 1])})


@pytest.mark.parametrize(
    ('call', 'message'),
    [
        (lambda: argsort_columns([]), '0 columns'),
        (lambda: argsort_columns([[1], [2]], descending=[True]), '2 columns, 1 values'),
        (lambda: argsort_columns([[1], [2, 3]]), 'different lengths: .1, 2.'),
        (lambda: argsort_columns([[1]], nan='no'), "nan='no'"),
        (lambda: argsort_columns([[1]], nulls='no'), "nulls='no'"),
        (lambda: argsort_columns([[[1]]]), '2 dimensions'),
        (lambda: argsort_columns([[None]]), 'Python objects'),
        (lambda: argsort_columns(3), '^the table cannot be read: '),
        (lambda: argsort_columns(Broken()), '^the table cannot be read: '),
        (lambda: argsort_columns([[1], Broken()]), '^column 1 cannot be read: '),
        (
            lambda: argsort_columns([pl.Series([1], dtype=pl.Int128)]),
            '^column 0 cannot be read: .*_pli128',
        ),
        (lambda: argsort_columns(SPARSE), '^the table cannot be read: Sparse pandas data'),
        (lambda: argsort_columns([SPARSE['a']]), '^column 0 cannot be read: '),
        (
            lambda: argsort_columns(pd.DataFrame({'a': [1, 'x']})),
            '^the table cannot be read: .*convert',
        ),
        (lambda: argsort_columns([[1]], descending='no'), "^descending='no'; give True or False$"),
        (lambda: argsort_columns([[1], [2]], descending='no'), "^descending='no'; give True or False$"),
        (
            lambda: argsort_columns([[1], [2]], descending=['n', 'o']),
            "^descending='n'; give True or False$",
        ),
        (lambda: argsort_columns([[1]], descending=object()), '^descending=.*; give a list$'),
        (
            lambda: recsort.argsort(pd.DataFrame({'a': [1, 2], 'b': ['x', 'y']})),
            'sort_table sorts it',
        ),
        (
            lambda: recsort.sort(pl.DataFrame({'a': [1, 2], 'b': [3, 4]}), keys='a'),
            'sort_table sorts it',
        ),
        (lambda: argsort_columns([np.ma.array([1, 2], mask=[0, 1])]), 'masked'),
        (lambda: argsort_columns(np.ma.array([1, 2], mask=[0, 1])), 'masked'),
        (lambda: argsort_columns(pa.table({'a': [1], 'b': [2]}), descending=[True]), '2 columns, 1'),
        (lambda: argsort_columns([pa.array([[1]])]), r'Arrow type list<item: int64> cannot be sorted'),
        (
            lambda: argsort_columns([[0.0], pa.array([1.0, np.nan])], nan='error'),
            'record 1: the value of key "1" is nan',
        ),
    ],
)
def test_refusals(call, message):
    with pytest.raises(RecsortError, match=message) as refusal:
        call()
    assert '\n' not in str(refusal.value)
