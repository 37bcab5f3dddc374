#!/usr/bin/env python3
"""Every symbol that the static library defines begins with recsort_ or rs_, so it clashes with no program's own.

Usage: names.py LIBRARY.a
"""
import re
import subprocess
import sys

shown = subprocess.run(['nm', '-g', '--defined-only', '--format=posix', sys.argv[1]], check=True, capture_output=True,
                       text=True).stdout
names = {line.split()[0] for line in shown.splitlines() if len(line.split()) > 2}
wrong = sorted(name for name in names if not re.match('recsort_|rs_|__(asan|odr_asan|gcov|llvm|covrec)', name))
print(*wrong, f'{len(names)} symbols, {len(wrong)} could clash', sep='\n')
sys.exit(1 if wrong or len(names) < 100 else 0)
