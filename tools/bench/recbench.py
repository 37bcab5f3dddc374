#!/usr/bin/env python3
"""Usage: recbench [OPTION]...
Measure recsort on this machine beside the stable sorts of the C++ library. The
contenders take turns; medians are compared.

  --suite NAME          entity, keys, distributions, merge, file, all or short
                        (all but file), which is the default; or threads
  --record LIST         entity, key64, key128, gensort, word; for the suite's
  --distribution LIST   those of recgen, with random for uniform; likewise
  --count LIST          records, default 4M (short: 1M but for the suite entity)
  --threads LIST        default: 1 and one for every processor
  --repeat N            repetitions, default 5
  --plugin NAME         default auto; all: every plugin that works here
  --algorithm NAME      default: the plugin's; all: all that it has
  --size BYTES          of the file that recsort sorts, default 1G
  --folder FOLDER       where that file lies, default $TMPDIR or /tmp
  --recsort FILE        the program; default: beside recbench, or in $PATH
  --json FILE           write every figure to FILE
  --svg FILE            draw the medians
  --list                list plugins and algorithms, then exit
  --help, --version     print this, or the version, then exit

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
from statistics import median

HERE = Path(__file__).resolve().parent
PARTS = HERE if (HERE / 'recbench-sorts').exists() else HERE.parent / 'libexec/recsort'

STD, PARALLEL = 'std::stable_sort', '__gnu_parallel::stable_sort'
COMMAND, MERGE, TEXT_MERGE = 'recsort FILE', 'recsort --merge', 'sort -m of text'
# The structs of peers.h; YAML in one line.
SCHEMAS = {
    'entity': '{record: Entity, size: 20, fields: [{name: x, type: float32}, {name: y, type: float32}, '
              '{name: angle, type: float32}, {name: spriteIndex, type: int16}, '
              '{name: distanceFromPlayer, type: float32}], keys: [{field: distanceFromPlayer, order: desc}]}',
    'key64': '{record: Key64, fields: [{name: key, type: uint64}, {name: value, type: uint64}], keys: [key]}',
    'key128': '{record: Key128, fields: [{name: high, type: uint64}, {name: low, type: uint64}, '
              '{name: value, type: uint64, count: 2}], keys: [high, low]}',
    'gensort': '{record: Gensort, fields: [{name: key, type: bytes, count: 10}, '
               '{name: value, type: bytes, count: 90}], keys: [key]}',
    'word': '{record: Word, fields: [{name: key, type: uint64}], keys: [key]}'}
ORDERS = 'random', 'sorted', 'reverse', 'nearly', 'few', 'equal', 'zipf', 'saw', 'organ-pipe'  # recgen's
# The records and orders of each suite.
SUITES = {'entity': (['entity'], ['random']), 'keys': (['key64', 'key128', 'gensort'], ['random']),
          'distributions': (['entity'], list(ORDERS[:6])), 'merge': (['word', 'entity'], ['random']),
          'file': (['entity'], ['random'])}
RUNS = 2, 16, 256
FILES = {'2 files': 2, '16 files': 16}
UNITS = {'held': 'bytes/record', 'peak': 'bytes/record', 'extra': 'bytes/record'}  # the others: s


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
    add('--suite', type=one_of([*SUITES, 'all', 'short', 'threads']), default='short')
    add('--record', type=list_of(one_of([*SCHEMAS])))
    add('--distribution', type=list_of(one_of(ORDERS)))
    add('--count', type=list_of(number))
    add('--threads', type=list_of(lambda word: number(word, 4096)), default=sorted({1, processors}))
    add('--repeat', type=lambda word: number(word, 1000), default=5)
    add('--plugin', default='auto')
    add('--algorithm')
    add('--size', type=number, default=1 << 30)
    add('--folder', default=os.environ.get('TMPDIR') or '/tmp')
    add('--recsort')
    add('--json')
    add('--svg')
    for name in 'list', 'help', 'version':
        add(f'--{name}', action='store_true')
    options = parser.parse_args()
    options.threads.sort()
    return options


# ---- Programs ----

def find_program(name):
    beside = [str(path) for path in (HERE / name, HERE.parent / name) if path.is_file() and os.access(path, os.X_OK)]
    return (beside or [name])[0]


class Sorts:
    """recbench-sorts, which makes inputs, runs the contenders in memory and checks results."""

    def __init__(self):
        self.process = subprocess.Popen([PARTS / 'recbench-sorts'], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, errors='surrogateescape')

    def ask(self, *words):
        words = ['' if word is None else str(word) for word in words]
        if any(re.search('[\t\n]', word) for word in words):
            raise Trouble('a name with a tab or a new line cannot be used')
        try:
            print(*words, sep='\t', file=self.process.stdin, flush=True)
        except BrokenPipeError:
            pass  # it has ended
        answer = json.loads(self.process.stdout.readline() or '{"error": "recbench-sorts has ended"}')
        if 'error' in answer:
            raise Trouble(answer['error'])
        return answer


def find_methods(options, plugins):
    """(plugin, algorithm) of all that the options ask for; the best plugin is the first."""
    usable = [plugin for plugin in plugins if plugin['works']]
    if options.plugin == 'auto':
        usable = usable[:1]
    methods = [(plugin['name'], name) for plugin in usable for place, name in enumerate(plugin['algorithms'])
               if options.plugin in ('auto', 'all', plugin['name'])
               and (options.algorithm in ('all', name) if options.algorithm else place == 0)]
    if not methods:
        raise Trouble(f"plugin '{options.plugin}' with algorithm '{options.algorithm or 'default'}' cannot be used here")
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
        return (self.method + (f' {self.plugin}/{self.algorithm}' if self.algorithm else '')
                + (f', {self.variant}' if self.variant else ''))


class Group:
    """Contenders that take turns on inputs of one kind and count."""

    def __init__(self, bench, suite, record, count):
        self.bench, self.suite, self.record, self.count = bench, suite, record, count
        self.inputs, self.contenders, self.targets = {}, [], []

    def input(self, slot, order='random', runs=1):
        schema, recgen = SCHEMAS[self.record], shlex.quote(find_program('recgen'))
        make = f"echo '{schema}' | {recgen} -s /dev/stdin -n {self.count} -d {order.replace('random', 'uniform')}"
        self.bench.sorts.ask('input', slot, f'{order} {self.record} records', self.record, schema, self.count, runs,
                             *self.bench.methods[0], make)
        self.inputs[slot] = {'distribution': order, **({'runs': runs} if runs > 1 else {})}

    def add(self, slot, method, threads=1, run=None, **about):
        """A contender that recbench-sorts runs, if no `run` is given."""
        if method.split()[0] not in ('recsort', 'cp', 'sort', *self.bench.about['peers']):
            return
        contender = Contender(run, slot, method, threads, **about)
        contender.run = run or (lambda: self.bench.sorts.ask(
            'run', slot, method, contender.variant, threads, contender.plugin, contender.algorithm))
        self.contenders.append(contender)

    def measure(self):
        shown, turns = sys.stderr.isatty(), self.bench.options.repeat
        for turn in range(turns):
            for contender in self.contenders:
                if shown:
                    print(f'\r\033[K{self.suite}: turn {turn + 1} of {turns}: {contender.name()}', end='', file=sys.stderr)
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
    busy = [subprocess.Popen([sys.executable, '-c', f'import os; os.sched_setaffinity(0, {{{each}}})\nwhile True: pass'])
            for each in processors]
    try:
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
    print(f"{here['compiler']}, {here['build']}, recsort {report['recsort']}, commit {report['commit']}, {report['date']}")


def ratios(group, one):
    """How many times as fast as each peer."""
    peers = {STD: 1, PARALLEL: one.threads}
    return {peer: ratio(group.seconds(one.slot, peer, threads), one.median()) for peer, threads in peers.items()}


def print_group(group, size):
    for slot, about in group.inputs.items():
        runs = f" in {about['runs']} runs" if 'runs' in about else ''
        print(f"\n{group.suite}: {group.record}, {about['distribution']}, {group.count} records of {size} bytes{runs}")
        print(f"  {'ms; bytes a record':29} {'thr':>3} {'median':>9} {'min':>9} {'max':>9} {'x std':>6} {'x par':>6}")
        for one in group.contenders:
            if one.slot != slot:
                continue
            times = one.series['wall']
            speeds = (f'{value:6.2f}' if value else f'{"-":>6}' for value in ratios(group, one).values())
            print(f'  {one.name():29} {one.threads:3}',
                  *(f'{1e3 * value:9.3f}' for value in (median(times), min(times), max(times))), *speeds)
            details = [f'{name} {one.median(name):.1f}' if name in UNITS else f'{name} {1e3 * one.median(name):.3f}'
                       for name in one.series if name != 'wall']
            if details:
                print('    ' + ', '.join(details))
    for target in group.targets:
        least = 'at_least' in target
        print(f"  {'met' if target['met'] else 'MISSED':6} {target['value']:7.2f}, at {'least' if least else 'most'} "
              f"{target['at_least' if least else 'at_most']:g}: {target['text']}")
    sys.stdout.flush()


def as_json(group, size):
    """A group for --json, with every figure."""
    def contender(one):
        names = {'method': one.method, 'variant': one.variant, 'plugin': one.plugin, 'algorithm': one.algorithm}
        return {**{name: text for name, text in names.items() if text}, 'threads': one.threads,
                'record': group.record, 'record_size': size, 'count': group.count, **group.inputs[one.slot],
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
                name = f'{one.name()}, {one.threads} thread{"s"[:one.threads > 1]}'
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
        self.options, self.sorts = options, Sorts()
        self.about = self.sorts.ask('about')

    def groups(self):
        options = self.options
        for suite, (records, orders) in SUITES.items():
            if options.suite not in (suite, 'all', 'short') or (options.suite, suite) == ('short', 'file'):
                continue
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
            for record in options.record or records:
                for count in options.count or [1 << 20 if brief else 1 << 22]:
                    yield (merge_group(self, record, count) if suite == 'merge' else
                           memory_group(self, suite, record, options.distribution or orders, count))
                    self.sorts.ask('clear')

    def run(self):
        report = {'format': 1, **{name: self.about[name] for name in ('recsort', 'commit')},
                  'date': datetime.now(timezone.utc).strftime('%Y-%m-%dT%H:%M:%SZ'), 'machine': machine(self.about)}
        self.methods = find_methods(self.options, self.about['plugins'])
        print_machine(report)
        if self.options.suite == 'threads':
            print_threads(self)
            return
        groups = []
        for group in self.groups():
            print_group(group, self.about['sizes'][group.record])
            groups.append(group)
        if self.options.json:
            found = [as_json(group, self.about['sizes'][group.record]) for group in groups]
            Path(self.options.json).write_text(json.dumps({**report, 'groups': found}, indent=1) + '\n')
        if self.options.svg:
            Path(self.options.svg).write_text(picture(groups, report))


def main():
    options = read_options()
    if options.help:
        print(__doc__, end='')
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
