#!/usr/bin/env python3
"""Writes the tables of docs/performance.md, docs/scale.md, docs/gpu-sort.md and README.md and the charts in docs/charts from the result
files here.

Usage: performance.py [--check]    --check: change nothing; exit status 1 if anything would change

A table stands between the lines `<!-- table NAME -->` and `<!-- end -->`. Every figure is a median of
a committed result, as measured or converted to another unit; bars are drawn from the same figures.
"""
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE.parent / 'bench'))
from charts import chart  # noqa: E402

DOCS = HERE.parents[1] / 'docs'
PAGE, README, SCALE, SORT = DOCS / 'performance.md', DOCS.parent / 'README.md', DOCS / 'scale.md', DOCS / 'gpu-sort.md'

# The machine with 16 processors and an H100.
HOST_AND_GPU, FRAMES = 'nvidia-h100-80gb-hbm3.txt', 'python-xeon-16.txt'

STD, PARALLEL, CPU, GPU = 'std::stable_sort', '__gnu_parallel::stable_sort', 'recsort cpu', 'recsort gpu'
MERGE, RADIX = 'cub::DeviceMergeSort', 'cub::DeviceRadixSort'
KEYS = {'u32': '32-bit keys', 'u64': '64-bit keys', 'u128': '128-bit keys'}
INPUTS = {'': 'random', 'sorted': 'sorted', 'nearly': 'sorted, 1% displaced', 'holes': 'sorted, 1% zero',
          'reversed': 'reversed', 'equal': 'all equal', 'few': '16 values', 'saws': 'sawtooth',
          'organ': 'up, then down', 'zipf': 'skewed (Zipf)', 'repeats': '100 of each'}
ORDERS = {'random': 'random', 'sorted': 'sorted', 'nearly': 'sorted, 1% displaced', 'reverse': 'reversed',
          'equal': 'all equal', 'few': '16 values'}
RECORDS = {'entity': '20-byte record, 32-bit key', 'key64': '16-byte record, 64-bit key',
           'key128': '32-byte record, 128-bit key', 'gensort': '100-byte record, 80-bit key'}


# ---- Reading results ----

def records(name):
    """recbench's tables: {(suite, record, order, count): {(contender, variant, threads): ms}}, and
    with 'stages' behind threads {stage: ms}."""
    found, group, last = {}, None, None
    for line in (HERE / name).read_text().splitlines():
        head = re.fullmatch(r'(\w+): (\w+), (\w+), (\d+) records of \d+ bytes', line)
        if head:
            group = found.setdefault((*head.groups()[:3], int(head[4])), {})
        row = re.match(r'  (\S+(?: FILE| --merge| -m of text)?(?: (cpu|cuda)/\w+)?)(?:, (to|first|\d+ files))? +(\d+) +'
                       r'([\d.]+) +[\d.]+ +[\d.]+ ', line)
        if row and group is not None:
            name, plugin, variant, threads, ms = row.groups()
            if plugin:
                name = name.rsplit(' ', 1)[0] + (' cpu' if plugin == 'cpu' else ' gpu')
            last = name, variant, int(threads)
            group[last] = float(ms)
        stages = re.findall(r'(\w+) ([\d.]+)', line) if line.startswith('    encode ') else []
        if stages:
            group[last + ('stages',)] = {stage: float(value) for stage, value in stages if stage != 'held'}
    return found


def others(name):
    """recbench's tables of contenders without threads: {(suite, record, order, count, the rest): {contender: ms}}."""
    found, group = {}, {}
    for line in (HERE / name).read_text().splitlines():
        head = re.fullmatch(r'([\w-]+): ([\w +]+), ([\w-]+), (\d+) records of \d+ bytes(?:, (.*))?', line)
        row = re.match(r'  (\S.*?) +([\d.]+) +[\d.]+ +[\d.]+ +[\d.-]+$', line)
        if head:
            group = found.setdefault((*head.groups()[:3], int(head[4]), head[5]), {})
        elif row:
            group[row[1]] = float(row[2])
    return found


def pairs():
    """{(key, input, count): {method: ms}} in graphs, recsort being its default algorithm."""
    found = {}
    for (suite, key, order, count, _), group in others(HOST_AND_GPU).items():
        if suite == 'pairs':
            found[key, order.replace('random', ''), count] = {
                name.removeprefix('recsort ').removesuffix(', graph'): ms for name, ms in group.items()
                if name.endswith(', graph') or name == 'cudaMemcpyAsync'}
    for group in found.values():
        group['recsort'] = group.pop('sample', None)
    return found


# ---- Writing ----

def ms(value):
    """Three digits, or all before the point."""
    return f'{value:.4f}' if value < 0.1 else f'{value:.3f}' if value < 1 else \
        f'{value:.2f}' if value < 10 else f'{value:.1f}' if value < 100 else f'{value:.0f}'


def table(header, rows, words=1):
    """The first `words` columns hold words, the others figures."""
    lines = [header, ['---'] * words + ['---:'] * (len(header) - words), *rows]
    return '\n'.join('| ' + ' | '.join(line) + ' |' for line in lines)


def rate(count, value):
    """Million records a second."""
    return count / value / 1e3


def size(count):
    return f'2^{count.bit_length() - 1}'


# ---- Records in the host's memory ----

def host_records(gpu):
    count = 1 << 24
    group = gpu['entity', 'entity', 'random', count]
    rows = [('`std::stable_sort`', 1, STD), ('`__gnu_parallel::stable_sort`', 16, PARALLEL),
            ('recsort, CPU', 16, CPU), ('recsort, H100', 16, GPU)]
    cell = lambda at: ms(group[at]) if at in group else ''
    tables = {'entities': table(
        ['16,777,216 Entities', 'threads', 'in place, ms', 'to another array, ms', 'first sort, ms'],
        [[name, str(threads), *(cell((at, variant, threads)) for variant in (None, 'to', 'first'))]
         for name, threads, at in rows])}
    tables['host-keys'] = table(
        ['4,194,304 records', '`__gnu_parallel`, ms', 'recsort, CPU, ms', 'recsort, H100, ms'],
        [[text] + [ms(gpu['keys', name, 'random', 1 << 22][at, None, 16]) for at in (PARALLEL, CPU, GPU)]
         for name, text in RECORDS.items() if ('keys', name, 'random', 1 << 22) in gpu])
    names = ['std::stable_sort, 1 thread', '__gnu_parallel, 16 threads', 'recsort, CPU, 16 threads', 'recsort, H100']
    bars = [(name, [(0 if 'recsort' in name else 2, rate(count, group[at, None, threads]),
                     f'{rate(count, group[at, None, threads]):.0f}')])
            for name, (_, threads, at) in zip(names, rows)]
    charts = {'entities': chart('Sorting 16.8 million 20-byte records in place, by one float', 'million records a second; Xeon with 16 processors, and an H100',
                                True, [], [('', bars)], label=190)}
    return tables, charts


def few_cores(cpu):
    count, tables, charts = 1 << 22, {}, {}
    group = lambda name: cpu['entity' if name == 'entity' else 'keys', name, 'random', count]
    columns = [(STD, 1), (CPU, 1), (PARALLEL, 2), (CPU, 2)]
    header = ['`std::stable_sort`, ms', 'recsort, 1 thread, ms', '`__gnu_parallel`, 2 threads, ms',
              'recsort, 2 threads, ms']
    cells = lambda found: [ms(found[name, None, threads]) for name, threads in columns]
    orders = {name: cpu['distributions', 'entity', name, count] for name in ORDERS}
    tables['cpu-keys'] = table(['4,194,304 records, random'] + header,
                               [[text] + cells(group(name)) for name, text in RECORDS.items()])
    tables['cpu-orders'] = table(['4,194,304 Entities'] + header,
                                 [[text] + cells(orders[name]) for name, text in ORDERS.items()])
    tables['cpu-stages'] = table(
        ['4,194,304 Entities, 1 thread', 'encode, ms', 'sort, ms', 'verify, ms', 'gather, ms'],
        [[text] + [ms(value) for value in orders[name][CPU, None, 1, 'stages'].values()]
         for name, text in ORDERS.items()])
    legend = [(0, 'recsort, 2 threads'), (2, '__gnu_parallel::stable_sort, 2 threads')]
    bars = lambda found: [(series, rate(count, found[name, None, 2]), f'{rate(count, found[name, None, 2]):.1f}')
                          for series, name in ((0, CPU), (2, PARALLEL))]
    charts['cpu'] = chart('4.2 million records on two cores of an AMD EPYC', 'million records a second', True, legend,
                          [('random order', [(text, bars(group(name))) for name, text in RECORDS.items()]),
                           ('20-byte record, 32-bit key', [(ORDERS[name], bars(orders[name])) for name in ORDERS])],
                          label=180)
    return tables, charts


def files(gpu):
    entity = 'file', 'entity', 'random', 53687091
    return {'files': table(['1 GiB of Entities on tmpfs', 's'], [
        [text, f'{gpu[entity][name, None, threads] / 1e3:.2f}'] for text, name, threads in
        (('`cp`', 'cp', 1), ('`recsort`, CPU', 'recsort FILE cpu', 16), ('`recsort`, H100', 'recsort FILE gpu', 16))])}


# ---- Pairs in the device's memory ----

def by_size(all_pairs):
    tables, panels = {}, []
    for key, text in KEYS.items():
        counts = sorted(count for k, kind, count in all_pairs if k == key and kind == '')
        found = {count: all_pairs[key, '', count] for count in counts}
        tables[f'pairs-{key}'] = table(
            [f'{text}, pairs', 'recsort, ms', 'CUB merge sort, ms', 'CUB radix sort, ms', 'copy, ms'],
            [[size(count)] + [ms(found[count][name]) for name in ('recsort', MERGE, RADIX, 'cudaMemcpyAsync')]
             for count in counts])
        panels.append((text, [(size(count), [(series, found[count][name] / found[count]['recsort'],
                                              f'{found[count][name] / found[count]["recsort"]:.2f}')
                                             for series, name in ((1, RADIX), (2, MERGE))]) for count in counts]))
    legend = [(1, 'times as fast as cub::DeviceRadixSort::SortPairs'),
              (2, 'times as fast as cub::DeviceMergeSort::StableSortPairs')]
    return tables, {'gpu-pairs': chart('recsort against CUB on an H100: random keys with a 32-bit index',
                                       'speedup by number of pairs; the dashed line is equal speed', True, legend,
                                       panels, label=40, mark=1)}


def by_input(all_pairs):
    tables, panels, count = {}, [], 1 << 24
    for key, text in KEYS.items():
        found = {name: all_pairs[key, kind, count] for kind, name in INPUTS.items()}
        tables[f'inputs-{key}'] = table(
            [f'{text}, 2^24 pairs', 'recsort, ms', 'CUB merge sort, ms', 'CUB radix sort, ms'],
            [[name] + [ms(times[one]) for one in ('recsort', MERGE, RADIX)] for name, times in found.items()])
        panels.append((text, [(name, [(series, times[one], ms(times[one]))
                                      for series, one in ((0, 'recsort'), (1, RADIX))])
                              for name, times in found.items()]))
    return tables, {'gpu-inputs': chart('2^24 pairs on an H100, by kind of input', 'milliseconds', False,
                                        [(0, 'recsort'), (1, 'cub::DeviceRadixSort::SortPairs')], panels, label=136)}


def published(all_pairs):
    found = all_pairs['u32', '', 1 << 24]
    rows = sorted((time, name) for name, time in found.items() if name != 'cudaMemcpyAsync')
    kind = lambda name: 0 if name in ('merge', 'recsort') else 3 if name.startswith(('rank', 'corank')) else 2
    return ({'published': table(['2^24 pairs, 32-bit keys', 'ms'],
                                [['recsort (default)' if name == 'recsort' else f'`{name}`', ms(time)] for time, name in rows])},
            {'gpu-algorithms': chart('2^24 pairs of a 32-bit key and an index in device memory', 'milliseconds on an H100',
                                     False, [(0, 'recsort'), (3, 'published merge sorts, in recsort'), (2, 'CUB')],
                                     [('', [(name, [(kind(name), time, ms(time))]) for time, name in rows])], label=170)})


# ---- Why not ... ----

def why(gpu, all_pairs):
    frames, device = others(FRAMES)['python', 'float32', 'random', 1 << 22, None], all_pairs['u64', '', 1 << 24]
    files = gpu['file', 'entity', 'random', 53687091]
    source = lambda name, file: f'[{name}](tools/results/{file})'
    python, h100, xeon = (source('16 Xeon cores', FRAMES), source('H100', HOST_AND_GPU), source('16 Xeon cores', HOST_AND_GPU))
    rows = [(name, what, '2^22 records', frames[method], frames['recsort.sort'], python) for name, what, method in
            (('NumPy, `argsort` and `take`', 'sorts indices on one thread, then moves records', 'numpy argsort stable, take'),
             ('pandas, `sort_values`', 'sorts the indices of a table, then moves columns', 'pandas sort_values'),
             ('Polars, `sort`', 'the same on all threads', 'polars sort'),
             ('a database: DuckDB, `order by`', 'sorts columns; ties come in any order', 'duckdb order by'))]
    rows += [('CUB, radix sort', 'sorts pairs by one number, on the device', '2^24 keys of 64 bits, numbered from 0',
              device[RADIX], device['recsort'], h100),
             ('GNU sort, `sort -m`', 'merges lines of text', '1 GiB in two files',
              files['sort -m of text', '2 files', 1], files['recsort --merge', '2 files', 16], xeon)]
    return table(['instead of recsort', 'what it does', 'input', 'measured on', 'its time, ms', 'recsort, ms'],
                 [[*words, where, ms(its), ms(ours)] for *words, its, ours, where in rows], words=4)


# ---- More than one process ----

def process_times(path):
    """{(input, ranks): {contestant: ms}}, of recbench's suite `mpi` or of the program before it. A peer's time is that
    of its faster way, and 'threads' is recsort with all processors."""
    tables = {(order, int(detail.split()[-2]), count): group for (suite, _, order, count, detail), group
              in others(path.name).items() if suite == 'mpi'}
    for line in path.read_text().splitlines():
        head = re.fullmatch(r'(\w+), (\d+) ranks, (\d+) Entities a rank', line)
        row = re.match(r'  ((?:recsort|sc_psort|MP-sort), .*?) +([\d.]+) ms ', line)
        if head:
            old = tables.setdefault((head[1], int(head[2]), int(head[3])), {})
        elif row:
            old[row[1]] = float(row[2])
    found = {}
    for (order, ranks, count), times in tables.items():
        group = found[order, ranks] = {'records': ranks * count}
        for title, time in times.items():
            name = 'threads' if title.endswith('threads a rank') else title.split(',')[0]
            group[name] = min(time, group.get(name, float('inf')))
        group.setdefault('threads', group['recsort'])  # one processor a rank
    return found


def processes(path):
    found = process_times(path)
    cpu = re.search(r'^CPU +(.*)', path.read_text(), re.MULTILINE)[1]
    names = [name for name in ('threads', 'recsort', 'sc_psort', 'MP-sort') if all(name in times for times in found.values())]
    better = lambda times: min(times[name] for name in names[2:])
    rows = [[ORDERS[order], str(ranks), f'{times["records"]:,}', *(ms(times[name]) for name in names),
             f'{better(times) / times["recsort"]:.1f}', f'{better(times) / times["threads"]:.1f}']
            for (order, ranks), times in found.items()]
    texts = {'threads': 'recsort, all processors', 'recsort': 'recsort, 1 thread a rank'}
    bars = lambda times: [(series, rate(times['records'], times[name]), f'{rate(times["records"], times[name]):.1f}')
                          for series, name in zip((0, 4, 2, 1), names)]
    most = max(ranks for _, ranks in found)
    panels = [('random order, by ranks', [(str(ranks), bars(times)) for (order, ranks), times in found.items() if order == 'random'])]
    if any(order != 'random' for order, _ in found):
        panels.append((f'{most} ranks', [(ORDERS[order], bars(times)) for (order, ranks), times in found.items() if ranks == most]))
    return ({'ranks': table(['Entities', 'ranks', 'of all ranks', *(f'{texts.get(name, f"`{name}`")}, ms' for name in names),
                             '1 thread: times as fast', 'all processors: times as fast'], rows)},
            {'mpi': chart(f'Sorting the Entities of all ranks, as many for each: {cpu}', 'million records a second, of all ranks',
                          True, list(zip((0, 4, 2, 1), (texts.get(name, name) for name in names))), panels, label=128)})


# ---- Several GPUs ----

SHARES = {'f32+u32': '8 bytes', 'entity': '20 bytes'}
SPREADS = {'random': 'random', 'skewed': 'skewed', 'equal': 'all equal', 'sorted': 'sorted', 'turned': 'all of another device'}
PARTS = 8  # of a shard, of which one is copied while another is merged


def shard_steps(path):
    """{(record, records of a shard, shards, devices): [sort, cut, the rest, copies, merges]}, ms, by shard_steps.py."""
    rows = re.findall(r'^(\S+) +(\d+) +(\d+) on (\d+)((?: +[\d.]+){5})$', path.read_text(), re.MULTILINE)
    return {(record, *(int(number) for number in numbers)): [float(value) for value in values.split()]
            for record, *numbers, values in rows}


def model_of_shards(record, count, measured, steps):
    """What more devices would take: [(devices, sort, cut, copies, merges, all of it)]. A shard's sort and the merge of its
    pieces are those of as many shards on one device, the cut that of two devices, and the copies what the links take for
    the records that come from others."""
    link = measured[record, 'random', count, '2 on 2']['copies to the next device']
    for devices in 2, 4, 8:
        sort, _, merges, *_ = (value / devices for value in steps[record, count, devices, 1])
        cut, copies = steps[record, count, 2, 2][1], link * (devices - 1) / devices
        yield devices, sort, cut, copies, merges, sort + cut + max(copies, merges) + min(copies, merges) / PARTS


def several_gpus(path):
    groups, steps = others(path.name), shard_steps(path)
    measured = {(record, order, count, detail): times for (suite, record, order, count, detail), times in groups.items()
                if suite == 'shards'}
    name = lambda count, record: f'2^{count.bit_length() - 1} of {SHARES[record]}'
    # Beside a job whose result is checked, too.
    both = lambda times: (times.get('recsort, one share, checked') or times['recsort, one device, checked'], times['recsort, all shards'])
    rows, bars = [], {}
    for (record, order, count, detail), times in measured.items():
        if detail != '2 on 2' or order == 'turned':
            continue
        one, two = both(times)
        rows.append([name(count, record), SPREADS[order], ms(one), ms(two), f'{2 * one / two:.2f}'])
        bars.setdefault(name(count, record), []).append(
            (SPREADS[order], [(2, rate(count, one) / 1e3, f'{rate(count, one) / 1e3:.1f}'),
                              (0, 2 * rate(count, two) / 1e3, f'{2 * rate(count, two) / 1e3:.1f}')]))
    together = [[name(count, record), SPREADS[order], ms(both(times)[0]), ms(both(times)[1])]
                for (record, order, count, detail), times in measured.items() if detail == '2 on 2, in all' and order != 'turned']
    models = [[name(count, record), str(devices), *(ms(value) for value in values), f'{devices * one / values[-1]:.2f}']
              for record, count in (('f32+u32', 1 << 28), ('entity', 1 << 27))
              for one in [measured[record, 'random', count, '2 on 2']['recsort, one share, checked']]
              for devices, *values in model_of_shards(record, count, measured, steps)]
    peers = [[f'`{peer}`' if ':' in peer else peer, name(count, record), SPREADS[order], ms(value), ms(times['recsort, all shards'])]
             for (suite, record, order, count, _), times in groups.items() if suite == 'shard-peers'
             for peer, value in times.items() if not peer.startswith(('recsort', 'copies'))]
    return ({'shards': table(['on each device', 'keys', 'one device, ms', 'two devices, ms', 'times its throughput'], rows, words=2),
             'shards together': table(['in all', 'keys', 'one device, ms', 'two devices, ms'], together, words=2),
             'shards model': table(['on each device', 'devices', 'sort, ms', 'cut, ms', 'copies, ms', 'merge, ms', 'in all, ms',
                                    'times one device'], models),
             'shard peers': table(['sort', 'on each device', 'keys', 'its time, ms', 'recsort, ms'], peers, words=3)},
            {'shards': chart('Records in the memory of two H200, sorted together', 'billion records a second', True,
                             [(2, 'one device, its share'), (0, 'two devices')], list(bars.items()), label=80)})


# ---- What checks of results cost ----

def checks(path):
    rows = []
    for record, what in ('entity', 'Entities'), ('f32', 'floats, with positions'), ('u64+u64', '64-bit keys and values'):
        for (suite, name, _, count, _), times in others(path.name).items():
            if (suite, name) == ('checked', record) and size(count) in ('2^10', '2^14', '2^18', '2^20', '2^24', '2^28'):
                status, checked = times['recsort, status'], times['recsort, checked']
                rows.append([what, size(count), ms(times['recsort']), ms(status), ms(checked), f'{checked / status:.2f}'])
    return {'checked': table(['records', 'how many', 'no status, ms', 'status, not checked, ms', 'checked, ms', 'times as long'], rows, words=2)}


# ---- Files that are larger than memory ----

def spilled(path):
    """By tools/results/files.py."""
    lines = path.read_text().splitlines()
    size, memory, processors = re.match(r'(\d+) MiB sorted in (\d+) MiB: .* (\d+) processors', lines[0]).groups()
    head, _, *rows = [[cell.strip() for cell in line.strip('|').split('|')] for line in lines if line.startswith('|')]
    found = [dict(zip(head, row)) for row in rows]
    texts = {'disk': 'the disk: two copies', 'recsort': 'recsort', 'sortbin': 'sortbin', 'GNU sort, text': 'GNU sort, lines of text'}
    peers = {name: text for name, text in texts.items() if name in head}
    speed = lambda seconds: int(size) * 1.048576 / float(seconds)
    bars = lambda row: [(series, speed(row[name]), f'{speed(row[name]):.0f}') for series, name in enumerate(peers)
                        if row[name] != 'failed']
    shown = [name for name in head[2:-1] if name not in ('disk / recsort', 'recsort, MiB')]
    return ({'disk': table([head[0], *(f'{name}, s' for name in shown), 'disk / recsort', 'peak of recsort, MiB'],
                           [[row[head[0]], *(row[name] for name in shown), row['disk / recsort'], row['recsort, MiB']] for row in found])},
            {'disk': chart(f'{int(size) >> 10} GiB of records sorted in {memory} MiB, {processors} processors', 'MB a second', True,
                           [(series, text) for series, text in enumerate(peers.values())],
                           [('', [(row[head[0]], bars(row)) for row in found])], label=128)})


# ---- All of it ----

def everything():
    gpu, cpu, all_pairs = records(HOST_AND_GPU), records('amd-epyc-2-cores.txt'), pairs()
    tables, charts = files(gpu), {}
    for made in (host_records(gpu), few_cores(cpu), by_size(all_pairs), by_input(all_pairs), published(all_pairs)):
        tables.update(made[0])
        charts.update(made[1])
    pages = {PAGE: tables, README: {'why': why(gpu, all_pairs)}}
    for path in HERE.glob('*-mpi.txt'):
        pages[SCALE], drawn = processes(path)
        charts.update(drawn)
    for made in spilled(HERE / 'files-2-gib-2-cores.txt'), several_gpus(HERE / 'nvidia-h200-shards.txt'):
        pages[SCALE] = {**pages[SCALE], **made[0]}
        charts.update(made[1])
    pages[SORT] = checks(HERE / 'nvidia-h200-checked.txt')
    texts = {}
    for page, tables in pages.items():
        text = page.read_text()
        for name, lines in tables.items():
            text, found = re.subn(rf'(<!-- table {name} -->\n).*?(<!-- end -->)',
                                  lambda at: f'{at[1]}\n{lines}\n\n{at[2]}', text, flags=re.DOTALL)
            assert found == 1, f'{page.name} has {found} tables {name}'
        texts[page] = text
    return {**texts, **{DOCS / 'charts' / f'{name}.svg': svg for name, svg in charts.items()}}


def main():
    stale = [(path, text) for path, text in everything().items() if not path.exists() or path.read_text() != text]
    for path, text in stale:
        print(f'{path.relative_to(DOCS.parent)} {"is not" if "--check" in sys.argv else "was not"} up to date')
        if '--check' not in sys.argv:
            path.write_text(text)
    return 1 if stale and '--check' in sys.argv else 0


if __name__ == '__main__':
    sys.exit(main())
