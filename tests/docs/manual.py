#!/usr/bin/env python3
"""The manual pages have what the library and the schema have: each function that the library exports, each
type and constant of the headers, and each word of the JSON schema. `man` formats them without a warning,
and apropos finds them.

Usage: manual.py SOURCE-FOLDER MAN-FOLDER LIBRARY
"""
import functools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

root, pages, *libraries = (Path(name) for name in sys.argv[1:])
problems = []


def expect(good, what):
    if not good:
        problems.append(what)


def output_of(*command, **kind):
    return subprocess.run(command, check=True, capture_output=True, text=True, **kind).stdout


# Pages about a header.
OVERVIEWS = ['recsort', 'recsort_job', 'recsort_tools', 'recsort_partition', 'recsort_file']
HEADERS = [('core', 'recsort.h'), ('core', 'job.h'), ('core', 'tools.h'), ('core', 'partition.h'), ('files', 'file.h')]
if any('mpi' in library.name for library in libraries):
    OVERVIEWS.append('recsort_mpi')
    HEADERS.append(('tools/mpi', 'mpi.h'))


@functools.cache
def shown(page):
    """What `man` shows, in one line of single blanks."""
    done = subprocess.run(['man', '--warnings', '--local-file', page], capture_output=True, text=True, check=True,
                          env=dict(os.environ, LC_ALL='C.UTF-8', MANWIDTH='100', MANROFFOPT='-c'))
    expect(not done.stderr, f'{page.name}: {done.stderr.strip()}')
    return ' '.join(re.sub('.\b', '', done.stdout).split())


def functions_have_pages():
    exported = {line.split()[0] for library in libraries for line in
                output_of('nm', '-D', '--defined-only', '--format=posix', library).splitlines()}
    expected = exported
    names = {page.stem for page in pages.glob('man3/*.3')} - set(OVERVIEWS)
    expect(names == expected, f'pages and functions differ: {sorted(names ^ expected)}')
    for name in expected:
        text = shown(pages / f'man3/{name}.3')
        expect(f'{name}(' in text.partition('SYNOPSIS')[2].partition('DESCRIPTION')[0], f'{name}: no prototype')
        expect(len(text.partition('DESCRIPTION')[2].partition('TYPES')[0].partition('SEE ALSO')[0]) > 20,
               f'{name}: no description')
        expect(any(f'{name}(3)' in shown(pages / f'man3/{each}.3').partition('SEE ALSO')[0] for each in OVERVIEWS),
               f'no overview lists {name}')
    return len(expected)


def the_headers_are_in_them():
    """Each type, member and constant, and each word of the comments, whatever the line breaks."""
    text = ' '.join(shown(page) for page in sorted(pages.glob('man3/*.3')))
    words = set(re.findall(r'\w+', text.lower()))
    for folder, name in HEADERS:
        header = (root / folder / 'include/recsort' / name).read_text()
        header = re.sub(r'^(#(?!define RECSORT_\w+ [^_])(?:.*\\\n)*.*|extern.*)', '', header, flags=re.M)
        lacking = set(re.findall(r'\w+', header.lower())) - words - {'recsort_api'}
        expect(not lacking, f'{name}: not in the pages: {sorted(lacking)}')


def the_schema_is_in_its_page():
    text = shown(pages / 'man5/recsort-schema.5')
    rules = json.loads((root / 'schemas/recsort.schema.json').read_text())
    words = set()

    def collect(rule):
        if isinstance(rule, dict):
            words.update(rule.get('properties', {}))
            words.update(word for word in rule.get('enum', []) if isinstance(word, str))
            for part in rule.values():
                collect(part)
        elif isinstance(rule, list):
            for part in rule:
                collect(part)
    collect(rules)
    there = set(re.findall(r'[\w<>|?]+', text))
    # Of int8_t, int16_t and so on, and uint8_t and so on, the page has the first.
    lacking = {word for word in words if re.fullmatch(r'\w+', word) and not re.fullmatch(r'u?int\d+_t', word)} - there
    expect(not lacking, f'recsort-schema.5 lacks {sorted(lacking)}')
    source = re.sub(r'\]\([^)]*\)|```\w+', '', (root / 'docs/schema.md').read_text())
    lacking = set(re.findall(r'\w+', source)) - set(re.findall(r'\w+', text)) - {'The'}
    lacking = {word for word in lacking if word.upper() not in text}  # headings
    expect(not lacking, f'recsort-schema.5 lacks the words {sorted(lacking)}')
    return len(words)


def apropos_finds_them():
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(pages, folder, dirs_exist_ok=True)
        shutil.copytree(root / 'tools/recsort', f'{folder}/man1', ignore=shutil.ignore_patterns('*.[ch]'))
        output_of('mandb', '--quiet', '--create', '--user-db', folder)
        found = output_of('man', '-M', folder, '-k', 'recsort')
    for page in ('recsort (1)', 'recsort (3)', 'recsort-schema (5)', 'recsort_sort (3)'):
        expect(re.search(rf'^{re.escape(page)} +- \w', found, re.M), f'apropos does not find {page}')


count = functions_have_pages()
the_headers_are_in_them()
words = the_schema_is_in_its_page()
apropos_finds_them()
expect(count > 30 and words > 40, f'{count} functions, {words} words')
print(*problems, f'{count} functions, {words} words, {len(problems)} problems', sep='\n')
sys.exit(1 if problems else 0)
