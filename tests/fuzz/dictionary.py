#!/usr/bin/env python3
"""Prints a dictionary for libFuzzer: the words that a target's input is made of; none if it is no text.

Usage: dictionary.py SOURCE-FOLDER TARGET
"""
import json
import re
import sys
from pathlib import Path


def words_of(schema):
    """The names and the values that a JSON schema knows."""
    if isinstance(schema, dict):
        for name, value in schema.items():
            if name == 'properties':
                yield from value
            if name in ('enum', 'const'):
                yield from (word for word in (value if name == 'enum' else [value]) if isinstance(word, str))
            yield from words_of(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from words_of(value)


def of_schemas(root):
    words = words_of(json.loads((root / 'schemas/recsort.schema.json').read_text()))
    return {*words, ': ', '- ', '\n', '\n  - {', '}', '[', ']', '[0]', '.', ', ', '#', '"', '0x', '-1'}


def of_options(root):
    names = re.findall(r'^    \{"([a-z0-9-]+)", ', (root / 'tools/recsort/options.c').read_text(), re.MULTILINE)
    return {*(f'--{name}' for name in names), *(f'--{name}=' for name in names), '-k', '-s', '-o', '\0', ':desc', ':asc',
            ':nan=first', ':nan=last', ':nan=total', '1G', '50%', '--', '-'}


def of_npy(_):
    return {"{'descr': ", "'fortran_order': ", "'shape': ", 'True', 'False', ', }', '(', ',)', "'<f4'", "'>i8'", "'|S3'",
            "[('a', ", '\x01\0', '\x02\0', '\x03\0'}


def main():
    root, target = Path(sys.argv[1]), sys.argv[2]
    of = {'schema': of_schemas, 'sort': of_schemas, 'options': of_options, 'npy': of_npy}
    for word in sorted(of[target](root)) if target in of else ():
        print('"' + ''.join(c if ' ' <= c <= '~' and c not in '"\\' else f'\\x{ord(c):02x}' for c in word) + '"')


if __name__ == '__main__':
    main()
