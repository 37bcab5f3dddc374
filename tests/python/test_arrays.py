"""Sorting of arrays, against NumPy's own stable sorts."""

import copy
import importlib
import itertools
import os
import pickle
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import recsort
from hypothesis import given
from hypothesis import strategies as st
from oracle import dtypes, fields_of, is_missing, order_of, records_of, scalars, structs
from recsort import RecsortError, Sorter

# A type that is not of NumPy, though its tests have it; NumPy calls its kind V, as it does bytes.
tests = np.core if np.__version__.startswith('1.') else np._core
RATIONAL = np.dtype(importlib.import_module(tests.__name__ + '._rational_tests').rational)

counts = st.sampled_from([0, 1, 2, 7, 100, 100, 100, 400])
seeds = st.integers(0, 2**32)
VIEWS = {'whole': slice(None), 'strided': slice(1, None, 3), 'backward': slice(None, None, -1)}


def raw(array):
    return [record.tobytes() for record in array]


def total_exists(columns):
    return not any(
        column.dtype.kind == 'f'
        and column.itemsize > 8
        or column.dtype.kind == 'c'
        and column.itemsize > 16
        for column in columns
    )


@st.composite
def problems(draw):
    """Records, keys, and the columns that they stand for with whether each descends."""
    dtype, rng = draw(dtypes), np.random.default_rng(draw(seeds))
    view = VIEWS[draw(st.sampled_from(sorted(VIEWS)))]
    records = records_of(dtype, draw(counts), rng)[view]
    reverse = draw(st.booleans())
    if dtype.names is None or draw(st.booleans()):
        return records, None, reverse, [(column, reverse) for column in fields_of(records)]
    picked = draw(
        st.lists(st.tuples(st.sampled_from(dtype.names), st.booleans()), min_size=1, max_size=3)
    )
    # "-x" is the name of a field where there is one.
    signs = [(name, down and '-' + name not in dtype.names) for name, down in picked]
    keys = ['-' * down + name for name, down in signs]
    return (
        records,
        keys,
        reverse,
        [(column, down != reverse) for name, down in signs for column in fields_of(records[name])],
    )


def test_numpy_is_the_version_that_is_meant():
    assert np.__version__.startswith(os.environ['RECSORT_NUMPY'])


@given(problems(), st.sampled_from(['last', 'last', 'first', 'total']))
def test_every_call_agrees_with_the_oracle(problem, nan):
    records, keys, reverse, columns = problem
    if nan == 'total' and not total_exists(column for column, _ in columns):
        with pytest.raises(RecsortError, match='longdouble'):
            recsort.argsort(records, keys, nan=nan)
        return
    order, tied = order_of(columns, nan)
    before = raw(records)
    expected = [before[at] for at in order]  # NumPy would not copy the padding
    sorter = Sorter(records.dtype, keys, reverse=reverse, nan=nan)
    index = sorter.argsort(records)
    assert index.dtype == np.intp and index.tolist() == order.tolist()
    assert sorter.is_sorted(records) == (order.tolist() == sorted(order))
    firsts = np.concatenate([[True], ~tied])[: len(order)]
    assert raw(sorter.unique(records)) == [before[at] for at in order[firsts]]
    for n in (0, 1, len(order) // 16, len(order) // 2, len(order), len(order) + 1):
        assert raw(sorter.top(records, n)) == expected[:n]
    out = np.zeros(2 * len(records), records.dtype)[::2]
    assert sorter.sort(records, out=out) is out
    assert raw(out) == expected and raw(records) == before
    contiguous = np.zeros(len(records), records.dtype)
    assert raw(sorter.sort(records, out=contiguous)) == expected
    assert sorter.sort(records) is records
    assert raw(records) == expected and sorter.is_sorted(records)


@given(problems(), st.sampled_from(['last', 'first', 'total']), st.lists(st.floats(0, 1), max_size=4))
def test_a_merge_agrees_with_the_oracle(problem, nan, cuts):
    records, keys, reverse, columns = problem
    if nan == 'total' and not total_exists(column for column, _ in columns):
        return
    before = raw(records)
    expected = [before[at] for at in order_of(columns, nan)[0]]
    sorter = Sorter(records.dtype, keys, reverse=reverse, nan=nan)
    ends = [0, *sorted(int(cut * len(records)) for cut in cuts), len(records)]
    slices = [records[begin:end] for begin, end in zip(ends, ends[1:])]
    runs = [sorter.sort(part, out=np.empty(len(part), part.dtype)) for part in slices]
    contiguous = [raw(run) for run in runs]
    assert raw(recsort.merge(runs, keys, reverse=reverse, nan=nan)) == expected
    strided = [np.zeros(3 * len(run), records.dtype)[::3] for run in runs]
    for to, run in zip(strided, runs):
        recsort.sort(run, keys, reverse=reverse, nan=nan, out=to)
    out = np.zeros(2 * len(records), records.dtype)[::2]
    assert sorter.merge(strided, out=out) is out
    assert raw(out) == expected and [raw(run) for run in runs] == contiguous


def test_what_a_merge_refuses():
    one, two = np.arange(4.0), np.array([1.0, 3.0, 2.0])
    with pytest.raises(RecsortError, match='^run 1, record 2: '):
        recsort.merge([one, two])
    with pytest.raises(RecsortError, match='^there is no array to merge$'):
        recsort.merge([])
    with pytest.raises(RecsortError, match='^out has 7 records, not 8$'):
        recsort.merge([one, one], out=np.empty(7))
    with pytest.raises(RecsortError, match='^out shares memory with an array that is merged$'):
        recsort.merge([one[:2], one[:2]], out=one)
    with pytest.raises(RecsortError, match='dtype'):
        recsort.merge([one, one.astype('f4')])
    times = np.array(['2026', 'NaT'], 'M8[s]')  # keys that are copied
    with pytest.raises(RecsortError, match='^run 1, record 1: '):
        recsort.merge([times, times[::-1]])
    assert Sorter('f4').merge([]).dtype == 'f4' and len(Sorter('f4').merge([])) == 0
    assert one.tolist() == [0, 1, 2, 3] and two.tolist() == [1, 3, 2]


@given(structs(), counts, seeds, st.data())
def test_structured_arrays_are_in_numpys_order(dtype, count, seed, data):
    records = records_of(dtype, count, np.random.default_rng(seed))
    # NumPy compares a whole struct or subarray as bytes, and puts NaN of float16 first in structs only.
    flat = [name for name in dtype.names if dtype[name].kind != 'V' and dtype[name].char != 'e']
    if flat:
        keys = data.draw(st.lists(st.sampled_from(flat), min_size=1, max_size=3, unique=True))
        assert (
            recsort.argsort(records[keys], keys).tolist()
            == np.argsort(records[keys], order=keys, kind='stable').tolist()
        )


@given(scalars.filter(lambda dtype: dtype.kind != 'V'), counts, seeds)
def test_plain_arrays_are_in_numpys_order(dtype, count, seed):
    values = records_of(dtype, count, np.random.default_rng(seed))
    assert recsort.argsort(values).tolist() == np.argsort(values, kind='stable').tolist()


@given(dtypes, seeds)
def test_missing_values_can_be_refused(dtype, seed):
    records = records_of(dtype, 40, np.random.default_rng(seed))
    missing = [is_missing(column).any() for column in fields_of(records) if column.dtype.kind in 'fcMm']
    if any(missing):
        before = raw(records)
        with pytest.raises(RecsortError, match=r'record \d+: the value .*(nan|NaT)'):
            recsort.sort(records, nan='error')
        assert raw(records) == before
    else:
        assert (
            recsort.argsort(records, nan='error').tolist()
            == order_of([(column, False) for column in fields_of(records)], 'last')[0].tolist()
        )


def test_the_refusal_names_the_record_and_the_key():
    stars = np.array([(1, 0), (np.nan, 0), (np.nan, 0)], [('mag', 'f4'), ('id', 'i4')])
    with pytest.raises(RecsortError, match='^record 1: the value of key "mag" is nan$'):
        recsort.sort(stars, '-mag', nan='error')


@pytest.mark.parametrize('dtype', ['f4', 'i8', '>f8', 'M8[s]', 'S3', [('k', 'u2'), ('p', 'V30')]])
def test_many_records_by_all_threads(dtype):
    rng = np.random.default_rng(4)
    records = records_of(np.dtype(dtype), 1 << 17, rng)
    key = fields_of(records)[0]
    order = order_of([(key, True)], 'last')[0]
    expected = records[order]
    assert (
        recsort.argsort(records, None if records.dtype.names is None else ['k'], reverse=True).tolist()
        == order.tolist()
    )
    assert raw(
        recsort.sort(
            records,
            None if records.dtype.names is None else ['-k'],
            reverse=records.dtype.names is None,
        )
    ) == raw(expected)


def test_keys_lead_into_structs_and_subarrays():
    dtype = np.dtype([('grid', [('u', 'i1'), ('w', 'i1', (2, 2))], (2, 3)), ('id', 'i4')])
    records = records_of(dtype, 200, np.random.default_rng(1))
    grid = records['grid']
    for key, columns in {
        'grid[1,2].u': [grid['u'][:, 1, 2]],
        'grid[1][2].u': [grid['u'][:, 1, 2]],
        'grid[0,1].w[1,0]': [grid['w'][:, 0, 1, 1, 0]],
        'grid[0,1].w[1]': [grid['w'][:, 0, 1, 1, 0], grid['w'][:, 0, 1, 1, 1]],
        'grid[1]': [column for at in range(3) for column in fields_of(grid[:, 1, at])],
    }.items():
        for sign in '', '-':
            expected = order_of([(column, bool(sign)) for column in columns], 'last')[0]
            assert recsort.argsort(records, sign + key).tolist() == expected.tolist(), key


def test_the_longest_name_that_leads_to_a_field_is_meant():
    dtype = np.dtype([('a', [('b', 'i1'), ('c', 'i1')]), ('a.b', 'i1'), ('-a', 'i1')])
    records = np.array([((0, 1), 2, 0), ((1, 0), 1, 1), ((2, 2), 0, 2)], dtype)
    assert recsort.argsort(records, 'a.b').tolist() == [2, 1, 0]
    assert recsort.argsort(records, 'a.c').tolist() == [1, 0, 2]
    assert recsort.argsort(records, '-a').tolist() == [0, 1, 2]
    assert recsort.argsort(records, '-a.b').tolist() == [0, 1, 2]


# What a field may be that is no key.
BESIDE = [
    'm8[ns]',
    'M8[h]',
    'M8[25s]',
    'c8',
    'G',
    'g',
    'V0',
    'S0',
    'V3',
    'U2',
    '>f8',
    ('c16', 2),
    RATIONAL,
]
BESIDE += [np.dtype('i4', metadata={'unit': 'm'}), [('x [m]', 'm8'), ('-', 'V0')]]
ODD_NAMES = [
    'x [m]',
    'a.b',
    '.',
    '[0]',
    'a[',
    '-',
    '-k',
    '--k',
    'padding 1',
    'naïve ',
    '\n',
    '\udc80',
    'k.',
]


@pytest.mark.parametrize('beside', BESIDE, ids=str)
def test_fields_that_are_no_key_are_bytes_of_any_type_and_name(beside):
    rng = np.random.default_rng(5)
    for name in ODD_NAMES:
        dtype = np.dtype([(name, beside), ('key', 'i2'), ('other ' + name, beside)], align=True)
        data = rng.bytes(90 * dtype.itemsize)
        records = np.frombuffer(bytearray(data), dtype)
        records['key'] = rng.integers(0, 9, 90)
        before = raw(records)
        for sign, values in ('', records['key'].copy()), ('-', -records['key']):
            order = np.argsort(values, kind='stable')
            half = np.argsort(values[::2], kind='stable')
            assert recsort.argsort(records, sign + 'key').tolist() == order.tolist()
            assert recsort.argsort(records[::2], sign + 'key').tolist() == half.tolist()
            # NumPy would not copy the padding.
            copy = np.frombuffer(bytearray(records.tobytes()), dtype)
            assert raw(recsort.sort(copy, sign + 'key')) == [before[at] for at in order]


@pytest.mark.parametrize('name', ODD_NAMES)
def test_a_field_of_any_name_is_a_key(name):
    records = np.zeros(50, [('first', 'i4'), (name, 'i2'), (name + '2', [('x', 'u1', 2)])])
    rng = np.random.default_rng(6)
    records[name], records[name + '2']['x'] = rng.integers(0, 9, 50), rng.integers(0, 9, (50, 2))
    for sign in '', '-':
        for key, values in (name, records[name]), (name + '2.x[1]', records[name + '2']['x'][:, 1]):
            order = order_of([(values, bool(sign))], 'last')[0]
            assert recsort.argsort(records, sign + key).tolist() == order.tolist()


@pytest.mark.parametrize('unit', ['', '[Y]', '[M]', '[W]', '[h]', '[m]', '[25s]', '[ps]', '[as]'])
def test_times_of_any_unit_are_keys_and_nat_is_as_nan(unit):
    values = np.random.default_rng(7).integers(-3, 4, 60)
    values[::7] = np.iinfo('i8').min
    for kind in 'Mm':
        times = values.astype('i8').view(kind + '8' + unit)
        missing = values == np.iinfo('i8').min
        for nan, down in itertools.product(('last', 'first', 'total'), (False, True)):
            place = {'last': missing, 'first': ~missing, 'total': 0 * missing}[nan]
            own = np.where(missing & (nan != 'total'), 0, -values.astype(object) if down else values)
            order = sorted(range(60), key=lambda at: (place[at], own[at]))
            assert recsort.argsort(times, nan=nan, reverse=down).tolist() == order
            for as_records in (
                times.view([('t', times.dtype)]),
                times.astype(times.dtype.newbyteorder('>')),
            ):
                assert recsort.argsort(as_records, nan=nan, reverse=down).tolist() == order


def test_a_reverse_that_is_a_number_or_of_numpy_is_a_truth():
    for value in 2, 1, np.True_:
        assert recsort.argsort([1, 3, 2], reverse=value).tolist() == [1, 2, 0]
        assert recsort.argsort(STARS.repeat(2), ['-mag', 'id'], reverse=value).tolist() == [0, 1]
    assert recsort.argsort([1, 3, 2], reverse=np.False_).tolist() == [0, 2, 1]


def test_a_value_that_comes_again_decides_nothing_and_signs_cancel():
    records = np.array([(0, 1), (0, 0), (1, 0)], [('a', 'i1'), ('b', 'i1')])
    assert recsort.argsort(records, ['a', '-a', 'b']).tolist() == [1, 0, 2]
    assert recsort.argsort(records, ['-a', 'b'], reverse=True).tolist() == [0, 1, 2]


def test_an_array_of_as_many_numbers_as_a_schema_may_have_is_a_key():
    most = 1 << 17  # of two numbers each
    records = np.zeros(4, [('id', 'u1'), ('a', 'c8', most)])
    records['a'][[0, 2], -1] = 3, -5
    records['a'][3, 1] = -1j
    assert recsort.argsort(records, '-a').tolist() == [0, 1, 2, 3]
    with pytest.raises(RecsortError, match='^the keys are arrays of more than 262144 elements'):
        Sorter([('a', 'c8', most + 1)])


def test_neighbours_of_one_type_are_compared_as_their_keys_say():
    fields = [('a', 'f4'), ('b', 'f4', 2), ('c', '>f4'), ('d', 'f4'), ('e', 'u4'), ('s', 'S1', 2)]
    records = np.zeros(500, fields)
    rng = np.random.default_rng(3)
    for name in records.dtype.names:
        records[name] = rng.integers(0, 3, records[name].shape)
    a, c, d, e = (records[name] for name in 'acde')
    b, s = [*records['b'].T], [*records['s'].T]
    for keys, columns in [
        (['a', 'b'], [(a, False), (b[0], False), (b[1], False)]),
        (['a', '-b', 'c'], [(a, False), (b[0], True), (b[1], True), (c, False)]),
        (['b', 'a'], [(b[0], False), (b[1], False), (a, False)]),
        (['a', 'b[1]', 'd'], [(a, False), (b[1], False), (d, False)]),
        (['d', 'e', '-s'], [(d, False), (e, False), (s[0], True), (s[1], True)]),
    ]:
        expected = order_of(columns, 'last')[0].tolist()
        assert recsort.argsort(records, keys).tolist() == expected


def test_overlapping_fields_are_keys():
    dtype = np.dtype({'names': ['whole', 'low'], 'formats': ['<u4', '<u2'], 'offsets': [0, 0]})
    records = np.array([1 << 16, 2, 1], '<u4').view(dtype)
    assert recsort.argsort(records, ['low', 'whole']).tolist() == [0, 2, 1]


@pytest.mark.parametrize(('width', 'step'), [(32, 1), (7, 3), (8, -2)])
def test_windows_that_overlap_are_records(width, step):
    text = np.random.default_rng(1).integers(0, 4, 3000).astype('u1')
    count = (len(text) - width) // abs(step) + 1
    windows = np.ndarray(count, f'V{width}', text, max(0, -step * (count - 1)), (step,))
    bytes_of = [window.tobytes() for window in windows]
    assert recsort.argsort(windows).tolist() == sorted(range(count), key=bytes_of.__getitem__)


def test_a_memmap_is_sorted_in_its_file(tmp_path):
    values = np.random.default_rng(2).integers(0, 999, 5000)
    values.tofile(tmp_path / 'values')
    mapped = np.memmap(tmp_path / 'values', values.dtype, 'r+')
    assert recsort.sort(mapped) is mapped
    mapped.flush()
    assert np.fromfile(tmp_path / 'values', values.dtype).tolist() == sorted(values.tolist())
    with pytest.raises(RecsortError, match='read-only'):
        recsort.sort(np.memmap(tmp_path / 'values', values.dtype, 'r'))


def test_a_contiguous_array_is_given_to_the_library_itself(monkeypatch):
    records, given_addresses = np.array([3, 1, 2]), []
    call = recsort._library.sort

    def sort(sorter, address, count):
        given_addresses.append(address)
        call(sorter, address, count)

    monkeypatch.setattr(recsort._library, 'sort', sort)
    recsort.sort(records)
    assert given_addresses == [records.ctypes.data] and records.tolist() == [1, 2, 3]


def test_the_gil_is_released():
    values, ticks, stop = np.random.default_rng(3).random(1 << 21), [], threading.Event()

    def tick():
        while not stop.wait(0.001):
            ticks.append(time.monotonic())

    thread = threading.Thread(target=tick)
    thread.start()
    sorter, during = Sorter(values.dtype, threads=1), 0
    for _ in range(50):  # on a busy machine the thread may not get a processor
        start = time.monotonic()
        sorter.sort(values.copy())
        end = time.monotonic()
        during = max(during, sum(start < at < end for at in ticks))
        if during > 5:
            break
    stop.set()
    thread.join()
    # While a thread has the GIL, another one comes by at most once between two of its instructions.
    assert during > 5, during


def test_threads_share_a_sorter():
    sorter, failures = Sorter('i4'), []

    def work(seed):
        values = np.random.default_rng(seed).integers(0, 1000, 20000).astype('i4')
        for _ in range(20):
            order = sorter.argsort(values)
            if not np.array_equal(order, np.argsort(values, kind='stable')) or len(
                sorter.unique(values)
            ) != len(set(values.tolist())):
                failures.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_lack_of_memory_is_a_memory_error():
    code = """
import resource, numpy as np, recsort
values = np.random.default_rng(0).integers(0, 9, 1 << 23)
sorter, before = recsort.Sorter(values.dtype, threads=1), values.copy()
used = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 24), resource.RLIM_INFINITY))
try:
    sorter.sort(values)
except MemoryError as error:
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert (values == before).all()
    print('refused:', error)
"""
    text = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True)
    assert text.stdout.startswith('refused: ') and len(text.stdout) > 15, text


def test_working_memory():
    """The most that a sort allocates, beside the array: bytes for each record."""
    code = """
import os, sys, numpy as np, recsort
count, calls = 1 << 21, {'sort': lambda s, a, b: s.sort(a), 'out': lambda s, a, b: s.sort(a, out=b)}
calls['argsort'] = lambda s, a, b: s.argsort(a)

def read(word):
    return next(int(line.split()[1]) for line in open('/proc/self/status') if line.startswith(word)) << 10

for dtype in 'i2', 'i8', 'V16', 'V40', [('k', 'f4'), ('p', 'V12')]:
    for name, call in calls.items():
        end, begin = os.pipe()
        if os.fork():
            os.wait()
            print(np.dtype(dtype).itemsize, name, os.read(end, 99).decode())
            continue
        size = np.dtype(dtype).itemsize
        a = np.frombuffer(bytearray(np.random.default_rng(0).bytes(count * size)), np.uint8)
        a = a.view(dtype)
        b = np.frombuffer(bytearray(count * size), a.dtype)
        s = recsort.Sorter(a.dtype, a.dtype.names and 'k', threads=1, plugin='cpu')
        call(s, a[: 1 << 14], b[: 1 << 14])  # the code is in memory then
        open('/proc/self/clear_refs', 'w').write('5')
        before = read('VmRSS')
        result = call(s, a, b)
        own = result.nbytes if name == 'argsort' else 0
        os.write(begin, b'%f' % ((read('VmHWM') - before - own) / count))
        os._exit(0)
"""
    found = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True)
    assert found.returncode == 0 and not found.stderr, found
    rows = [line.split() for line in found.stdout.splitlines()]
    used = {
        name: [float(row[2]) for row in rows if row[1] == name] for name in ('sort', 'out', 'argsort')
    }
    for at, (size, beside, indices) in enumerate(
        [(2, 4, 16), (8, 4, 24), (16, 4, 39), (40, 20, 87), (16, 4, 16)]
    ):
        assert size < used['sort'][at] < size + beside + 2, rows
        assert used['out'][at] < beside + (size == 40) * size + 2, rows
        assert indices - 8 < used['argsort'][at] < indices + 2, rows


def test_threads_are_as_many_as_asked():
    code = """
import os, numpy as np, recsort
count = lambda: len(os.listdir('/proc/self/task'))
values, before = np.random.default_rng(0).random(1 << 20), count()
for threads in 1, 3:
    recsort.sort(values.copy(), threads=threads)
    recsort.top(values, 1 << 19, threads=threads)
    print(count() - before)
"""
    text = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True)
    assert text.stdout.split() == ['0', '2'], text


class Broken:
    """An array of another library that NumPy cannot read, such as bfloat16 of torch."""

    def __init__(self, kind=RuntimeError):
        self.kind = kind

    def __array__(self, *_, **__):
        raise self.kind('in two\nlines')


STARS = np.array([(1, 2)], [('mag', 'f4'), ('id', 'i4')])


@pytest.mark.parametrize(
    ('call', 'message'),
    [
        (lambda: recsort.sort(STARS, 'mug'), '^no field "mug"; did you mean "mag"?'),
        (lambda: recsort.sort(STARS, ['mag', '-nothing']), '^no field "-nothing"$'),
        (lambda: recsort.sort(STARS, []), 'keys is empty'),
        (lambda: recsort.argsort(np.zeros(3, [('p', 'i1', (2, 3))]), 'p[2]'), r'^no field "p\[2\]"'),
        (lambda: recsort.argsort(np.zeros(3, [('p', 'i1', (2, 3))]), 'p[0,1,0]'), 'no field'),
        (lambda: recsort.argsort(np.zeros(3, [('p', 'i1')]), 'p[0]'), 'no field'),
        (lambda: recsort.argsort(np.zeros(3, [('p', 'i1')]), 'p.q'), 'no field'),
        (lambda: recsort.sort(STARS, [1.5]), '^keys has 1.5; give names, or positions from 0$'),
        (lambda: recsort.sort(STARS, nan='middle'), "nan='middle'"),
        (lambda: recsort.sort([3, 1]), 'only a NumPy array'),
        (lambda: recsort.sort(np.zeros((2, 2, 2))), '3 dimensions'),
        (lambda: recsort.sort(np.zeros((2, 2), STARS.dtype)), '2 dimensions'),
        (lambda: recsort.sort(np.zeros((2, 0))), '^rows without columns have no order$'),
        (lambda: recsort.sort(np.zeros((2, 2)), 2), '^no field "2"$'),
        (
            lambda: recsort.sort(np.zeros((2, 2)), -1),
            '^keys has -1; positions count from 0: write "-1", as a text, to let 1 descend$',
        ),
        (lambda: recsort.sort(np.zeros((2, 2)), True), '^keys has True'),
        (
            lambda: Sorter(('f8', 2)).sort(np.zeros((2, 3))),
            '^the array has 3 columns of float64; the sorter is for 2 ',
        ),
        (lambda: recsort.sort(np.array([None])), 'Python objects'),
        (lambda: recsort.sort(np.ma.masked_equal([1, 2], 1)), 'masked'),
        (lambda: recsort.sort(STARS, out=np.zeros(2, STARS.dtype)), 'out has 2 records, not 1'),
        (lambda: recsort.sort(STARS, out=np.zeros(1)), 'the array has dtype float64'),
        (lambda: recsort.sort(STARS, out=STARS), 'shares memory'),
        (lambda: recsort.top(STARS, -1), 'n is -1'),
        (lambda: recsort.argtop(STARS, -1), 'n is -1'),
        (lambda: recsort.partition(STARS, 1), '^kth=1; there are 1 records$'),
        (lambda: recsort.argpartition(STARS, [0, -2]), '^kth=-2; there are 1 records$'),
        (
            lambda: recsort.searchsorted(STARS, (1, 2), 'mag', side='up'),
            "^side='up'; give one of left, right$",
        ),
        (lambda: recsort.searchsorted([1, 2], 1.5), '^1.5 is no int64$'),
        (lambda: recsort.searchsorted(np.array([1, 2], 'i1'), 300), '^300 is no int8'),
        (lambda: recsort.searchsorted(np.array(['a']), 'ab'), '^.ab. is no <U1$'),
        (
            lambda: recsort.searchsorted([1j], 1),
            '^key "": for complex128 to be searched give nan="total"$',
        ),
        (lambda: recsort.argsort(STARS, threads=-1), 'threads=-1'),
        (lambda: recsort.argsort(STARS, plugin='none'), '"none"'),
        (lambda: recsort.argsort(STARS, algorithm='none', plugin='cpu'), 'none'),
        (lambda: recsort.argsort(STARS, plugin='cpu', plugin_options={'speed': 3}), 'speed'),
        (lambda: Sorter('i4').argsort(np.zeros(3, 'i8')), 'the sorter is for int32'),
        (lambda: Sorter('i4').set_parameter('eye', [1]), 'eye'),
        (lambda: recsort.sort(np.frombuffer(b'21', 'u1')), 'read-only'),
        (lambda: recsort.sort(STARS, 'mag\udc80'), '^no field '),
        (lambda: recsort.sort(STARS, 'mag\0\n'), r'^no field "mag.u0000.n"'),
        (lambda: recsort.sort(STARS, 5), '^no field "5"$'),
        (lambda: recsort.sort(STARS, ['']), '^keys is empty'),
        (lambda: recsort.sort(STARS, reverse='no'), "^reverse='no'; give True or False$"),
        (lambda: recsort.sort(STARS, nan=np.zeros((2, 2))), 'nan=array.*; give one of last, first'),
        (lambda: recsort.sort(STARS, threads='2'), "^threads='2'; give an integer$"),
        (lambda: recsort.sort(STARS, plugin='cpu\0'), 'has a NUL; leave it out$'),
        (lambda: recsort.sort(STARS, plugin='\udc80'), 'is no text that UTF-8 can hold$'),
        (lambda: recsort.sort(STARS, plugin=3), '^3 is no text'),
        (lambda: recsort.sort(STARS, plugin_options=['a=b']), '^plugin_options=.*; give a dict$'),
        (lambda: recsort.top(STARS, 1.5), '^n=1.5; give an integer$'),
        (lambda: recsort.merge(3), '^arrays=3; give a list$'),
        (lambda: recsort.argsort([[1], [1, 2]]), '^a list is not an array of NumPy: '),
        (lambda: recsort.argsort(Broken()), '^a Broken is not an array of NumPy: in two$'),
        (lambda: recsort.argsort(Broken(TypeError)), '^a Broken is not an array of NumPy: in two$'),
        (lambda: Sorter('nonsense'), "^'nonsense' is no dtype: "),
        (lambda: Sorter('i4').set_parameter('eye', 'here'), "^'here' are no numbers$"),
        (
            lambda: recsort.argsort(np.zeros(2, RATIONAL)),
            '^values of dtype rational have no order here',
        ),
        (lambda: recsort.argsort(np.zeros(2, [('q', RATIONAL)]), 'q'), 'dtype rational have no order'),
        (lambda: recsort.argsort(np.zeros(2, [('q', RATIONAL, 2)])), 'dtype rational have no order'),
        (lambda: recsort.argsort_columns([np.zeros(2, RATIONAL)]), 'dtype rational have no order'),
    ],
)
def test_refusals(call, message):
    before = STARS.copy()
    with pytest.raises(RecsortError, match=message) as refusal:
        call()
    assert '\n' not in str(refusal.value) and (STARS == before).all()


WITH_OBJECTS = np.array([(2, 'x', 0), (1, [], 1), (2, None, 2)], [('k', 'i4'), ('o', 'O'), ('f', 'f8')])


def test_indices_beside_python_objects():
    for a, order in (WITH_OBJECTS, [1, 0, 2]), (WITH_OBJECTS[::-1], [1, 0, 2]):
        assert recsort.argsort(a, 'k').tolist() == order
        assert recsort.argtop(a, 2, ['-k', 'f']).tolist() == ([0, 2] if a is WITH_OBJECTS else [2, 0])
        assert not recsort.is_sorted(a, 'k')
    for call, message in (
        (lambda: recsort.argsort(WITH_OBJECTS), '^the records hold Python objects'),
        (lambda: recsort.argsort(WITH_OBJECTS, ['k', 'o']), '^field "o" holds Python objects'),
        (lambda: recsort.sort(WITH_OBJECTS, 'k'), '^records that hold Python objects cannot be sorted'),
        (lambda: recsort.unique(WITH_OBJECTS, 'k'), '^records that hold Python objects'),
    ):
        with pytest.raises(RecsortError, match=message):
            call()


@given(dtypes.filter(lambda dtype: dtype.kind != 'V'), counts, seeds, st.booleans())
def test_unique_returns_what_numpys_does(dtype, count, seed, reverse):
    records = records_of(dtype, count, np.random.default_rng(seed))
    order, tied = order_of([(column, reverse) for column in fields_of(records)], 'last')
    begins = np.concatenate([[True], ~tied])[:count]
    groups = np.cumsum(begins) - 1
    found, index, inverse, sizes = recsort.unique(
        records, reverse=reverse, return_index=True, return_inverse=True, return_counts=True
    )
    assert raw(found) == raw(records[order[begins]])
    assert index.tolist() == order[begins].tolist()
    assert inverse[order].tolist() == groups.tolist()
    assert sizes.tolist() == np.bincount(groups, minlength=len(found)).tolist()
    assert raw(recsort.unique(records, reverse=reverse, return_counts=True)[0]) == raw(found)
    if dtype.kind in 'biuSU' and not reverse:
        own = np.unique(records, return_index=True, return_inverse=True, return_counts=True)
        for ours, theirs in zip((found, index, inverse, sizes), own):
            assert np.array_equal(ours, theirs)


@given(problems(), st.integers(-400, 399))
def test_argtop_and_partition_agree_with_the_oracle(problem, kth):
    records, keys, reverse, columns = problem
    order, count = order_of(columns, 'last')[0], len(records)
    sorter = Sorter(records.dtype, keys, reverse=reverse)
    for n in (0, 1, count // 2, count, count + 3):
        assert sorter.argtop(records, n).tolist() == order[:n].tolist()
    if count:
        kth = kth % (2 * count) - count
        for ks in kth, [kth, 0]:
            first = order[: kth % count + 1].tolist()
            expected = first + [at for at in range(count) if at not in set(first)]
            assert sorter.argpartition(records, ks).tolist() == expected
            assert raw(sorter.partition(records, ks)) == [raw(records)[at] for at in expected]
    assert sorter.argpartition(records, []).tolist() == list(range(count))


@given(problems(), st.sampled_from(['last', 'first', 'total']), st.booleans())
def test_searchsorted_agrees_with_the_oracle(problem, nan, strided):
    records, keys, reverse, columns = problem
    sorter = Sorter(records.dtype, keys, reverse=reverse) if nan == 'last' else None
    try:
        sorter = Sorter(records.dtype, keys, reverse=reverse, nan=nan)
        sorter.searchsorted(records[:0], records[:0])
    except RecsortError as error:
        assert any(word in str(error) for word in ('longdouble', 'complex'))
        return
    order, tied = order_of(columns, nan)
    groups = np.zeros(len(order), int)
    groups[order] = np.cumsum(np.concatenate([[True], ~tied])[: len(order)]) if len(order) else 0
    some = np.random.default_rng(len(order)).permutation(len(order))[::2]
    a = records[np.sort(order[::2])]  # every other record of the order
    a = records[order[::2]] if not strided else np.repeat(records[order[::2]], 2)[::2]
    inside, wanted = groups[order[::2]], records[some]
    for side in 'left', 'right':
        expected = np.searchsorted(inside, groups[some], side)
        assert sorter.searchsorted(a, wanted, side).tolist() == expected.tolist()
    if len(some):
        found = sorter.searchsorted(a, wanted[0])
        assert isinstance(found, np.intp) and found == np.searchsorted(inside, groups[some[0]])


def test_searchsorted_takes_what_numpys_takes():
    a = np.array([1, 3, 3, 7])
    for v in 3, 8, [0, 3, 9], np.array([7, 7], 'i2'), np.int8(1), []:
        for side in 'left', 'right':
            expected = np.searchsorted(a, v, side)
            found = recsort.searchsorted(a, v, side=side)
            assert np.array_equal(found, expected) and np.ndim(found) == np.ndim(expected)
    assert recsort.searchsorted(a[::-1], 3, reverse=True) == 1
    assert recsort.searchsorted(np.array([0.5, 1.5], 'f4'), 1) == 1
    stars = np.array([(1.0, 2), (2.0, 1)], [('mag', 'f4'), ('id', 'i4')])
    assert recsort.searchsorted(stars, (2, 0), ['mag', 'id']) == 1
    assert recsort.searchsorted(stars, [(2, 1), (0, 0)], 'mag', side='right').tolist() == [2, 0]
    assert recsort.searchsorted(np.array([[1, 2], [1, 3]]), [1, 3]) == 1


@given(
    st.sampled_from(['i1', '>i4', 'f4', 'f8', 'g', 'c8', 'M8[s]', 'S2', 'U1', '?']),
    counts,
    st.integers(1, 4),
    st.sampled_from(['C', 'F', 'strided', 'backward']),
    seeds,
    st.data(),
)
def test_rows_are_sorted_by_their_columns(dtype, count, width, layout, seed, data):
    rng = np.random.default_rng(seed)
    rows = records_of(np.dtype(dtype), count * width, rng).reshape(count, width)
    if layout == 'F':
        rows = np.asfortranarray(rows)
    elif layout == 'strided':
        rows = np.repeat(np.repeat(rows, 2, axis=0), 2, axis=1)[::2, ::2]
    elif layout == 'backward':
        rows = rows[::-1, ::-1]
    picked = data.draw(st.lists(st.tuples(st.integers(0, width - 1), st.booleans()), max_size=3))
    keys = [f'-{at}' if down else data.draw(st.sampled_from([at, str(at)])) for at, down in picked]
    columns = picked or [(at, False) for at in range(width)]
    order, tied = order_of([(rows[:, at], down) for at, down in columns], 'last')
    before, keys = rows.copy(), keys or None
    assert recsort.argsort(rows, keys).tolist() == order.tolist()
    assert recsort.argtop(rows, 3, keys).tolist() == order[:3].tolist()
    expected, firsts = before[order], order[np.concatenate([[True], ~tied])[:count]]
    for found, rows_of_it in (
        (recsort.top(rows, 3, keys), expected[:3]),
        (recsort.unique(rows, keys), before[firsts]),
        (recsort.sort(rows, keys, out=np.zeros_like(rows)), expected),
        (recsort.sort(rows, keys, out=np.zeros((width, count), dtype).T), expected),
        (recsort.merge([expected[:1], expected[1:]], keys), expected),
        (recsort.merge([expected], keys, out=np.zeros((width, count), dtype).T), expected),
    ):
        assert found.shape == rows_of_it.shape and found.dtype == rows.dtype
        assert found.tobytes() == rows_of_it.tobytes()
    assert rows.tobytes() == before.tobytes()
    assert recsort.sort(rows, keys) is rows and rows.tobytes() == expected.tobytes()


def test_columns_are_sorted_by_their_rows():
    a = np.array([[3, 1, 2], [0, 5, 4]])
    recsort.sort(a.T, '-0')
    assert a.tolist() == [[3, 2, 1], [0, 4, 5]]


def test_positions_and_order_are_keys_too():
    records = np.array([(1, 0.5), (0, 0.5), (2, 0.1)], [('id', 'i4'), ('-1', 'f4')])
    assert recsort.argsort(records, 1).tolist() == [2, 0, 1]
    assert recsort.argsort(records, [1, '-0']).tolist() == [2, 0, 1]
    assert recsort.argsort(records, '-1').tolist() == [2, 0, 1]  # the name of a field
    assert recsort.argsort(records, np.int8(0)).tolist() == [1, 0, 2]
    assert recsort.argsort(records, order=['-1', 'id']).tolist() == [2, 1, 0]
    schema = recsort.Schema.from_dtype(records[['id']].copy().dtype)
    assert Sorter(schema, '-0').argsort(records[['id']].copy().view('V8')).tolist() == [2, 0, 1]
    with pytest.raises(TypeError, match=r"^argsort\(\) got 'keys' and 'order', which mean the same$"):
        recsort.argsort(records, 'id', order='id')


CALLS = {
    'sort': (),
    'argsort': (),
    'is_sorted': (),
    'unique': (),
    'top': (1,),
    'argtop': (1,),
    'partition': (0,),
    'argpartition': (0,),
    'searchsorted': (np.zeros(0, 'f4'),),
    'merge': (),
}


@pytest.mark.parametrize('name', CALLS)
def test_wrong_arguments_are_those_of_the_function_that_was_called(name):
    a = np.array([1.0, 0.0], 'f4')
    first = [a] if name == 'merge' else a
    call = getattr(recsort, name)
    for word, hint in (
        ('kind', ''),
        ('key', "; did you mean 'keys'\\?"),
        ('thread', "; did you mean 'threads'\\?"),
    ):
        with pytest.raises(
            TypeError, match=rf"^{name}\(\) got an unexpected keyword argument '{word}'{hint}$"
        ):
            call(first, *CALLS[name], **{word: 1})
    with pytest.raises(TypeError, match=rf'^{name}\(\) missing'):
        call()


def test_kept_sorters_are_told_apart():
    """Calls that differ in anything that decides the order get sorters of their own."""
    a = np.array([(1, 2), (2, 1), (1, 1)], [('a', 'i4'), ('b', 'i4')])
    for _ in range(2):
        assert recsort.argsort(a, 'a').tolist() == [0, 2, 1]
        assert recsort.argsort(a, '-a').tolist() == [1, 0, 2]
        assert recsort.argsort(a, ['a', 'b']).tolist() == [2, 0, 1]
        assert recsort.argsort(a, 'a', reverse=True).tolist() == [1, 0, 2]
        assert recsort.argsort(a.view([('b', 'i4'), ('a', 'i4')]), 'a').tolist() == [1, 2, 0]
        assert recsort.argsort(a.view('>i4').view([('a', '>i4'), ('b', '>i4')]), 'a').tolist() == [
            0,
            2,
            1,
        ]
        floats = np.array([np.nan, 1, 0])
        assert recsort.argsort(floats).tolist() == [2, 1, 0]
        assert recsort.argsort(floats, nan='first').tolist() == [0, 2, 1]
        for width in 1, 3:
            assert recsort.argsort(floats.repeat(width).reshape(3, width)).tolist() == [2, 1, 0]
    for count in range(40):  # more than are kept
        assert recsort.argsort(np.zeros(3, f'V{count + 1}')).tolist() == [0, 1, 2]
    kept = importlib.import_module('recsort._functions').KEPT
    assert 0 < len(kept) <= 16
    before = len(kept)
    recsort.sort(np.zeros(1 << 18, 'i8'), plugin='cpu')  # its sorter has much memory
    assert len(kept) <= before and not any('cpu' in str(slot) for slot in kept)


def test_threads_that_call_a_function_do_not_share_a_sorter():
    failures = []

    def work(seed):
        values = np.random.default_rng(seed).integers(0, 50, 300).astype('i4')
        expected = np.argsort(values, kind='stable')
        for _ in range(300):
            if not np.array_equal(recsort.argsort(values), expected):
                failures.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def pickled(a):
    return pickle.loads(pickle.dumps(a))


@given(problems(), st.sampled_from(['last', 'first']))
def test_a_sorter_is_pickled_as_what_it_was_made_of(problem, nan):
    records, keys, reverse, _ = problem
    sorter = Sorter(records.dtype, keys, reverse=reverse, nan=nan, threads=1, plugin='cpu')
    expected = sorter.argsort(records).tolist()
    for other in pickled(sorter), pickled(pickled(sorter)), copy.deepcopy(sorter):
        assert other is not sorter and other.argsort(records).tolist() == expected


def test_a_sorter_of_a_schema_is_pickled_with_its_points():
    text = """
record: Entity
fields: [{name: x, type: float32}, {name: y, type: float32}]
keys: [{distance: {fields: [x, y], from: eye}}]
"""
    schema = recsort.Schema.from_yaml(text)
    assert pickled(schema).to_yaml() == schema.to_yaml()
    sorter = Sorter(schema)
    sorter.set_parameter('eye', [5, 5])
    entities = np.array([(0, 0), (5, 4), (9, 9)], schema.dtype)
    assert sorter.argsort(entities).tolist() == pickled(sorter).argsort(entities).tolist() == [1, 2, 0]
    assert Sorter(pickled(schema), reverse=True).dtype == schema.dtype


class Lent:
    """An array of another library, which hands out its memory by DLPack alone."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **how):
        return self.array.__dlpack__(**how)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class Tensor(Lent):
    """One that is an array of NumPy too, as torch's are: `copied` ones would not see what is written."""

    copied = False

    def __array__(self, dtype=None, copy=None):
        return self.array.copy() if self.copied else self.array


class Copied(Tensor):
    copied = True


@pytest.mark.parametrize('kind', [Lent, Tensor, Copied])
def test_arrays_by_dlpack(kind):
    values = np.array([3, 1, 2])
    assert recsort.argsort(kind(values)).tolist() == [1, 2, 0]
    assert recsort.top(kind(values), 2).tolist() == [1, 2]
    assert np.from_dlpack(recsort.argsort(kind(values))).tolist() == [1, 2, 0]
    lent = kind(values)
    if kind is Copied:
        with pytest.raises(
            RecsortError, match='^a Copied does not share its memory; sort a copy of it$'
        ):
            recsort.sort(lent)
        assert values.tolist() == [3, 1, 2]
    elif kind is Tensor or np.from_dlpack(lent).flags.writeable:
        assert recsort.sort(lent, reverse=True) is lent and values.tolist() == [3, 2, 1]
    else:
        with pytest.raises(RecsortError, match='^the array is read-only$'):
            recsort.sort(lent)
    values.flags.writeable = False
    with pytest.raises(RecsortError):
        recsort.sort(kind(values))


def test_arrays_of_jax():
    """As the documents say; where JAX is installed."""
    jax = pytest.importorskip('jax')
    values = jax.numpy.array([3, 1, 2], 'bfloat16')
    with pytest.raises(RecsortError, match='does not share its memory'):
        recsort.sort(values)
    with pytest.raises(RecsortError, match='^the array is read-only$'):
        recsort.sort(values.astype('float32'))
    out = np.empty(3, values.dtype)
    assert recsort.sort(values, out=out) is out and out.tolist() == [1, 2, 3]
    assert jax.numpy.from_dlpack(recsort.argsort(values)).tolist() == [1, 2, 0]
    shape = jax.ShapeDtypeStruct((3,), 'int32')
    compiled = jax.jit(
        lambda a: jax.pure_callback(lambda a: recsort.argsort(a).astype('int32'), shape, a)
    )
    assert compiled(values).tolist() == [1, 2, 0]


ODD = [
    None,
    '',
    'a\0b',
    '\ud800',
    'x' * 500,
    b'mag',
    -5,
    2**70,
    1.5,
    float('nan'),
    [],
    [1],
    [['mag']],
    {'a': 1},
]
ODD += [
    object(),
    np.zeros((2, 2)),
    np.array('x'),
    STARS,
    np.dtype('O'),
    iter(['mag']),
    ...,
    Broken(),
    'in\ntwo',
]


@pytest.mark.parametrize('odd', ODD, ids=lambda odd: type(odd).__name__)
def test_odd_arguments(odd):
    """Each is taken, or refused in one line."""
    schema = recsort.Schema.from_dtype(STARS.dtype, 'mag')
    settings = ['reverse', 'nan', 'threads', 'plugin', 'algorithm', 'plugin_options', 'verify']
    calls = [lambda name=name: recsort.argsort(STARS, 'mag', **{name: odd}) for name in settings]
    calls += [
        lambda name=name: recsort.argsort_columns([[1], [2]], **{name: odd})
        for name in ('descending', 'nulls', *settings[1:])
    ]
    calls += [
        lambda name=name: recsort.DeviceSorter('f4', **{name: odd})
        for name in ('keys', 'plugin_options', *settings[:2])
    ]
    calls += [
        lambda: recsort.sort(odd),
        lambda: recsort.argsort(odd),
        lambda: recsort.unique(odd),
        lambda: recsort.is_sorted(STARS, odd),
        lambda: recsort.sort(STARS.copy(), out=odd),
        lambda: recsort.top(STARS, odd),
        lambda: recsort.merge(odd),
        lambda: recsort.merge([STARS, odd]),
        lambda: recsort.argsort_columns(odd),
        lambda: recsort.argsort_columns([odd]),
        lambda: recsort.argtop(STARS, odd),
        lambda: recsort.partition(STARS, odd),
        lambda: recsort.searchsorted(STARS, odd),
        lambda: recsort.searchsorted(odd, 1),
        lambda: recsort.searchsorted([1], 1, side=odd),
        lambda: recsort.sort_table(odd, 'a'),
        lambda: recsort.sort_table({'a': np.zeros(2)}, odd),
        lambda: recsort.sort_table({'a': odd}, 'a'),
        lambda: recsort.argsort_columns([[1], [2]], odd),
        lambda: Sorter(odd),
        lambda: Sorter(schema, odd),
        lambda: Sorter(schema).set_parameter(odd, [1]),
        lambda: Sorter(schema).set_parameter('eye', odd),
        lambda: recsort.Schema.from_yaml(odd),
        lambda: recsort.Schema.from_dtype(odd),
        lambda: recsort.Schema.from_dtype(STARS.dtype, odd),
        lambda: recsort.Schema.from_dtype(STARS.dtype, 'mag', nan=odd),
        lambda: recsort.Schema.from_dtype(STARS.dtype, 'mag', name=odd),
    ]
    refused = 0
    for call in calls:
        try:
            call()
        except (RecsortError, MemoryError) as problem:
            assert '\n' not in str(problem)
            refused += 1
    assert refused > 5


def test_refusals_are_value_errors_and_lists_have_an_order():
    assert issubclass(RecsortError, ValueError)
    assert recsort.argsort([3, 1, 2]).tolist() == [1, 2, 0] and recsort.is_sorted([]) is True


@pytest.mark.parametrize('dtype', ['V0', 'S0', [('a', 'i1', (0,))], []])
def test_values_without_bytes_are_equal(dtype):
    records = np.zeros(3, dtype)
    assert recsort.argsort(records).tolist() == [0, 1, 2]
    assert len(recsort.unique(records)) == 1 and recsort.is_sorted(records)
    assert recsort.sort(records) is records and len(recsort.top(records, 2)) == 2
