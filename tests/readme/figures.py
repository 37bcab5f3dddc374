#!/usr/bin/env python3
"""The tables and charts of docs/performance.md are those that its script makes from the result files,
and the statements of that page and the README agree with them.

Usage: figures.py SOURCE-FOLDER
"""
import re
import subprocess
import sys
from pathlib import Path

root = Path(sys.argv[1])
readme = ' '.join((root / 'README.md').read_text().split())
page = (root / 'docs/performance.md').read_text()
words = ' '.join(page.split())
problems = []


def expect(good, what):
    if not good:
        problems.append(what)


def table(name):
    """The rows below the header, each a list of cells."""
    text = page[page.index(f'<!-- table {name} -->'):].split('<!-- end -->')[0]
    return [[cell.strip() for cell in line.strip('|').split('|')]
            for line in text.splitlines() if line.startswith('|')][2:]


def is_up_to_date():
    done = subprocess.run([sys.executable, '-B', root / 'tools/results/performance.py', '--check'],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    expect(done.returncode == 0, f'performance.py --check: {done.stdout.strip()}')


def a_cell_holds_one_figure():
    names = re.findall(r'<!-- table (\S+) -->', page)
    expect(len(names) >= 13, f'{len(names)} tables')
    for name in names:
        for row in table(name):
            expect(all(re.fullmatch(r'[\d.,]*', cell) for cell in row[1:]), f'{name}: {row}')


def readme_says_the_same():
    rows = {row[0]: row for row in table('entities')}
    said = f'recsort takes {rows["recsort, CPU"][2]} ms on the CPU and {rows["recsort, H200"][2]} ms with the GPU'
    expect(said in readme, f'the README does not say: {said}')


def inputs_of_any_kind():
    """No input is much slower than random keys, and CUB sorts two faster."""
    count, faster = 0, []
    for key in ('f32', 'u64', 'u128'):
        rows = table(f'inputs-{key}')
        random = float(rows[0][1])
        expect(rows[0][0] == 'random' and len(rows) > 10, f'inputs of {key}')
        for kind, ours, merge, radix in rows:
            count += 1
            expect(float(ours) <= 1.3 * random, f'{key}, {kind}: {ours} against {random} for random keys')
            if float(ours) >= min(float(merge), float(radix)):
                faster.append((key, kind))
    expect(faster == [('f32', '16 values'), ('f32', '100 of each')], f'CUB is faster on {faster}')
    expect('takes more than 1.3 times as long as random keys' in words, 'the limit 1.3 is not there')
    expect(count > 30, f'{count} inputs')


is_up_to_date()
a_cell_holds_one_figure()
readme_says_the_same()
inputs_of_any_kind()
print(*problems, f'{len(problems)} figures differ', sep='\n')
sys.exit(1 if problems else 0)
