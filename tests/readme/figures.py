#!/usr/bin/env python3
"""Checks that performance.py would write the same tables and charts from the result files, and that
the README has the same figures.

Usage: figures.py SOURCE-FOLDER
"""
import subprocess
import sys
from pathlib import Path

root = Path(sys.argv[1])
readme = ' '.join((root / 'README.md').read_text().split())
page = (root / 'docs/performance.md').read_text()
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


def readme_says_the_same():
    rows = {row[0]: row for row in table('entities')}
    said = f'recsort takes {rows["recsort, CPU"][2]} ms on the CPU and {rows["recsort, H100"][2]} ms with the GPU'
    expect(said in readme, f'the README does not say: {said}')


is_up_to_date()
readme_says_the_same()
print(*problems, f'{len(problems)} figures differ', sep='\n')
sys.exit(1 if problems else 0)
