#!/usr/bin/env python3
"""Every figure under "How fast" in the README comes from a result file, and what it says of all inputs
holds for all that were measured.

Usage: figures.py SOURCE-FOLDER
"""
import re
import sys
from pathlib import Path

root = Path(sys.argv[1])
text = (root / 'README.md').read_text()
fast = text[text.index('## How fast'):text.index('## Where things are')]
words = ' '.join(fast.split())
cpu = (root / 'tools/results/amd-epyc-2-cores.txt').read_text()
gpu = (root / 'tools/results/nvidia-h200.txt').read_text()
problems = []


def expect(good, what):
    if not good:
        problems.append(what)


def median(table, group, contender, threads):
    """Of a contender in the first group that begins with these words."""
    rows = table[table.index(group):].split('\n\n')[0]
    return float(re.search(rf'^  {re.escape(contender)} +{threads} +([\d.]+)', rows, re.M).group(1))


def pairs():
    """(contender, key, input or '', exponent) -> (ms, times as fast as merge, as radix)."""
    rows = re.findall(r'^(cub::\w+|recsort hybrid) +(f32|u64|u128) +(?:(\S.*?) +)?2\^(\d+) +\d+ +([\d.]+)'
                      r' +([\d.]+|-) +([\d.]+|-)$', gpu, re.M)
    return {(name, key, kind, int(n)): (ms, merge, radix)
            for name, key, kind, n, ms, merge, radix in rows}


def sorts_of_records():
    group = 'entity: entity, random, 4194304'
    for name, threads in (('std::stable_sort', 1), ('__gnu_parallel::stable_sort', 2),
                          ('recsort cpu/merge', 1), ('recsort cpu/merge', 2)):
        ms = f'{median(cpu, group, name, threads):.0f} ms'
        row = re.search(rf'^\| .*{re.escape(name.split()[0])}.* \|$', fast, re.M)
        expect(row and ms in row.group(0), f'{name}, {threads} threads: {ms}')
    group = 'entity: entity, random, 16777216'
    for name, threads, digits in (('std::stable_sort', 1, 0), ('__gnu_parallel::stable_sort', 16, 0),
                                  ('recsort cpu/merge, to', 16, 1), ('recsort cuda/hybrid, to', 16, 1),
                                  ('recsort cuda/hybrid', 16, 1)):
        ms = f'{median(gpu, group, name, threads):.{digits}f} ms'
        expect(ms in words, f'{name}, {threads} threads: {ms}')
    files = re.findall(r'^  (recsort FILE|cp)\b.*? +\d+ +([\d.]+) +[\d.]+ +[\d.]+ ', gpu, re.M)
    taken = [f'{float(ms) / 1000:.2f}' for name, ms in files]
    expect(len(taken) == 4 and all(f'{seconds}' in words for seconds in taken), f'files: {taken}')


def pairs_at_each_size(measured):
    """The table's cells hold the time and how many times as fast that is."""
    rows = {'32 bits': 'f32', '64 bits': 'u64', '128 bits': 'u128'}
    header = re.search(r'^\| keys \|.*$', fast, re.M).group(0)
    sizes = [int(n) for n in re.findall(r'2\^(\d+)', header)]
    for row, key in rows.items():
        cells = re.search(rf'^\| {row} \|(.*)\|$', fast, re.M).group(1).split('|')
        expect(len(cells) == len(sizes), f'{row}: {len(cells)} cells')
        for n, cell in zip(sizes, cells):
            ms, merge, radix = measured['recsort hybrid', key, '', n]
            said = re.findall(r'[\d.]+', cell)
            exact = len(said) == 3 and abs(float(said[0]) - float(ms)) <= 0.006 * float(ms)
            expect(exact and said[1:] == [merge, radix], f'{row}, 2^{n}: {cell} for {ms} {merge} {radix}')


def pairs_of_every_input(measured):
    """At 2^24: sorted, reversed, nearly sorted; no input far slower than random keys, none faster by CUB."""
    times = {(key, kind): float(ms) for (name, key, kind, n), (ms, _, _) in measured.items()
             if name == 'recsort hybrid' and n == 24}
    for kind, low, high in (('sorted', 0.06, 0.10), ('reversed', 0.07, 0.17), ('nearly', 0.21, 0.42)):
        found = [round(ms, 2) for (_, k), ms in times.items() if k == kind]
        expect(f'{low:.2f} to {high:.2f}' in words and [min(found), max(found)] == [low, high],
               f'{kind}: {found}')
    slower = {(key, kind): ms / times[key, ''] for (key, kind), ms in times.items() if kind}
    expect(max(slower.values()) <= 1.25 and 'more than 1.25 times' in words, 'slower than random keys')
    usual = [round(x, 2) for (_, kind), x in slower.items() if kind in ('few', 'saws', 'zipf', 'banks')]
    expect('0.89 to 1.17' in words and 0.89 <= min(usual) and max(usual) <= 1.17, f'others: {usual}')
    expect(len(slower) > 30, f'{len(slower)} inputs')
    for (name, key, kind, n), (_, merge, radix) in measured.items():
        if name == 'recsort hybrid':
            expect(float(merge) > 1 and float(radix) > 1, f'CUB is faster: {key} {kind} 2^{n}')


sorts_of_records()
pairs_at_each_size(pairs())
pairs_of_every_input(pairs())
print(*problems, f'{len(problems)} figures differ', sep='\n')
sys.exit(1 if problems else 0)
