#!/usr/bin/env python3
"""Compares two builds of librecsort: sorts on the CPU, how quickly a team of threads starts, and what
busy neighbours cost.

Usage: compare.py OLD NEW OUTPUT [ROUNDS]

OLD and NEW are folders with librecsort.so.0, recbench, recbench-sorts and recgen of a build. The builds
take turns, ROUNDS times (default 2), and medians over all repetitions are compared. A ratio below 1
says that NEW is faster.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

COUNTS = ['16K', '128K', '1M', '4M']
THREADS = '1,2,4,8,16'
BENCH = ['--suite', 'entity', '--record', 'entity', '--distribution', 'random,sorted,nearly',
         '--plugin', 'cpu', '--algorithm', 'merge', '--repeat', '7']


def environment(build):
    path = os.environ.get('LD_LIBRARY_PATH', '')
    return dict(os.environ, LD_LIBRARY_PATH=f'{build}:{path}')


def measure(build, count, threads, series, about):
    with tempfile.NamedTemporaryFile(suffix='.json') as file:
        subprocess.run([build / 'recbench', *BENCH, '--count', count, '--threads', threads, '--json',
                        file.name], env=environment(build), stdout=subprocess.DEVNULL, check=True)
        result = json.load(open(file.name))
    about.update(commit=result['commit'], **result['machine'])
    for group in result['groups']:
        for one in group['contenders']:
            if one['method'] == 'recsort':
                key = one['count'], one['distribution'], one['threads']
                series.setdefault(key, []).extend(one['series']['wall']['each'])


def table(old, new):
    yield f'{"records":>9} {"order":10} {"threads":>7} {"old ms":>9} {"new ms":>9} {"new/old":>8}'
    ratios = []
    for key in sorted(old):
        a, b = statistics.median(old[key]), statistics.median(new[key])
        ratios.append(b / a)
        yield f'{key[0]:9} {key[1]:10} {key[2]:7} {1e3 * a:9.3f} {1e3 * b:9.3f} {b / a:8.3f}'
    yield f'geometric mean of new/old: {statistics.geometric_mean(ratios):.3f}'


def main():
    old, new = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 2
    processors = len(os.sched_getaffinity(0))
    threads = ','.join(t for t in THREADS.split(',') if int(t) <= processors)
    series, about = {old: {}, new: {}}, {old: {}, new: {}}
    for count in COUNTS:
        for _ in range(rounds):
            for build in (old, new):
                measure(build, count, threads, series[build], about[build])
    with open(sys.argv[3], 'w') as output:
        def say(line):
            print(line)
            print(line, file=output, flush=True)
        say(f'old {about[old]["commit"]}, new {about[new]["commit"]}, {about[new]["compiler"]}; '
            f'{about[new]["cpu"]}, {processors} processors, {about[new]["kernel"]}')
        for line in table(series[old], series[new]):
            say(line)
        for name, build in (('old', old), ('new', new)):
            say(f'\nthreads, {name}:')
            done = subprocess.run([new / 'recbench', '--suite', 'threads', '--repeat', '25'], check=True,
                                  env=environment(build), stdout=subprocess.PIPE, text=True)
            say(''.join(done.stdout.splitlines(True)[2:]).rstrip())


main()
