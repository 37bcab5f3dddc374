"""Samples, splitters and parts of arrays: of all records, each with its key and position."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import fields_of, order_of, records_of, structs

from recsort import RecsortError, Schema, Sorter
from recsort._partition import Partitioner


NAN = st.sampled_from(['last', 'first', 'total'])


@given(structs(), NAN, st.integers(1, 300), st.integers(0, 2**32), st.integers(1, 9))
def test_sorted_parts_of_slices_are_the_sorted_whole(dtype, nan, count, seed, parts):
    records = records_of(dtype, count, np.random.default_rng(seed))
    columns = [(column, False) for column in fields_of(records)]
    if any(column.dtype.char in 'gG' for column, _ in columns):
        return  # longdouble is refused
    if any(column.dtype.kind == 'c' for column, _ in columns):
        nan = 'total'  # the only one for them
    sorter = Sorter(dtype, nan=nan)
    part = Partitioner(sorter)
    marks = part.sample(records, np.arange(count))
    order, _ = order_of(columns, nan)
    assert np.argsort(marks).tolist() == order.tolist()
    splitters = part.splitters(marks, parts - 1)
    assert splitters.tolist() == sorted(splitters.tolist()) and set(splitters.tolist()) <= set(
        marks.tolist()
    )
    found = [[] for _ in range(parts)]
    for begin in range(0, count, 100):
        slice_ = records[begin : begin + 100]
        moved, ends = part.divide(slice_, begin, splitters)
        for to, lot in zip(found, np.split(moved, ends[:-1])):
            to.append(lot)
    merged = [sorter.merge([sorter.sort(lot) for lot in lots]) for lots in found]
    # Every record is a sample.
    assert max(map(len, merged)) - min(map(len, merged)) <= 1
    raw = [record.tobytes() for record in records]
    assert [record.tobytes() for one in merged for record in one] == [raw[at] for at in order]


def test_equal_keys_are_divided_by_position():
    records = np.zeros(1000, [('key', 'u4'), ('at', 'u4')])
    records['at'] = np.arange(1000)
    part = Partitioner(Sorter(records.dtype, 'key'))
    marks = part.sample(records[::10], np.arange(0, 1000, 10) + (7 << 40))
    moved, ends = part.divide(records, 7 << 40, part.splitters(marks, 3))
    assert ends.tolist() == [250, 500, 750, 1000] and moved.tolist() == records.tolist()


def test_a_schema_divides_by_its_keys():
    fields = '[{name: a, type: uint8}, {name: b, type: uint8}]'
    text = f'record: r\nfields: {fields}\nkeys: [{{field: b, order: desc}}]\n'
    sorter = Sorter(Schema.from_yaml(text))
    records = np.array([(1, 1), (2, 5), (3, 9)], sorter.dtype)
    part = Partitioner(sorter)
    moved, ends = part.divide(records, 0, part.sample(records[1:2], [1]))
    assert moved['a'].tolist() == [3, 1, 2] and ends.tolist() == [1, 3]


@pytest.mark.parametrize(
    ('dtype', 'words', 'problem'),
    [
        ('g', {}, 'longdouble'),
        ('c16', {}, 'give nan="total"$'),
        ('c8', {'nan': 'first'}, 'give nan="total"$'),
        ('f4', {'nan': 'error'}, '^nan="error"'),
        ('V0', {}, 'without keys'),
    ],
)
def test_refusals(dtype, words, problem):
    with pytest.raises(RecsortError, match=problem):
        Partitioner(Sorter(dtype, **words))


def test_an_invalid_record_is_named_by_its_position():
    field = (
        '{name: on, type: enum, base: uint8, values: [{name: "no", value: 0}, {name: "yes", value: 1}]}'
    )
    schema = Schema.from_yaml(f'record: r\nfields: [{field}]\nkeys: [on]\n')
    part = Partitioner(Sorter(schema))
    records = np.array([0, 1, 7], 'u1').view(schema.dtype)
    with pytest.raises(RecsortError, match='^record 42: '):
        part.divide(records, 40, part.sample(records[:1], [0]))
    with pytest.raises(RecsortError, match='^record 42: '):
        part.sample(records, [40, 41, 42])
