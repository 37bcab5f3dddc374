#!/usr/bin/env python3
"""What recsort.c defines and needs, compiled without options and with a prefix.

Usage: symbols.py RECSORT-H OBJECT PREFIXED-OBJECT

It defines the functions that recsort.h declares, and nothing else that another file could see. It
opens no file, no library and no schema, and has no assertions.
"""
import re
import subprocess
import sys
from pathlib import Path

NOT_NEEDED = re.compile(r'(f?open|opendir|scandir|popen|dl\w+|yaml_\w+|\w*assert\w*|(secure_)?getenv|printf|puts)(64)?$')


def symbols(path):
    defined, needed = set(), set()
    lines = subprocess.run(['nm', '-g', path], check=True, capture_output=True, text=True).stdout
    for *_, kind, name in (line.split() for line in lines.splitlines() if line):
        (needed if kind == 'U' else defined).add(name)
    return defined, needed


def main():
    declared = set(re.findall(r'^RECSORT_API\b[^;(]*?\b(recsort_\w+)\(', Path(sys.argv[1]).read_text(), re.M))
    problems = []
    for path, prefix in zip(sys.argv[2:], ('', 'first_')):
        defined, needed = symbols(path)
        problems += [f'{path}: {name} is declared or defined, not both' for name in sorted(defined ^ {prefix + name for name in declared})]
        problems += [f'{path} needs {name}' for name in sorted(needed) if NOT_NEEDED.match(name)]
    print(*problems, f'{len(declared)} functions, {len(problems)} problems', sep='\n')
    return 1 if problems or len(declared) < 20 else 0


if __name__ == '__main__':
    sys.exit(main())
