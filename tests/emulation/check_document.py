#!/usr/bin/env python3
"""The tables of a document that a program prints are the program's, and so are the drawings made from them.

Usage: check_document.py PROGRAM DOCUMENT [--write]

A table stands between <!-- print ARGUMENTS --> and <!-- end -->; PROGRAM prints it if it gets ARGUMENTS.
The drawings (merge_drawings.py) stand beside the document, which shows them. With --write the document
and the drawings are changed. Exit status: 0 if all agree, otherwise 1.
"""
import re
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from merge_drawings import DRAWINGS  # noqa: E402

TABLE = re.compile(r'(<!-- print ([a-z0-9 ]+) -->\n)(.*?)(<!-- end -->)', re.S)
LEAST = 6  # a document without tables must not pass

program, document = sys.argv[1], Path(sys.argv[2])
write = sys.argv[3:] == ['--write']
text = document.read_text()
stale = []


def table(arguments):
    """What the program prints."""
    printed = subprocess.run([program, *arguments.split()], check=True, stdout=subprocess.PIPE, text=True).stdout
    if not printed.startswith('| '):
        sys.exit(f'{program} {arguments}: no table')
    return printed


def rows(arguments):
    """The cells of a table, without the rule below its header."""
    lines = [[cell.strip() for cell in line.split('|')[1:-1]] for line in table(arguments).splitlines()]
    return lines[:1] + lines[2:]


def print_again(match):
    begin, arguments, old, end = match.groups()
    new = table(arguments)
    if old != new:
        stale.append(arguments)
        if not write:
            print(f'{document.name}, table "{arguments}", should be:\n{new}')
    return begin + new + end


def draw_again(name, draw):
    path, new = document.parent / name, draw(rows)
    if f']({name})' not in text:
        sys.exit(f'{document.name} does not show {name}')
    if not path.exists() or path.read_text() != new:
        stale.append(name)
        if write:
            path.write_text(new)
        else:
            print(f'{name} should be:\n{new}')


tables = len(TABLE.findall(text))
text = TABLE.sub(print_again, text)
if write:
    document.write_text(text)
for name, draw in DRAWINGS.items():
    draw_again(name, draw)
print(f'{tables} tables, {len(DRAWINGS)} drawings, {len(stale)} differ')
sys.exit(1 if tables < LEAST or (stale and not write) else 0)
