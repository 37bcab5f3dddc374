"""Sorts on a Ray cluster: two nodes here, whose object stores hold less than what is sorted."""

import bz2
import errno
import gzip
import itertools
import logging
import lzma
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import ray
import ray.data
from ray._private.node import Node
from ray.cluster_utils import Cluster

import recsort
import recsort.ray
from recsort import RecsortError, Schema

SCHEMAS = Path(os.environ['RECSORT_SCHEMAS'])
GENSORT = Schema.from_yaml(SCHEMAS / 'gensort.yaml')
STORE = 80 << 20  # the least that Ray takes, nearly
START_ATTEMPTS = 4
NODE = {'num_cpus': 1, 'object_store_memory': STORE, 'node_ip_address': '127.0.0.1'}


def without_a_race(start_raylet):
    """A node's raylet gives its agents 15 seconds to write the ports that they have chosen, and dies if they take longer to
    start; nothing can change that. So the ports are chosen and written before: of those without "ray[default]", one has one.
    """

    def start(node, *arguments, **words):
        with socket.create_server(('127.0.0.1', 0)) as free:
            port = node._ray_params.runtime_env_agent_port = free.getsockname()[1]
        agents = ['metrics_agent', 'metrics_export', 'dashboard_agent_listen']
        for name, number in [('runtime_env_agent', port), *((name, -1) for name in agents)]:
            (Path(node._session_dir) / f'{name}_port_{node._node_id}').write_text(str(number))
        return start_raylet(node, *arguments, **words)

    return start


def started(session):
    """A cluster. Ray's servers choose ports, which another program may take before they listen: then Ray waits for a server
    that has ended. So a start that fails is tried again, with other ports; the last one shows what the servers wrote.
    """
    for attempt in range(START_ATTEMPTS):
        made = Cluster()
        try:
            made.add_node(**NODE, include_dashboard=False)
            made.add_node(**NODE)
            ray.init(address=made.address, log_to_driver=False, logging_level=logging.WARNING)
            return made
        except Exception as problem:
            ray.shutdown()
            made.shutdown()
            print(f'start {attempt + 1}: {problem}')
            if attempt + 1 == START_ATTEMPTS:
                for log in sorted(session.glob('**/logs/*')):
                    if log.suffix in ('.out', '.err', '.log'):
                        print(f'==== {log.name}', *log.read_text(errors='replace').splitlines()[-30:], sep='\n')
                raise


@pytest.fixture(scope='module')
def cluster():
    # Ray makes sockets there, whose names must be short.
    with tempfile.TemporaryDirectory(prefix='ray', dir='/tmp', ignore_cleanup_errors=True) as session:
        os.environ['RAY_TMPDIR'] = session
        Node.start_raylet = without_a_race(Node.start_raylet)
        made = started(Path(session))
        try:
            yield made
        finally:
            ray.shutdown()
            made.shutdown()


def gensort(count, keys, seed=1):
    """Records of the sort benchmark of which about `keys` differ; the rest of each is random."""
    rng = np.random.default_rng(seed)
    records = np.frombuffer(rng.bytes(100 * count), np.uint8).reshape(count, 100).copy()
    pool = np.frombuffer(rng.bytes(10 * keys), np.uint8).reshape(keys, 10)
    records[:, :10] = pool[rng.integers(0, keys, count)]
    return records


def checksum(records):
    """What does not depend on the order of records: the sum of a hash of each."""
    words = np.zeros((len(records), 104), np.uint8)
    words[:, :100] = records
    factors = np.random.default_rng(7).integers(0, 2**63, 13, np.uint64) * 2 + 1
    hashes = (words.view(np.uint64) * factors).sum(axis=1)
    return int(((hashes ^ (hashes >> np.uint64(29))) * factors[0]).sum(dtype=np.uint64))


def valsort(paths):
    """The number of records in files, and their checksum; fails if they are not in order."""
    last, count, total = (0, 0), 0, 0
    for path in paths:
        records = np.fromfile(path, np.uint8).reshape(-1, 100)
        high = records[:, :8].copy().view('>u8').ravel()
        low = records[:, 8:10].copy().view('>u2').ravel()
        ordered = (high[:-1] < high[1:]) | (high[:-1] == high[1:]) & (low[:-1] <= low[1:])
        assert ordered.all()
        if len(records):
            assert last <= (int(high[0]), int(low[0]))
            last = int(high[-1]), int(low[-1])
        count, total = count + len(records), total + checksum(records)
    return count, total % 2**64


def expected(records, keys=None, dtype=GENSORT, **words):
    """The bytes that one process would write. `test_arrays.py` tests those."""
    by = recsort.Sorter(dtype, keys, **words)
    return by.sort(records.reshape(-1).view(by.dtype).copy()).tobytes()


def together(paths):
    return b''.join(Path(path).read_bytes() for path in paths)


def spilled(cluster):
    """How many MiB Ray says that it has written to disk, because an object store was full."""
    logs = Path(cluster.head_node.get_logs_dir_path()).glob('raylet*')
    return sum(
        int(amount) for log in logs for amount in re.findall(r'Spilled (\d+) MiB', log.read_text())[-1:]
    )


def test_more_records_than_the_object_stores_hold(cluster, tmp_path):
    records = gensort(1_800_000, 60_000)
    assert records.nbytes > 2 * STORE
    records.tofile(tmp_path / 'in')
    paths = recsort.ray.sort_files(tmp_path / 'in', tmp_path / 'out', GENSORT, slice_bytes=8 << 20)
    assert paths == [str(tmp_path / f'out/part-{number:05}') for number in range(22)]
    assert sorted(map(str, (tmp_path / 'out').iterdir())) == paths
    assert valsort(paths) == (len(records), checksum(records))
    assert together(paths) == expected(records)
    assert spilled(cluster) > 0
    sizes = [os.path.getsize(path) for path in paths]
    assert max(sizes) < 1.25 * records.nbytes / len(paths)


@pytest.mark.parametrize('most_blocks', [1 << 14, 1])
def test_several_files_become_one(cluster, tmp_path, monkeypatch, most_blocks):
    monkeypatch.setattr(recsort.ray, 'MOST_BLOCKS', most_blocks)
    records = gensort(30_000, 50)
    dtype = np.dtype([('key', 'V4'), ('of', '>f4'), ('payload', 'V92')])
    bounds = [0, 10_000, 10_000, 10_001, 30_000]
    inputs = [tmp_path / f'in{number}' for number in range(4)]
    for path, begin, end in zip(inputs, bounds, bounds[1:]):
        records[begin:end].tofile(path)
    (tmp_path / 'out').write_text('old')
    words = {'keys': ['-of', 'key'], 'reverse': True, 'nan': 'first'}
    paths = recsort.ray.sort_files(
        inputs, tmp_path / 'out', dtype, **words, one_file=True, parts=11, slice_bytes=400_000
    )
    assert paths == [str(tmp_path / 'out')]
    assert together(paths) == expected(records, dtype=dtype, **words)
    assert len(list(tmp_path.iterdir())) == 5


def test_equal_keys_are_divided_evenly_in_their_order(cluster, tmp_path):
    records = gensort(50_000, 1)
    records.tofile(tmp_path / 'in')
    (tmp_path / 'out').mkdir()
    paths = recsort.ray.sort_files(
        tmp_path / 'in', tmp_path / 'out', GENSORT, parts=7, slice_bytes=900_000
    )
    assert together(paths) == records.tobytes()
    sizes = [os.path.getsize(path) for path in paths]
    assert max(sizes) - min(sizes) < 0.01 * records.nbytes / 7


def test_the_largest_of_a_thousand_parts():
    samples = np.sort(np.random.default_rng(3).random(1000 * recsort.ray.SAMPLES))
    ends = np.concatenate([[0], samples[recsort.ray.SAMPLES :: recsort.ray.SAMPLES], [1]])
    assert round(float(np.diff(ends).max() * 1000), 2) in (1.14, 1.15, 1.16)  # times its share


def test_no_record_and_fewer_records_than_parts(cluster, tmp_path):
    for count in (0, 2):
        records = gensort(count, 1)
        records.tofile(tmp_path / 'in')
        output = tmp_path / f'out{count}'
        paths = recsort.ray.sort_files([tmp_path / 'in'], output, GENSORT, parts=3)
        assert len(paths) == 3 and together(paths) == records.tobytes()


def datasets(records):
    rows = [record.tobytes() for record in records]
    fixed, variable = pa.array(rows, pa.binary(100)), pa.array(rows, pa.binary())
    yield 'a', ray.data.from_arrow([pa.table({'a': fixed[:70]}), pa.table({'a': fixed[70:]})])
    yield (
        'bytes',
        ray.data.from_arrow(pa.table({'bytes': pa.chunked_array([variable[:9], variable[9:]])})),
    )
    yield 'data', ray.data.from_numpy([records[:150], records[150:]])


def test_blocks_that_are_views():
    records = gensort(9, 9)
    fixed = pa.array([record.tobytes() for record in records], pa.binary(100))
    block = pa.table({'a': pa.chunked_array([fixed[2:5], fixed[:0], fixed[7:]])})
    found = recsort.ray.bytes_of(block, 'a', 100)
    assert found.tobytes() == records[[2, 3, 4, 7, 8]].tobytes()


def test_bytes_of_several_files(tmp_path):
    pieces = []
    for number, (offset, size) in enumerate([(0, 100), (30, 1), (7, 93)]):
        path = tmp_path / str(number)
        path.write_bytes(bytes(range(100)))
        pieces.append(recsort.ray.Piece(path, offset, size))
    whole = bytes([*range(100), 30, *range(7, 100)])
    for begin, end in [(0, 194), (20, 90), (99, 102), (100, 101), (101, 150), (190, 194), (50, 50)]:
        assert recsort.ray.read(pieces, begin, end).tobytes() == whole[begin:end]


def test_datasets(cluster):
    records = gensort(300, 20)
    for column, dataset in datasets(records):
        result = recsort.ray.sort_dataset(dataset, GENSORT, '-key', column=column, parts=3)
        blocks = ray.get(result.to_arrow_refs())
        assert len(blocks) == 3 and all(block.schema.types == [pa.binary(100)] for block in blocks)
        values = (value for block in blocks for value in block[column].to_pylist())
        assert b''.join(values) == expected(records, '-key')
    empty = recsort.ray.sort_dataset(dataset.filter(lambda row: False), GENSORT, column=column)
    assert empty.count() == 0
    for column, size, problem in [
        ('rows', 100, '^no column "rows"$'),
        ('data', 50, '^column "data" is .*; give bytes, or 50 uint8 a row$'),
    ]:
        with pytest.raises(RecsortError, match=problem):
            recsort.ray.sort_dataset(dataset, f'V{size}', column=column)
    with pytest.raises(RecsortError, match='^column "item" has values that are not of 4 bytes$'):
        recsort.ray.sort_dataset(ray.data.from_items([b'four', b'five5']), 'V4', column='item')


def test_refusals_leave_nothing_behind(cluster, tmp_path):
    gensort(10, 3).tofile(tmp_path / 'in')
    (tmp_path / 'odd').write_bytes(bytes(250))
    with open(tmp_path / 'array', 'wb') as file:
        np.save(file, np.zeros(18, 'f4'))
    assert os.path.getsize(tmp_path / 'array') == 200
    (tmp_path / 'full').mkdir()
    (tmp_path / 'full' / 'old').touch()
    names = sorted(tmp_path.iterdir())
    header = Schema.from_yaml('record: r\nskip: 8\nfields: [{name: a, type: uint8}]\nkeys: [a]\n')
    for problem, source, output, records, words in [
        ('odd: 250 bytes are not a multiple of the record size, 100$', 'odd', 'out', GENSORT, {}),
        ('array is a .npy file; the command recsort sorts it in', 'array', 'out', GENSORT, {}),
        ('full is not a file$', 'full', 'out', GENSORT, {}),
        ('no field "kez".*"key"', 'in', 'out', GENSORT.dtype, {'keys': 'kez'}),
        ('"kez"', 'in', 'out', GENSORT, {'keys': 'kez'}),
        ('give nan="total"$', 'in', 'out', 'c8', {}),
        ('^files with a header or a trailer', 'in', 'out', header, {}),
        ('^parts=0; give 1 or more$', 'in', 'out', GENSORT, {'parts': 0}),
        ('full exists; name a folder that does not exist, or is empty$', 'in', 'full', GENSORT, {}),
        ('full is a folder$', 'in', 'full', GENSORT, {'one_file': True}),
    ]:
        with pytest.raises(RecsortError, match=problem):
            recsort.ray.sort_files(tmp_path / source, tmp_path / output, records, **words)
    for kind, source, output in [
        (FileNotFoundError, 'none', 'out'),
        (FileNotFoundError, 'in', 'none/out'),
        (NotADirectoryError, 'in', 'in/out'),
    ]:
        with pytest.raises(kind, match=str(tmp_path)):
            recsort.ray.sort_files(tmp_path / source, tmp_path / output, GENSORT)
    assert sorted(tmp_path.iterdir()) == names


@pytest.mark.parametrize('one_file', [False, True])
def test_an_error_of_a_task_is_raised_in_one_line(cluster, tmp_path, one_file):
    values = '[{name: one, value: 1}]'
    field = f'{{name: kind, type: enum, base: uint8, values: {values}}}'
    schema = Schema.from_yaml(f'record: r\nfields: [{field}]\nkeys: [kind]\n')
    kinds = np.ones(5000, np.uint8)
    kinds[4321] = 9
    kinds.tofile(tmp_path / 'in')
    if one_file:
        (tmp_path / 'out').write_text('old')
    with pytest.raises(RecsortError, match=r'^record 4321: [^\n]*$'):
        recsort.ray.sort_files(
            tmp_path / 'in', tmp_path / 'out', schema, one_file=one_file, slice_bytes=999
        )
    assert sorted(path.name for path in tmp_path.iterdir()) == ['in', 'out'][: 1 + one_file]
    assert not one_file or (tmp_path / 'out').read_text() == 'old'


PACKED = {
    'a .npy file': lambda data: b'\x93NUMPY\1\0' + data,
    'compressed by gzip': gzip.compress,
    'compressed by bzip2': lambda data: bz2.compress(data, 3),
    'compressed by xz': lzma.compress,
    'compressed by zstd': lambda data: b'\x28\xb5\x2f\xfd' + data,
    'a ZIP archive': lambda data: b'PK\3\4' + data,
    'a Parquet file': lambda data: b'PAR1' + data + b'PAR1',
    'an HDF5 file': lambda data: b'\x89HDF\r\n\x1a\n' + data,
    'compressed by lz4': lambda data: b'\x04\x22\x4d\x18' + data,
    'a 7z archive': lambda data: b'7z\xbc\xaf\x27\x1c' + data,
    'an Arrow file': lambda data: b'ARROW1\0\0' + data,
}


def test_the_command_knows_the_same_formats():
    source = (SCHEMAS.parent / 'tools/support/signature.c').read_text()
    names = re.findall(r'"((?:compressed|an?) [^"]*)"', source)
    assert len(names) > 8 and {*names, 'a .npy file'} == set(PACKED)


@pytest.mark.parametrize('what', PACKED)
def test_files_without_plain_records_are_known_by_their_content(tmp_path, what):
    path, data = tmp_path / 'records.bin', np.random.default_rng(8).bytes(200)
    packed = PACKED[what](data)
    path.write_bytes(packed)
    with pytest.raises(RecsortError, match=f'records.bin is {what}.*; give raw=True'):
        recsort.ray.slices_of([path], 1, 1 << 20, raw=False)
    path.write_bytes(bz2.compress(b''))
    with pytest.raises(RecsortError, match='records.bin is compressed by bzip2; give raw=True'):
        recsort.ray.slices_of([path], 1, 1 << 20, raw=False)
    path.write_bytes(packed)
    assert recsort.ray.slices_of([path], 1, 1 << 20, raw=True)[0].length == len(packed)


@pytest.mark.parametrize(
    'data',
    [
        b'',
        b'\x1f',
        b'\x1f\x8b\x08',
        b'\x1f\x8b\x08\x20rest',
        b'\x1f\x8b\x07\0',
        b'BZh3records',
        b'BZh01AY&SY',
    ]
    + [b'PAR1 and more', b'PK\5\6', b'\x89HDF\n', b'\x93NUMP'],
)
def test_records_that_begin_nearly_so_are_records(tmp_path, data):
    path = tmp_path / 'records.npy'
    path.write_bytes(data)
    assert recsort.ray.slices_of([path], 1, 1 << 20, raw=False)[0].length == len(data)


def test_what_is_not_as_it_was_is_named(tmp_path):
    (tmp_path / 'in').write_bytes(b'12345')
    with pytest.raises(RecsortError, match='in has become shorter$'):
        recsort.ray.read([recsort.ray.Piece(tmp_path / 'in', 0, 6)], 0, 6)
    job = recsort.ray.job_of('u1', None, False, 'last', 1)._replace(place=str(tmp_path / 'out'))
    with pytest.raises(
        RecsortError, match='out is not there; all machines must see the folder of the output$'
    ):
        job.sorter()


def test_a_full_disk_is_named():
    job = recsort.ray.job_of('u1', None, False, 'last', 1)
    with pytest.raises(OSError, match='/dev/full') as caught:
        recsort.ray.write(job, '/dev/full', 0, 0, recsort.ray.sealed(np.zeros(9, np.uint8)))
    assert caught.value.errno == errno.ENOSPC


def test_the_command(cluster, tmp_path):
    records = gensort(1000, 99)
    records.tofile(tmp_path / 'in')
    command = [sys.executable, '-m', 'recsort.ray', '-s', SCHEMAS / 'gensort.yaml', '-o', 'out', 'in']

    def run(*more):
        environment = {**os.environ, 'RAY_ADDRESS': cluster.address}
        return subprocess.run(
            [*command, *more], cwd=tmp_path, env=environment, capture_output=True, text=True
        )

    # Ray may write warnings of its own.
    result = run('-k', 'key:desc', '--one-file')
    assert result.returncode == 0 and 'recsort' not in result.stdout + result.stderr
    assert (tmp_path / 'out').read_bytes() == expected(records, '-key')
    result = run('--parts', '2')
    last = f'recsort.ray: {tmp_path}/out exists; name a folder that does not exist, or is empty'
    assert result.returncode == 2 and result.stderr.splitlines()[-1] == last
    assert 'Traceback' not in result.stderr
    (tmp_path / 'in').write_bytes(gzip.compress(b'') + bytes(280))
    assert (
        'compressed by gzip' in run('--one-file').stderr and not run('--one-file', '--raw').returncode
    )
    assert len((tmp_path / 'out').read_bytes()) == 300


def title_of(process):
    """What a process is called, and its parent."""
    try:
        title = (process / 'cmdline').read_bytes().split(b'\0')[0].decode()
        return title, int((process / 'stat').read_text().rpartition(') ')[2].split()[1])
    except OSError:  # it has ended
        return '', 0


def kill_one_in(task, raylets):
    """Kills a process of the cluster while it works on a task: it is stopped first."""
    while True:
        for process in Path('/proc').glob('[0-9]*'):
            if title_of(process) in [(f'ray::{task}', parent) for parent in raylets]:
                number = int(process.name)
                os.kill(number, signal.SIGSTOP)
                stopped = title_of(process)[0] == f'ray::{task}'
                os.kill(number, signal.SIGKILL if stopped else signal.SIGCONT)
                if stopped:
                    return
        time.sleep(0.001)


def test_lost_processes_and_a_lost_machine(cluster, tmp_path):
    records = gensort(400_000, 5_000)
    records.tofile(tmp_path / 'in')
    node = next(iter(cluster.worker_nodes))
    raylets = [one.all_processes['raylet'][0].process.pid for one in (cluster.head_node, node)]
    lost = []

    def lose():
        for task in ('divide', 'write'):
            kill_one_in(task, raylets)
            lost.append(task)
        cluster.remove_node(node, allow_graceful=False)  # and what its object store holds
        lost.append('node')

    losing = threading.Thread(target=lose, daemon=True)
    losing.start()
    for number in itertools.count():  # on a busy machine a sort may be over before all is lost
        output = tmp_path / f'out{number}'
        paths = recsort.ray.sort_files(tmp_path / 'in', output, GENSORT, slice_bytes=2 << 20)
        assert valsort(paths) == (len(records), checksum(records))
        assert together(paths) == expected(records)
        if not losing.is_alive():
            break
    assert lost == ['divide', 'write', 'node']
