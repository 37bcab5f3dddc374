#!/usr/bin/env python3
"""Measures recsort's Python package beside NumPy, Polars, pyarrow and DuckDB.

Needs recsort, numpy, polars, pyarrow and duckdb. Every method sorts the same rows stably, from memory to
memory, in its own form: NumPy and recsort records, the others tables of the same columns. The methods
take turns, each in another place in each round, and every result is checked. Prints the median of the
rounds, and how many times as long as recsort.sort a method took.
"""

import argparse
import os
import platform
import statistics
import sys
import time
from importlib.metadata import version
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

import recsort

DTYPE = np.dtype([('x', 'f4'), ('y', 'f4'), ('mag', 'f4'), ('id', 'i4'), ('row', 'u4')])
WORKLOADS = {'float32': ['mag'], 'float32, int32': ['mag', 'id']}


def make(count):
    """Records with ties: about 100 have the same `mag`, and some of these the same `id`."""
    rng = np.random.default_rng(count)
    records = np.zeros(count, DTYPE)
    records['x'], records['y'] = rng.random((2, count))
    records['mag'] = rng.integers(-count // 200, count // 200, count) / 64
    records['id'] = rng.integers(0, 64, count)
    records['row'] = np.arange(count)
    return records


def argsort(records, keys):
    """The permutation by one stable sort for each key, the least significant first."""
    order = np.argsort(records[keys[-1]], kind='stable')
    for key in keys[-2::-1]:
        order = order[np.argsort(records[key][order], kind='stable')]
    return order


class Rows:
    """The input in the form that each library likes, and what sorts it. A method gets a fresh copy of
    the records and returns the column `row` of its result when asked to, outside the measured time."""

    def __init__(self, count, keys, threads):
        self.records, self.keys = make(count), keys
        columns = {name: np.ascontiguousarray(self.records[name]) for name in DTYPE.names}
        self.table, self.frame = pa.table(columns), pl.DataFrame(columns)
        self.database = duckdb.connect()
        if threads:
            self.database.execute(f'set threads to {threads}')
        self.database.register('rows', self.table)
        self.sorter = recsort.Sorter(DTYPE, keys, threads=threads)
        self.threads, self.out = threads, np.zeros_like(self.records)
        self.query = (
            f'select * from rows order by {", ".join([*keys, "row"])}'  # its sort is not stable
        )

    def methods(self):
        keys = self.keys
        order = [(key, 'ascending') for key in keys]
        return {
            'recsort.sort': lambda a: recsort.sort(a, keys, threads=self.threads),
            'recsort.sort, out=': lambda a: recsort.sort(a, keys, out=self.out, threads=self.threads),
            'recsort.Sorter.sort': lambda a: self.sorter.sort(a),
            'recsort.argsort, take': lambda a: a[recsort.argsort(a, keys, threads=self.threads)],
            'recsort.argsort_columns, pyarrow take': lambda a: self.table.take(
                pa.array(
                    recsort.argsort_columns([self.table[key] for key in keys], threads=self.threads)
                )
            ),
            'numpy argsort stable, take': lambda a: a[argsort(a, keys)],
            'numpy lexsort, take': lambda a: a[np.lexsort([a[key] for key in keys[::-1]])],
            # Without `row`, the other fields would decide ties.
            'numpy sort(order=) stable': lambda a: np.sort(a, order=[*keys, 'row'], kind='stable'),
            'polars sort': lambda a: self.frame.sort(keys, maintain_order=True),
            'pyarrow sort_indices, take': lambda a: self.table.take(pc.sort_indices(self.table, order)),
            'duckdb order by': lambda a: self.database.sql(self.query).to_arrow_table(),
        }


def measure(rows, rounds, seconds):
    """The times of each method. One that has taken more than `seconds` in all takes no more turns."""
    expected = rows.records['row'][argsort(rows.records, rows.keys)]
    methods = list(rows.methods().items())
    times = {name: [] for name, _ in methods}
    for number in range(rounds + 1):  # the first round warms up
        at = number % len(methods)
        for name, method in methods[at:] + methods[:at]:
            if sum(times[name]) > seconds:
                continue
            copy = rows.records.copy()
            start = time.perf_counter()
            result = method(copy)
            elapsed = time.perf_counter() - start
            if not np.array_equal(np.asarray(result['row']), expected):
                sys.exit(f'{name}: the result is wrong')
            if number or elapsed > seconds:
                times[name].append(elapsed)
            del result, copy
    return {name: statistics.median(taken) for name, taken in times.items()}


def machine():
    """The processor and the versions, one a line."""
    cpus = [
        line for line in Path('/proc/cpuinfo').read_text().splitlines() if line.startswith('model name')
    ]
    yield f'{cpus[0].split(":")[1].strip() if cpus else platform.machine()}, {len(os.sched_getaffinity(0))} processors'
    libraries = ', '.join(
        f'{name} {version(name)}' for name in ('numpy', 'polars', 'pyarrow', 'duckdb')
    )
    yield f'recsort {recsort.__version__}, {libraries}, Python {platform.python_version()}'
    yield f'{time.strftime("%Y-%m-%d")}, load {os.getloadavg()[0]:.1f}'


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('-o', '--output', type=Path, help='write the text to this file too')
    parser.add_argument('--log2', type=int, nargs='+', default=[20, 22], help='the numbers of records')
    parser.add_argument('--rounds', type=int, default=9)
    parser.add_argument(
        '--seconds', type=float, default=30, help='the most for one method and workload'
    )
    parser.add_argument('--threads', type=int, default=0, help='for recsort and DuckDB; 0: all')
    options = parser.parse_args()
    lines = list(machine())
    for log2 in options.log2:
        for name, keys in WORKLOADS.items():
            medians = measure(Rows(1 << log2, keys, options.threads), options.rounds, options.seconds)
            lines += [
                '',
                f'2^{log2} records of {DTYPE.itemsize} bytes, keys {name}',
                '      ms   times',
            ]
            base = medians['recsort.sort']
            lines += [
                f'{1e3 * taken:8.2f} {taken / base:7.2f}  {method}' for method, taken in medians.items()
            ]
            peers = {
                method: taken for method, taken in medians.items() if not method.startswith('recsort')
            }
            best = min(peers, key=peers.get)
            lines.append(f'best peer: {best}, {peers[best] / base:.2f} times')
            print(f'2^{log2}, {name}: done', file=sys.stderr)
    text = '\n'.join(lines) + '\n'
    print(text, end='')
    if options.output:
        options.output.write_text(text)


if __name__ == '__main__':
    main()
