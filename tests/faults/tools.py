#!/usr/bin/env python3
"""Every malloc of the tools fails in turn, once and for ever.

Usage: tools.py SHIM TOOLS-FOLDER SCHEMA

A run may end with status 0 and the right output, or with status 2, one message, the old output
and nothing left behind; never otherwise. Prints "N faults, 0 crashes or changed files".
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

shim, tools, schema = (Path(argument).resolve() for argument in sys.argv[1:])


def tool(name):
    return str(tools / name)


COMMANDS = [
    [tool('recsort'), '-s', schema, '--threads=4', 'in', '-o', 'out'],
    [tool('recsort'), '-s', schema, '--threads=4', 'out', '-o', 'out'],
    [tool('recsort'), '-s', schema, '-c', 'sorted'],
    [tool('recsort'), '-s', schema, '-m', 'sorted', 'sorted', '-o', 'out'],
    [tool('recsort'), '-s', schema, '-u', '--stats=json', 'in', '-o', 'out'],
    [tool('recgen'), '-s', schema, '-n', '50', '-o', 'out'],
    [tool('reccat'), '-s', schema, '--head', '3', 'in'],
]


def run(command, folder, at=0, for_ever=False):
    environment = dict(os.environ, LD_PRELOAD=str(shim), FAIL_COUNT=str(folder / '..' / 'count'))
    if at:
        environment['FAIL_AT'] = str(at)
    if for_ever:
        environment['FAIL_FOR_EVER'] = '1'
    return subprocess.run([str(word) for word in command], cwd=folder, env=environment,
                          capture_output=True, timeout=60)


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def restore(folder, files):
    for path in folder.iterdir():
        if path.name not in files:
            path.unlink()
    for name, data in files.items():
        (folder / name).write_bytes(data)


def prepare(folder):
    subprocess.run([tool('recgen'), '-s', str(schema), '-n', '300', '-o', 'in'], cwd=folder,
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


def main():
    faults, errors, failures = 0, 0, []
    with tempfile.TemporaryDirectory() as top:
        folder = Path(top) / 'work'
        folder.mkdir()
        before = prepare(folder)
        for command in COMMANDS:
            good = run(command, folder)
            if good.returncode:
                sys.exit(f'{command}: does not work without faults: {good.stderr}')
            good_files = contents(folder)
            restore(folder, before)
            calls = int((Path(top) / 'count').read_text())
            for for_ever in (False, True):
                for at in range(1, calls + 1):
                    result = run(command, folder, at, for_ever)
                    why = judge(result, contents(folder), before, good.stdout, good_files)
                    if why:
                        name = ' '.join(Path(str(word)).name for word in command)
                        failures.append(f'{name}: allocation {at} of {calls}'
                                        f'{" and on" if for_ever else ""}: {why}: '
                                        f'{result.stderr.decode(errors="replace")[:200]}')
                    restore(folder, before)
                    faults += 1
                    errors += result.returncode == 2
    for failure in failures[:20]:
        print(failure)
    print(f'{faults} faults, {len(failures)} crashes or changed files ({errors} errors reported)')
    sys.exit(1 if failures or not errors else 0)


main()
