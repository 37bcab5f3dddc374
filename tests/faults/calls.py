#!/usr/bin/env python3
"""Each call of the tools fails in turn, or does only half of its work, on arrays that threads sort (T2).

Usage: calls.py SHIM TOOLS-FOLDER SCHEMA threads|files

`threads`: pthread_create fails, each call once, and each call with all later ones: the output is the
same. `files`: each read, write, open and fsync fails with its possible errors. After EINTR, and after
half of a read or write, the output is the same. After another error the status is 0 and the output
right, or it is 2, with one message, the old output and nothing left behind.
"""
import collections
import errno
import os
import subprocess
import sys
import tempfile
from pathlib import Path

shim, tools, schema = (str(Path(argument).resolve()) for argument in sys.argv[1:4])
RECORDS = 450000  # 9 MB: read and written in pieces by threads

# Three threads: with four or more, an output in memory is mapped, not written.
SORT = ['recsort', '-s', schema, '--threads=3']
COMMANDS = [
    ([*SORT, 'out', '-o', 'out'], None),
    ([*SORT, '-', '-o', 'out'], 'in'),
    ([*SORT, '-u', '--index=32', 'in', '-o', 'out'], None),
    ([*SORT, '-m', 'sorted', 'sorted', '-o', 'out'], None),
    ([*SORT, '-c', 'sorted'], None),
    ([*SORT, '-S', '2M', 'out', '-o', 'out'], None),  # by way of temporary files
    ([*SORT, '-S', '4M', '-u', '--index', '-', '-o', 'out'], 'in'),
]
MAPPED = ([*SORT[:-1], '--threads=5', 'in', '-o', 'out'], None)
HARMLESS = {'read': [errno.EINTR, 0], 'pread': [errno.EINTR, 0], 'write': [errno.EINTR, 0],
            'pwrite': [errno.EINTR, 0], 'fsync': [errno.EINTR]}
HARMFUL = {'read': [errno.EIO], 'pread': [errno.EIO], 'write': [errno.ENOSPC],
           'pwrite': [errno.EIO, errno.ENOSPC],
           'open': [errno.EMFILE, errno.EINTR, errno.EIO], 'fsync': [errno.EIO]}
MOST_PLACES = 6  # tested for each kind of call, spread over all of its calls


class Trial:
    """A folder with files, in which a command runs repeatedly."""

    def __init__(self, top):
        self.count = os.path.join(top, 'count')
        self.folder = Path(top, 'work')
        self.folder.mkdir()
        self.faults = 0
        self.errors = 0
        self.failures = []
        self.prepare('recgen', '-s', schema, '-n', str(RECORDS), '-o', 'in')
        self.prepare('recsort', '-s', schema, 'in', '-o', 'sorted')
        self.old = (self.folder / 'in').read_bytes()
        self.names = {'in', 'sorted', 'out'}

    def prepare(self, name, *arguments):
        subprocess.run([os.path.join(tools, name), *arguments], cwd=self.folder, check=True)

    def run(self, command, **plan):
        (self.folder / 'out').write_bytes(self.old)
        words, stdin = command
        environment = dict(os.environ, LD_PRELOAD=shim,
                           **{f'FAIL_{name.upper()}': str(value) for name, value in plan.items()})
        with open(self.folder / stdin if stdin else os.devnull, 'rb') as source:
            return subprocess.run([os.path.join(tools, words[0]), *words[1:]], cwd=self.folder,
                                  env=environment, stdin=source, capture_output=True, timeout=600)

    def result(self):
        return (self.folder / 'out').read_bytes()

    def left(self):
        extra = {path.name for path in self.folder.iterdir()} - self.names
        for name in extra:
            (self.folder / name).unlink()
        return extra

    def counts(self, command):
        done = self.run(command, count=self.count)
        if done.returncode:
            sys.exit(f'{command}: does not work without faults: {done.stderr}')
        lines = Path(self.count).read_text().splitlines()
        self.new = self.result()
        self.new_text = done.stdout
        return {name: int(number) for name, number in map(str.split, lines)}

    def judge(self, done, harmless):
        """What is wrong with a run; None: nothing."""
        left = self.left()
        if left:
            return 'left behind: ' + ' '.join(left)
        if done.returncode == 0:
            if self.result() != self.new or done.stdout != self.new_text:
                return 'status 0, but another output'
            return None
        if harmless:
            return f'status {done.returncode}'
        self.errors += 1
        if done.returncode != 2:
            return f'status {done.returncode}'
        if self.result() not in (self.old, self.new):
            return 'status 2, but the output has changed'
        return None if done.stderr.count(b'\n') == 1 else 'status 2 without one message'

    def fail(self, command, harmless, **plan):
        self.faults += 1
        try:
            done = self.run(command, **plan)
            why = self.judge(done, harmless)
        except subprocess.TimeoutExpired:
            self.left()
            why, done = 'it hangs', None
        if why:
            text = done.stderr.decode(errors='replace')[:200] if done else ''
            self.failures.append(f'{" ".join(command[0][3:])}: {plan}: {why} {text}')


def places(calls):
    """All of a few, some of many, including the first and the last."""
    if calls <= MOST_PLACES:
        return range(1, calls + 1)
    return sorted({1 + i * (calls - 1) // (MOST_PLACES - 1) for i in range(MOST_PLACES)})


def fail_threads(trial):
    reached = 0
    for command in [*COMMANDS, MAPPED]:
        calls = trial.counts(command)['pthread_create']
        reached += calls
        for at in range(1, calls + 1) if calls < 100 else places(calls):  # a thread for each piece
            for plan in ({}, {'for_ever': 1}):
                trial.fail(command, True, call='pthread_create', error=errno.EAGAIN, at=at, **plan)
    return reached > 10


def fail_files(trial):
    reached = collections.Counter()
    for command in COMMANDS:
        calls = trial.counts(command)
        reached.update(calls)
        for harmless, table in ((True, HARMLESS), (False, HARMFUL)):
            for call, errors in table.items():
                for error in errors:
                    for at in places(calls[call]):
                        trial.fail(command, harmless, call=call, error=error, at=at)
                    if harmless and calls[call]:  # every second call does half of its work
                        trial.fail(command, harmless, call=call, error=error, at=0 if error else 1,
                                   **({} if error else {'for_ever': 1}))
    return all(reached[call] for call in HARMFUL) and trial.errors


def main():
    with tempfile.TemporaryDirectory() as top:
        trial = Trial(top)
        reached = (fail_threads if sys.argv[4] == 'threads' else fail_files)(trial)
    for failure in trial.failures[:20]:
        print(failure)
    print(f'{trial.faults} faults, {len(trial.failures)} wrong ({trial.errors} errors reported)')
    sys.exit(1 if trial.failures or not reached else 0)


main()
