#!/usr/bin/env python3
"""Usage: recbench [OPTION]...
Measure recsort on this machine beside the sorts of others. The contenders take
turns, every result is checked, and medians are compared.

  --suite NAME          short (the default), all, file, threads, peers, auto,
                        head; on a GPU verify, pairs, resident, checked, top,
                        segments, shards and shard-peers; mpi; python, torch,
                        rows or splats
  --record LIST         in place of the suite's records, such as entity, key64
  --distribution LIST   likewise: those of recgen, with random for uniform
  --count LIST          records, default 4M (short: 1M but for the suite entity)
  --threads LIST        default: 1 and one for every processor
  --repeat N            repetitions, default 5
  --plugin NAME         default auto; all: every plugin that works here
  --algorithm NAME      default: the plugin's; all: all that it has
  --size BYTES, --folder FOLDER, --recsort FILE   of the suite file
  --ranks LIST, --mpirun COMMAND                  of the suite mpi
  --against RECBENCH    compare with that of another build, in turns
  --json FILE           write every figure to FILE
  --svg FILE            draw the medians
  --list, --help, --version   print these, then exit

LIST is separated by commas; K, M, G and T are powers of 1024.
"""
import argparse
import json
import os
import platform
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timezone
from pathlib import Path
from statistics import geometric_mean, median

HERE = Path(__file__).resolve().parent
PARTS = HERE if (HERE / 'recbench-sorts').exists() else HERE.parent / 'libexec/recsort'

STD, PARALLEL, PARTIAL = 'std::stable_sort', '__gnu_parallel::stable_sort', 'std::partial_sort'
COMMAND, MERGE, TEXT_MERGE = 'recsort FILE', 'recsort --merge', 'sort -m of text'
# The structs of peers.h; YAML in one line.
SCHEMAS = {
    'entity': '{record: Entity, size: 20, fields: [{name: x, type: float32}, {name: y, type: float32}, '
              '{name: angle, type: float32}, {name: spriteIndex, type: int16}, '
              '{name: distanceFromPlayer, type: float32}], keys: [{field: distanceFromPlayer, order: desc}]}',
    'key16': '{record: Key16, fields: [{name: key, type: uint16}, {name: value, type: uint16, count: 3}], keys: [key]}',
    'key32': '{record: Key32, fields: [{name: key, type: uint32}, {name: value, type: uint32}], keys: [key]}',
    'key64': '{record: Key64, fields: [{name: key, type: uint64}, {name: value, type: uint64}], keys: [key]}',
    'key128': '{record: Key128, fields: [{name: high, type: uint64}, {name: low, type: uint64}, '
              '{name: value, type: uint64, count: 2}], keys: [high, low]}',
    'gensort': '{record: Gensort, fields: [{name: key, type: bytes, count: 10}, '
               '{name: value, type: bytes, count: 90}], keys: [key]}',
    'word': '{record: Word, fields: [{name: key, type: uint64}], keys: [key]}'}
ORDERS = 'random', 'sorted', 'reverse', 'nearly', 'few', 'equal', 'zipf', 'saw', 'organ-pipe'  # recgen's
# The records and orders of each suite of recbench-sorts; `all` is those up to `file`.
SUITES = {'entity': (['entity'], ['random']), 'keys': (['key64', 'key128', 'gensort'], ['random']),
          'distributions': (['entity'], list(ORDERS[:6])), 'merge': (['word', 'entity'], ['random']),
          'file': (['entity'], ['random']), 'peers': (['entity', 'key64', 'key128'], ['random', 'few', 'nearly']),
          'auto': (['entity'], ['random']), 'head': (['word'], ['random', 'sorted', 'reverse']), 'verify': (['entity', 'gensort'], ['random'])}
ALL, SHORT = [*SUITES][:5], [*SUITES][:4]
K, M = 1 << 10, 1 << 20
KEYS, KEY_ORDERS = ['u32', 'u64', 'u128'], ['sorted', 'reversed', 'nearly', 'few', 'saws', 'organ', 'equal', 'zipf', 'holes',
                                            'repeats', 'cents']
SHARD_ORDERS = ['random', 'skewed', 'equal', 'sorted', 'turned']
# The suites of other programs: the program; then rows of records, orders, counts and details.
OTHERS = {
    'pairs': ('gpu', [(['f32', *KEYS], ['random'], [K, 16 * K, 128 * K, M, 4 * M, 16 * M, 256 * M], ['']),
                      (KEYS, KEY_ORDERS, [16 * M], ['']), (['u36'], ['random', 'cents'], [16 * M], ['']),
                      (['f32+u32', 'u32+u32', 'u40+u32', 'u64+u32', 'u64+u64', 'u128+u32'], ['random'],
                       [4 * K, 64 * K, M, 4 * M, 16 * M], [''])]),
    'resident': ('gpu', [(['entity'], ['random', 'nearly', 'sorted'],
                          [K, 4 * K, 16 * K, 128 * K, M, 4 * M, 16 * M], [''])]),
    'checked': ('gpu', [(['entity', 'f32', 'f32+u32', 'u64+u64', 'f32+none'], ['random'],
                         [K, 4 * K, 16 * K, 64 * K, 256 * K, M, 4 * M, 16 * M, 256 * M], [''])]),
    'top': ('gpu', [(['f32'], ['random'], [16 * M], ['10', '1000', '2048']), (['f32'], ['sorted'], [16 * M], ['1000']),
                    (['entity'], ['random'], [16 * M], ['1000']), (['f32'], ['random'], [M // 4, M, 2 * M], ['10', '1000'])]),
    # Segments and their lengths say how many records there are.
    'segments': ('gpu', [(['f32+u32'], ['random'], [0],
                          ['1048576x1-32', '16384x1024', '1024x16384', '16x1048576', '65536xpower', '1024x1024'])]),
    # Records of each shard; or of all, which one device has, too.
    'shards': ('gpu', [(['f32+u32'], SHARD_ORDERS, [256 * M], ['']), (['entity'], SHARD_ORDERS, [128 * M], ['']),
                       (['f32+u32', 'entity'], SHARD_ORDERS, [16 * M], [', in all'])]),
    'shard-peers': ('gpu', [(['f32+u32', 'entity'], ['random', 'sorted'], [M, 128 * M], [', beside CUB and NCCL']),
                            (['f32+u32', 'entity'], ['random', 'sorted'], [M], [', beside cudax::sort'])]),
    'mpi': ('mpi', [(['entity'], ['random', 'sorted', 'nearly', 'equal'], [4 * M], [])]),
    'python': ('python', [(['float32', 'float32+int32'], ['random'], [M, 4 * M], [''])]),
    'torch': ('python', [(['float32'], ['random'], [M, 4 * M, 16 * M], [''])]),
    'rows': ('python', [(['5 float32'], ['random'], [M, 4 * M, 16 * M], [''])]),
    'splats': ('python', [(['gaussians'], ['random'], [M, 4 * M], [''])])}
HEADS = 1, 100, 10000
RUNS = 2, 16, 256
FILES = {'2 files': 2, '16 files': 16}
UNITS = {'held': 'bytes/record', 'peak': 'bytes/record', 'extra': 'bytes/record', 'device': 'bytes',
         'launches': 'kernels and copies'}  # the others: s


class Trouble(Exception):
    """What recbench cannot do, in one line."""


# ---- Options ----

def number(text, most=2**64 - 1):
    digits = re.fullmatch(r'(\d+)([KMGT]?)', text)
    value = int(digits[1]) << 10 * ' KMGT'.index(digits[2] or ' ') if digits else 0
    if not 0 < value <= most:
        raise ValueError
    return value


def list_of(read):
    return lambda text: list(dict.fromkeys(read(word) for word in text.split(',')))


def one_of(names):
    return lambda word: names[names.index(word)]


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise Trouble(re.sub(r'^argument (--\w+): invalid \S+ value: (.*)', r'\1: cannot use \2', message))


def read_options():
    processors = len(os.sched_getaffinity(0))
    parser = Parser(add_help=False)
    add = parser.add_argument
    add('--suite', type=one_of([*SUITES, *OTHERS, 'all', 'short', 'threads']), default='short')
    add('--record', type=list_of(str))
    add('--distribution', type=list_of(str))
    add('--count', type=list_of(number))
    add('--threads', type=list_of(lambda word: number(word, 4096)), default=sorted({1, processors}))
    add('--repeat', type=lambda word: number(word, 1000), default=5)
    add('--plugin', default='auto')
    add('--algorithm')
    add('--size', type=number, default=1 << 30)
    add('--folder', default=os.environ.get('TMPDIR') or '/tmp')
    add('--recsort')
    add('--ranks', type=list_of(lambda word: number(word, 1024)), default=[1, 2, 4, 8, 16])
    add('--mpirun', default='mpirun --use-hwthread-cpus --bind-to none')
    add('--against')
    add('--json')
    add('--svg')
    for name in 'list', 'help', 'version':
        add(f'--{name}', action='store_true')
    options = parser.parse_args()
    options.threads.sort()
    if options.suite not in OTHERS:
        for name, known in ('record', SCHEMAS), ('distribution', ORDERS):
            for word in getattr(options, name) or ():
                if word not in known:
                    raise Trouble(f"--{name}: cannot use '{word}'")
    return options


# ---- Programs ----

def find_program(name):
    beside = [str(path) for path in (HERE / name, HERE.parent / name) if path.is_file() and os.access(path, os.X_OK)]
    return (beside or [name])[0]


class Program:
    """One that makes inputs, runs contenders and checks results: serve.h has its commands."""

    def __init__(self, *words):
        self.name = Path(words[-1]).name
        try:
            self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            text=True, errors='surrogateescape')
        except FileNotFoundError:
            raise Trouble(f'{self.name} is not there: it is part of some builds alone') from None

    def ask(self, *words):
        words = ['' if word is None else str(word) for word in words]
        if any(re.search('[\t\n]', word) for word in words):
            raise Trouble('a name with a tab or a new line cannot be used')
        try:
            print(*words, sep='\t', file=self.process.stdin, flush=True)
        except BrokenPipeError:
            pass  # it has ended
        answer = json.loads(self.process.stdout.readline() or json.dumps({'error': f'{self.name} has ended'}))
        if 'error' in answer:
            raise Trouble(answer['error'])
        return answer

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def find_methods(options, plugins):
    """(plugin, algorithm) of all that the options ask for; the best plugin is the first."""
    usable = [plugin for plugin in plugins if plugin['works']]
    if options.plugin == 'auto':
        usable = usable[:1]
    methods = [(plugin['name'], name) for plugin in usable for place, name in enumerate(plugin['algorithms'])
               if options.plugin in ('auto', 'all', plugin['name'])
               and (options.algorithm in ('all', name) if options.algorithm else place == 0)]
    if not methods:
        why = next((plugin['text'] for plugin in plugins if plugin['name'] == options.plugin and not plugin['works']), None)
        raise Trouble(f"plugin '{options.plugin}' with algorithm '{options.algorithm or 'default'}' cannot be used here"
                      + f": {why or 'there is no such plugin'}")
    return methods


# ---- Contenders ----

class Contender:
    """One that runs once in each turn. `run` returns its figures by name."""

    def __init__(self, run, slot, method, threads, variant=None, plugin=None, algorithm=None):
        self.run, self.slot, self.method, self.threads = run, slot, method, threads
        self.variant, self.plugin, self.algorithm = variant, plugin, algorithm
        self.series = {}

    def median(self, series='wall'):
        return median(self.series[series])

    def name(self):
        return (self.method + (f' {self.plugin}/{self.algorithm}' if self.algorithm else f' {self.plugin}' if self.plugin else '')
                + (f', {self.variant}' if self.variant else ''))


class Group:
    """Contenders that take turns on inputs of one kind and count."""
    rotates = True

    def __init__(self, bench, suite, record, count):
        self.bench, self.suite, self.record, self.count = bench, suite, record, count
        self.inputs, self.contenders, self.targets = {}, [], []
        self.size = bench.about['sizes'].get(record)

    def input(self, slot, order='random', runs=1):
        """Small inputs are several: a processor learns the branches that a sort of the same hundred
        records takes."""
        schema, recgen = SCHEMAS[self.record], shlex.quote(find_program('recgen'))
        copies = max(1, 16 * K // self.count) if runs == 1 and self.count < 8 * K else 1
        make = (f"for seed in $(seq {copies}); do echo '{schema}' | {recgen} --seed=$seed -s /dev/stdin -n {self.count} "
                f"-d {order.replace('random', 'uniform')}; done")
        self.bench.sorts.ask('input', slot, f'{order} {self.record} records', self.record, schema, self.count, runs,
                             copies, *self.bench.methods[0], make)
        self.inputs[slot] = {'distribution': order, **({'runs': runs} if runs > 1 else {})}

    def add(self, slot, method, threads=1, run=None, **about):
        """A contender that recbench-sorts runs, if no `run` is given."""
        if method not in self.bench.about['peers'] and method.split()[0] not in ('recsort', 'cp', 'sort', PARTIAL):
            return
        contender = Contender(run, slot, method, threads, **about)
        contender.run = run or (lambda: self.bench.sorts.ask(
            'run', slot, method, contender.variant, threads, contender.plugin, contender.algorithm))
        self.contenders.append(contender)

    def measure(self):
        shown, turns = sys.stderr.isatty(), self.bench.options.repeat
        for turn in range(turns):
            # Each is in another place in each turn, as it finds in the caches what the one before left there.
            at = turn % len(self.contenders) if self.rotates else 0
            for contender in self.contenders[at:] + self.contenders[:at]:
                if shown:
                    print(f'\r\033[K{self.suite}: turn {turn + 1} of {turns}: {contender.name()}', end='', file=sys.stderr)
                if contender.threads:
                    time.sleep(0.02)  # threads that OpenMP leaves spinning would take processors of the next one
                for name, value in contender.run().items():
                    contender.series.setdefault(name, []).append(value)
        if shown:
            print('\r\033[K', end='', file=sys.stderr, flush=True)

    def seconds(self, slot, method, threads, variant=None):
        """The first that matches; None if there is none."""
        return next((one.median() for one in self.contenders
                     if (one.slot, one.method, one.threads, one.variant) == (slot, method, threads, variant)), None)

    def target(self, text, value, at_least=None, at_most=None):
        if value is not None:
            bound = {'at_least': at_least} if at_least is not None else {'at_most': at_most}
            met = value >= at_least if at_least is not None else value <= at_most
            self.targets.append({'text': text, 'value': value, **bound, 'met': met})


def ratio(slow, fast):
    return slow / fast if slow and fast else None


# ---- Sorts and merges in memory ----

def memory_group(bench, suite, record, orders, count):
    group, threads = Group(bench, suite, record, count), bench.options.threads
    for order in orders:
        group.input(order, order)
        group.add(order, STD)
        for each in threads:
            if each > 1:
                group.add(order, PARALLEL, each)
    for plugin, algorithm in bench.methods:
        for each in threads:
            for order in orders:
                for variant in None, 'to', 'first':
                    group.add(order, 'recsort', each, variant=variant, plugin=plugin, algorithm=algorithm)
    group.measure()

    def named(what, count):
        return f'speed of {what}, {count} thread{"s"[:count > 1]}'
    # 3 and 4 times as fast as the peers for 2^22 entities, as fast for other records.
    if record != 'entity' or count == 1 << 22:
        for peer, short, each, bound in (STD, STD, 1, 3), (PARALLEL, '__gnu_parallel', threads[-1], 4):
            group.target(named(f'{record} over {short}', each),
                         ratio(group.seconds(orders[0], peer, each), group.seconds(orders[0], 'recsort', each)),
                         at_least=bound if record == 'entity' else 1)
    # Twice as fast if there is little to do.
    for each in sorted({threads[0], threads[-1]}):
        for order in 'sorted', 'reverse', 'nearly':
            group.target(named(f'{order} over random', each), ratio(
                group.seconds('random', 'recsort', each), group.seconds(order, 'recsort', each)), at_least=2)
    return group


def auto_group(bench, record, orders, count):
    """What "auto" chooses, beside each plugin that works here."""
    group, threads = Group(bench, 'auto', record, count), bench.options.threads[-1]
    for order in orders:
        group.input(order, order)
        for plugin in bench.about['plugins']:
            if plugin['works']:
                group.add(order, 'recsort', threads, plugin=plugin['name'], algorithm=next(iter(plugin['algorithms'])))
        group.add(order, 'recsort', threads, plugin='auto', algorithm='')
    group.measure()
    for order in orders:
        *each, own = [one.median() for one in group.contenders if one.slot == order]
        group.target(f'auto over the fastest plugin, {count} {record} records, {order}', ratio(min(each), own), at_least=0.95)
    return group


def merge_group(bench, record, count):
    group, threads, (plugin, algorithm) = Group(bench, 'merge', record, count), bench.options.threads, bench.methods[0]
    for runs in RUNS:
        group.input(runs, runs=runs)
        if runs == 2:
            group.add(runs, 'std::merge')
        group.add(runs, 'std::priority_queue')
        for each in threads:
            group.add(runs, 'gnu_parallel::multiway_merge', each)
            for variant in None, 'in place':
                group.add(runs, 'recsort', each, variant=variant, plugin=plugin, algorithm=algorithm)
    group.measure()
    for runs in RUNS:
        peers = [one.median() for one in group.contenders if one.slot == runs and one.method != 'recsort'
                 and one.threads in (1, threads[-1])]
        group.target(f'{record}, {runs} runs, over the best peer, {threads[-1]} thread{"s"[:threads[-1] > 1]}',
                     ratio(min(peers, default=None), group.seconds(runs, 'recsort', threads[-1])), at_least=1.5)
    return group


def peers_group(bench, record, orders, count):
    """What you could build yourself: words of a key and a place, sorted by others."""
    group, (plugin, algorithm) = Group(bench, 'peers', record, count), bench.methods[0]
    for order in orders:
        group.input(order, order)
    for threads in bench.options.threads:
        for order in orders:
            for variant in [None, 'to'] + ['by TBB'] * ('tbb' in bench.about and threads > 1):
                group.add(order, 'recsort', threads, variant=variant, plugin=plugin, algorithm=algorithm)
            for peer, usable in bench.about['peers'].items():
                if ('packed' in peer or 'sort' in peer) and usable != ('several' if threads == 1 else 'one') and \
                        (record in ('entity', 'key16', 'key32', 'key64') or peer != 'packed, vqsort') and \
                        (record == 'key16' or peer != 'counting sort'):
                    group.add(order, peer, threads)
    group.measure()
    return group


def head_group(bench, record, orders, count):
    group, (plugin, algorithm) = Group(bench, 'head', record, count), bench.methods[0]
    for order in orders:
        group.input(order, order)
        for variant in ['to'] + [f'head {head}' for head in HEADS if head < count]:
            for threads in bench.options.threads:
                group.add(order, 'recsort', threads, variant=variant, plugin=plugin, algorithm=algorithm)
            if variant != 'to':
                group.add(order, PARTIAL, variant=variant)
    group.rotates = False  # the first one's result is that of the others
    group.measure()
    return group


def verify_group(bench, record, orders, count):
    """What it costs to check results on the device."""
    group, (plugin, algorithm) = Group(bench, 'verify', record, count), bench.methods[0]
    for order in orders:
        group.input(order, order)
        for variant in 'verify=off', 'verify=default':
            group.add(order, 'recsort', bench.options.threads[-1], variant=variant, plugin=plugin, algorithm=algorithm)
    group.measure()
    return group


# ---- Sorts by other programs ----

def other_group(bench, suite, program, record, order, count, detail):
    group = Group(bench, suite, record, count)
    algorithms = [algorithm for _, algorithm in bench.methods] if suite == 'pairs' else []
    answer = program.ask('input', 0, suite, record, order, count, detail, *algorithms)
    group.count, group.size = answer.get('count', count), answer['size']
    group.inputs[0] = {'distribution': order, **({'detail': detail} if detail else {})}
    for name in answer['contenders']:
        group.contenders.append(Contender(lambda name=name: program.ask('run', 0, name), 0, name, None))
    group.measure()
    program.ask('clear')
    return group


def details_of(suite, order, details, machine):
    """Of shards, how many there are on how many devices. More of them than devices show what a device does for more."""
    if 'shard' not in suite:
        yield from details
        return
    for devices in 1, 2, 4, 8:
        for shards in 2, 4, 8:
            more = shards > devices
            if devices <= machine['devices'] and shards >= devices and not (more and (details[0] or order != 'random')):
                yield from (f'{shards} on {devices}{rest}' for rest in details)


def other_groups(bench, suite):
    kind, rows = OTHERS[suite]
    options = bench.options
    if suite == 'mpi':
        yield from mpi_groups(bench, rows[0])
        return
    program = (Program(sys.executable, PARTS / 'clients.py') if kind == 'python' else Program(PARTS / f'recbench-{kind}'))
    bench.machines.append(program.ask('about'))
    for key, value in bench.machines[-1].items():
        print(f'{key:14} {value}')
    for records, orders, counts, details in rows:
        if options.record and not set(options.record) & set(records) and records is not rows[0][0]:
            continue  # another row has them
        for record in options.record or records:
            for order in options.distribution or orders:
                for count in (options.count or counts) if suite != 'segments' else counts:
                    for detail in details_of(suite, order, details, bench.machines[-1]):
                        yield other_group(bench, suite, program, record, order, count, detail)
    program.end()


def mpi_groups(bench, row):
    """Random records on each number of ranks; other orders on the most."""
    records, orders, counts, _ = row
    options = bench.options
    for ranks in options.ranks:
        threads = max(1, len(os.sched_getaffinity(0)) // ranks)
        program = Program(*shlex.split(options.mpirun), '-n', str(ranks), PARTS / 'recbench-mpi')
        bench.machines.append(program.ask('about'))
        for order in options.distribution or (orders if ranks == max(options.ranks) else orders[:1]):
            for count in options.count or counts:
                group = other_group(bench, 'mpi', program, records[0], order, count, str(threads))
                group.inputs[0]['detail'] = f'on each of {ranks} ranks'
                yield group
        program.end()


# ---- Files ----

def run_command(words):
    """Its seconds and its peak memory in bytes."""
    start = time.perf_counter()
    try:
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    except OSError as error:
        raise Trouble(f'{words[0]}: {error.strerror}') from error
    try:
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
    except SystemExit:  # by a signal
        process.kill()
        process.wait()
        raise
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise Trouble(f'{words[0]}: failed')
    return seconds, usage.ru_maxrss * 1024


class Files:
    """The contenders of the suite `file`, which make a new `output` each time. recsort syncs it to the
    disk and cp does not: this is measured beside cp, so that none pays for data that another one left
    unwritten."""

    def __init__(self, bench, folder, group):
        self.sorts, self.group, self.folder = bench.sorts, group, Path(folder)
        self.threads, (self.plugin, self.algorithm) = bench.options.threads[-1], bench.methods[0]
        self.program = bench.options.recsort or find_program('recsort')
        _, self.base = run_command([self.program, '--version'])
        self.schema, self.input, self.output = (self.folder / name for name in ('entity.yaml', 'input.bin', 'output.bin'))
        self.schema.write_text(SCHEMAS['entity'])
        for runs in FILES.values():
            group.input('file', runs=runs)
            for run in range(runs):
                for kind in 'bin', 'text':
                    self.sorts.ask('write', 'file', run, kind, self.run(runs, run, kind))
        group.input('file')
        self.sorts.ask('write', 'file', 0, 'bin', self.input)
        # A mapped output is part of the peak memory; recsort maps it on tmpfs, with 4 threads or more.
        system = subprocess.run(['stat', '-f', '-c', '%T', folder], stdout=subprocess.PIPE, text=True, check=True).stdout
        self.mapped = 2 if system.strip() == 'tmpfs' and self.threads >= 4 else 1

    def run(self, runs, run, kind):
        return self.folder / f'{runs}-{run}.{kind}'

    def make(self, words, sources, kind='bin'):
        """Runs a command that makes the output, with what it reads in memory; checks the output."""
        self.output.unlink(missing_ok=True)
        for source in sources:
            with open(source, 'rb', buffering=0) as file:
                while file.read(1 << 20):
                    pass
        seconds, peak = run_command([*map(str, words)])
        synced = time.perf_counter()
        with open(self.output, 'r+b') as file:
            os.fsync(file.fileno())
        synced = time.perf_counter() - synced
        self.sorts.ask('check', 'file', kind, self.output)
        return {'wall': seconds, 'fsync': synced, 'peak': peak / self.group.count}

    def sort(self):
        found = self.make([self.program, '-s', self.schema, '--plugin', self.plugin, '--algorithm', self.algorithm,
                           '--threads', self.threads, '-o', self.output, self.input], [self.input])
        size = self.input.stat().st_size * self.mapped
        return {'wall': found['wall'], 'peak': found['peak'],
                'extra': found['peak'] - (self.base + size) / self.group.count}

    def copy(self):
        # Without reflinks, with which some file systems share blocks and copy nothing.
        found = self.make(['cp', '--reflink=never', self.input, self.output], [self.input], 'input')
        return {'wall': found['wall'], 'fsync': found['fsync']}

    def merge(self, runs):
        files = [self.run(runs, run, 'bin') for run in range(runs)]
        found = self.make([self.program, '-s', self.schema, '--plugin', 'cpu', '--threads', self.threads,
                           '--merge', '-o', self.output, *files], files)
        return {'wall': found['wall'], 'peak': found['peak']}

    def merge_text(self, runs):
        files = [self.run(runs, run, 'text') for run in range(runs)]
        found = self.make(['env', 'LC_ALL=C', 'sort', '-m', '-s', '-k1.1,1.8', '-o', self.output, *files], files, 'text')
        return {'wall': found['wall']}


def file_group(bench, folder):
    count = bench.options.size // bench.about['sizes']['entity']
    if count == 0:
        raise Trouble('--size: less than a record')
    group, (plugin, algorithm) = Group(bench, 'file', 'entity', count), bench.methods[0]
    files = Files(bench, folder, group)
    method = {'threads': files.threads, 'plugin': plugin, 'algorithm': algorithm}
    group.add('file', 'recsort', **method)
    group.add('file', 'recsort', variant='first', **method)
    group.add('file', COMMAND, run=files.sort, **method)
    group.add('file', 'cp', run=files.copy)
    for variant, runs in FILES.items():
        group.add('file', MERGE, files.threads, lambda runs=runs: files.merge(runs), variant=variant)
        group.add('file', TEXT_MERGE, 1, lambda runs=runs: files.merge_text(runs), variant=variant)
    group.measure()
    memory, first, command, copy, *merges = (one.median() for one in group.contenders)
    group.target(f'time of {COMMAND} over a sort in memory and cp', command / (memory + copy), at_most=1.5)
    # A command's memory is always new, which on some machines costs more than the sort itself.
    group.target(f'time of {COMMAND} over a first sort and cp', command / (first + copy), at_most=1.5)
    group.target(f'extra bytes a record of {COMMAND}', group.contenders[2].median('extra'), at_most=36)
    for variant, merge in zip(FILES, merges[::2]):
        group.target(f'time of {MERGE}, {variant}, over cp', merge / copy, at_most=2)
    return group


# ---- Threads ----

def percentile(values, share):
    return sorted(values)[min(int(share * len(values)), len(values) - 1)]


def print_threads(bench):
    """How quickly a team of threads starts, what busy neighbours cost a sort, and how long a thread that
    shares its processor with one waits for its turn, which the scheduler may add to any sort."""
    processors, group = sorted(os.sched_getaffinity(0)), Group(bench, 'threads', 'key64', 100000)
    teams = [2 ** power for power in range(1, len(processors).bit_length())]
    for count, pause in ((count, pause) for count in teams for pause in (0, 50, 200, 900, 5000)):
        times = bench.sorts.ask('team', count, pause, 40 * bench.options.repeat)['us']
        print(f'team of {count:2} after a pause of {pause:4} us: '
              f'median {median(times):7.2f} us, 90% {percentile(times, 0.9):8.2f} us', flush=True)
    group.input('random')

    def sorts(what):
        times = [1e3 * bench.sorts.ask('run', 'random', 'recsort', None, len(processors), *bench.methods[0])['wall']
                 for _ in range(20 * bench.options.repeat)]
        print(f'sort {what}: median {median(times):.2f} ms, 99% {percentile(times, 0.99):.2f} ms, '
              f'at most {max(times):.2f} ms', flush=True)
    sorts('alone')
    busy = []

    def occupy(some):
        busy.extend(subprocess.Popen([sys.executable, '-c', f'import os; os.sched_setaffinity(0, {{{each}}})\nwhile True: pass'])
                    for each in some)
        time.sleep(0.2)  # until they are busy
    half = len(processors) // 2
    try:
        occupy(processors[:half])
        if half:
            sorts('beside a busy process on each of half the processors')
        occupy(processors[half:])
        sorts('beside a busy process on each processor')
        os.sched_setaffinity(0, processors[:1])
        waits, last = [], time.perf_counter()
        end = last + 0.6 * bench.options.repeat
        while last < end:
            now = time.perf_counter()
            if now - last > 1e-4:
                waits.append(1e3 * (now - last))
            last = now
        if waits:
            print(f'slice beside a busy process: {len(waits)} waits, median {median(waits):.2f} ms, '
                  f'99% {percentile(waits, 0.99):.2f} ms, at most {max(waits):.2f} ms')
    finally:
        for process in busy:
            process.kill()
            process.wait()


# ---- Reports ----

def machine(about):
    try:
        cpu = re.search(r'^model name\s*: (.*)', Path('/proc/cpuinfo').read_text(), re.M)
    except OSError:
        cpu = None
    system = platform.uname()
    return {'cpu': cpu[1] if cpu else system.machine, 'cores': len(os.sched_getaffinity(0)),
            'memory': os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE'),
            'kernel': f'{system.system} {system.release}', 'compiler': about['compiler'], 'build': about['build']}


def print_machine(report):
    here = report['machine']
    print(f"{here['cpu']}, {here['cores']} cores, {here['memory'] / 2**30:.1f} GiB, {here['kernel']}")
    print(f"{here['compiler']}, {here['build']}, {report['recsort']}, commit {report['commit']}, {report['date']}")


def peers_of(group, one):
    """{peer: (the heading of its column, its seconds)}: those of the C++ library, or recsort's first contender."""
    if group.suite in ALL:
        return {STD: ('x std', group.seconds(one.slot, STD, 1)),
                PARALLEL: ('x par', group.seconds(one.slot, PARALLEL, one.threads))}
    own = next((each for each in group.contenders if each.slot == one.slot and each.threads == one.threads
                and each.method.startswith('recsort')), group.contenders[0])
    return {own.name(): ('x own', own.median())}


def ratios(group, one):
    """How many times as fast as each peer."""
    return {peer: ratio(seconds, one.median()) for peer, (_, seconds) in peers_of(group, one).items()}


def figure(name, value):
    if name not in UNITS:
        return f'{name} {1e3 * value:.3f}'
    return f'{name} {value:.0f}' if name in ('device', 'launches') else f'{name} {value:.1f}'


def print_group(group):
    for slot, about in group.inputs.items():
        rows = [one for one in group.contenders if one.slot == slot]
        wide = max(29, *(len(one.name()) for one in rows))
        runs = f" in {about['runs']} runs" if 'runs' in about else f", {about['detail']}" if 'detail' in about else ''
        heads = ''.join(f' {title:>6}' for title, _ in peers_of(group, rows[0]).values())
        print(f"\n{group.suite}: {group.record}, {about['distribution']}, {group.count} records of {group.size} bytes{runs}")
        print(f"  {'ms; bytes a record':{wide}} {'thr':>3} {'median':>9} {'min':>9} {'max':>9}{heads}")
        for one in rows:
            times = one.series['wall']
            speeds = (f'{value:6.2f}' if value else f'{"-":>6}' for value in ratios(group, one).values())
            digits = 3 if max(times) >= 1e-3 else 4 if max(times) >= 1e-4 else 5
            print(f'  {one.name():{wide}} {one.threads or "":3}',
                  *(f'{1e3 * value:9.{digits}f}' for value in (median(times), min(times), max(times))), *speeds)
            details = [figure(name, one.median(name)) for name in one.series if name != 'wall']
            if details:
                print('    ' + ', '.join(details))
    for target in group.targets:
        least = 'at_least' in target
        print(f"  {'met' if target['met'] else 'MISSED':6} {target['value']:7.2f}, at {'least' if least else 'most'} "
              f"{target['at_least' if least else 'at_most']:g}: {target['text']}")
    sys.stdout.flush()


def as_json(group):
    """A group for --json, with every figure."""
    def contender(one):
        names = {'method': one.method, 'variant': one.variant, 'plugin': one.plugin, 'algorithm': one.algorithm}
        return {**{name: text for name, text in names.items() if text}, 'threads': one.threads,
                'record': group.record, 'record_size': group.size, 'count': group.count, **group.inputs[one.slot],
                'times_as_fast_as': {name: value for name, value in ratios(group, one).items() if value},
                'series': {name: {'unit': UNITS.get(name, 's'), 'median': median(each), 'min': min(each),
                                  'max': max(each), 'each': each} for name, each in one.series.items()}}
    return {'suite': group.suite, 'contenders': [contender(one) for one in group.contenders], 'targets': group.targets}


def picture(groups, report):
    """The sorts in memory by sorters that are warm, and their peers."""
    sys.path.insert(0, str(PARTS))
    sys.dont_write_bytecode = True
    from charts import chart
    rows, legend = [], []
    for group in groups:
        for slot, about in group.inputs.items():
            bars = []
            for one in group.contenders:
                if one.slot != slot or one.variant or group.suite in ('file', 'merge'):
                    continue
                name = one.name() + (f', {one.threads} thread{"s"[:one.threads > 1]}' if one.threads else '')
                if name not in legend:
                    legend.append(name)
                speed = group.count / one.median() / 1e6
                bars.append((legend.index(name) % 6, speed, f'{speed:.3g}'))
            if bars:
                rows.append((f"{group.count} {group.record}, {about['distribution']}", bars))
    if not rows:
        raise Trouble('--svg: the picture shows sorts in memory, and there are none')
    here = report['machine']
    return chart(f"recsort {report['recsort']} ({report['commit']}) on {here['cpu']}, {here['cores']} cores",
                 'million records a second', True, [(i % 6, name) for i, name in enumerate(legend)], [('', rows)], label=200)


# ---- All of it ----

class Bench:
    def __init__(self, options):
        self.options, self.sorts = options, Program(PARTS / 'recbench-sorts')
        self.about, self.machines = self.sorts.ask('about'), []

    def groups(self):
        options = self.options
        if options.suite in OTHERS:
            yield from other_groups(self, options.suite)
            return
        groups = {'merge': lambda suite, record, orders, count: merge_group(self, record, count),
                  'peers': lambda suite, *rest: peers_group(self, *rest), 'head': lambda suite, *rest: head_group(self, *rest),
                  'verify': lambda suite, *rest: verify_group(self, *rest), 'auto': lambda suite, *rest: auto_group(self, *rest)}
        for suite in {'all': ALL, 'short': SHORT}.get(options.suite, [options.suite]):
            records, orders = SUITES[suite]
            if suite == 'file':
                with tempfile.TemporaryDirectory(prefix='recbench-', dir=options.folder) as folder:
                    try:
                        yield file_group(self, folder)
                    except SystemExit:  # by a signal
                        self.sorts.process.kill()
                        self.sorts.process.wait()
                        raise
                continue
            brief = options.suite == 'short' and suite != 'entity'
            make = groups.get(suite, lambda *rest: memory_group(self, *rest))
            for record in options.record or records:
                for count in options.count or [1 << 20 if brief else 1 << 22]:
                    yield make(suite, record, options.distribution or orders, count)
                    self.sorts.ask('clear')

    def run(self):
        options = self.options
        report = {'format': 1, **{name: self.about[name] for name in ('recsort', 'commit')},
                  'date': datetime.now(timezone.utc).strftime('%Y-%m-%dT%H:%M:%SZ'), 'machine': machine(self.about)}
        if options.plugin == 'auto' and OTHERS.get(options.suite, [options.suite])[0] in ('gpu', 'verify'):
            options.plugin = 'cuda'  # that is what these measure
        self.methods = find_methods(options, self.about['plugins'])
        print_machine(report)
        if options.suite == 'threads':
            print_threads(self)
            return
        groups = []
        for group in self.groups():
            print_group(group)
            groups.append(group)
        if options.json:
            found = [as_json(group) for group in groups]
            report['programs'] = self.machines
            Path(options.json).write_text(json.dumps({**report, 'groups': found}, indent=1) + '\n')
        if options.svg:
            Path(options.svg).write_text(picture(groups, report))


# ---- Two builds ----

def compare(options, words):
    """Another recbench (old) and this one (new) take turns, each in processes of its own; prints medians over all
    repetitions. Peers are the same in both, so their ratios show the noise."""
    found, commits = ({}, {}), [None, None]
    for _ in range(3):
        for build, series in enumerate(found):
            program = [options.against] if build == 0 else [sys.executable, __file__]
            with tempfile.NamedTemporaryFile(suffix='.json') as file:
                subprocess.run([*program, *words, '--json', file.name], stdout=subprocess.DEVNULL, check=True)
                result = json.load(open(file.name))
            commits[build] = result['commit']
            for one in (one for group in result['groups'] for one in group['contenders']):
                method = ' '.join(filter(None, (one['method'], one.get('algorithm'), one.get('variant'))))
                key = (method, one['record'], f"{one['distribution']} {one.get('runs') or one.get('detail') or ''}".strip(),
                       one['count'], one['threads'] or '')
                series.setdefault(key, []).extend(one['series']['wall']['each'])
    here = result['machine']
    print(f"old {commits[0]}, new {commits[1]}, {here['compiler']}; {here['cpu']}, {here['cores']} cores, {here['kernel']}")
    print(f'{"sort":36} {"record":9} {"order":10} {"count":>11} {"threads":>7} {"old ms":>10} {"new ms":>10} {"new/old":>8}')
    ratios = {}
    for key in sorted(set(found[0]) & set(found[1]), key=str):
        old, new = (1e3 * median(each[key]) for each in found)
        ratios.setdefault(key[0], []).append(new / old)
        print(f'{key[0]:36} {key[1]:9} {key[2]:10} {key[3]:11} {key[4]:7} {old:10.4f} {new:10.4f} {new / old:8.3f}')
    for method, each in sorted(ratios.items()):
        print(f'{method}: geometric mean {geometric_mean(each):.3f}, from {min(each):.3f} to {max(each):.3f}')


def main():
    options = read_options()
    if options.help:
        print(__doc__, end='')
        return
    if options.against:
        at = next(i for i, word in enumerate(sys.argv) if word.startswith('--against'))
        compare(options, sys.argv[1:at] + sys.argv[at + 2 - ('=' in sys.argv[at]):])
        return
    bench = Bench(options)
    if options.version:
        print('recbench', bench.about['recsort'])
    elif options.list:
        for plugin in bench.about['plugins']:
            print(f"{plugin['name']}: {plugin['text']}")
            for name, text in plugin['algorithms'].items():
                print(f'  {name:12} {text}')
    else:
        bench.run()


if __name__ == '__main__':
    for number_of in signal.SIGTERM, signal.SIGHUP:  # so that files are removed
        signal.signal(number_of, lambda caught, _: sys.exit(128 + caught))
    try:
        main()
        sys.stdout.flush()
    except BrokenPipeError:  # the reader of the tables has ended
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(128 + signal.SIGPIPE)
    except (Trouble, OSError) as trouble:
        where = f'{trouble.filename}: ' if getattr(trouble, 'filename', None) else ''
        print(f"recbench: {where}{getattr(trouble, 'strerror', trouble)}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
