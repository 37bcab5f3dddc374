#!/usr/bin/env python3
"""core and plugins say what they take for granted: their assertions are many, have no effects, and are those of base/assert.h.

Usage: assertions.py SOURCE-FOLDER
"""
import re
import sys
from pathlib import Path

LEAST = 800
ASSERTION = re.compile(r'\b(?:RS|DEVICE)_ASSERT\((?P<condition>[^;]*)\);')
EFFECT = re.compile(r'\+\+|--|(?<![=!<>])=(?!=)')
NOT_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|^[ \t]*#(?:\\\n|[^\n])*', re.DOTALL | re.MULTILINE)


def main():
    root, count, faults = Path(sys.argv[1]), 0, []
    for path in sorted(path for top in ('core', 'plugins') for path in (root / top).rglob('*')):
        if path.suffix not in {'.c', '.h', '.cu', '.cuh'}:
            continue
        name = path.relative_to(root)
        text = NOT_CODE.sub(' ', path.read_text())
        conditions = [found['condition'] for found in ASSERTION.finditer(text)]
        count += len(conditions)
        faults += [f'{name}: {condition}: without assertions, this effect is lost' for condition in conditions
                   if EFFECT.search(condition)]
        if re.search(r'(?<!\w)assert\(', text):
            faults.append(f'{name}: assert() depends on NDEBUG; base/assert.h has another')
    print(*faults, f'{count} assertions, {len(faults)} faults', sep='\n')
    return 1 if faults or count < LEAST else 0


if __name__ == '__main__':
    sys.exit(main())
