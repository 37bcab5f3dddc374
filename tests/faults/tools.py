#!/usr/bin/env python3
"""Every malloc of the tools fails in turn, alone and with all later ones.

Usage: tools.py SHIM TOOLS-FOLDER SCHEMA [outputs]

With `outputs` only the commands that write records to a file, for which the file system matters.
A run may end with status 0 and the right output, or with status 2, one message, the old output
and nothing left behind; never otherwise. Prints "N faults, 0 crashes or changed files".
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

shim, tools, schema = (Path(argument).resolve() for argument in sys.argv[1:4])


def tool(name):
    return str(tools / name)


# The command line, and how many of the last allocations fail; None: all. The first allocations are those
# of the schema, the same for each command of a tool.
SORT = [tool('recsort'), '-s', schema, '--threads=4']
LAST = 40
FEW = [
    ([*SORT, 'in', '-o', 'out'], None),
    ([*SORT, 'out', '-o', 'out'], LAST),
    ([*SORT, '-m', 'sorted', 'sorted', '-o', 'out'], LAST),
    ([*SORT, '-u', '--stats=json', 'in', '-o', 'out'], LAST),
    ([*SORT, '-c', 'sorted'], LAST),
    ([tool('recgen'), '-s', schema, '-n', '50', '-o', 'out'], None),
    ([tool('reccat'), '-s', schema, '--head', '3', 'in'], None),
    ([tool('recschema'), '--emit-header', '-s', schema], LAST),
]
# Enough records for threads to sort and write.
MANY = [
    ([*SORT, 'out', '-o', 'out'], LAST // 2),
    ([*SORT, '-u', 'in', '-o', 'out'], LAST // 2),
]


def run(command, folder, at=0, for_ever=False):
    environment = dict(os.environ, LD_PRELOAD=str(shim), FAIL_COUNT=str(folder / '..' / 'count'))
    if at:
        environment['FAIL_AT'] = str(at)
    if for_ever:
        environment['FAIL_FOR_EVER'] = '1'
    return subprocess.run([str(word) for word in command], cwd=folder, env=environment,
                          capture_output=True, timeout=600)


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def restore(folder, files):
    for path in folder.iterdir():
        if path.name not in files:
            path.unlink()
    for name, data in files.items():
        (folder / name).write_bytes(data)


def prepare(folder, records):
    restore(folder, {})
    subprocess.run([tool('recgen'), '-s', str(schema), '-n', str(records), '-o', 'in'], cwd=folder,
                   check=True)
    subprocess.run([tool('recsort'), '-s', str(schema), 'in', '-o', 'sorted'], cwd=folder,
                   check=True)
    (folder / 'out').write_bytes((folder / 'in').read_bytes())
    return contents(folder)


def judge(result, files, before, good_output, good_files):
    """What is wrong with a run; None: nothing."""
    if result.returncode == 0:
        if files != good_files:
            return 'status 0, but other files'
        return None if result.stdout == good_output else 'status 0, but another output'
    if result.returncode != 2:
        return f'status {result.returncode}'
    if files != before:
        return 'status 2, but files have changed: ' + ' '.join(sorted(files))
    return None if result.stderr.strip() else 'status 2 without a message'


def fail_all(folder, records, commands):
    """Returns how many faults there were, how many were reported, and what was wrong."""
    faults, errors, failures = 0, 0, []
    before = prepare(folder, records)
    for command, last in commands:
        good = run(command, folder)
        if good.returncode:
            sys.exit(f'{command}: does not work without faults: {good.stderr}')
        good_files = contents(folder)
        restore(folder, before)
        calls = int((folder / '..' / 'count').read_text())
        for for_ever in (False, True):
            for at in range(max(1, calls + 1 - (last or calls)), calls + 1):
                result = run(command, folder, at, for_ever)
                files = contents(folder)
                why = judge(result, files, before, good.stdout, good_files)
                if why:
                    name = ' '.join(Path(str(word)).name for word in command)
                    failures.append(f'{name}: allocation {at} of {calls}'
                                    f'{" and on" if for_ever else ""}: {why}: '
                                    f'{result.stderr.decode(errors="replace")[:200]}')
                if files != before:
                    restore(folder, before)
                faults += 1
                errors += result.returncode == 2
    return faults, errors, failures


def main():
    few = FEW[:4] if sys.argv[4:] == ['outputs'] else FEW
    with tempfile.TemporaryDirectory() as top:
        folder = Path(top) / 'work'
        folder.mkdir()
        results = [fail_all(folder, 300, few), fail_all(folder, 1 << 18, MANY)]
    faults, errors = (sum(result[i] for result in results) for i in range(2))
    failures = results[0][2] + results[1][2]
    for failure in failures[:20]:
        print(failure)
    print(f'{faults} faults, {results[1][0]} of them with many records, {len(failures)} crashes or '
          f'changed files ({errors} errors reported)')
    sys.exit(1 if failures or not errors else 0)


main()
