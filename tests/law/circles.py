#!/usr/bin/env python3
"""No two source files use each other, directly or through others: you can read each file after those it
uses.

Usage: circles.py OBJECT...    the object files of one program or library
"""
import subprocess
import sys
from pathlib import Path

USES, DEFINES = set('Uvw'), set('TDBRVW')


def symbols_of(path):
    """The symbols that an object file uses, and those it defines for others."""
    text = subprocess.run(['nm', '--format=posix', path], check=True, capture_output=True,
                          text=True).stdout
    lines = [line.split() for line in text.splitlines()]
    return ({line[0] for line in lines if line[1] in USES},
            {line[0] for line in lines if line[1] in DEFINES})


def graph_of(files):
    """For each file, the files whose symbols it uses."""
    symbols = {path: symbols_of(path) for path in files}
    owner = {name: path for path, (_, defined) in symbols.items() for name in defined}
    return {path: {owner[name] for name in used if name in owner} - {path}
            for path, (used, _) in symbols.items()}


def circles(graph):
    """The sets of two or more files that can all be reached from each other."""
    reached = {}
    for start in graph:
        seen, left = set(), [start]
        while left:
            for following in graph[left.pop()] - seen:
                seen.add(following)
                left.append(following)
        reached[start] = seen
    return {frozenset(other for other in reached[start] if start in reached[other])
            for start in graph if start in reached[start]}


def main():
    assert circles({1: {2}, 2: {1, 3}, 3: {4}, 4: set()}) == {frozenset({1, 2})}
    graph = graph_of([Path(name) for name in sys.argv[1:]])
    calls = sum(map(len, graph.values()))
    found = circles(graph)
    for circle in found:
        print('these use each other:', *sorted(path.name.removesuffix('.o') for path in circle))
    print(f'{len(graph)} files, {calls} use another, {len(found)} circles')
    return 1 if found or not calls else 0


if __name__ == '__main__':
    sys.exit(main())
