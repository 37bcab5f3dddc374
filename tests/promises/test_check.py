#!/usr/bin/env python3
"""The check must accept a correct table, and find each error planted in one."""
import sys
import tempfile
from pathlib import Path

from check import check

FILES = {
    'README.md': 'It sorts,\nand is stable. It never prints.\n',
    'core/it.h': '/* Nothing is\n * printed here, and\n   * nothing else happens. */\nint it(void); /* may be\n  called twice */\n',
    'tool.1': 'Give\n.BR \\-\\-head =\\fIN\\fR\nfor the\n.B first\n.IR N s.\n',
    'tests/test_it.c': 'static void test_it(void **state)\n',
    'tests/it.sh': 'it\n',
    'tools/results/it.txt': 'sorted in 3.5 ms\n',
}
TABLE = [
    '# a comment',
    'README.md\tsorts, and is stable\ttests/it.sh',
    'README.md\tIt never prints.\ttests/it.sh tests/test_it.c:test_it',
    'core/it.h\tNothing is printed here, and nothing else happens.\ttests/test_it.c:test_it',
    'core/it.h\tmay be called twice\ttests/test_it.c:test_it',
    'tool.1\tGive --head=N for the first Ns.\ttools/results/it.txt:3.5',
]

# the planted error: a row of the table, or the text of a file
PLANTED = {
    'other words': (1, 'README.md\tsorts, and is fast\ttests/it.sh'),
    'other words in a comment': (3, 'core/it.h\tNothing is read here, and nothing else happens.\ttests/it.sh'),
    'no such file': (1, 'READYOU.md\tsorts\ttests/it.sh'),
    'no proof': (1, 'README.md\tsorts, and is stable\t'),
    'no tab': (1, 'README.md sorts, and is stable tests/it.sh'),
    'no such test file': (1, 'README.md\tsorts\ttests/that.sh'),
    'no such test': (4, 'core/it.h\tmay be called twice\ttests/test_it.c:test_that'),
    'a part of a name': (4, 'core/it.h\tmay be called twice\ttests/test_it.c:test_i'),
    'one test of two': (2, 'README.md\tIt never prints.\ttests/it.sh tests/test_it.c:it_test'),
    'no test at all': (1, 'README.md\tsorts\tcore/it.h'),
    'another figure': (5, 'tool.1\tGive --head=N\ttools/results/it.txt:3.4'),
    'a promise without a row': ('README.md', FILES['README.md'] + 'It always works.\n'),
    'another promise': ('core/it.h', FILES['core/it.h'] + '/* It never\n * fails. */\n'),
    'a test that went': ('tests/test_it.c', ''),
    'words that went': ('tool.1', 'Nothing.\n'),
}


def problems_with(where, text):
    rows, files = list(TABLE), dict(FILES)
    if isinstance(where, int):
        rows[where] = text
    elif where:
        files[where] = text
    files['tests/promises/promises.tsv'] = '\n'.join(rows)
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        return check(Path(folder))[0]


def main():
    failures = [f'not found: {name}' for name, plant in PLANTED.items() if not problems_with(*plant)]
    sound = problems_with(None, None)
    if sound:
        failures.append(f'a sound table is refused: {sound}')
    print(*failures, f'{len(PLANTED)} errors planted, {len(failures)} failures', sep='\n')
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
