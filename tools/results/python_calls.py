#!/usr/bin/env python3
"""Times of the Python package, each beside its peers in the same process, in turns, with every result checked:
calls of few records beside numpy.argsort, and tables beside pandas, Polars and NumPy.

Usage: python_calls.py [ROWS ...] > python-calls-MACHINE.txt
Needs the package (or PYTHONPATH and LD_LIBRARY_PATH of a build), pandas, Polars and pyarrow.
"""
import datetime
import platform
import statistics
import sys
import time

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import recsort


def times(calls, repeat, number=1):
    """The median time of each call, in seconds; all take their turn in every round."""
    taken = {name: [] for name in calls}
    for _ in range(repeat):
        for name, call in calls.items():
            start = time.perf_counter()
            for _ in range(number):
                call()
            taken[name].append((time.perf_counter() - start) / number)
    return {name: statistics.median(each) for name, each in taken.items()}


def small_calls(rng):
    print('\nA call, in microseconds; times are those of numpy.argsort of the column')
    dtype = np.dtype([('x', 'f4'), ('y', 'f4'), ('mag', 'f4'), ('id', 'i4')])
    for count in 10, 100, 1000, 10000:
        a = np.zeros(count, dtype)
        a['mag'], a['id'] = rng.integers(0, count // 2, count), rng.integers(0, 9, count)
        column, copy, sorter = a['mag'].copy(), a.copy(), recsort.Sorter(dtype, 'mag')
        expected = np.argsort(column, kind='stable')
        calls = {
            'numpy.argsort, stable': lambda: np.argsort(column, kind='stable'),
            'recsort.argsort': lambda: recsort.argsort(a, 'mag'),
            'recsort.argsort, two keys': lambda: recsort.argsort(a, ['mag', 'id']),
            'recsort.Sorter.argsort': lambda: sorter.argsort(a),
            'recsort.sort, out=': lambda: recsort.sort(a, 'mag', out=copy),
            'numpy take of its argsort': lambda: a.take(np.argsort(column, kind='stable')),
        }
        for name in 'numpy.argsort, stable', 'recsort.argsort', 'recsort.Sorter.argsort':
            assert np.array_equal(calls[name](), expected), name
        for name in 'recsort.sort, out=', 'numpy take of its argsort':
            assert np.array_equal(calls[name](), a[expected]), name
        assert np.array_equal(calls['recsort.argsort, two keys'](), np.lexsort([a['id'], column]))
        print(f'\n{count} records of {dtype.itemsize} bytes')
        found = times(calls, 60, max(1, 3000 // count))
        for name, seconds in found.items():
            print(f'{1e6 * seconds:10.2f} {seconds / found["numpy.argsort, stable"]:7.2f}  {name}')


def by_lexsort(arrays, by):
    order = np.lexsort([arrays[key] for key in by[::-1]])
    return {name: array[order] for name, array in arrays.items()}


def tables(rng, count):
    words = np.array([f'name {number}' for number in range(1000)])
    columns = {
        'mag': rng.integers(0, count // 100, count) / 64,
        'id': rng.integers(0, 64, count).astype('i4'),
        'time': rng.integers(0, 1 << 40, count).astype('M8[us]'),
        'name': words[rng.integers(0, len(words), count)],
        'row': np.arange(count),
    }
    columns['mag'][::50] = np.nan
    frame = pd.DataFrame(columns)
    frame['name'] = frame['name'].astype('str')
    table = pa.Table.from_pandas(frame)  # NaN becomes null
    polars_frame = pl.from_arrow(table)
    arrays = {name: column for name, column in columns.items() if name != 'name'}
    for by in ['mag'], ['mag', 'id'], ['time'], ['name'], ['name', 'mag']:
        calls = {
            'recsort.sort_table, pandas': lambda: recsort.sort_table(frame, by),
            'pandas sort_values, stable': lambda: frame.sort_values(by, kind='stable'),
            'recsort.sort_table, Polars': lambda: recsort.sort_table(polars_frame, by),
            'Polars sort, maintain_order': lambda: polars_frame.sort(by, nulls_last=True, maintain_order=True),
            'recsort.sort_table, pyarrow': lambda: recsort.sort_table(table, by),
            'pyarrow sort_by': lambda: table.sort_by([(key, 'ascending') for key in by]),
        }
        if 'name' not in by:
            calls['recsort.sort_table, dict'] = lambda: recsort.sort_table(arrays, by)
            calls['numpy lexsort, take'] = lambda: by_lexsort(arrays, by)
        expected = frame.sort_values(by, kind='stable')['row'].to_numpy()
        for name, call in calls.items():
            result = call()
            if name != 'pyarrow sort_by':  # ties come in any order
                assert np.array_equal(np.asarray(result['row']), expected), name
        print(f'\n{count} rows, by {", ".join(by)}')
        found = times(calls, 5)
        names = list(found)
        for own, peer in zip(names[::2], names[1::2]):
            print(f'{1e3 * found[own]:10.2f}           {own}')
            print(f'{1e3 * found[peer]:10.2f} {found[peer] / found[own]:7.2f}x  {peer}')


def main():
    rng = np.random.default_rng(1)
    print(f'{platform.processor() or platform.machine()}, Python {platform.python_version()}, ', end='')
    print(f'recsort {recsort.__version__}, numpy {np.__version__}, pandas {pd.__version__}, ', end='')
    print(f'polars {pl.__version__}, pyarrow {pa.__version__}, {datetime.date.today()}')
    small_calls(rng)
    print('\nTables, in milliseconds')
    for count in map(int, sys.argv[1:] or [1 << 12, 1 << 17, 1 << 20]):
        tables(rng, count)


if __name__ == '__main__':
    main()
