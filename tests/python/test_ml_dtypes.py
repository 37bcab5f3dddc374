"""The types of ml_dtypes, against NumPy's sorts of what its own conversions make of them."""

import itertools

import ml_dtypes
import numpy as np
import pytest
from oracle import order_of

import recsort
from recsort import RecsortError, Schema, Sorter
from recsort._partition import Partitioner

INTEGERS = ['int1', 'int2', 'int4', 'uint1', 'uint2', 'uint4']
FLOATS = ['bfloat16', *(name for name in dir(ml_dtypes) if name.startswith('float'))]
TYPES = [name for name in INTEGERS + FLOATS if hasattr(ml_dtypes, name)]
BITS = {'float6_e2m3fn': 6, 'float6_e3m2fn': 6, 'float4_e2m1fn': 4}  # others fill their bytes
EVERY = list(itertools.product(['last', 'first', 'total'], [False, True]))


def of(name):
    return np.dtype(getattr(ml_dtypes, name))


def values_of(name, count=300, seed=1):
    """Any bits, and few enough to be equal often: of each byte also those that do not count."""
    dtype, rng = of(name), np.random.default_rng(seed)
    some = rng.integers(0, 256, (count // 3, dtype.itemsize), np.uint8)
    return some[rng.integers(0, len(some), count)].view(dtype).ravel()


def in_numpy(values, nan):
    """Numbers of NumPy in the order of the values."""
    name = values.dtype.name
    if name in INTEGERS:
        return values.astype(np.int8)
    if name in BITS:  # the comparisons of ml_dtypes ignore the other bits, its conversions do not
        values = (values.view(np.uint8) & (1 << BITS[name]) - 1).view(values.dtype)
    wide = values.astype(np.float32)
    if nan != 'total':
        return wide
    size = values.dtype.itemsize
    number, width = values.view(f'u{size}').astype(int), BITS.get(name, 8 * size)
    if name == 'float8_e8m0fnu':
        return number
    sign, magnitude = number >> width - 1 & 1, number & (1 << width - 1) - 1
    ordered = np.where(sign, -magnitude - 1, magnitude)
    return np.where(np.isnan(wide), -(1 << width), ordered) if name.endswith('uz') else ordered


def raw(array):
    return [record.tobytes() for record in array]


def test_no_type_is_forgotten():
    scalars = [one for one in vars(ml_dtypes).values() if isinstance(one, type)]
    known = {one.__name__ for one in scalars if issubclass(one, np.generic)}
    assert known <= {*TYPES, 'complex32', 'bcomplex32'} and len(TYPES) >= 11


@pytest.mark.parametrize('name', TYPES)
def test_arrays(name):
    values = values_of(name)
    assert len(set(raw(values))) < len(values)
    for nan, down in EVERY:
        order, tied = order_of([(in_numpy(values, nan), down)], nan)
        expected = raw(values[order])
        sorter = Sorter(values.dtype, reverse=down, nan=nan)
        assert sorter.argsort(values).tolist() == order.tolist()
        strided = np.repeat(values, 2)[::2]
        assert sorter.argsort(strided).tolist() == order.tolist()
        assert raw(sorter.sort(strided)) == expected
        assert raw(sorter.top(values, 40)) == expected[:40]
        firsts = np.concatenate([[True], ~tied])
        assert raw(sorter.unique(values)) == raw(values[order[firsts]])
        copy = values.copy()
        assert raw(sorter.sort(copy)) == expected and sorter.is_sorted(copy)
        assert not sorter.is_sorted(values)
        runs = [sorter.sort(half.copy()) for half in (values[:99], values[99:])]
        assert raw(sorter.merge(runs)) == expected
        columns = [values, np.arange(300)]
        found = recsort.argsort_columns(columns, descending=[down, False], nan=nan)
        assert found.tolist() == order.tolist()


@pytest.mark.parametrize('name', TYPES)
def test_fields(name):
    dtype = np.dtype([('id', 'u1'), ('v', of(name), 2), ('s', [('w', of(name))])], align=True)
    rng = np.random.default_rng(2)
    records = np.frombuffer(bytearray(rng.bytes(200 * dtype.itemsize)), dtype)
    records['v'], records['s']['w'] = values_of(name, 400).reshape(200, 2), values_of(name, 200, 3)
    for nan, down in EVERY:
        parts = [in_numpy(one, nan) for one in (records['v'][:, 1].copy(), records['s']['w'].copy())]
        order = order_of([(parts[0], down), (parts[1], not down)], nan)[0].tolist()
        keys = ['v[1]', '-s.w']
        assert recsort.argsort(records, keys, reverse=down, nan=nan).tolist() == order
        assert recsort.argsort(records[::3], keys[:1], reverse=down, nan=nan).tolist() == (
            order_of([(parts[0][::3], down)], nan)[0].tolist()
        )
        signed = ['-' * down + keys[0], '-' * (not down) + 's.w']
        schema = Schema.from_dtype(dtype, signed, nan=nan)
        again = Schema.from_yaml(schema.to_yaml())
        assert Sorter(schema).argsort(records).tolist() == order
        assert Sorter(again).argsort(records).tolist() == order


@pytest.mark.parametrize('name', ['complex32', 'bcomplex32'])
def test_complex_numbers(name):
    if not hasattr(ml_dtypes, name):
        pytest.skip('an older ml_dtypes')
    rng, parts = np.random.default_rng(4), [np.nan, np.inf, 0.0, -0.0, 1.5, -2]
    wide = rng.choice(parts, 800).astype(np.float32).view(np.complex64)
    values = wide.astype(of(name))
    for nan, down in EVERY:
        order = order_of([(wide, down)], nan)[0].tolist()
        assert recsort.argsort(values, reverse=down, nan=nan).tolist() == order
        records = values.view([('z', values.dtype)])
        assert recsort.argsort(records, 'z', reverse=down, nan=nan).tolist() == order
        assert recsort.argsort_columns([values], descending=down, nan=nan).tolist() == order
    with pytest.raises(RecsortError, match='give nan="total"$'):
        Partitioner(Sorter(values.dtype))


@pytest.mark.parametrize('name', ['complex32', 'bcomplex32'])
def test_complex_numbers_of_the_other_byte_order_have_no_order(name):
    if not hasattr(ml_dtypes, name):
        pytest.skip('an older ml_dtypes')
    values = np.array([1 + 2j, 2 + 1j, 1 + 1j, 2 + 2j, 1 + 2j], 'c8').astype(of(name))
    swapped = values.astype(values.dtype.newbyteorder())
    records = np.zeros(5, [('z', swapped.dtype), ('id', 'u1')])
    records['z'], records['id'] = swapped, [1, 0, 1, 0, 0]
    refused = f'byte-swapped {name}'
    for call in (
        lambda: recsort.argsort(swapped),
        lambda: recsort.sort(swapped),
        lambda: recsort.argsort(records, 'z'),
        lambda: recsort.argsort_columns([swapped]),
        lambda: Schema.from_dtype(records.dtype, 'z'),
    ):
        with pytest.raises(RecsortError, match=refused):
            call()
    assert recsort.argsort(swapped.astype(values.dtype)).tolist() == [2, 0, 4, 1, 3]
    assert recsort.argsort(records, 'id').tolist() == [1, 3, 4, 0, 2]
    schema = Schema.from_dtype(records.dtype, 'id')
    assert schema.dtype == np.dtype([('z', 'V4'), ('id', 'u1')])


@pytest.mark.parametrize('name', ['complex32', 'bcomplex32'])
def test_halves_of_complex_numbers(name):
    if not hasattr(ml_dtypes, name):
        pytest.skip('an older ml_dtypes')
    values = np.array([1 + 2j, 2 + 1j, 1 + 1j, 2 + 2j, -1 + 2j], 'c8').astype(of(name))
    records = values.view([('z', values.dtype)])
    for keys, expected in (['-z.imag', 'z.real'], [4, 0, 3, 2, 1]), (['-z.real'], [1, 3, 0, 2, 4]):
        assert Sorter(Schema.from_dtype(records.dtype, keys)).argsort(records).tolist() == expected


def test_the_other_byte_order():
    values = values_of('bfloat16')
    swapped = values.view('u2').byteswap().view(values.dtype.newbyteorder())
    for nan, down in EVERY:
        order = order_of([(in_numpy(values, nan), down)], nan)[0]
        assert recsort.argsort(swapped, reverse=down, nan=nan).tolist() == order.tolist()


def test_settings_for_errors_of_numbers_change_nothing():
    with np.errstate(all='raise'):
        values = np.array([0x7F81, 0xFF80, 0x3F80], 'u2').view(of('bfloat16'))  # a signalling NaN
        assert recsort.argsort(values).tolist() == [1, 2, 0]
        with pytest.raises(RecsortError, match='^record 0: the value is nan$'):
            recsort.argsort(values, nan='error')


@pytest.mark.parametrize('name', FLOATS)
def test_nan_can_be_refused(name):
    values = values_of(name)
    missing = np.isnan(in_numpy(values, 'last'))
    if missing.any():
        first = missing.argmax()
        with pytest.raises(RecsortError, match=f'^record {first}: the value is nan$'):
            recsort.sort(values, nan='error')
    held = values[~missing]
    order = order_of([(in_numpy(held, 'last'), False)], 'last')[0]
    assert recsort.argsort(held, nan='error').tolist() == order.tolist()


def test_parts_for_several_processes():
    values = values_of('float8_e5m2')
    part = Partitioner(Sorter(values.dtype, nan='first'))
    marks = part.sample(values, np.arange(len(values)))
    order = order_of([(in_numpy(values, 'first'), False)], 'first')[0]
    assert np.argsort(marks).tolist() == order.tolist()
