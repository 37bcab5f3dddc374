"""Arrays in the memory of a device, against NumPy's own stable sorts.

With RECSORT_STANDIN, the path of the stand-in for the CUDA runtime, the plugin sorts without a GPU, in
arrays of a library of the test. Without it, the same tests run on a GPU, with the arrays of torch and
with those of CuPy.
"""

import ctypes
import importlib
import importlib.metadata
import os
import re
import threading
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from oracle import order_of, records_of

import recsort
from recsort import DeviceSorter, RecsortError, Schema, _device, _functions, _library

STANDIN = os.environ.get('RECSORT_STANDIN')
COUNT = 700 if STANDIN else 70000
NUMBERS = ['?', 'i1', 'i2', 'i4', 'i8', 'u1', 'u2', 'u4', 'u8', 'f2', 'f4', 'f8']


class State(ctypes.Structure):
    """What the stand-in has seen: standin_state of standin.h."""

    _fields_ = [
        *((name, ctypes.c_long) for name in 'calls blocks allocations streams most'.split()),
        *((name, ctypes.c_long) for name in 'launches waits misuses first_down'.split()),
        ('work', ctypes.c_long * 8),
        ('woken', ctypes.c_bool * 8),
    ]


class Array:
    """An array in the stand-in's memory, which the host reads too: of the library StandIn, or of none."""

    def __init__(self, memory, face, free, library):
        self.memory, self.dtype, self.library = memory, memory.dtype, library
        self.__cuda_array_interface__, self.free = face, free

    def __getitem__(self, place):
        return self.memory[place]


class StandInLibrary(_device.Library):
    """What torch and CuPy are to their arrays."""

    def empty(self, shape, dtype, stream):
        made = self.array.library
        made.taken.append((stream, shape, dtype))
        return made.put(np.full(shape, 77).astype(dtype))

    def wait(self, stream):
        assert self.array.library.runtime.cudaStreamSynchronize(ctypes.c_void_p(stream)) == 0


def library_of(array):
    kind = StandInLibrary if getattr(array, 'library', None) else _device.Library
    return kind(array)


class StandIn:
    """Makes and reads arrays of StandInLibrary."""

    def __init__(self):
        self.runtime = ctypes.CDLL(STANDIN)
        stream = ctypes.c_void_p()
        assert self.runtime.cudaStreamCreateWithFlags(ctypes.byref(stream), 1) == 0
        self.runtime.standin_look.restype = State
        self.runtime.standin_state_size.restype = ctypes.c_size_t
        assert self.runtime.standin_state_size() == ctypes.sizeof(State)
        wait = self.runtime.cudaStreamSynchronize
        self.stream = SimpleNamespace(cuda_stream=stream.value, synchronize=lambda: wait(stream))
        self.taken = []  # what the library was asked for: stream, shape, dtype

    def put(self, values, typestr=None, *, of=True, **says):
        """An array with a copy of the values; `says` is what it says otherwise than it is."""
        at, size = ctypes.c_void_p(), max(values.nbytes, 1)
        assert self.runtime.cudaMalloc(ctypes.byref(at), ctypes.c_size_t(size)) == 0
        block = (ctypes.c_char * size).from_address(at.value)
        memory = np.frombuffer(block, np.uint8)[: values.nbytes]
        memory[...] = np.frombuffer(values.tobytes(), np.uint8)  # NumPy would not copy padding
        memory = memory.view(values.dtype).reshape(values.shape)
        face = {**memory.__array_interface__, 'version': 3, 'stream': self.stream.cuda_stream, **says}
        face['typestr'] = typestr or face['typestr']
        # Tests are the only ones who free: the stand-in has room for few blocks.
        made = Array(memory, face, lambda: self.runtime.cudaFree(at), self if of else None)
        made_of_this_test.append(made)
        return made

    def get(self, array):
        memory = array.memory
        return np.frombuffer(memory.tobytes(), memory.dtype).reshape(memory.shape)

    def bfloat16(self, bits):
        return self.put(bits, '<V2')

    def bits(self, array):
        return self.get(array)

    def wait(self):
        self.stream.synchronize()


class Torch:
    def __init__(self):
        self.torch = importlib.import_module('torch')
        self.stream = None

    def put(self, values):
        return self.torch.from_numpy(values.copy()).cuda()

    def get(self, array):
        return array.cpu().numpy()

    def bfloat16(self, bits):
        return self.put(bits.view(np.int16)).view(self.torch.bfloat16)

    def bits(self, array):
        return self.get(array.view(self.torch.int16)).view(np.uint16)

    def wait(self):
        self.torch.cuda.synchronize()


class CuPy:
    def __init__(self):
        self.cupy = importlib.import_module('cupy')
        self.stream = None

    def put(self, values):
        return self.cupy.asarray(values)

    def get(self, array):
        return self.cupy.asnumpy(array)

    def wait(self):
        self.cupy.cuda.Device().synchronize()


made_of_this_test, opened = [], {}


@pytest.fixture(params=[StandIn] if STANDIN else [Torch, CuPy], ids=lambda each: each.__name__)
def gpu(request, monkeypatch):
    """What makes and reads arrays."""
    if request.param not in opened:
        opened[request.param] = request.param()
    if STANDIN:
        for module in _device, _functions:
            monkeypatch.setattr(module, 'library_of', library_of)
    yield opened[request.param]
    free_all()


def free_all():
    while made_of_this_test:
        made_of_this_test.pop().free()


needs_standin = pytest.mark.skipif(not STANDIN, reason='looks at what only the stand-in tells')
needs_gpu = pytest.mark.skipif(bool(STANDIN), reason='torch and CuPy need a GPU')


def same(found, expected):
    return found.dtype == expected.dtype and found.tobytes() == expected.tobytes()


def take(records, order):
    """The records in an order, with their padding."""
    if records.dtype.names is None:
        return records[order]
    return records.view(f'V{records.itemsize}')[order].view(records.dtype)


def judge(gpu, sorter, records, order, given=None, given_out=None, index_type='i4'):
    """Every call of a sorter gives this order: in place, into another array, with companions, first ones."""
    rng = np.random.default_rng(len(records))
    rows = rng.integers(0, 255, (len(records), 3), np.uint8)
    places = np.arange(len(records), dtype=index_type)
    put = gpu.put
    a = put(records) if given is None else given
    out = put(np.zeros_like(records)) if given_out is None else given_out
    read = gpu.get if given is None else gpu.bits
    index, moved, numbers = put(places * 0), put(rows), put(places)
    other, status = put(rows * 0), put(np.full(1, 99, 'i4'))
    assert sorter.argsort(a, out=index) is index
    assert sorter.sort(a, out=out, also=[(moved, other), numbers], status=status) is out
    gpu.wait()
    assert same(gpu.get(index), places[order]) and same(read(a), records)
    assert same(read(out), take(records, order)) and same(gpu.get(other), rows[order])
    assert same(gpu.get(numbers), places[order])
    sorter.check(status)
    assert sorter.sort(a, index=index, also=[moved], status=status) is a
    gpu.wait()
    assert same(read(a), take(records, order)) and same(gpu.get(index), places[order])
    assert same(gpu.get(moved), rows[order])
    sorter.check(status)


@pytest.mark.skipif(not STANDIN, reason='only run.sh makes the second wheel')
def test_the_second_wheel_belongs_to_the_first():
    first, second = (importlib.metadata.metadata(name) for name in ('recsort', 'recsort-cuda'))
    for word in 'Version', 'Requires-Python', 'License-Expression':
        assert first[word] == second[word] is not None
    assert first.get_all('Project-URL') == second.get_all('Project-URL') is not None
    assert 'recsort' in second.get_all('Requires-Dist') and second.get_payload().strip()
    files = [str(file) for file in importlib.metadata.files('recsort-cuda')]
    assert 'recsort/recsort/librecsort_cuda.so' in files and any('licenses/LICENSE' in file for file in files)


@pytest.mark.parametrize('nan', ['last', 'first', 'total'])
@pytest.mark.parametrize('dtype', NUMBERS)
def test_numbers(gpu, dtype, nan):
    values = records_of(np.dtype(dtype), COUNT, np.random.default_rng(len(dtype)))
    for reverse in (False, True):
        order = order_of([(values, reverse)], nan)[0]
        sorter = DeviceSorter(gpu.put(values), nan=nan, reverse=reverse)
        judge(gpu, sorter, values, order, index_type='i8')


@pytest.mark.parametrize('nan', ['last', 'total'])
def test_bfloat16(gpu, nan):
    if not hasattr(gpu, 'bfloat16'):
        pytest.skip('CuPy has no bfloat16')
    floats = records_of(np.dtype('f4'), COUNT, np.random.default_rng(1))
    bits = (floats.view('u4') >> 16).astype('u2')
    order = order_of([((bits.astype('u4') << 16).view('f4'), True)], nan)[0]
    a, out = gpu.bfloat16(bits), gpu.bfloat16(bits)
    sorter = DeviceSorter(a, reverse=True, nan=nan)
    judge(gpu, sorter, bits, order, a, out)
    pairs = gpu.bfloat16(bits.reshape(-1, 2))
    DeviceSorter(pairs, keys='-1', nan=nan).sort(pairs)
    gpu.wait()
    last = (bits[1::2].astype('u4') << 16).view('f4')
    assert same(gpu.bits(pairs), bits.reshape(-1, 2)[order_of([(last, True)], nan)[0]])


@needs_standin
@pytest.mark.parametrize('name', ['bfloat16', 'float8_e4m3fn', 'float8_e5m2', 'float6_e3m2fn', 'int4'])
def test_types_of_ml_dtypes(gpu, name):
    """Arrays that tell their dtype, as those of CuPy do; what they say of their memory is "<V1"."""
    dtype = np.dtype(getattr(importlib.import_module('ml_dtypes'), name))
    bits = {'int4': 4, 'float6_e3m2fn': 6}.get(name, 8)
    some = np.random.default_rng(3).integers(0, 1 << bits, 2 * COUNT, np.uint8)
    values = some.view(dtype)
    numbers = values.astype('i1' if name == 'int4' else 'f4')
    for reverse in (False, True):
        order = order_of([(numbers, reverse)], 'first')[0]
        words = {'nan': 'first', 'reverse': reverse}
        judge(gpu, DeviceSorter(gpu.put(values), **words), values, order)
        judge(gpu, DeviceSorter(dtype, **words), values, order)
        records = values.view([('v', dtype)])
        judge(gpu, DeviceSorter(gpu.put(records), **words), records, order)
        rows = records.view('u1').reshape(len(records), -1)
        judge(gpu, DeviceSorter(records.dtype, 'v', **words), rows, order)
    pairs = values[: 2 * (len(values) // 2)].reshape(-1, 2)
    order = order_of([(numbers.reshape(-1, 2)[:, 1], False)], 'last')[0]
    judge(gpu, DeviceSorter(gpu.put(pairs), 1), pairs, order)


@needs_standin
@pytest.mark.parametrize('text', ['<V1', '<V4', '<f1', '<W4'])
def test_types_that_no_array_tells_are_refused(gpu, text):
    a = gpu.put(np.zeros(9, f'u{text[2]}'), text)
    problem = f'has elements of type {text}, which have no order here$'
    with pytest.raises(RecsortError, match='has fields of types that it does not tell'):
        told = gpu.put(np.zeros(9, [('v', f'u{text[2]}')]), descr=[('v', '<V4')])
        del told.dtype
        DeviceSorter(told)
    for call in recsort.argsort, recsort.sort:
        with pytest.raises(RecsortError, match=problem):
            call(a, stream=gpu.stream)
    with pytest.raises(RecsortError, match=problem):
        DeviceSorter(a)
    with pytest.raises(RecsortError, match='complex32 have no order here'):
        DeviceSorter(np.dtype(importlib.import_module('ml_dtypes').complex32))


@pytest.mark.parametrize('nan', ['last', 'first', 'total'])
@pytest.mark.parametrize('dtype', ['M8[s]', '>m8[ns]', 'M8[25h]'])
def test_times(gpu, dtype, nan):
    values = records_of(np.dtype(dtype), COUNT, np.random.default_rng(2))
    rows = values.view('u1').reshape(COUNT, -1)
    for reverse in (False, True):
        order = order_of([(values, reverse)], nan)[0]
        judge(gpu, DeviceSorter([('k', dtype)], nan=nan, reverse=reverse), rows, order)


@pytest.mark.parametrize('dtype', ['c8', 'c16'])
def test_values_that_need_total_order(gpu, dtype):
    values = records_of(np.dtype(dtype), COUNT, np.random.default_rng(2))
    rows = values.view('u1').reshape(COUNT, -1)
    with pytest.raises(RecsortError, match='no order on a device with nan="last"'):
        DeviceSorter([('k', dtype)])
    order = order_of([(values, False)], 'total')[0]
    judge(gpu, DeviceSorter([('k', dtype)], nan='total'), rows, order)


def test_rows_by_columns(gpu):
    rng = np.random.default_rng(3)
    rows = records_of(np.dtype('f4'), 5 * COUNT, rng).reshape(-1, 5)
    for keys, columns in {
        4: [(4, False)],
        '-4': [(4, True)],
        ('-4', 0): [(4, True), (0, False)],
        (2, '-0', '1'): [(2, False), (0, True), (1, False)],
    }.items():
        order = order_of([(rows[:, at], down) for at, down in columns], 'last')[0]
        judge(gpu, DeviceSorter(('f4', 5), keys), rows, order)
    pairs = np.ascontiguousarray(rows[:, :2])
    order = order_of([(pairs[:, 0], False), (pairs[:, 1], False)], 'last')[0]
    judge(gpu, DeviceSorter(gpu.put(pairs)), pairs, order)


def test_structured_records_are_rows_of_bytes(gpu):
    dtype = np.dtype([('mag', '>f4'), ('id', 'u2', 3), ('t', 'M8[s]')], align=True)
    records = records_of(dtype, COUNT, np.random.default_rng(4))
    columns = [(records['id'][:, 1], True), (records['mag'], False)]
    order, size = order_of(columns, 'first')[0], dtype.itemsize
    sorter = DeviceSorter(dtype, ['-id[1]', 'mag'], nan='first')
    rows = records.view(np.uint8).reshape(-1, size)
    judge(gpu, sorter, rows, order)
    schema = Schema.from_dtype(
        np.dtype([('mag', '>f4'), ('id', 'u2', 3)]), ['-id[1]', 'mag'], nan='first'
    )
    small = np.ascontiguousarray(rows[:, : schema.dtype.itemsize])
    judge(gpu, DeviceSorter(schema), small, order)
    columns = [(values, not down) for values, down in columns]
    judge(gpu, DeviceSorter(schema, reverse=True), small, order_of(columns, 'first')[0])
    with pytest.raises(RecsortError, match=f'the sorter is for those of {size} bytes'):
        sorter.sort(gpu.put(small))
    times = DeviceSorter(dtype, 't', nan='first')
    judge(gpu, times, rows, order_of([(records['t'], False)], 'first')[0])


def test_structured_arrays_tell_their_dtype(gpu):
    if isinstance(gpu, Torch):
        pytest.skip('torch has no structured dtypes')
    dtype = np.dtype([('mag', 'f4'), ('id', 'u1')], align=True)
    records = records_of(dtype, COUNT, np.random.default_rng(5))
    sorter = DeviceSorter(gpu.put(records), keys=['-id', 'mag'])
    judge(gpu, sorter, records, order_of([(records['id'], True), (records['mag'], False)], 'last')[0])


def test_the_point_of_a_computed_key(gpu):
    schema = Schema.from_yaml(
        'record: P\nlayout: packed\nfields: [{name: x, type: int8}, {name: rest, type: uint8}]\n'
        'keys: [{distance: {fields: [x], from: eye}}]\n'
    )
    rows = np.random.default_rng(6).integers(0, 255, (COUNT, 2), np.uint8)
    sorter = DeviceSorter(schema)
    for eye in (3, -100):
        sorter.set_parameter('eye', [eye])
        order = np.argsort(abs(rows[:, 0].view('i1').astype(int) - eye), kind='stable')
        judge(gpu, sorter, rows, order)


def test_a_point_on_the_device(gpu):
    schema = Schema.from_yaml(
        'record: P\nlayout: packed\nfields: [{name: x, type: int8}, {name: y, type: uint8}]\n'
        'keys: [{distance: {fields: [x, y], from: eye}}]\n'
    )
    rows = np.random.default_rng(16).integers(0, 255, (COUNT, 2), np.uint8)
    x, y = rows[:, 0].view('i1').astype(int), rows[:, 1].astype(int)
    sorter = DeviceSorter(schema)
    for eye in (3, 7), (-100, 200):
        sorter.bind_parameter('eye', gpu.put(np.array(eye, 'f8')))
        order = np.argsort((x - eye[0]) ** 2 + (y - eye[1]) ** 2, kind='stable')
        judge(gpu, sorter, rows, order)
    sorter.set_parameter('eye', [0, 0])
    judge(gpu, sorter, rows, np.argsort(x * x + y * y, kind='stable'))
    for point, message in (
        ([1, 2], 'not in the memory of a device'),
        (gpu.put(np.zeros(2, 'f4')), 'float64'),
        (gpu.put(np.zeros((1, 2))), 'one dimension'),
        (gpu.put(np.zeros(3)), 'eye'),
    ):
        with pytest.raises(RecsortError, match=message):
            sorter.bind_parameter('eye', point)


def test_segments(gpu):
    values = np.random.default_rng(7).integers(0, 9, COUNT).astype('i4')
    cuts = [0, 5, 5, 40, COUNT // 2, COUNT - 3]
    expected = np.arange(COUNT)
    for begin, end in zip(cuts, cuts[1:]):
        expected[begin:end] = begin + np.argsort(-values[begin:end], kind='stable')
    sorter = DeviceSorter('i4', reverse=True)
    for bits, longest in ('i4', 0), ('i8', COUNT):
        a, index = gpu.put(values), gpu.put(np.zeros(COUNT, 'i8'))
        offsets, status = gpu.put(np.array(cuts, bits)), gpu.put(np.full(1, 99, 'u4'))
        how = {'segments': offsets, 'longest_segment': longest, 'status': status}
        sorter.argsort(a, out=index, **how)
        gpu.wait()
        sorter.check(status)
        sorter.sort(a, **how)
        gpu.wait()
        assert same(gpu.get(a), values[expected]) and gpu.get(index).tolist() == expected.tolist()
        sorter.check(status)
    long = gpu.put(np.zeros(9000, 'i4'))  # more than are sorted together, so the limit matters
    how = {'segments': gpu.put(np.array([0, 9000])), 'longest_segment': 10, 'status': status}
    DeviceSorter(long).sort(long, **how)
    gpu.wait()
    with pytest.raises(RecsortError, match='a segment is longer than longest_segment'):
        sorter.check(status)


def test_the_first_records(gpu):
    rows = np.random.default_rng(8).integers(0, 99, (COUNT, 3)).astype('i2')
    a = gpu.put(rows)
    sorter, order = DeviceSorter(a, keys='-1'), np.argsort(-rows[:, 1], kind='stable')
    for n in (0, 1, 5, COUNT // 140, COUNT // 2, COUNT, COUNT + 1):
        most = min(n, COUNT)
        out, index = gpu.put(rows[:most] * 0), gpu.put(np.zeros(most, 'i4'))
        numbers, moved = gpu.put(np.arange(COUNT)), gpu.put(np.arange(most))
        assert sorter.top(a, n, out=out, index=index, also=[(numbers, moved)]) is out
        gpu.wait()
        assert same(gpu.get(out), rows[order[:most]]) and same(gpu.get(a), rows), n
        assert gpu.get(index).tolist() == gpu.get(moved).tolist() == order[:most].tolist(), n


@pytest.mark.parametrize('count', [0, 1, 2, 33])
def test_few_records(gpu, count):
    values = np.arange(count)[::-1].astype('f8')
    judge(gpu, DeviceSorter('f8'), values, np.arange(count)[::-1])


@needs_standin
def test_no_records_need_no_address(gpu):
    """As an empty tensor of torch has none."""
    a, status = gpu.put(np.zeros(0, 'i4'), data=(0, False)), gpu.put(np.full(1, 99, 'i4'))
    assert DeviceSorter(a).sort(a, status=status) is a
    gpu.wait()
    DeviceSorter.check(status)


def test_functions_wait(gpu):
    values = np.random.default_rng(9).integers(0, 50, COUNT).astype('f4')
    order = np.argsort(-values, kind='stable')
    on = {'stream': gpu.stream} if gpu.stream else {}
    a, out = gpu.put(values), gpu.put(values * 0)
    assert recsort.sort(a, reverse=True, out=out, **on) is out
    assert same(gpu.get(out), values[order]) and same(gpu.get(a), values)
    index = recsort.argsort(a, reverse=True)
    assert type(index) is type(a) and same(gpu.get(index), order)
    first = recsort.top(a, 7, reverse=True)
    assert type(first) is type(a) and same(gpu.get(first), values[order[:7]])
    assert recsort.sort(a, reverse=True, **on) is a
    assert same(gpu.get(a), values[order])


ENUM = 'record: R\nfields: [{name: k, type: enum, base: uint8, values: [x, y]}]\nkeys: [k]\n'


@needs_standin
def test_functions_wait_and_check(gpu, monkeypatch):
    calls = []
    monkeypatch.setattr(StandInLibrary, 'wait', lambda library, stream: calls.append(stream))
    monkeypatch.setattr(DeviceSorter, 'check', lambda sorter, status: calls.append(len(status.memory)))
    recsort.sort(gpu.put(np.zeros(3, 'i4')), stream=gpu.stream)
    assert calls == [gpu.stream.cuda_stream, 1]


def test_an_invalid_value_is_reported(gpu):
    rows = np.arange(3, dtype='u1').reshape(-1, 1)
    sorter, a = DeviceSorter(Schema.from_yaml(ENUM)), gpu.put(rows)
    status = gpu.put(np.zeros(1, 'i4'))
    sorter.sort(a, status=status)
    gpu.wait()
    with pytest.raises(RecsortError, match='invalid value'):
        sorter.check(status)
    sorter.top(a, 2, out=gpu.put(rows[:2]))  # leaves the status as it is
    sorter.sort(gpu.put(rows[:2]), status=status)
    gpu.wait()
    sorter.check(status)
    sorter.sort(a, status=status)
    sorter.top(a, 0, out=gpu.put(rows[:0]), status=status)
    gpu.wait()
    sorter.check(status)


def test_a_status_that_no_sort_sets_is_told():
    with pytest.raises(RecsortError, match='^the status of the sort is 99$'):
        DeviceSorter.check([99])


def test_threads_share_a_sorter(gpu):
    values = np.random.default_rng(10).integers(0, 9, COUNT).astype('u1')
    sorter, expected = DeviceSorter('u1'), np.argsort(values, kind='stable')
    arrays = [(gpu.put(values), gpu.put(np.zeros(COUNT, 'i4'))) for _ in range(4)]

    def work(a, index):
        for _ in range(5):
            sorter.argsort(a, out=index)

    threads = [threading.Thread(target=work, args=pair) for pair in arrays]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    gpu.wait()
    assert all(gpu.get(index).tolist() == expected.tolist() for _, index in arrays)


@needs_standin
def test_the_memory_and_the_stream_are_those_given(gpu, monkeypatch):
    jobs = []
    monkeypatch.setattr(_library, 'run', lambda handle, job, count: jobs.append(job._obj))
    a = gpu.put(np.zeros(3, 'i4'))
    sorter = DeviceSorter(a)
    protocol = SimpleNamespace(__cuda_stream__=lambda: (0, 7))
    for stream in None, 5, SimpleNamespace(cuda_stream=5), SimpleNamespace(ptr=5), protocol:
        sorter.sort(a, stream=stream)
    assert [job.stream for job in jobs] == [gpu.stream.cuda_stream, 5, 5, 5, 7]
    assert {(job.records, job.sorted, job.count) for job in jobs} == {
        (a.memory.ctypes.data,) * 2 + (3,)
    }
    with pytest.raises(RecsortError, match='^stream is a str, not a CUDA stream$'):
        sorter.sort(a, stream='side')
    with pytest.raises(RecsortError, match='^give stream=; Array does not tell it$'):
        sorter.sort(gpu.put(np.zeros(3, 'i4'), stream=None))
    assert len(jobs) == 5


@needs_standin
def test_the_workspace_is_the_librarys_or_the_one_given(gpu, monkeypatch):
    jobs, a, out = [], gpu.put(np.zeros(3, 'i4')), gpu.put(np.zeros(3, 'i4'))
    monkeypatch.setattr(_library, 'run', lambda handle, job, count: jobs.append(job._obj))
    sorter = DeviceSorter(a)
    size, room = sorter.workspace_bytes(a, out=out), gpu.put(np.zeros(1 << 12))
    gpu.taken.clear()
    sorter.sort(a, out=out, stream=5)
    sorter.sort(a, out=out, workspace=room)
    assert gpu.taken == [(5, (size,), 'uint8')] and jobs[0].workspace_size == size
    assert (jobs[1].workspace, jobs[1].workspace_size) == (room.memory.ctypes.data, 1 << 15)


@needs_standin
@pytest.mark.parametrize('dtype', ['u1', 'f4', 'f8', ('i4', 3)])
def test_how_large_a_workspace_has_to_be(gpu, dtype):
    """Each call takes what workspace_bytes says, and not less; but plain numbers may do with less.
    More records may, too: what workspace_bytes says is enough for fewer, whose buckets take more."""
    fewer = 500
    values = np.random.default_rng(4).integers(0, 9, fewer).astype(dtype)
    sorter = DeviceSorter(dtype, 0 if isinstance(dtype, tuple) else None)
    a, out, few = gpu.put(values), gpu.put(values), gpu.put(values[:9])
    index, numbers, status = (gpu.put(np.zeros(count, 'i4')) for count in (fewer, fewer, 1))
    cuts = {'segments': gpu.put(np.array([0, 9, fewer])), 'status': status}
    for call, given in (
        (lambda **how: sorter.argsort(a, out=index, **how), {'index': index}),
        (lambda **how: sorter.sort(a, **how), {'out': a}),
        (lambda **how: sorter.sort(a, out=out, also=[numbers], **how), {'out': out, 'also': [numbers]}),
        (lambda **how: sorter.sort(a, **cuts, **how), {'out': a, **cuts}),
        (lambda **how: sorter.top(a, 9, out=few, **how), {'out': few, 'n': 9}),
    ):
        most = sorter.workspace_bytes(a, **given)
        plain = dtype in ('f4', 'f8') and not {'segments', 'n'} & given.keys()
        for size in (0,) if plain else (most - 1, 0):
            with pytest.raises(RecsortError, match='workspace') as told:
                call(workspace=gpu.put(np.zeros(size, 'u1')))
            takes = int(re.search(r'takes (\d+)', str(told.value))[1])
            assert takes <= most if plain else takes == most
            call(workspace=gpu.put(np.zeros(takes, 'u1')))
        call(workspace=gpu.put(np.zeros(most, 'u1')))
        gpu.wait()


def on(number):
    """An array that says it is on a device."""

    def make(gpu):
        made = gpu.put(np.zeros(9, 'i4'))
        made.device = SimpleNamespace(index=number)
        return made

    return make


def ints(count=9, dtype='i4', **says):
    return lambda gpu: gpu.put(np.zeros(count, dtype), **says)


def read_only(array):
    face = {**array.__cuda_array_interface__, 'data': (array.memory.ctypes.data, True)}
    return SimpleNamespace(__cuda_array_interface__=face)


def unknown(gpu):
    """An array of no library."""
    return gpu.put(np.zeros(9, 'i4'), of=False)


REFUSED = [
    (lambda s, a, g: s.sort(np.zeros(9, 'i4')), 'the array is not in the memory of a device: ndarray'),
    (lambda s, a, g: s.sort(a, out=np.zeros(9)), 'out is not in the memory'),
    (lambda s, a, g: DeviceSorter(np.zeros(9, 'i4')), 'in the memory of the host: use sort or Sorter'),
    (
        lambda s, a, g: s.sort(ints(9, 'f4')(g)),
        'has records of float32; the sorter is for those of int32',
    ),
    (lambda s, a, g: s.sort(g.put(np.zeros((3, 3), 'i4'))), r'with the shape \(3,\)'),
    (lambda s, a, g: s.sort(g.put(np.zeros((), 'i4'))), 'no dimension'),
    (lambda s, a, g: s.sort(ints(mask=a)(g)), 'a mask'),
    (lambda s, a, g: s.sort(ints(strides=(8,))(g)), 'not contiguous'),
    (lambda s, a, g: s.sort(a, out=ints(8)(g)), 'out has 8 elements, not 9'),
    (lambda s, a, g: s.sort(read_only(a)), '^the array is read-only'),
    (lambda s, a, g: s.sort(a, out=read_only(a)), '^out is read-only'),
    (
        lambda s, a, g: s.argsort(a, out=ints(9, 'i2')(g)),
        'index has one dimension, of integers of 32 or 64',
    ),
    (lambda s, a, g: s.argsort(a, out=ints(9, 'f4')(g)), 'index has one dimension, of integers'),
    (lambda s, a, g: s.argsort(a, out=ints(8)(g)), 'index has 8 elements'),
    (
        lambda s, a, g: s.argsort(unknown(g)),
        '^no Array can be made here: give a DeviceSorter every array to fill, ',
    ),
    (lambda s, a, g: s.sort(unknown(g)), 'and workspace=$'),
    (lambda s, a, g: s.top(unknown(g), 2), 'no Array can be made'),
    (lambda s, a, g: recsort.sort(unknown(g)), 'no Array can be made'),
    (lambda s, a, g: s.argsort(a, index_bits=16), '^index_bits=16; give 32 or 64$'),
    (lambda s, a, g: s.sort(a, bits=(9, 99)), 'are not all in a key of 32'),
    (lambda s, a, g: s.sort(a, bits=(9, 9)), r'^bits=\(9, 9\); give the first one and'),
    (lambda s, a, g: s.sort(a, bits=(-1, 9)), '^bits=.* give the first one and'),
    (lambda s, a, g: s.sort(a, bits=(1 << 32, 0)), '^bits=.* give the first one and'),
    (lambda s, a, g: s.sort(a, status=ints(2)(g)), 'status has 2 elements, not 1'),
    (lambda s, a, g: s.sort(a, status=ints(1, 'i8')(g)), 'status has one dimension, of integers of 32'),
    (lambda s, a, g: s.sort(a, workspace=ints(1)(g)), 'workspace'),
    (lambda s, a, g: s.sort(a, workspace=np.zeros(9)), 'workspace is not in the memory'),
    (lambda s, a, g: s.top(a, -1), 'n is -1'),
    (lambda s, a, g: s.top(a, 2, out=ints(3)(g)), 'out has 3 elements, not 2'),
    (lambda s, a, g: s.sort(a, also=[ints(8)(g)]), 'also has 8 elements, not 9'),
    (lambda s, a, g: s.sort(a, also=[(ints()(g), ints(9, 'i2')(g))]), 'a pair is alike'),
    (lambda s, a, g: s.sort(a, also=[(ints(8)(g), ints()(g))]), 'a row for each record'),
    (lambda s, a, g: s.sort(a, segments=ints(2, 'u2')(g)), 'segments has one dimension, of integers'),
    (lambda s, a, g: s.sort(a, segments=ints(1)(g)), 'there are 0 segments'),
    (
        lambda s, a, g: s.sort(a, out=on(1)(g), also=[on(2)(g)]),
        r'arrays on the devices {1, 2}; the sorter is on None',
    ),
    (lambda s, a, g: s.set_parameter('eye', [1]), 'eye'),
    (lambda s, a, g: recsort.unique(a), 'in the memory of a GPU'),
    (lambda s, a, g: recsort.Sorter('i4').sort(a), 'only a NumPy array'),
    (lambda s, a, g: recsort.Sorter('i4').argsort(a), 'in the memory of a GPU'),
    (lambda s, a, g: DeviceSorter('i4', []), 'keys is empty'),
    (lambda s, a, g: DeviceSorter(('i4', 5), 5), '^no field "5"'),
    (lambda s, a, g: DeviceSorter(('i4', 5), -4), 'positions count from 0: write "-4"'),
    (lambda s, a, g: DeviceSorter(('i4', (2, 2))), 'one dimension, or two'),
    (lambda s, a, g: DeviceSorter(('i8', 3)), 'at most 128 bits'),
    (lambda s, a, g: DeviceSorter('f4', nan='error'), "nan='error'"),
    (lambda s, a, g: DeviceSorter('c8'), 'complex64 has no order on a device with nan="last"'),
    (lambda s, a, g: DeviceSorter(a, nan='error'), '^nan=.error.; give one of last, first, total$'),
    (lambda s, a, g: DeviceSorter('f4', '\ud800'), '^no field ".*"$'),
    (lambda s, a, g: DeviceSorter('f4', reverse='no'), '^reverse=.no.; give True or False$'),
    (lambda s, a, g: DeviceSorter('g'), 'no order on a device'),
    (lambda s, a, g: DeviceSorter('V0'), 'at least one byte'),
    (lambda s, a, g: DeviceSorter('O'), 'Python objects'),
    (lambda s, a, g: DeviceSorter('i4', device=4), 'there are 4 CUDA devices'),
    (lambda s, a, g: DeviceSorter('i4', plugin='cpu'), 'cpu'),
]


@needs_standin
@pytest.mark.parametrize(('call', 'message'), REFUSED)
def test_refusals(gpu, call, message):
    values = np.array([2, 1, 3, 1, 2, 9, 9, 0, -1], 'i4')
    a = gpu.put(values)
    with pytest.raises((RecsortError, MemoryError), match=message) as refusal:
        call(DeviceSorter(a), a, gpu)
    assert '\n' not in str(refusal.value) and same(gpu.get(a), values)


def test_a_device_may_be_named(gpu):
    values = np.array([2, 1, 2, 0], 'i4')
    judge(gpu, DeviceSorter('i4', device=0), values, np.argsort(values, kind='stable'))


@needs_standin
def test_a_sort_neither_waits_nor_allocates_and_is_on_the_device_of_the_array(gpu):
    look, a, room = gpu.runtime.standin_look, on(2)(gpu), gpu.put(np.zeros(1 << 12))
    before = look()
    sorter = DeviceSorter(a)
    made = look()
    sorter.sort(a, workspace=room)
    after = look()
    assert after.launches > made.launches and after.waits == made.waits
    assert after.blocks == made.blocks and after.misuses == 0
    grown = [now - then for now, then in zip(after.work, before.work)]
    assert grown[2] > 0 and sum(grown) == grown[2]
    del sorter
    assert look().blocks == before.blocks


# ---- Keys with values ----


@pytest.mark.parametrize('nan', ['last', 'first', 'total'])
@pytest.mark.parametrize('dtype', ['i4', 'u4', 'f4', 'i8', 'u8', 'f8'])
def test_keys_with_values(gpu, dtype, nan):
    rng = np.random.default_rng(len(nan))
    keys = records_of(np.dtype(dtype), COUNT, rng)
    for reverse, size in (False, 4), (True, 8):
        sorter = DeviceSorter(dtype, reverse=reverse, nan=nan)
        order = order_of([(keys, reverse)], nan)[0]
        values = rng.integers(0, 99, COUNT).astype(f'u{size}')
        a, b, out, other = map(gpu.put, (keys, values, keys, values))
        sorter.sort(a, out=out, also=[(b, other)])
        index = sorter.argsort(a)
        gpu.wait()
        assert same(gpu.get(a), keys) and same(gpu.get(b), values)
        assert same(gpu.get(out), keys[order]) and same(gpu.get(other), values[order])
        assert same(gpu.get(index), order.astype('i4'))
        sorter.sort(a, also=[b])
        gpu.wait()
        assert same(gpu.get(a), keys[order]) and same(gpu.get(b), values[order])


def test_some_bits(gpu):
    keys = np.random.default_rng(15).integers(0, 1 << 40, COUNT).astype('u8')
    for bits, digits in {(5, 9): keys >> 5 & 15, (30, 0): keys >> 30, (0, 3): keys & 7}.items():
        index = DeviceSorter('u8').argsort(gpu.put(keys), bits=bits)
        gpu.wait()
        assert gpu.get(index).tolist() == np.argsort(digits, kind='stable').tolist()


# ---- What only real libraries have ----


def test_results_are_new_arrays_of_the_library(gpu):
    rows = np.random.default_rng(11).integers(0, 50, (COUNT, 2)).astype('i2')
    a, order = gpu.put(rows), np.argsort(rows[:, 0], kind='stable')
    sorter = DeviceSorter(a, keys=0)
    for bits in 32, 64:
        index, first = sorter.argsort(a, index_bits=bits), sorter.top(a, 9)
        gpu.wait()
        assert type(index) is type(first) is type(a)
        assert same(gpu.get(index), order.astype(f'i{bits // 8}'))
        assert same(gpu.get(first), rows[order[:9]])


@needs_gpu
def test_a_dropped_sorter_finishes_its_sorts(gpu):
    values = np.random.default_rng(12).random(1 << 22).astype('f4')
    a = gpu.put(values)
    for _ in range(3):
        index = DeviceSorter(a).argsort(a)
    gpu.wait()
    assert gpu.get(index).tolist() == np.argsort(values, kind='stable').tolist()


@needs_gpu
def test_work_is_on_the_current_stream_or_the_one_given(gpu):
    """The stream is busy, then the values arrive on it: a sort on another stream would find zeros."""
    values = np.random.default_rng(13).integers(1, 1 << 30, 1 << 20).astype('i4')
    order = np.argsort(values, kind='stable').astype('i4')
    source = gpu.put(values)
    for given in (False, True):
        a = gpu.put(values * 0)
        sorter = DeviceSorter(a)
        gpu.wait()
        if isinstance(gpu, Torch):
            cuda = gpu.torch.cuda
            stream = cuda.Stream()
            with cuda.stream(stream):
                cuda._sleep(200_000_000)
                a.copy_(source)
                index = None if given else sorter.argsort(a)
        else:
            stream = gpu.cupy.cuda.Stream(non_blocking=True)
            with stream:
                busy = gpu.cupy.random.random((6000, 6000), 'f4')
                for _ in range(8):
                    busy = busy @ busy
                a[...] = source
                index = None if given else sorter.argsort(a)
        index = sorter.argsort(a, stream=stream) if given else index
        assert not (stream.query() if isinstance(gpu, Torch) else stream.done)
        stream.synchronize()
        assert same(gpu.get(index), order)


@needs_gpu
def test_a_graph_replays_a_sort(gpu):
    rng = np.random.default_rng(14)
    a, numbers = gpu.put(np.zeros(1 << 16, 'f4')), gpu.put(np.arange(1 << 16))
    sorter = DeviceSorter(a)
    if isinstance(gpu, Torch):
        graph = gpu.torch.cuda.CUDAGraph()
        with gpu.torch.cuda.graph(graph):
            index = sorter.argsort(a)
            sorter.sort(a, also=[numbers])
        replay, copy = graph.replay, lambda to, new: to.copy_(gpu.put(new))
    else:
        index = gpu.put(np.zeros(1 << 16, 'i4'))
        size = sorter.workspace_bytes(a, out=a, also=[numbers])
        size = max(size, sorter.workspace_bytes(a, index=index))
        room = gpu.put(np.zeros(size, 'u1'))
        stream = gpu.cupy.cuda.Stream(non_blocking=True)
        with stream:
            stream.begin_capture()
            sorter.argsort(a, out=index, workspace=room)
            sorter.sort(a, also=[numbers], workspace=room)
            graph = stream.end_capture()
        replay, copy = lambda: graph.launch(stream), lambda to, new: to.set(new)
    for _ in range(3):
        values = rng.integers(0, 999, 1 << 16).astype('f4')
        order = np.argsort(values, kind='stable')
        copy(a, values)
        copy(numbers, np.arange(1 << 16))
        gpu.wait()
        replay()
        gpu.wait()
        assert gpu.get(index).tolist() == gpu.get(numbers).tolist() == order.tolist()
        assert same(gpu.get(a), values[order])


@needs_gpu
def test_the_document_has_a_working_example(gpu):
    if isinstance(gpu, CuPy):
        pytest.skip('the example is for torch')
    page = Path(__file__).parents[2] / 'docs/python.md'
    names = {}
    exec(re.search(r'```python\n(import recsort, torch.*?)```', page.read_text(), re.DOTALL)[1], names)
    gpu.wait()
    column, sorted_keys = gpu.get(names['rows'])[:, 4], gpu.get(names['nearest'])
    assert (column[1:] <= column[:-1]).all() and column[0] > column[-1]
    assert same(sorted_keys, np.sort(column)) and same(column[gpu.get(names['ids'])], sorted_keys)


@needs_gpu
def test_tensors_that_are_refused(gpu):
    if isinstance(gpu, CuPy):
        pytest.skip('only torch has such')
    torch = gpu.torch
    for tensor, message in [
        (torch.zeros(9, device='cuda', requires_grad=True), 'requires grad'),
        (torch.zeros(9, device='cuda').to(torch.float8_e4m3fn), 'float8'),
        (torch.zeros(9, 9, device='cuda').t()[::2], 'not contiguous'),
        (torch.zeros(9), 'not in the memory of a device'),
    ]:
        with pytest.raises(RecsortError, match=message):
            DeviceSorter('f4').sort(tensor)
    assert recsort.argsort(torch.tensor([3, 1, 2])).tolist() == [1, 2, 0]  # in the memory of the host


@needs_standin
def test_indices_of_32_bits_have_a_limit(gpu):
    many = gpu.put(np.zeros(4, 'u1'), '<u4', shape=(2**31 + 1,), strides=None)
    index = gpu.put(np.zeros(4, 'u1'), '<i4', shape=(2**31 + 1,))
    with pytest.raises(RecsortError, match='^indices of 2147483649 records have 64 bits$'):
        DeviceSorter('u4').argsort(many, out=index)


@needs_gpu
def test_arrays_of_another_device_are_refused(gpu):
    sorter, array = DeviceSorter('f4'), gpu.put(np.zeros(10, 'f4'))
    assert sorter.device == 0
    sorter.device = 1
    with pytest.raises(RecsortError, match='devices'):
        sorter.sort(array)
