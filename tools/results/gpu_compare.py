#!/usr/bin/env python3
"""Compares two builds of the CUDA plugin on the device.

Usage: gpu_compare.py OLD NEW OUTPUT [ROUNDS [OPTION]...]

OLD and NEW are gpu-bench programs. They take turns, ROUNDS times (default 3), each in a process of its
own, with the OPTIONs (default: --algorithm hybrid). OUTPUT gets the median over all rounds for each sort
of the plugin; a ratio below 1 says that NEW is faster. CUB's sorts are the same in both, so their ratios
show the noise.
"""
import json
import statistics
import subprocess
import sys
import tempfile


def measure(program, options, series):
    with tempfile.NamedTemporaryFile(suffix='.json') as file:
        subprocess.run([program, *options, '--json', file.name], stdout=subprocess.DEVNULL, check=True)
        result = json.load(open(file.name))
    for group in result['groups']:
        for one in group['contenders']:
            method = one['method'] if one['method'] != 'recsort' else one['algorithm']
            if method == 'sample':
                method = 'hybrid'
            key = (method, one['record'], one['count'], one.get('distribution', 'random'))
            series.setdefault(key, []).extend(one['series']['device']['each'])
    return result['commit'], result['machine']


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    programs, output = sys.argv[1:3], sys.argv[3]
    rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 3
    options = sys.argv[5:] or ['--algorithm', 'hybrid']
    series, commits = ({}, {}), [None, None]
    for _ in range(rounds):
        for i, program in enumerate(programs):
            commits[i], machine = measure(program, options, series[i])
    with open(output, 'w') as file:
        def say(line):
            print(line)
            print(line, file=file, flush=True)
        say(f'old {commits[0]}, new {commits[1]}; {machine["device"]}, driver {machine["driver"]}, '
            f'{machine["compiler"]}')
        say(f'{"sort":20} {"keys":6} {"pairs":>11} {"order":12} {"old us":>10} {"new us":>10} {"new/old":>8}')
        ratios = {}
        for key in sorted(set(series[0]) & set(series[1])):
            old, new = (statistics.median(each[key]) for each in series)
            ratios.setdefault(key[0], []).append(new / old)
            say(f'{key[0]:20} {key[1]:6} {key[2]:11} {key[3]:12} {1e6 * old:10.2f} {1e6 * new:10.2f} '
                f'{new / old:8.3f}')
        for method, each in sorted(ratios.items()):
            say(f'{method}: geometric mean {statistics.geometric_mean(each):.3f}, '
                f'from {min(each):.3f} to {max(each):.3f}')


main()
