#!/usr/bin/env python3
"""How large recsort is, at some commits.

Usage: size.py COMMIT...      writes a table: a row for each measure, a column for each commit

Lines are those of sources, with comments and blank lines. A function is one that a public header exports; a type is a
struct, union, enum or function type that such a header defines. plugin.h and the headers that it needs are for authors
of plugins, so they are not counted; and tools.h is for commands, converters and bindings, so it is not either.
"""
import re
import subprocess
import sys

SOURCE = re.compile(r'\.(c|h|cu|cuh|cpp|hpp|inc)$')
PUBLIC = re.compile(r'(core|tools/mpi)/include/recsort/\w+\.h$')
APART = re.compile(r'/(plugin|plugin_keys|team|key_interpreter|computed_key|record_hash|tools)\.h$')
BENCH = re.compile(r'bench|headbench|/results/')


def git(*words):
    return subprocess.run(['git', *words], check=True, capture_output=True).stdout


def lines_of(text):
    return text.count(b'\n')


def measure(commit):
    names = git('ls-tree', '-r', '--name-only', commit).decode().splitlines()
    batch = '\n'.join(f'{commit}:{name}' for name in names).encode()
    out = subprocess.run(['git', 'cat-file', '--batch'], input=batch, check=True, capture_output=True).stdout
    texts, at = {}, 0
    for name in names:
        end = out.index(b'\n', at)
        size = int(out[at:end].split()[-1])
        texts[name] = out[end + 1:end + 1 + size]
        at = end + 2 + size
    bench = [n for n in names if BENCH.search(n) and n.startswith(('plugins/', 'tools/')) and not n.endswith(('.txt', '.md'))]
    product = [n for n in names if n.startswith(('core/', 'plugins/')) and (SOURCE.search(n) or n.endswith('CMakeLists.txt'))]
    headers = [texts[n].decode() for n in names if PUBLIC.search(n) and not APART.search(n)]
    stripped = [re.sub(r'/\*.*?\*/', '', text, flags=re.S) for text in headers]
    functions = {f for text in stripped for f in re.findall(r'^RECSORT_\w*API\b[^;]*?\b(recsort_\w+)\(', text, re.M)}
    types = {t for text in stripped for t in re.findall(r'^\}\s*(recsort_\w+);', text, re.M)}
    types |= {t for text in stripped for t in re.findall(r'^typedef struct (recsort_\w+) recsort_\w+;', text, re.M)}
    types |= {t for text in stripped for t in re.findall(r'^typedef [^;{]*\(\*(recsort_\w+)\)', text, re.M)}
    total = lambda chosen: sum(lines_of(texts[n]) for n in chosen)
    return {
        'lines of core, plugins and benchmarks': total({*product, *bench}),
        'of these, benchmarks': total(bench),
        'lines of tests': sum(lines_of(texts[n]) for n in names if n.startswith('tests/')
                              and not n.startswith('tests/fuzz/corpus')),
        'tracked files': len(names),
        'public functions': len(functions),
        'public types': len(types),
        'lines of public headers': sum(text.count('\n') for text in headers),
        'words of README.md': len(texts['README.md'].split()),
        'words of CONTRIBUTING.md': len(texts['CONTRIBUTING.md'].split()),
    }


commits = sys.argv[1:] or ['HEAD']
columns = [measure(commit) for commit in commits]
short = [git('rev-parse', '--short=7', commit).decode().strip() for commit in commits]
print('| | ' + ' | '.join(short) + ' |\n| --- |' + ' ---: |' * len(short))
for name in columns[0]:
    print(f'| {name} | ' + ' | '.join(f'{column[name]:,}' for column in columns) + ' |')
