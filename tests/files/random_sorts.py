#!/usr/bin/env python3
"""Random sorts by way of temporary files, each beside the same sort in memory.

Usage: random_sorts.py TOOLS NUMBER [SEED]

Schemas, options, ways in and out, and limits of memory are random: so little memory that runs are written, and groups
of runs. The two sorts must give the same bytes, or each one line of an error. Prints the seed of a sort that fails: NUMBER 1 and
this seed repeat it.
"""
import collections
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

TYPES = {'int8': 1, 'uint8': 1, 'int16': 2, 'uint16': 2, 'int32': 4, 'uint32': 4, 'int64': 8, 'uint64': 8, 'float32': 4, 'float64': 8}
LIMIT = re.compile(r'need at least (\d+) KiB')


class Job:
    def __init__(self, tools, folder, seed):
        self.recsort, self.folder, self.random = Path(tools) / 'recsort', folder, random.Random(seed)
        self.schema = folder / 'schema.yaml'
        self.fields = self.make_fields()
        self.size = sum(size for _, _, size in self.fields)
        self.threads = str(self.random.choice([1, 2, 2, 3]))
        keys = self.random.sample(self.fields, min(len(self.fields), self.random.randint(1, 3)))
        self.options = ['-s', self.schema, '--threads', self.threads, '-k', ','.join(
            name + self.random.choice(['', ':asc', ':desc']) for name, _, _ in keys)]
        lines = [f'  - {{name: {name}, {text}}}' for name, text, _ in self.fields]
        self.schema.write_text('\n'.join(['record: R', 'layout: packed', 'fields:', *lines, 'keys: [f0]']))

    def make_fields(self):
        fields = []
        for i in range(self.random.randint(1, 5)):
            kind = self.random.choice([*TYPES, 'bytes'])
            if kind == 'bytes':
                count = self.random.choice([1, 3, 8, 20, 100, 700])
                fields.append((f'f{i}', f'type: bytes, count: {count}', count))
            else:
                endian = self.random.choice(['', ', endian: big'])
                fields.append((f'f{i}', f'type: {kind}{endian}', TYPES[kind]))
        return fields

    def make_records(self, count):
        """With ties: fields are chosen from some values."""
        columns = []
        for _, _, size in self.fields:
            values = [self.random.randbytes(size) for _ in range(self.random.choice([1, 2, 50, 5000]))]
            columns.append(self.random.choices(values, k=count))
        return b''.join(b''.join(row) for row in zip(*columns))

    def run(self, options, inputs, output, data=None):
        command = [self.recsort, *options, *inputs, *([] if output is None else ['-o', output])]
        done = subprocess.run([str(word) for word in command], input=data, capture_output=True)
        return done.returncode, done.stderr.decode(), done.stdout if output is None else output.read_bytes() if output.exists() else None

    def choose(self):
        r, chosen = self.random, []
        if r.random() < 0.3:
            chosen.append('--reverse')
        if r.random() < 0.3:
            chosen.append('--unique')
        if r.random() < 0.3:
            chosen += ['--head', r.choice([0, 1, 2, r.randint(0, 1000), r.randint(0, 100000)])]
        if r.random() < 0.25:
            chosen.append(r.choice(['--index', '--index=32']))
        return chosen

    def least(self, options):
        """KiB that are enough, as recsort says."""
        said = self.run([*options, '-S', '1K'], ['-'], None, self.make_records(100))[1]
        found = LIMIT.search(said)
        return int(found[1]) if found else None

    def parts(self, data, number):
        """Files with parts of the records."""
        count = len(data) // self.size
        cuts = sorted(self.random.randint(0, count) * self.size for _ in range(number - 1))
        names = []
        for i, (begin, end) in enumerate(zip([0, *cuts], [*cuts, len(data)])):
            names.append(self.folder / f'in{i}')
            names[-1].write_bytes(data[begin:end])
        return names

    def sort(self, tally):
        r = self.random
        options = [*self.options, *self.choose()]
        least = self.least(options)
        if least is None:
            return 'refused'
        share = r.choice([1, r.uniform(1, 1.1), r.uniform(1.3, 2), r.uniform(1.3, 8)])
        memory = int(least * share)
        count = min(int(memory * 1024 * r.choice([r.uniform(0.2, 12), 40])) // self.size, 100000)
        data = self.make_records(count)
        names = self.parts(data, r.choice([1, 1, 1, 2, 5]))
        merges = r.random() < 0.2 and '--index' not in options and '--index=32' not in options
        if merges:
            for name in names:
                plain = [*self.options, *[word for word in options if word == '--reverse']]
                assert self.run(plain, [name], name)[0] == 0
            options.append('--merge')
        if len(names) == 1 and not merges and r.random() < 0.2:
            options += ['--skip', 5, '--count', count // 2]
            names[0].write_bytes(b'12345' + data)
        piped = r.randrange(len(names)) if r.random() < 0.4 else None
        pipe = names[piped].read_bytes() if piped is not None else None
        inputs = ['-' if i == piped else name for i, name in enumerate(names)]
        output = r.choice([None, self.folder / 'out', *(names[:1] if piped != 0 else [])])
        first = names[0].read_bytes()
        whole = self.run(options, inputs, output, pipe)
        names[0].write_bytes(first)
        for name in names:
            if r.random() < 0.5:
                forget(name)
        spill = ['-S', f'{memory}K', *r.choice([[], ['-T', self.folder / 't1'], ['-T', self.folder / 't1', '-T', self.folder / 't2']])]
        for name in ('t1', 't2'):
            (self.folder / name).mkdir(exist_ok=True)
        code, said, result = self.run([*options, *spill, '--stats=json'], inputs, output, pipe)
        statistics = json.loads(said.splitlines()[-1]) if code == 0 else {}
        tally['runs'] += statistics.get('runs', 0) > 0
        tally['groups'] += statistics.get('spilled_bytes', 0) > len(data) * 1.1
        if merges and LIMIT.search(said):
            return 'refused'
        if code != whole[0] or result != whole[2] or said.count('\n') != 1:
            return f'{options} {spill} {inputs} -> {output}: exit {whole[0]} and {code}\n{whole[1]}{said}'
        if any(list((self.folder / name).iterdir()) for name in ('t1', 't2')):
            return 'a temporary file is left'
        return None


def forget(name):
    """The page cache has none of a file of a disk."""
    with open(name, 'rb') as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def main():
    tools, number, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1 << 32)
    tally = collections.Counter()
    for i in range(number):
        with tempfile.TemporaryDirectory() as folder:
            wrong = Job(tools, Path(folder), seed + i).sort(tally)
        if wrong == 'refused':
            tally[wrong] += 1
        elif wrong:
            sys.exit(f'seed {seed + i}: {wrong}')
    print(f'{number} sorts, seed {seed}: {dict(tally)}')
    if number >= 40 and not (tally['runs'] > number / 3 and tally['groups'] > 0 and tally['refused'] < number / 10):
        sys.exit('too few of them wrote runs, or groups')


main()
