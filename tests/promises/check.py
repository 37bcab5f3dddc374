#!/usr/bin/env python3
"""Checks that each promise is still made in the quoted words, and that the tests that show it exist.

Usage: check.py SOURCE-FOLDER

promises.tsv has a row for each promise: the file that makes it, its words, and the proofs that it is
kept, each as FILE or FILE:NAME, where NAME is a word in that file (a test function, a test of ctest, a
figure in a committed result).
"""
import re
import sys
from pathlib import Path

PROOFS = ('tests/', 'tools/results/', 'tools/test.sh')


def unroff(line):
    """The text of a line of a man page."""
    macro, _, rest = line.partition(' ')
    if re.fullmatch(r'\.(BR|RB|BI|IB|IR|RI)', macro):
        line = ''.join(a or b for a, b in re.findall(r'"([^"]*)"|((?:\\ |[^\s"])+)', rest))
    elif re.fullmatch(r'\.(B|I|SM)', macro):
        line = rest
    elif line.startswith('.'):
        line = '\n'  # the end of a paragraph
    line = re.sub(r'\\f[BIRP]|\\&|\\\|', '', line)
    return line.replace('\\(bu', '').replace('\\-', '-').replace('\\ ', ' ').replace('\\e', '\\')


def words_of(path):
    """The text of a file in one line, without comment markers and macros of man pages."""
    text = path.read_text()
    if path.suffix == '.1':
        text = '\n'.join(map(unroff, text.splitlines()))
    elif path.suffix in ('.h', '.hpp', '.c'):
        text = re.sub(r'^[ \t]*(/\*+|\*/|\*(?=\s|$))|\*/[ \t]*$|/\*', ' ', text, flags=re.MULTILINE)
    return ' '.join(text.split())


def read_table(path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line and not line.startswith('#'):
            yield number, (line.split('\t') + ['', ''])[:3]


def is_there(root, proof):
    """Whether the file of a proof exists and contains its name as a word."""
    name, _, word = proof.partition(':')
    path = root / name
    if not name.startswith(PROOFS) or not path.is_file():
        return False
    return re.search(rf'(?<![\w.]){re.escape(word)}(?!\w)', path.read_text()) is not None


def check(root):
    """The problems, one line each, and the number of rows."""
    problems, count = [], 0
    for number, (name, words, proofs) in read_table(root / 'tests/promises/promises.tsv'):
        where, count = f'promises.tsv:{number}', count + 1
        if not words or not proofs.split():
            problems.append(f'{where}: a row is FILE, WORDS and what shows them, with tabs between')
        elif not (root / name).is_file() or ' '.join(words.split()) not in words_of(root / name):
            problems.append(f'{where}: {name} does not say: {words}')
        problems += [f'{where}: not there: {proof}' for proof in proofs.split()
                     if not is_there(root, proof)]
    return problems, count


def main():
    problems, count = check(Path(sys.argv[1]))
    print(*problems, f'{count} promises, {len(problems)} problems', sep='\n')
    return 1 if problems or count == 0 else 0


if __name__ == '__main__':
    sys.exit(main())
