#!/usr/bin/env python3
"""Which sorts fail what: the tables of sort-suite.txt.

Usage: sort_suite.py [--programs NAME,...] SORTSUITE [OPTION...]     OPTION: of sortsuite, such as --few
       On a machine with a GPU SORTSUITE is sortsuite_gpu. --programs: only these of sorts.py

Puts all sorts that SORTSUITE has under its inputs, and those of tests/sortsuite/sorts.py. A cell is the number of inputs with this
fault. Sorts of Python run if `python3` has their package.
"""
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

GIVEN = sys.argv[1:]
CHOSEN = GIVEN[1].split(',') if GIVEN[0] == '--programs' else None
SUITE, *OPTIONS = GIVEN[2:] if CHOSEN else GIVEN
ROOT = Path(__file__).resolve().parents[2]
FAULTS = ('order', 'order with NaNs', 'stability', 'equal keys told apart', 'records lost or changed', 'memory outside',
          'says that it failed', 'crash', 'endless')
# Names of sorts.py, and whether they say that they are stable.
PROGRAMS = {'python': True, 'numpy': True, 'numpy-default': False, 'torch-cpu': True, 'torch-cuda': True, 'cupy': True,
            'cudf': True}
TITLES = {'python': 'sorted of Python', 'numpy': "numpy.argsort(kind='stable')", 'numpy-default': 'numpy.argsort',
          'torch-cpu': 'torch.sort(stable=True), CPU', 'torch-cuda': 'torch.sort(stable=True), CUDA',
          'cupy': "cupy.argsort(kind='stable')", 'cudf': "cudf sort_values(kind='stable')"}


def output(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=ROOT).stdout.strip()


def head():
    model = next((line.partition(':')[2].strip() for line in Path('/proc/cpuinfo').read_text().splitlines()
                  if line.startswith('model name')), platform.machine())
    gpu = output('sh', '-c', 'nvidia-smi --query-gpu=name,driver_version --format=csv,noheader') or 'no GPU'
    commit = os.environ.get('RECSORT_COMMIT') or output('git', 'describe', '--always', '--dirty')
    print(f'recsort {commit}, '
          f'{output("c++", "--version").splitlines()[0]}; {model}, {os.cpu_count()} processors; {gpu}')
    print(f'sortsuite {" ".join(OPTIONS) or "without options: all inputs"}\n')


def versions():
    script = '''import importlib
for name in ("numpy", "torch", "cupy", "cudf"):
    try: print(name, importlib.import_module(name).__version__)
    except Exception: print(name, "is not there")'''
    print('; '.join([f'Python {platform.python_version()}', *output(sys.executable, '-c', script).splitlines()]) + '\n')


def all_said():
    """What sortsuite says of each sort."""
    names = [line for line in output(SUITE, '--list').splitlines() if not re.match('right|wrong', line)]
    for name in names:
        yield output(SUITE, *OPTIONS, name.partition(': missing')[0])
    if not any(name.startswith('cub::') for name in names):
        yield 'cub::DeviceRadixSort, cub::DeviceMergeSort: not run: sortsuite_gpu has them'
    for name, stable in PROGRAMS.items():
        if CHOSEN and name not in CHOSEN:
            continue
        command = f'exec {sys.executable} -B {ROOT}/tests/sortsuite/sorts.py {name} 2> /dev/null'
        if subprocess.run(f'{command} < /dev/null', shell=True).returncode:
            yield f'{TITLES[name]}: not run: its package, or a GPU, is not there'
        else:
            said = output(SUITE, *OPTIONS, *([] if stable else ['--unstable']), '--program', command)
            yield said.replace(command, TITLES[name], 1)


def main():
    head()
    versions()
    rows, rest, texts = [], [], []
    for said in all_said():
        first = re.match(r'(.*) \((says|does not say) that it is stable\): (\d+) inputs of (\d+) kinds(.*)', said)
        if not first:
            rest.append(said)
            continue
        texts.append(said)
        found = dict(re.findall(r'^  ([\w ]+?): (\d+) inputs of', said, re.MULTILINE))
        cells = [first[1], 'yes' if first[2] == 'says' else 'no', first[4], first[3], *(found.get(name, '') for name in FAULTS)]
        rows.append('| ' + ' | '.join(cells) + ' |')
        print(cells, file=sys.stderr)
    print('| sort | says stable | kinds | inputs | ' + ' | '.join(FAULTS) + ' |')
    print('| --- | --- |' + ' ---: |' * (2 + len(FAULTS)))
    print(*rows, '', *rest, '', *texts, sep='\n')


main()
