#!/usr/bin/env python3
"""The shared library shows what recsort.h and compat.c declare and nothing else, and needs no CUDA
library.

Usage: symbols.py RECSORT.H COMPAT.C LIBRECSORT.SO
"""
import re
import subprocess
import sys
from pathlib import Path


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main():
    *sources, library = sys.argv[1:]
    text = '\n'.join(Path(source).read_text() for source in sources)
    text = re.sub(r'/\*.*?\*/', '', text, flags=re.DOTALL)
    declared = set(re.findall(r'^RECSORT_API\b[^;(]*?(\w+)\(', text, re.MULTILINE))
    # A name with a dot is the compiler's own: clang's locks for OpenMP.
    shown = {line.split()[0] for line in
             output_of('nm', '-D', '--defined-only', '--format=posix', library).splitlines()
             if '.' not in line.split()[0]}
    needed = re.findall(r'\(NEEDED\).*\[(.*)\]', output_of('readelf', '-dW', library))
    problems = [f'declared but not there: {name}' for name in sorted(declared - shown)]
    problems += [f'there but not declared: {name}' for name in sorted(shown - declared)]
    problems += [f'needed: {name}' for name in needed if re.search('cuda|cudart|nvrtc', name)]
    if not declared or not needed:
        problems.append('nothing found to compare')
    print(*problems, f'{len(declared)} functions declared, needed: {" ".join(needed)}', sep='\n')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
