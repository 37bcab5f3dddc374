"""Sorting of files and of more records than memory holds, against NumPy's own stable sorts."""

import ctypes
import doctest
import gc
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import fields_of, order_of, records_of, structs

import recsort
from recsort import FileSort, RecsortError, Schema, _files, _library, sort_file

MEMORY = 1 << 19  # two loads of this size are about 20,000 of these records
DTYPE = np.dtype([('key', '<i2'), ('name', 'S3'), ('at', '<u4')])
SOURCE = Path(os.environ['RECSORT_HEADER']).parents[3]


def records_with_ties(count=400_000, seed=1):
    rng, records = np.random.default_rng(seed), np.zeros(count, DTYPE)
    records['key'], records['name'] = rng.integers(-99, 99, count), b'\xc3\xa9'
    records['at'] = np.arange(count)  # so that it shows which of two equal records came first
    return records


RECORDS = records_with_ties()
SORTED = RECORDS[np.argsort(-RECORDS['key'], kind='stable')].tobytes()


def write(path, *arrays):
    for number, array in enumerate(arrays):
        array.tofile(path / f'in{number}')
    return [path / f'in{number}' for number in range(len(arrays))]


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize('memory', [MEMORY, 8 * MEMORY, 1 << 30, None])
def test_a_file_is_sorted_stably_whatever_the_memory(tmp_path, memory):
    (source,) = write(tmp_path, RECORDS)
    stats = sort_file(source, tmp_path / 'out', DTYPE, '-key', memory=memory)
    assert (tmp_path / 'out').read_bytes() == SORTED and source.read_bytes() == RECORDS.tobytes()
    assert stats['records'] == len(RECORDS) and bool(stats['runs']) == (memory in (MEMORY, 8 * MEMORY))
    if memory == MEMORY:  # groups of runs were merged, so more was written than the records once
        assert stats['bytes_written'] > 1.2 * RECORDS.nbytes
    assert names_in(tmp_path) == ['in0', 'out']


@given(structs(), st.sampled_from(['last', 'first', 'total']), st.integers(0, 2**32), st.booleans())
def test_any_records_come_as_from_numpys_sort(dtype, nan, seed, reverse):
    records = records_of(dtype, 500, np.random.default_rng(seed))
    columns = [(column, reverse) for column in fields_of(records)]
    if any(column.dtype.char in 'gG' for column, _ in columns):
        return  # longdouble is refused
    if any(column.dtype.kind == 'c' for column, _ in columns):
        nan = 'total'  # the only one for them
    order, same = order_of(columns, nan)
    ranks = np.empty(len(records), int)
    ranks[order] = np.cumsum([0, *~same])
    # The same records again and again, until they are more than the memory.
    times = (1 << 20) // records.nbytes + 1
    with FileSort(dtype, nan=nan, reverse=reverse, memory=9 << 16) as files:
        for _ in range(times):
            files.append(records)
        found = b''.join(part.tobytes() for part in files)
        assert files.stats['runs'] > 1
    rows = np.tile(np.frombuffer(records.tobytes(), f'V{dtype.itemsize}'), times)
    assert found == rows[np.argsort(np.tile(ranks, times), kind='stable')].tobytes()


def test_several_files_are_one_sequence(tmp_path):
    parts = np.split(RECORDS, [0, 7, 150_000, 150_001])
    sources = write(tmp_path, *parts)
    sort_file(iter(map(str, sources)), str(tmp_path / 'out'), DTYPE, ['-key'], memory=MEMORY, threads=2)
    assert (tmp_path / 'out').read_bytes() == SORTED
    sort_file([], tmp_path / 'out', DTYPE)
    assert (tmp_path / 'out').read_bytes() == b''


def test_an_input_may_be_the_output(tmp_path):
    sources = write(tmp_path, RECORDS[:250_000], RECORDS[250_000:])
    sources[1].chmod(0o640)
    link = tmp_path / 'link'
    link.symlink_to('in1')
    sort_file(sources, link, DTYPE, '-key', memory=MEMORY)
    assert link.is_symlink() and sources[1].read_bytes() == SORTED
    assert sources[1].stat().st_mode & 0o777 == 0o640
    assert names_in(tmp_path) == ['in0', 'in1', 'link']


@pytest.mark.parametrize('name', ['a b', 'naïve 😀', b'\xff\n'])
def test_names_are_any_that_the_system_has(tmp_path, name):
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b'/' + os.fsencode(name)))
    folder.mkdir()
    (source,) = write(folder, RECORDS)
    sort_file(os.fsencode(source), folder / 'out', DTYPE, '-key', memory=MEMORY)
    assert (folder / 'out').read_bytes() == SORTED
    with pytest.raises(FileNotFoundError, match='missing'):
        sort_file(folder / 'missing', folder / 'out', DTYPE)


def test_a_schema_says_records_and_keys(tmp_path, monkeypatch):
    schema = Schema.from_yaml(SOURCE / 'schemas/gensort.yaml')
    records = np.random.default_rng(2).integers(0, 3, (20_000, 100), np.uint8)
    order = np.lexsort(records[:, 9::-1].T)
    (source,) = write(tmp_path, records)
    sort_file(source, tmp_path / 'out', schema, memory=MEMORY)
    assert (tmp_path / 'out').read_bytes() == records[order].tobytes()
    # The example of the documents.
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'schemas').symlink_to(SOURCE / 'schemas')
    source.rename('a.bin')
    np.save('a.npy', RECORDS)
    section = (SOURCE / 'docs/python.md').read_text().split('\n## Files')[1].split('\n## ')[0]
    names = {'np': np, 'pathlib': sys.modules['pathlib'], 'recsort': recsort, 'stars': RECORDS}
    names['produced'] = np.array_split(RECORDS, 9)
    names['consume'] = lambda part: names.setdefault('parts', []).append(part)
    for block in re.findall(r'```python\n(.*?)```', section, re.S):
        exec(block.replace('mag', 'key').replace('"id"', '"at"'), names)
    assert Path('sorted.bin').read_bytes() == records[order].tobytes()
    assert np.load('sorted.npy').tobytes() == SORTED
    assert np.concatenate(names['parts']).tobytes() == SORTED


def test_npy_files_become_one(tmp_path):
    padded = np.dtype({'names': ['ä', 'b'], 'formats': ['<i2', '>f8'], 'offsets': [0, 8]})
    for dtype in (DTYPE, padded, np.dtype('>i4')):
        records = records_of(dtype, 5000, np.random.default_rng(3))
        for number, part in enumerate(np.split(records, [0, 1234])):
            np.save(tmp_path / f'{number}.npy', part)
        key = dtype.names and '-' + dtype.names[0]
        stats = sort_file(
            [tmp_path / f'{number}.npy' for number in range(3)], tmp_path / 'out', keys=key
        )
        found = np.load(tmp_path / 'out')
        expected = recsort.sort(records.copy(), key)
        assert found.dtype == dtype and found.shape == (5000,) and stats['records'] == 5000
        values = (lambda a: a[dtype.names[0]]) if dtype.names else (lambda a: a)
        assert values(found).tobytes() == values(expected).tobytes()
    sort_file(tmp_path / 'out', tmp_path / 'out', '>i4', reverse=True)
    assert np.load(tmp_path / 'out').tolist() == np.sort(records)[::-1].tolist()
    np.save(tmp_path / 'none.npy', records[:0])
    sort_file(tmp_path / 'none.npy', tmp_path / 'out')
    assert np.load(tmp_path / 'out').tolist() == []


def test_files_that_have_no_plain_records_are_refused(tmp_path):
    old = tmp_path / 'out'
    old.write_bytes(b'old')
    np.save(tmp_path / 'a.npy', RECORDS)
    np.save(tmp_path / 'rows.npy', np.zeros((2, 3)))
    np.save(tmp_path / 'objects.npy', np.array([None]), allow_pickle=True)
    (tmp_path / 'short.npy').write_bytes((tmp_path / 'a.npy').read_bytes()[:-1])
    (tmp_path / 'gz').write_bytes(b'\x1f\x8b\x08\0' + bytes(68))
    (tmp_path / 'nine').write_bytes(b'ninebytes' * 3 + b'!')
    everything = Schema.from_yaml(SOURCE / 'schemas/everything.yaml')
    for names, records, problem in [
        (['nine'], DTYPE, r'/nine: 28 bytes are not a multiple of the record size, 9$'),
        (['gz'], DTYPE, '/gz is compressed by gzip; give raw=True'),
        (['nine', 'a.npy'], 'u1', '/a.npy is a .npy file; .* give raw=True'),
        (['a.npy', 'nine'], None, '/nine is no .npy file, but others are$'),
        (['a.npy'], 'u8', r'/a.npy: the array has dtype .*; the sorter is for uint64$'),
        (['rows.npy'], None, '/rows.npy: the array has 2 dimensions, not 1$'),
        (['objects.npy'], None, '/objects.npy: .*Python objects'),
        (['short.npy'], None, '/short.npy: '),
        (['nine'], None, '^no dtype or schema is given, and only .npy files have their own$'),
        (['nine'], everything, '^only the command recsort sorts files with a header or a trailer$'),
    ]:
        with pytest.raises(RecsortError, match=problem):
            sort_file([tmp_path / name for name in names], old, records)
    before = names_in(tmp_path)
    assert old.read_bytes() == b'old'
    sort_file(tmp_path / 'gz', old, 'u1', raw=True)
    assert old.read_bytes() == bytes(69) + b'\x08\x1f\x8b' and names_in(tmp_path) == before


@pytest.mark.parametrize(
    ('words', 'problem'),
    [
        ({'memory': 0}, '^memory=0; give the number of bytes$'),
        ({'memory': 1 << 64}, '^memory=18446744073709551616; give the number of bytes$'),
        ({'memory': 'all'}, "^memory='all'; give an integer$"),
        ({'folders': 5}, '^folders=5; give a path or a list of paths$'),
        ({'folders': ['/tmp'] * 65}, 'there can be 0 to 64 folders'),
        ({'folders': 'a\0b'}, 'has a NUL; leave it out$'),
        ({'keys': 'no'}, '^no field "no"$'),
        ({'nan': 'error'}, '^nan="error"; records to be sorted by way of files take '),
        ({'records': 'g'}, '^a longdouble, .* cannot be sorted by way of files$'),
        ({'records': 'V0'}, 'records without keys cannot be'),
        ({'records': [('z', 'c8')]}, '^key "": for complex64 to be .* give nan="total"$'),
        ({'records': 'O'}, 'Python objects'),
        ({'plugin': 'none'}, 'none'),
        ({'inputs': 5}, '^inputs=5; give a path'),
        ({'inputs': 'a\0b'}, 'has a NUL'),
        ({'output': ['a', 'b']}, '^output='),
        ({'output': '/dev/null'}, '^/dev/null is not a file$'),
    ],
)
def test_wrong_arguments(tmp_path, words, problem):
    given = {'inputs': [], 'output': tmp_path / 'out', 'records': DTYPE, **words}
    with pytest.raises(RecsortError, match=problem):
        sort_file(**given)
    assert names_in(tmp_path) == []
    if not {'inputs', 'output'} & set(words):
        with pytest.raises(RecsortError, match=problem):
            FileSort(**{'records': DTYPE, **words})


def test_what_fails_leaves_the_old_output(tmp_path):
    (source,) = write(tmp_path, RECORDS)
    old = tmp_path / 'out'
    old.write_bytes(b'old')

    def fails(kind, problem=None, **words):
        with pytest.raises(kind, match=problem) as caught:
            sort_file(**{'inputs': source, 'output': old, 'records': DTYPE, 'memory': MEMORY, **words})
        assert '\n' not in str(caught.value)
        assert old.read_bytes() == b'old' and names_in(tmp_path) == ['in0', 'out']

    fails(FileNotFoundError, 'missing', inputs=[source, tmp_path / 'missing'])
    fails(RecsortError, ' is not a file$', inputs=tmp_path)
    fails(FileNotFoundError, 'missing', output=tmp_path / 'missing/out')
    fails(OSError, '/missing: ', folders=tmp_path / 'missing')
    fails(OSError, '/dev/full', folders='/dev/full')
    fails(MemoryError, r'^not enough memory: records of 9 bytes need at least \d+ KiB$', memory=1000)
    fails(MemoryError, r'need at least \d+ KiB$', memory=10_000)
    if os.geteuid():
        old.chmod(0o444)
        fails(PermissionError, '/out')
        old.chmod(0o644)
        tmp_path.chmod(0o555)
        fails(PermissionError)
        tmp_path.chmod(0o755)
    for stop in (KeyboardInterrupt, ZeroDivisionError):
        for phase in ('read', 'written'):

            def progress(now, count, phase=phase, stop=stop):
                if now == phase and count > 100:
                    raise stop

            descriptors = len(os.listdir('/proc/self/fd'))
            fails(stop, progress=progress)
            assert len(os.listdir('/proc/self/fd')) == descriptors
    yes = '{name: on, type: enum, base: int16, values: [{name: "0", value: 0}]}'
    schema = f'record: r\nfields: [{yes}, {{name: r, type: bytes, count: 7}}]\nkeys: [on]\n'
    number = int(np.argmax(RECORDS['key'] != 0))
    fails(RecsortError, f'^record {number}: ', records=Schema.from_yaml(schema))


def test_progress_counts_records(tmp_path):
    (source,) = write(tmp_path, RECORDS)
    told = []
    sort_file(source, source, DTYPE, 'key', memory=MEMORY, progress=lambda *now: told.append(now))
    for phase in ('read', 'written'):
        counts = [count for name, count in told if name == phase]
        assert counts == sorted(set(counts)) and len(counts) > 2 and counts[-1] == len(RECORDS)


@pytest.mark.skipif(not os.path.exists('/proc/self/fd'), reason='no list of open files')
def test_temporary_files_have_no_names_and_lie_where_you_say(tmp_path):
    folders = [tmp_path / 'one', tmp_path / 'two']
    for folder in folders:
        folder.mkdir()
    (source,) = write(tmp_path, RECORDS)
    seen = set()

    def look(*_):
        assert not any(names_in(folder) for folder in folders)
        for descriptor in os.listdir('/proc/self/fd'):
            path = Path('/proc/self/fd', descriptor)
            seen.add(os.path.dirname(os.readlink(path)) if path.is_symlink() else '')

    sort_file(source, tmp_path / 'out', DTYPE, '-key', memory=MEMORY, folders=folders, progress=look)
    assert {str(folder) for folder in folders} <= seen
    seen.clear()
    sort_file(source, tmp_path / 'out', DTYPE, '-key', memory=MEMORY, progress=look)
    assert str(tmp_path) in seen and not {str(folder) for folder in folders} & seen


# ---- FileSort ---------------------------------------------------------------------------------


def test_arrays_come_and_go():
    copy = RECORDS.copy()
    copy.flags.writeable = False
    with FileSort(DTYPE, '-key', memory=MEMORY) as files:
        files.append(copy[:99_999])
        files.append(copy[99_999:][::-1][::-1])
        files.append(copy[:0])
        parts = list(files)
        assert files.stats['runs'] > 2 and files.stats['records'] == len(RECORDS)
        assert list(files) == []
        with pytest.raises(RecsortError, match='^nothing can be added after'):
            files.append(copy)
    assert len(parts) > 2 and all(part.dtype == DTYPE and part.flags.writeable for part in parts)
    assert np.concatenate(parts).tobytes() == SORTED
    for call in (lambda: files.append(copy), lambda: list(files), lambda: files.stats):
        with pytest.raises(RecsortError, match='^the sort is closed$'):
            call()
    files.close()


def test_arrays_of_another_kind_are_refused():
    with FileSort(DTYPE) as files:
        for array in (np.zeros(3), np.zeros((2, 2), DTYPE), 'text'):
            with pytest.raises(RecsortError):
                files.append(array)
        files.append(RECORDS[:2])
        assert [len(part) for part in files] == [2]


def test_the_sort_ends_with_its_object():
    descriptors = len(os.listdir('/proc/self/fd'))
    for _ in range(3):
        files = FileSort(DTYPE, memory=MEMORY)
        files.append(RECORDS)  # the library's threads may still be at work
        iterator = iter(files)
        next(iterator)
    del files, iterator
    gc.collect()
    assert len(os.listdir('/proc/self/fd')) == descriptors


def test_threads_wait_for_each_other():
    parts = np.array_split(RECORDS, 16)
    with FileSort(DTYPE, ['-key', 'at'], memory=MEMORY) as files:

        def append(some):
            for part in some:
                files.append(part)

        threads = [threading.Thread(target=append, args=(parts[at::4],)) for at in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert np.concatenate(list(files)).tobytes() == SORTED


def test_other_threads_run_meanwhile():
    records, ticks, done = np.tile(RECORDS, 10), [], threading.Event()

    def tick():
        while not done.wait(0.001):
            ticks.append(1)

    thread = threading.Thread(target=tick)
    with FileSort(DTYPE, 'name') as files:
        files.append(records)
        thread.start()
        next(iter(files))
        done.set()
    thread.join()
    assert len(ticks) > 2


def test_an_interrupt_ends_the_sort(tmp_path):
    (source,) = write(tmp_path, RECORDS)
    code = f"""
import os, signal, recsort
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
stop = lambda phase, count: phase == 'written' and os.kill(os.getpid(), signal.SIGINT)
recsort.sort_file({str(source)!r}, {str(source)!r}, 'V9', memory={MEMORY}, progress=stop)
"""
    result = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True)
    assert result.stderr.endswith('KeyboardInterrupt\n') and result.returncode
    assert source.read_bytes() == RECORDS.tobytes() and names_in(tmp_path) == ['in0']


def test_nothing_is_left_of_a_killed_process(tmp_path):
    if not _files.unnamed(tmp_path):
        pytest.skip('the file system has no files without names')
    (source,) = write(tmp_path, RECORDS)
    code = f"""
import os, signal, recsort
stop = lambda phase, count: phase == 'written' and os.kill(os.getpid(), signal.SIGKILL)
recsort.sort_file({str(source)!r}, {str(source)!r}, 'V9', memory={MEMORY}, progress=stop)
"""
    assert subprocess.run([sys.executable, '-c', code]).returncode == -9
    assert source.read_bytes() == RECORDS.tobytes() and names_in(tmp_path) == ['in0']


def test_files_with_names_do_where_there_are_no_others(tmp_path, monkeypatch):
    monkeypatch.setattr(_files, 'unnamed', lambda folder: None)
    test_an_input_may_be_the_output(tmp_path)
    np.save(tmp_path / 'in0', RECORDS)
    sort_file(tmp_path / 'in0.npy', tmp_path / 'in1', keys='-key')
    assert np.load(tmp_path / 'in1').tobytes() == SORTED
    with pytest.raises(ZeroDivisionError):
        sort_file(tmp_path / 'in1', tmp_path / 'in1', progress=lambda *_: 1 / 0)
    assert names_in(tmp_path) == ['in0', 'in0.npy', 'in1', 'link']


def test_it_is_said_if_the_library_is_missing(monkeypatch):
    def missing(name):
        raise OSError('no\nsuch library')

    monkeypatch.setattr(ctypes, 'CDLL', missing)
    _library.files.cache_clear()
    with pytest.raises(RecsortError, match='^to sort files takes librecsort_file, .*: no$'):
        FileSort('u1')
    monkeypatch.undo()
    FileSort('u1').close()


def test_the_docstrings_have_working_examples():
    result = doctest.testmod(_files)
    assert result.attempted > 1 and result.failed == 0
