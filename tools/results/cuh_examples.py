#!/usr/bin/env python3
"""The examples of tools/bench/gpu/examples, with CUB and with recsort.cuh: lines of the program, and times on a GPU.

Usage: cuh_examples.py BUILD SOURCES         BUILD has NAME.cub and NAME.ours of each NAME.cu in SOURCES

Lines are those of the program that is compiled, without what the examples share. Each runs as CUB's own example does,
with few elements, and with more. A program says PASS if its result is that of std::stable_sort.
"""
import subprocess
import sys
from pathlib import Path

COUNTS = (150, 10240, 1 << 20, 1 << 24)


def lines_of(text, with_cub):
    """The lines that are left when WITH_CUB is defined, or is not."""
    kept, states = [], []
    for line in text.splitlines():
        if line.startswith('#ifdef WITH_CUB'):
            states.append(with_cub)
        elif line.startswith('#else'):
            states[-1] = not states[-1]
        elif line.startswith('#endif'):
            states.pop()
        elif all(states) and line.strip() and not line.startswith('/*'):
            kept.append(line)
    return len(kept)


def main():
    build, sources = Path(sys.argv[1]), Path(sys.argv[2])
    print('| example | elements | lines, CUB | lines | us, CUB | us | ratio |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |')
    failed = False
    for source in sorted(sources.glob('*.cu')):
        text = source.read_text()
        if 'WITH_CUB' not in text:  # not one program of two
            continue
        lines = [lines_of(text, with_cub) for with_cub in (True, False)]
        for count in COUNTS:
            times = []
            for which in ('cub', 'ours'):
                out = subprocess.run([build / f'{source.stem}.{which}', str(count)], capture_output=True, text=True).stdout.split()
                failed |= 'PASS' not in out
                times.append(float(out[0]) if 'PASS' in out else float('nan'))
            print(f'| {source.stem} | {count:,} | {lines[0]} | {lines[1]} | {times[0]:.1f} | {times[1]:.1f} | '
                  f'{times[0] / times[1]:.2f} |')
    return failed


if __name__ == '__main__':
    sys.exit(main())
