"""Sorting of arrays, against NumPy's own stable sorts."""

import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import dtypes, fields_of, is_missing, order_of, records_of, scalars, structs

import recsort
from recsort import RecsortError, Sorter

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


def test_a_value_that_comes_again_decides_nothing_and_signs_cancel():
    records = np.array([(0, 1), (0, 0), (1, 0)], [('a', 'i1'), ('b', 'i1')])
    assert recsort.argsort(records, ['a', '-a', 'b']).tolist() == [1, 0, 2]
    assert recsort.argsort(records, ['-a', 'b'], reverse=True).tolist() == [0, 1, 2]


def test_overlapping_fields_are_keys():
    dtype = np.dtype({'names': ['whole', 'low'], 'formats': ['<u4', '<u2'], 'offsets': [0, 0]})
    records = np.array([1 << 16, 2, 1], '<u4').view(dtype)
    assert recsort.argsort(records, ['low', 'whole']).tolist() == [0, 2, 1]


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
    monkeypatch.setattr(recsort._library, 'sort', lambda *a: (given_addresses.append(a[1]), call(*a)))
    recsort.sort(records)
    assert given_addresses == [records.ctypes.data] and records.tolist() == [1, 2, 3]


def test_the_gil_is_released():
    values, ticks, stop = np.random.default_rng(3).random(1 << 21), [], threading.Event()

    def tick():
        while not stop.wait(0.001):
            ticks.append(time.monotonic())

    thread = threading.Thread(target=tick)
    thread.start()
    sorter = Sorter(values.dtype, threads=1)
    start = time.monotonic()
    sorter.sort(values)
    end = time.monotonic()
    stop.set()
    thread.join()
    # While a thread has the GIL, another one comes by at most once between two of its instructions.
    assert sum(start < at < end for at in ticks) > 5, (end - start, len(ticks))


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
        (lambda: recsort.sort(STARS, [1]), 'list of names'),
        (lambda: recsort.sort(STARS, nan='middle'), "nan='middle'"),
        (lambda: recsort.sort([3, 1]), 'only a NumPy array'),
        (lambda: recsort.sort(np.zeros((2, 2))), '2 dimensions'),
        (lambda: recsort.sort(np.array([None])), 'Python objects'),
        (lambda: recsort.sort(np.ma.masked_equal([1, 2], 1)), 'masked'),
        (lambda: recsort.sort(STARS, out=np.zeros(2, STARS.dtype)), 'out has 2 records, not 1'),
        (lambda: recsort.sort(STARS, out=np.zeros(1)), 'the array has dtype float64'),
        (lambda: recsort.sort(STARS, out=STARS), 'shares memory'),
        (lambda: recsort.top(STARS, -1), 'n is -1'),
        (lambda: recsort.argsort(STARS, threads=-1), 'threads=-1'),
        (lambda: recsort.argsort(STARS, plugin='none'), '"none"'),
        (lambda: recsort.argsort(STARS, algorithm='none', plugin='cpu'), 'none'),
        (lambda: recsort.argsort(STARS, plugin='cpu', plugin_options={'speed': 3}), 'speed'),
        (lambda: Sorter('i4').argsort(np.zeros(3, 'i8')), 'the sorter is for int32'),
        (lambda: Sorter('i4').set_parameter('eye', [1]), 'eye'),
        (lambda: recsort.sort(np.frombuffer(b'21', 'u1')), 'read-only'),
    ],
)
def test_refusals(call, message):
    before = STARS.copy()
    with pytest.raises(RecsortError, match=message) as refusal:
        call()
    assert '\n' not in str(refusal.value) and (STARS == before).all()


def test_refusals_are_value_errors_and_lists_have_an_order():
    assert issubclass(RecsortError, ValueError)
    assert recsort.argsort([3, 1, 2]).tolist() == [1, 2, 0] and recsort.is_sorted([]) is True


@pytest.mark.parametrize('dtype', ['V0', 'S0', [('a', 'i1', (0,))], []])
def test_values_without_bytes_are_equal(dtype):
    records = np.zeros(3, dtype)
    assert recsort.argsort(records).tolist() == [0, 1, 2]
    assert len(recsort.unique(records)) == 1 and recsort.is_sorted(records)
    assert recsort.sort(records) is records and len(recsort.top(records, 2)) == 2
