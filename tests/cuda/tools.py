#!/usr/bin/env python3
"""The command on a CUDA runtime whose calls fail in turn: each one once, and each one with all later
ones.

Usage: tools.py PLUGIN-FOLDER TOOLS-FOLDER SCHEMA THREADS

`--plugin auto` with an option for the device must end with the CPU's bytes, and say so in one line if the device
had been chosen; `--plugin cuda` with status 2, one line, and every file unchanged, or else with the same
bytes. Without an option, `auto` does not use the device for few records, and does not report one that
cannot be used.
"""
import itertools
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

plugin, tools, schema = (str(Path(argument).resolve()) for argument in sys.argv[1:4])
THREADS = int(sys.argv[4])
RECORDS = 600
MANY = 12288  # from which on a program may be sorted by a GPU; the command searches for none
STICKY = 700
SANITIZER_ON_FIBERS = 'and may produce false positives in some cases!\n'


def run(folder, *options, plan=(), env=None):
    environment = dict(os.environ, RECSORT_PLUGIN_PATH=plugin, STANDIN_CALLS=str(folder / '../calls'),
                       STANDIN_PLAN=' '.join(str(number) for number in plan), **(env or {}))
    result = subprocess.run([tools + '/recsort', '-s', schema, f'--threads={THREADS}', *options], cwd=folder,
                            env=environment, capture_output=True, text=True, timeout=600)
    result.stderr = ''.join(line for line in result.stderr.splitlines(keepends=True)
                            if not line.endswith(SANITIZER_ON_FIBERS))
    return result


def sort(folder, name, plan, *more):
    """With an option for the device, so that "auto" searches for one for any number of records."""
    return run(folder, '--plugin', name, '--plugin-option', 'device=0', *more, 'in', '-o', 'out', plan=plan)


def counts(folder):
    """Calls and misuses of the last run."""
    return [int(word) for word in (folder / '../calls').read_text().split()]


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def one_line(text):
    return text.startswith('recsort: ') and text.count('\n') == 1 and len(text) > 20


class Bench:
    def __init__(self, folder):
        self.folder = folder
        self.faults = self.errors = self.fallbacks = 0
        self.failures = []
        subprocess.run([tools + '/recgen', '-s', schema, '-n', str(RECORDS), '-o', 'in'],
                       cwd=folder, check=True)
        good = run(folder, '--plugin', 'cpu', '--algorithm', 'sequential', 'in', '-o', 'good')
        if good.returncode:
            sys.exit(f'the CPU does not sort: {good.stderr}')
        self.input = (folder / 'in').read_bytes()
        self.good = (folder / 'good').read_bytes()

    def note(self, good, name, plan, result):
        self.faults += 1
        if not good:
            self.failures.append(f'{name} {plan}: status {result.returncode}: {result.stderr}')

    def run(self, name, plan, *more):
        (self.folder / 'out').write_bytes(b'as it was')
        before = contents(self.folder)
        result = sort(self.folder, name, plan, *more)
        after = contents(self.folder)
        unchanged = after == before
        sorted_well = after == dict(before, out=self.good)
        # if calls fail while the device is closed, there may be no message
        return result, unchanged, sorted_well and counts(self.folder)[1] == 0

    def by_name(self, plan, must_fail):
        result, unchanged, sorted_well = self.run('cuda', plan)
        failed = result.returncode == 2 and unchanged and one_line(result.stderr)
        well = result.returncode == 0 and sorted_well and result.stderr == ''
        self.errors += failed
        self.note(failed if must_fail else well, 'cuda', plan, result)

    def automatic(self, plan, must_fall_back):
        result, _, sorted_well = self.run('auto', plan)
        well = result.returncode == 0 and sorted_well
        self.fallbacks += must_fall_back
        said = one_line(result.stderr) if must_fall_back else result.stderr == ''
        self.note(well and said, 'auto', plan, result)

    def statistics(self, plan):
        result, _, sorted_well = self.run('auto', plan, '--stats=json')
        lines = result.stderr.splitlines()
        stats = json.loads('\n'.join(lines[1:]))
        told = stats.get('plugin') == 'cpu' and 'plugin "cuda"' in (stats.get('fallback') or '')
        self.note(sorted_well and told, 'auto --stats', plan, result)

    def unasked(self, name, plan, expected):
        """Without an option: the plugin that sorts, the reason, and the number of calls."""
        (self.folder / '../calls').write_text('0 0')
        quiet = run(self.folder, name, '-o', 'out', plan=plan)
        told = run(self.folder, name, '-o', 'out', '--stats=json', plan=plan)
        calls = counts(self.folder)[0]
        (self.folder / 'out').unlink()
        stats = json.loads(told.stderr)
        good = (quiet.returncode, quiet.stderr, stats['fallback']) == (0, '', None)
        self.note(good and expected(stats, calls), f'auto {name}', plan, told)

    def refusal(self, plan, reason):
        """A device that cannot be used: --list-plugins says why; by name it is an error."""
        listed = run(self.folder, '--list-plugins', plan=plan)
        self.note(reason in listed.stdout, 'list', plan, listed)
        result, unchanged, _ = self.run('cuda', plan)
        self.note(result.returncode == 2 and unchanged and one_line(result.stderr) and
                  reason in result.stderr, 'cuda', plan, result)
        self.automatic(plan, True)
        self.statistics(plan)


def explained(bench, folder):
    """What is sent to the device, and why, for the greatest record of each kind and one more byte."""
    for size, way in ((40, 'whole records'), (128, 'whole records'), (129, 'keys alone'), (1025, 'keys alone')):
        (folder / '../sized.yaml').write_text('record: sized\nlayout: packed\nfields: [{name: k, type: int32}, {name: '
                                              f'rest, type: bytes, count: {size - 4}}}]\nkeys: [k]\n')
        result = run(folder, '--plugin', 'cuda', '--explain', '-s', '../sized.yaml')
        bench.note(result.returncode == 0 and f'transfer: {way}' in result.stdout, '--explain', size, result)


def one_device(bench, folder):
    """--device: every device gives the same bytes; the command refuses what names no device."""
    for (told, good), memory in itertools.product((('0', True), ('3', True), ('4', False), ('0,1', False), ('x', False)),
                                                  ('1G', '24000')):
        bench_out = folder / 'out'
        bench_out.write_bytes(b'as it was')
        result = run(folder, '--plugin', 'cuda', '--device', '9', '--device', told, '--plugin-option',
                     f'memory={memory}', 'in', '-o', 'out', plan=(0, 0, 0, 0, 3))
        sorted_well = bench_out.read_bytes() == bench.good and not result.stderr and counts(folder)[1] == 0
        refused = result.returncode == 2 and bench_out.read_bytes() == b'as it was' and one_line(result.stderr)
        bench.note(sorted_well if good else refused, '--device', told, result)


def phases(bench):
    """The calls until the plugin is found, until the sort is done, and of a whole run."""
    listed = run(bench.folder, '--list-plugins').stdout
    if 'on an NVIDIA GPU; built with CUDA 13 or later\n' not in listed:
        sys.exit(f'the list does not say what the plugin was built with: {listed}')
    search = counts(bench.folder)[0]
    first = sort(bench.folder, 'cuda', ())
    everything = counts(bench.folder)[0]
    if first.returncode or (bench.folder / 'out').read_bytes() != bench.good:
        sys.exit(f'the plugin does not sort without faults: {first.stderr}')
    # runtime_close with its context; the ring's pinned memory, with entering; two streams for branches; and
    # three for each courier
    closing = 4 + 2 + 2 + 2 + THREADS * 3
    return search, everything - closing, everything


def main():
    with tempfile.TemporaryDirectory() as top:
        folder = Path(top) / 'work'
        folder.mkdir()
        bench = Bench(folder)
        search, done, everything = phases(bench)
        for sticky in (0, 1):
            for at in range(1, everything + 1):
                plan = (at, STICKY * sticky, sticky)
                bench.by_name(plan, at <= done)
                bench.automatic(plan, at <= done)
        explained(bench, folder)
        one_device(bench, folder)
        subprocess.run([tools + '/recgen', '-s', schema, '-n', str(MANY), '-o', '../many'], cwd=folder, check=True)
        for name in 'in', '../many':
            bench.unasked(name, (), lambda stats, calls: (stats['plugin'], calls) == ('cpu', 0))
        bench.statistics((done, STICKY, 1))
        bench.automatic((0, 0, 0, 1000), True)  # bytes of device memory
        bench.by_name((0, 0, 0, 1000), True)
        bench.refusal((0, 0, 0, 0, -1), 'no CUDA device was found')
        bench.refusal((0, 0, 0, 0, 0, 1), 'no NVIDIA driver was found')
        bench.refusal((0, 0, 0, 0, 0, 12020), 'the NVIDIA driver is too old')
        bench.refusal((0, 0, 0, 0, 0, 0, 61), 'the CUDA device is too old')
        if (folder / 'in').read_bytes() != bench.input:
            bench.failures.append('the input has changed')
    for failure in bench.failures[:20]:
        print(failure)
    print(f'{bench.faults} faults, {len(bench.failures)} lost or changed ({bench.errors} errors, '
          f'{bench.fallbacks} fallbacks)')
    sys.exit(1 if bench.failures or not bench.errors or not bench.fallbacks else 0)


main()
