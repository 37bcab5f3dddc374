#!/usr/bin/env python3
"""Files that are larger than the memory that may be taken: recsort beside sortbin, GNU sort, DuckDB and Polars.

Usage: files.py BUILD FOLDER MIB MEMORY [SORTBIN] [all]

BUILD: a Release. FOLDER: on the disk that is measured, or a tmpfs, with three times MIB of space; with `all`, ten times.
MEMORY: MiB. SORTBIN: that program (github.com/jorisvr/sortbin). `all`: the other peers, too. They need duckdb, polars and
pyarrow. The script needs numpy. Root can make control groups (version 1) and drop the page cache.

Each sorts the same records by the same key, in a control group that leaves it MEMORY, what Python and its
libraries take before (for the peers), and 1% + 8 MiB; and beside this its own option for the limit says MEMORY.
Where no group can be made, only the option limits it. sortbin compares whole records, byte by byte. GNU sort gets the
records as lines of text: hexadecimal digits, the key first. DuckDB sorts a table of its own into another one, Polars an
Arrow file into another one; both once more without a control group. Each time includes that the output is on the disk.
recsort runs three times, each right after dd has copied the input twice; where there is a GPU, by the CPU, and then by the GPU.
"""
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

GROUP = Path('/sys/fs/cgroup/memory/recsort-files')
# name, dtype, the schema's fields, the key's bytes for text
KINDS = [
    ('8 bytes', [('key', '<u4'), ('value', '<u4')], '{name: key, type: uint32}, {name: value, type: uint32}'),
    ('Entity, 20 bytes', [('key', '<u4'), ('rest', 'V16')], '{name: key, type: uint32}, {name: rest, type: bytes, count: 16}'),
    ('100 bytes', [('key', '>u8'), ('rest', 'V92')], '{name: key, type: uint64, endian: big}, {name: rest, type: bytes, count: 92}'),
]

DUCKDB = '''
import duckdb, sys
base, memory = sys.argv[1:]
c = duckdb.connect(base)
c.execute(f"set memory_limit='{memory}MiB'; set threads=2; set temp_directory='{base}.tmp'; set preserve_insertion_order=false")
c.execute('create table sorted as select * from t order by key')
c.execute('checkpoint')
'''
POLARS = '''
import polars, sys
polars.scan_ipc(sys.argv[1]).sort('key', maintain_order=True).sink_ipc(sys.argv[2])
'''


def drop_cache():
    os.sync()
    try:
        Path('/proc/sys/vm/drop_caches').write_text('3')
    except OSError as error:  # it does not matter on a tmpfs
        print(f'the page cache stays: {error}', file=sys.stderr)


def make_group(memory):
    """False if it cannot be. Memory 0: no limit."""
    try:
        GROUP.mkdir(exist_ok=True)
        (GROUP / 'memory.limit_in_bytes').write_text(str(int(memory * 1.01 + 8) << 20 if memory else -1))
        (GROUP / 'memory.max_usage_in_bytes').write_text('0')
        return True
    except OSError:
        return False


def peak_of(process):
    """What it has used until now, in MiB."""
    try:
        return int(re.search(r'VmHWM:\s+(\d+)', Path(f'/proc/{process}/status').read_text())[1]) >> 10
    except (OSError, TypeError):
        return 0  # it has ended


def timed(command, memory, output, stdout=None):
    """Seconds, and the peak in MiB of the control group, or else of the process; the seconds are None if it failed, or was killed.

    There is no old output, whose space would be given back in the time.
    """
    if not stdout:
        output.unlink(missing_ok=True)
    grouped = make_group(memory)
    drop_cache()
    start = time.monotonic()
    child = subprocess.Popen(command, stdout=stdout or subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                             preexec_fn=lambda: grouped and (GROUP / 'cgroup.procs').write_text(str(os.getpid())))
    peak = 0
    while child.poll() is None:
        peak = max(peak, 0 if grouped else peak_of(child.pid))
        time.sleep(0.01)
    if stdout:
        os.fsync(stdout.fileno())
    elif output.exists():
        with open(output, 'rb') as file:
            os.fsync(file.fileno())
    seconds = time.monotonic() - start
    if grouped:
        peak = int((GROUP / 'memory.max_usage_in_bytes').read_text()) >> 20
    return (seconds if child.returncode == 0 else None), peak


def base_of(module):
    """What Python takes with a library, in MiB."""
    code = f'import {module}, resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10)'
    return int(subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=True).stdout)


def copies(folder):
    """Seconds of two copies past the page cache."""
    drop_cache()
    start = time.monotonic()
    dd = ['dd', 'bs=4M', 'status=none', f'if={folder}/in', f'of={folder}/copy']
    if subprocess.run([*dd, 'iflag=direct', 'oflag=direct'], stderr=subprocess.DEVNULL).returncode != 0:
        start = time.monotonic()
        subprocess.run(dd, check=True)  # a tmpfs
    seconds = time.monotonic() - start
    (folder / 'copy').unlink()
    return 2 * seconds


def make(folder, dtype, count):
    dtype = np.dtype(dtype)
    random = np.random.default_rng(20261127)
    with open(folder / 'in', 'wb') as out:
        for start in range(0, count, 1 << 20):
            part = np.frombuffer(random.bytes(min(1 << 20, count - start) * dtype.itemsize), dtype)
            part.tofile(out)
    return dtype


def make_text(folder, dtype):
    with open(folder / 'in', 'rb') as source, open(folder / 'in.txt', 'wb') as out:
        swap = dtype['key'].byteorder != '>'
        while data := source.read(dtype.itemsize * (1 << 16)):
            rows = np.frombuffer(data, np.uint8).reshape(-1, dtype.itemsize).copy()
            size = dtype['key'].itemsize
            if swap:
                rows[:, :size] = rows[:, :size][:, ::-1]
            digits = np.frombuffer(rows.tobytes().hex().encode(), np.uint8).reshape(len(rows), -1)
            out.write(np.hstack([digits, np.full((len(rows), 1), 10, np.uint8)]).tobytes())


def make_tables(folder, dtype):
    import duckdb
    import polars
    import pyarrow as pa
    records = np.memmap(folder / 'in', dtype, 'r')
    rest = dtype.names[1]
    wide = dtype[rest].itemsize
    table = duckdb.connect(str(folder / 'db'))
    kind = 'uinteger' if wide == 4 else 'blob'
    table.execute(f"create table t (key {'uinteger' if dtype['key'].itemsize == 4 else 'ubigint'}, rest {kind})")
    writer = None
    for start in range(0, len(records), 1 << 18):
        part = records[start:start + (1 << 18)]
        key = pa.array(part['key'].astype(part['key'].dtype.newbyteorder('=')))
        if wide == 4:
            other = pa.array(part[rest])
        else:
            data = np.ascontiguousarray(part[rest]).tobytes()
            offsets = np.arange(len(part) + 1, dtype=np.int32) * wide
            other = pa.Array.from_buffers(pa.binary(), len(part), [None, pa.py_buffer(offsets), pa.py_buffer(data)])
        batch = pa.table([key, other], names=['key', 'rest'])
        table.execute('insert into t select * from batch')
        writer = writer or pa.ipc.new_file(str(folder / 'in.arrow'), batch.schema)
        writer.write_table(batch)
    writer.close()
    table.execute('checkpoint')
    table.close()
    return polars.__version__, duckdb.__version__


def is_sorted(folder, dtype, count):
    records = np.memmap(folder / 'out', dtype, 'r')
    last = 0
    for start in range(0, count, 1 << 22):
        keys = records['key'][start:start + (1 << 22)].astype(np.uint64)
        if keys[0] < last or np.any(keys[1:] < keys[:-1]):
            return False
        last = keys[-1]
    return len(records) == count


def measure_others(folder, dtype, memory, bases, peers):
    make_text(folder, dtype)
    text, sorted_text = folder / 'in.txt', folder / 'out.txt'
    digits = 2 * dtype['key'].itemsize
    with open(sorted_text, 'wb') as to:
        peers['GNU sort, text'], _ = timed(['env', 'LC_ALL=C', 'sort', '-s', f'-k1.1,1.{digits}', '-S', f'{memory}M', '--parallel=2',
                                            '-T', folder, text], memory, sorted_text, to)
    text.unlink(), sorted_text.unlink()
    versions = make_tables(folder, dtype)
    none = folder / 'none'  # a table is in the file that is sorted
    for name, code, limit in (('DuckDB', DUCKDB, memory + bases[0]), ('DuckDB, no group', DUCKDB.replace('table sorted', 'table again'), 0)):
        peers[name], _ = timed([sys.executable, '-c', code, folder / 'db', str(memory)], limit, none)
    for name, limit in (('Polars', memory + bases[1]), ('Polars, no limit', 0)):
        arrow = folder / 'out.arrow'
        peers[name], _ = timed([sys.executable, '-c', POLARS, folder / 'in.arrow', arrow], limit, arrow)
    return versions


def main():
    build, folder, size, memory = Path(sys.argv[1]).resolve(), Path(sys.argv[2]), int(sys.argv[3]) << 20, int(sys.argv[4])
    all_peers, sortbin = 'all' in sys.argv[5:], next((word for word in sys.argv[5:] if word != 'all'), None)
    folder.mkdir(exist_ok=True)
    root = Path(__file__).parents[2]
    commit = os.environ.get('RECSORT_COMMIT') or subprocess.run(
        ['git', '-C', root, 'rev-parse', '--short', 'HEAD'], capture_output=True, text=True).stdout.strip()
    bases = (base_of('duckdb'), base_of('polars')) if all_peers else (0, 0)
    gpu = subprocess.run(['nvidia-smi', '--query-gpu=name', '--format=csv,noheader'], capture_output=True,
                         text=True).stdout.strip() if shutil.which('nvidia-smi') else ''
    rows, versions, out = [], (None, None), folder / 'out'
    for name, fields, text in KINDS:
        count = size // np.dtype(fields).itemsize
        dtype = make(folder, fields, count)
        (folder / 's.yaml').write_text(f'record: R\nlayout: packed\nfields: [{text}]\nkeys: [key]\n')

        def recsort(plugin):
            done = timed([build / 'tools/recsort', '-s', folder / 's.yaml', '-S', f'{memory}M', '--plugin', plugin, folder / 'in',
                          '-o', out], memory, out)
            assert done[0] and is_sorted(folder, dtype, count)
            return done
        floors, ours = zip(*[(copies(folder), recsort('cpu')) for _ in range(3)])
        ratio = statistics.median(floor / seconds for floor, (seconds, _) in zip(floors, ours))
        row = [statistics.median(floors), *sorted(ours)[1], ratio]
        peers = {}
        if gpu:
            peers['recsort, GPU'] = sorted(recsort('cuda') for _ in range(3))[1][0]
        if sortbin:
            peers['sortbin'] = min((seconds for seconds, _ in (timed(
                [sortbin, f'--size={dtype.itemsize}', f'--memory={memory - 8}M', f'--branch={branch}', '--parallel=2', '-T', folder,
                 folder / 'in', out], memory, out) for branch in (16, 64)) if seconds), default=None)
        out.unlink(missing_ok=True)
        if all_peers:
            versions = measure_others(folder, dtype, memory, bases, peers)
        for left in folder.iterdir():
            if left.is_file():
                left.unlink()
        rows.append((name, count, row, peers))
        print(rows[-1], file=sys.stderr)

    def cell(seconds):
        return f'{seconds:.1f}' if seconds else 'failed'
    sort = subprocess.run(['sort', '--version'], capture_output=True, text=True).stdout.split('\n')[0]
    print(f'{size >> 20} MiB sorted in {memory} MiB: commit {commit}, {os.cpu_count()} processors, Linux {platform.release()}, '
          f'{time.strftime("%Y-%m-%d")}\n')
    with_whom = [gpu] * bool(gpu) + ['sortbin'] * bool(sortbin) + (
        [sort, f'DuckDB {versions[1]}', f'Polars {versions[0]}'] if all_peers else [])
    print(f'By tools/results/files.py, {"in" if make_group(0) else "without"} a control group. {", ".join(["recsort", *with_whom])}. '
          'Seconds, of recsort the median of three runs.')
    print('"Disk" is what dd takes to copy the input twice, past the page cache unless it is a tmpfs: two reads and two writes.\n')
    names = list(rows[0][3])
    print('| records | number | disk | recsort | recsort, MiB | disk / recsort | ' + ''.join(f'{name} | ' for name in names)
          + 'best peer of the group / recsort |')
    print('| --- |' + ' ---: |' * (6 + len(names)))
    for name, count, (floor, ours, peak, ratio), peers in rows:
        times = [seconds for peer, seconds in peers.items() if seconds and 'no ' not in peer and 'GPU' not in peer]
        print(f'| {name} | {count:,} | {floor:.1f} | {ours:.1f} | {peak} | {ratio:.2f} | '
              + ''.join(f'{cell(seconds)} | ' for seconds in peers.values()) + (f'{min(times) / ours:.1f} |' if times else '- |'))


if __name__ == '__main__':
    main()
