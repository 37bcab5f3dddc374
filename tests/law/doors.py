#!/usr/bin/env python3
"""Who opens recsort.h finds the simple calls at once: they are declared before line 100.

Usage: doors.py recsort.h
"""
import re
import sys
from pathlib import Path

SIMPLE = ('recsort_schema_load_memory', 'recsort_sorter_create', 'recsort_sort', 'recsort_sort_to', 'recsort_argsort',
          'recsort_check', 'recsort_sorter_get_stats')
LATE = 100

text = Path(sys.argv[1]).read_text()
blanked = re.sub(r'/\*.*?\*/', lambda at: re.sub(r'[^\n]', ' ', at[0]), text, flags=re.DOTALL)
ends = {at[1]: blanked.count('\n', 0, at.end()) + 1
        for at in re.finditer(r'^RECSORT_API\b[^;(]*?(\w+)\([^;]*;', blanked, re.MULTILINE)}
problems = [f'{name} is declared by line {ends[name]}' if name in ends else f'{name} is not declared'
            for name in SIMPLE if ends.get(name, LATE) >= LATE]
print(*problems, f'{len(ends)} functions, {len(problems)} problems', sep='\n')
sys.exit(1 if problems else 0)
