#!/usr/bin/env python3
"""Compares two builds, which take turns.

Usage: compare.py OLD NEW OUTPUT [ROUNDS [OPTION]...]

OLD and NEW are folders with librecsort.so.0, recbench, recbench-sorts and recgen of a build, or gpu-bench
programs. Each takes ROUNDS turns (default 3), each in a process of its own, with the OPTIONs. OUTPUT gets
the median over all repetitions of each sort; a ratio below 1 says that NEW is faster. Peers are the same in
both, so their ratios show the noise. Of folders it also gets how quickly threads start.
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import geometric_mean, median

THREADS = ','.join(str(1 << power) for power in range(len(os.sched_getaffinity(0)).bit_length()))
FOLDER_OPTIONS = ['--suite', 'entity', '--distribution', 'random,sorted,nearly', '--plugin', 'cpu', '--repeat', '7',
                  '--count', '16K,128K,1M,4M', '--threads', THREADS]


def run(build, options):
    """What a program prints."""
    program, path = (build / 'recbench', f'{build}:') if build.is_dir() else (build, '')
    environment = dict(os.environ, LD_LIBRARY_PATH=path + os.environ.get('LD_LIBRARY_PATH', ''))
    return subprocess.run([program, *options], env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout


def measure(build, options, series):
    """Adds the seconds of each sort; returns the commit and the machine."""
    with tempfile.NamedTemporaryFile(suffix='.json') as file:
        run(build, [*options, '--json', file.name])
        result = json.load(open(file.name))
    for one in (one for group in result['groups'] for one in group['contenders']):
        names = [one['method'], one.get('algorithm'), one.get('variant')]
        # gpu-bench measures on the device; the default algorithm was hybrid once.
        method = ' '.join(filter(None, names)).replace('hybrid', 'sample')
        key = method, one['record'], one.get('distribution', 'random'), one['count'], one.get('threads', 0)
        each = one['series'].get('device') or one['series']['wall']
        series.setdefault(key, []).extend(each['each'])
    return result['commit'], result['machine']


def table(series):
    yield f'{"sort":36} {"record":7} {"order":10} {"count":>11} {"threads":>7} {"old ms":>10} {"new ms":>10} {"new/old":>8}'
    ratios = {}
    for key in sorted(set(series[0]) & set(series[1])):
        old, new = (1e3 * median(each[key]) for each in series)
        ratios.setdefault(key[0], []).append(new / old)
        yield f'{key[0]:36} {key[1]:7} {key[2]:10} {key[3]:11} {key[4] or "":7} {old:10.4f} {new:10.4f} {new / old:8.3f}'
    for method, each in sorted(ratios.items()):
        yield f'{method}: geometric mean {geometric_mean(each):.3f}, from {min(each):.3f} to {max(each):.3f}'


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    builds, folders = [Path(name).resolve() for name in sys.argv[1:3]], Path(sys.argv[1]).is_dir()
    rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 3
    options = sys.argv[5:] or (FOLDER_OPTIONS if folders else ['--algorithm', 'sample'])
    series, commits = ({}, {}), [None, None]
    for _ in range(rounds):
        for i, build in enumerate(builds):
            commits[i], machine = measure(build, options, series[i])
    about = '{cpu}, {cores} cores, {kernel}' if folders else '{device}, driver for CUDA {driver}'
    lines = [f'old {commits[0]}, new {commits[1]}, {machine["compiler"]}; {about.format(**machine)}', *table(series)]
    for name, build in zip(('old', 'new'), builds if folders else ()):
        lines += ['', f'threads, {name}:', *run(build, ['--suite', 'threads', '--repeat', '25']).splitlines()[2:]]
    Path(sys.argv[3]).write_text('\n'.join(lines) + '\n')
    print(*lines, sep='\n')


main()
