#!/usr/bin/env python3
"""The tables of a document that a program prints are the program's.

Usage: check_document.py PROGRAM DOCUMENT [--write]

A table stands between <!-- print ARGUMENTS --> and <!-- end -->; PROGRAM prints it if it gets ARGUMENTS.
With --write the document is changed. Exit status: 0 if all tables agree, otherwise 1.
"""
import re
import subprocess
import sys
from pathlib import Path

TABLE = re.compile(r'(<!-- print ([a-z0-9 ]+) -->\n)(.*?)(<!-- end -->)', re.S)
LEAST = 5  # a document without tables must not pass

program, document = sys.argv[1], Path(sys.argv[2])
write = sys.argv[3:] == ['--write']
text = document.read_text()
stale = []


def printed(match):
    begin, arguments, old, end = match.groups()
    new = subprocess.run([program, *arguments.split()], check=True, stdout=subprocess.PIPE, text=True).stdout
    if not new.startswith('| '):
        sys.exit(f'{program} {arguments}: no table')
    if old != new:
        stale.append(arguments)
        if not write:
            print(f'{document.name}, table "{arguments}", should be:\n{new}')
    return begin + new + end


tables = len(TABLE.findall(text))
text = TABLE.sub(printed, text)
if write:
    document.write_text(text)
print(f'{tables} tables, {len(stale)} differ')
sys.exit(1 if tables < LEAST or (stale and not write) else 0)
