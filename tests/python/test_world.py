"""Sorts on a stand-in for Ray that misbehaves, from a seed. Ray need not be installed. Tasks run in any order that is
allowed, and in turns at their calls of the disk; their processes die and are replaced, or are only taken for dead and go on beside
their replacements; objects are lost and made again. Then one thing more goes wrong: a disk fails, or a bit of an object changes.
Files are sorted, and Datasets if there is PyArrow; what reads a Dataset are tasks, too.

RECSORT_WORLD_SEEDS=N tries more seeds, RECSORT_WORLD_SEED=N one of them, in words."""

import builtins
import collections
import errno
import importlib
import os
import pickle
import random
import sys
import threading
import types

import numpy as np
import pytest

import recsort._files
from recsort import RecsortError, Schema

FIELDS = """record: Item
layout: packed
fields:
  - {name: major, type: uint16}
  - {name: kind, type: enum, base: uint8, values: [a, b]}
  - {name: place, type: uint32}
  - {name: rest, type: bytes, count: 2}
"""
SCHEMA = Schema.from_yaml(FIELDS + 'keys: [{field: major, order: desc}, kind]\n')
CALLS = ['open', 'pwrite', 'fsync', 'read']
RETRIES = 3  # Ray's default


class RayError(Exception):
    pass


class RayTaskError(RayError):
    def __init__(self, cause):
        super().__init__(f'a traceback of many lines\n{cause!r}')
        self.cause = cause


class Died(BaseException):
    """The process of a task is killed."""


class Ref:
    """An object: the result number `at` of a task, or what was put."""

    def __init__(self, task, at, value=None):
        self.task, self.at, self.value = task, at, value


def packed(value):
    """What an object store holds of a value: bytes, and the bytes of its arrays, which nobody may write to."""
    buffers = []
    head = pickle.dumps(value, 5, buffer_callback=buffers.append)
    return head, [bytearray(buffer) for buffer in buffers]


def unpacked(held):
    head, buffers = held
    return pickle.loads(head, buffers=[memoryview(buffer).toreadonly() for buffer in buffers])


class Task:
    def __init__(self, function, arguments, returns):
        self.function, self.arguments, self.returns = function, arguments, returns
        self.refs = [Ref(self, at) for at in range(returns)]
        self.results = self.error = self.attempt = None
        self.deaths = 0

    def done(self):
        return self.results is not None or self.error is not None

    def ready(self):
        refs = [one for one in self.arguments if isinstance(one, Ref)]
        return (
            not self.done()
            and not self.attempt
            and all(not one.task or one.task.done() for one in refs)
        )


class Attempt(threading.Thread):
    """A process that works on a task. It runs until a point, when it is its turn."""

    def __init__(self, world, task):
        super().__init__(daemon=True)
        self.world, self.task = world, task
        self.turn = threading.Semaphore(0)
        self.dies = self.ended = self.given_up = False
        self.result = self.error = None
        self.dirty = set()  # what it wrote to, and did not bring to the disk
        self.start()

    def run(self):
        self.turn.acquire()
        try:
            self.check()
            values = [
                unpacked(one.task.results[one.at] if one.task else one.value)
                if isinstance(one, Ref)
                else one
                for one in self.task.arguments
            ]
            found = self.task.function(*values)
            self.point()
            found = [found] if self.task.returns == 1 else list(found)
            assert len(found) == self.task.returns
            self.result = [packed(one) for one in found]
        except Died:
            pass
        except Exception as problem:
            self.error = RayTaskError(problem)
        self.ended = True
        self.world.turn.release()

    def check(self):
        if self.dies:
            raise Died

    def point(self):
        self.world.turn.release()
        self.turn.acquire()
        self.check()

    def go_on(self):
        self.turn.release()
        self.world.turn.acquire()


class World:
    """A Ray, in place of the module."""

    def __init__(self, seed, fault=None):
        self.random = random.Random(seed)
        self.fault = fault  # (call, number, errno), ('flip', number, bit), ('crash', name) or None
        self.turn = threading.Semaphore(0)
        self.tasks, self.attempts = [], []
        self.places = collections.Counter()
        self.events = collections.Counter()
        self.chance = {
            what: self.random.choice([0, 0, 0.01, 0.05])
            for what in ['dies', 'seems dead', 'is lost', 'short']
        }
        self.folders = set()  # that have to be brought to the disk
        self.exceptions = types.SimpleNamespace(RayError=RayError, RayTaskError=RayTaskError)

    # ---- Ray ----

    def remote(self, function):
        def options(num_cpus, num_returns=1):
            def remote(*arguments):
                # Errors of arguments are found when they are sent, not later.
                task = Task(
                    function,
                    [one if isinstance(one, Ref) else unpacked(packed(one)) for one in arguments],
                    num_returns,
                )
                self.tasks.append(task)
                self.steps(self.random.choice([0, 0, 3]))
                return task.refs if num_returns > 1 else task.refs[0]

            return types.SimpleNamespace(remote=remote)

        return types.SimpleNamespace(options=options)

    def put(self, value):
        return Ref(None, 0, packed(value))

    def get(self, refs):
        if not isinstance(refs, list):
            return self.get([refs])[0]
        while not all(one.task is None or one.task.done() for one in refs):
            self.step()
        for one in refs:
            if one.task and one.task.error:
                raise one.task.error
        return [unpacked(one.task.results[one.at] if one.task else one.value) for one in refs]

    # ---- What happens ----

    def happens(self, what):
        found = self.random.random() < self.chance[what]
        self.events[what] += found
        return found

    def steps(self, count):
        for _ in range(count):
            if self.moves():
                self.step()

    def moves(self):
        return [task for task in self.tasks if task.ready()] + [
            one for one in self.attempts if not one.ended
        ]

    def step(self):
        moves = self.moves()
        assert moves, 'a task waits for what nothing makes'
        chosen = self.random.choice(moves)
        if isinstance(chosen, Task):
            chosen = self.begin(chosen)
            if not chosen:
                return
        self.go_on(chosen)
        kept = [task for task in self.tasks if task.results is not None]
        if kept and self.happens('is lost'):
            self.random.choice(kept).results = None

    def begin(self, task):
        refs = [one.task for one in task.arguments if isinstance(one, Ref) and one.task]
        failed = [one.error for one in refs if one.error]
        if failed:
            task.error = RayTaskError(failed[0])
            return None
        task.attempt = Attempt(self, task)
        self.attempts.append(task.attempt)
        return task.attempt

    def go_on(self, one):
        task = one.task
        may_fail = not one.given_up and task.deaths < RETRIES
        crashes = (
            self.fault and self.fault[:2] == ('crash', task.function.__name__) and not one.given_up
        )
        if crashes or (may_fail and self.happens('dies')):
            one.dies = True
        elif may_fail and self.happens('seems dead'):
            one.given_up = True
            self.replace(task)
        one.go_on()
        if not one.ended or one.given_up:
            return
        if one.dies:
            self.replace(task)
            if task.deaths > RETRIES:
                task.error = RayError('a worker died, and died again')
                self.events['died too often'] += 1
            return
        assert not one.dirty or one.error, 'a task ended before what it wrote was on the disk'
        task.attempt, task.error, task.results = None, one.error, one.result
        if task.results and task.function.__name__ in ('divide', 'join'):
            for _, buffers in task.results:
                self.flip(buffers)

    def replace(self, task):
        task.attempt = None
        task.deaths += 1

    def flip(self, buffers):
        for buffer in buffers:
            if not self.is_run(buffer):
                continue
            self.places['flip'] += 1
            if self.fault and self.fault[:2] == ('flip', self.places['flip']):
                bit = self.fault[2] % (8 * len(buffer))
                buffer[bit // 8] ^= 1 << bit % 8
                self.events['flip'] += 1

    @staticmethod
    def is_run(buffer):
        return len(buffer) > 0 and len(buffer) % SCHEMA.dtype.itemsize == 0

    def drain(self):
        """What is left runs to its end, as it does on a cluster after a sort has failed or is done."""
        while self.moves():
            self.step()

    # ---- The disk ----

    def call(self, what):
        """A call of a task, which fails if it is its turn to."""
        one = threading.current_thread()
        if isinstance(one, Attempt):
            one.point()
        assert self.whole(), 'a torn output, if this process were killed now'
        self.places[what] += 1
        if self.fault and self.fault[:2] == (what, self.places[what]):
            self.events[what] += 1
            raise OSError(self.fault[2], os.strerror(self.fault[2]))
        return one if isinstance(one, Attempt) else None

    def patch(self, patch):
        real = types.SimpleNamespace(open=os.open, pwrite=os.pwrite, fsync=os.fsync, replace=os.replace)
        world = self

        def number(file):
            status = os.fstat(file)
            return status.st_dev, status.st_ino

        def open_(path, flags, mode=0o777, **words):
            one = world.call('open')
            new = flags & os.O_CREAT and not os.path.exists(path)
            file = real.open(path, flags, mode, **words)
            if new and one:
                status = os.stat(os.path.dirname(path))
                world.folders.add((status.st_dev, status.st_ino))
            return file

        def pwrite(file, data, offset):
            one = world.call('pwrite')
            if one:
                one.dirty.add(number(file))
            size = len(data)
            if size > 1 and world.happens('short'):
                size = world.random.randrange(1, size)
            return real.pwrite(file, data[:size], offset)

        def fsync(file):
            one = world.call('fsync')
            real.fsync(file)
            (one.dirty if one else world.folders).discard(number(file))

        def replace(old, new, **words):
            status = os.stat(old)
            assert (status.st_dev, status.st_ino) not in world.folders, (
                'a folder got its name before it was on the disk'
            )
            real.replace(old, new, **words)
            status = os.stat(os.path.dirname(new))
            world.folders.add((status.st_dev, status.st_ino))

        class Input:
            def __init__(self, path, *arguments, **words):
                self.file = builtins.open(path, *arguments, **words)

            def __enter__(self):
                return self

            def __exit__(self, *_):
                self.file.close()

            def seek(self, *arguments):
                return self.file.seek(*arguments)

            def read(self, *arguments):
                return self.file.read(*arguments)

            def readinto(self, view):
                world.call('read')
                if len(view) > 1 and world.happens('short'):
                    view = view[: world.random.randrange(1, len(view))]
                return self.file.readinto(view)

        for name, function in [
            ('open', open_),
            ('pwrite', pwrite),
            ('fsync', fsync),
            ('replace', replace),
        ]:
            patch.setattr(os, name, function)
        patch.setattr(recsort._files, 'open', Input, raising=False)


@pytest.fixture(scope='module')
def sorts():
    """recsort.ray, with a module in place of Ray."""
    names = ('ray', 'ray.data', 'recsort.ray')
    before = {name: sys.modules.pop(name, None) for name in names}
    sys.modules['ray'] = types.ModuleType('ray')
    sys.modules['ray.data'] = sys.modules['ray'].data = types.ModuleType('ray.data')
    yield importlib.import_module('recsort.ray')
    for name in names:
        sys.modules.pop(name, None)
        if before[name]:
            sys.modules[name] = before[name]


class Job:
    """What is sorted, drawn from a seed, and the bytes that must come of it: files."""

    tasks = ['sample', 'choose', 'divide', 'join', 'write']

    def __init__(self, seed, folder):
        chance = random.Random(f'job {seed}')
        count = chance.choice([0, 1, 10, 200])
        dtype = SCHEMA.dtype
        records = np.frombuffer(chance.randbytes(count * dtype.itemsize), dtype).copy()
        values = chance.choice([1, 3, 1000])
        records['major'] = [chance.randrange(values) for _ in records]
        records['kind'] = [chance.randrange(2) for _ in records]
        records['place'] = np.arange(count)
        order = sorted(
            range(count), key=lambda at: (-int(records['major'][at]), int(records['kind'][at]))
        )
        self.expected = records[order].tobytes()
        self.wrong = chance.randrange(count) if count and chance.random() < 0.05 else None
        if self.wrong is not None:
            records['kind'][self.wrong] = 9
        self.most_blocks, self.samples = chance.choice([1 << 14, 1]), chance.choice([512, 4])
        self.before = None
        self.draw(chance, records, folder)

    def draw(self, chance, records, folder):
        cut = chance.randrange(len(records) + 1)
        self.one_file, self.old = chance.random() < 0.5, chance.random() < 0.5
        self.words = {
            'parts': chance.choice([None, 1, 4]),
            'slice_bytes': SCHEMA.dtype.itemsize * chance.choice([7, 60, 1000]),
            'one_file': self.one_file,
        }
        self.inputs, self.output = [folder / 'in0', folder / 'in1'], folder / 'out'
        records[:cut].tofile(self.inputs[0])
        records[cut:].tofile(self.inputs[1])
        if self.old and self.one_file:
            self.before = b'old'
            self.output.write_bytes(self.before)

    def sort(self, sorts, world):
        sorts.sort_files(self.inputs, self.output, SCHEMA, **self.words)
        assert not world.folders, 'a folder was not brought to the disk'

    def found(self):
        """The bytes of the output; None: there is none."""
        if self.output.is_dir():
            return b''.join(path.read_bytes() for path in sorted(self.output.iterdir()))
        return self.output.read_bytes() if self.output.exists() else None

    def check(self, folder, problem, world):
        left = {path.name for path in folder.iterdir()} - {'in0', 'in1', 'out'}
        if (
            world.events['open'] and self.wrong is not None
        ):  # the disk failed when what was written should go
            left = {name for name in left if not name.endswith('.gone')}
        assert not left, f'{left} is left'
        if problem is None:
            assert self.wrong is None and self.found() == self.expected, 'wrong records'
            return 'right'
        text = str(problem)
        assert '\n' not in text and text, text
        broken = any(world.events[what] for what in (*CALLS, 'flip', 'died too often'))
        assert broken or self.wrong is not None, f'an error without a reason: {text}'
        if not broken:
            assert text.startswith(f'record {self.wrong}: '), text
        if self.found() != self.before:  # the folder was not brought to the disk after the rename
            assert self.found() == self.expected and isinstance(problem, OSError), 'a torn output'
        return 'flip' if world.events['flip'] else 'error'


def block(column, fixed, data):
    import pyarrow as pa

    size = SCHEMA.dtype.itemsize
    rows = [data[at : at + size] for at in range(0, len(data), size)]
    return pa.table({column: pa.array(rows, pa.binary(size if fixed else -1))})


def read_block(column, fixed, path, offset, size):
    """A task that reads a block of a Dataset, as Ray's own do."""
    data = recsort._files.read([recsort._files.Piece(path, offset, size)], 0, size)
    return block(column, fixed, data.tobytes())


def num_rows(table):
    return table.num_rows


class DatasetJob(Job):
    """A Dataset: a file in blocks, each of which a task reads, or was put before."""

    tasks = ['read_block', 'num_rows', 'rows_of', 'sample', 'choose', 'divide', 'join', 'table']

    def draw(self, chance, records, folder):
        self.path, self.result = folder / 'in0', None
        self.data, size = records.tobytes(), SCHEMA.dtype.itemsize
        self.path.write_bytes(self.data)
        cuts = [chance.randrange(len(records) + 1) * size for _ in range(chance.choice([0, 1, 4]))]
        ends = [*sorted(cuts), len(self.data)]
        self.blocks = [(chance.random() < 0.5, *ends) for ends in zip([0, *ends], ends)]
        if not self.data and chance.random() < 0.5:
            self.blocks = []
        self.fixed = chance.random() < 0.5
        self.words = {'parts': chance.choice([None, 1, 4]), 'column': chance.choice(['bytes', 'b'])}

    def sort(self, sorts, world):
        def task(function, *arguments):
            return world.remote(function).options(num_cpus=1).remote(*arguments)

        def from_arrow_refs(refs):
            world.get([task(num_rows, ref) for ref in refs])  # so does Ray's
            return refs

        def make(by_task, begin, end):
            if by_task:
                return task(read_block, column, self.fixed, self.path, begin, end - begin)
            return world.put(block(column, self.fixed, self.data[begin:end]))

        column = self.words['column']
        sys.modules['ray.data'].from_arrow_refs = from_arrow_refs
        blocks = [make(*one) for one in self.blocks]
        dataset = types.SimpleNamespace(to_arrow_refs=lambda: blocks)
        tables = sorts.sort_dataset(dataset, SCHEMA, **self.words)
        assert len(tables) == (self.words['parts'] or max(1, len(blocks)))
        with sorts.errors_of_tasks():
            found = world.get(tables)
        self.result = b''.join(row for one in found for row in one[column].to_pylist())

    def found(self):
        return self.result


def run(sorts, kind, seed, fault, folder, patch):
    """A sort. Returns the world, and what came of it."""
    world, problem = World(seed, fault), None
    job = kind(seed, folder)
    world.whole = lambda: job.found() in (job.before, job.expected)
    for name in ('remote', 'put', 'get', 'exceptions'):
        patch.setattr(sorts.ray, name, getattr(world, name), raising=False)
    patch.setattr(sorts, 'MOST_BLOCKS', job.most_blocks)
    patch.setattr(sorts, 'SAMPLES', job.samples)
    world.patch(patch)
    try:
        job.sort(sorts, world)
    except (RecsortError, OSError, RayError) as raised:
        problem = raised
    came = job.check(folder, problem, world)
    world.drain()
    assert job.check(folder, problem, world) == came, 'tasks that were left changed the output'
    return world, came


def draw_fault(world, kind, seed):
    """What goes wrong the second time, at a place that the first time had."""
    chance = random.Random(f'fault {seed}')
    what = chance.choice([name for name in (*CALLS, 'flip') if world.places[name]] + ['crash'])
    if what == 'crash':
        return what, chance.choice(kind.tasks)
    number = chance.randrange(world.places[what]) + 1
    return (
        what,
        number,
        chance.getrandbits(20) if what == 'flip' else chance.choice([errno.EIO, errno.ENOSPC]),
    )


def try_seeds(sorts, kind, tmp_path, monkeypatch, wanted):
    only = os.environ.get('RECSORT_WORLD_SEED')
    seeds = [int(only)] if only else range(int(os.environ.get('RECSORT_WORLD_SEEDS', '60')))
    events, came = collections.Counter(), collections.Counter()
    for seed in seeds:
        fault, outcomes = None, []
        try:
            for again in range(3):  # in the weather alone, with a fault, and that once more
                folder = tmp_path / f'{seed}-{again}'
                folder.mkdir()
                with monkeypatch.context() as patch:
                    world, outcome = run(sorts, kind, seed, fault, folder, patch)
                if again < 2:
                    events.update(world.events)
                    came[outcome] += 1
                if again == 0:
                    fault = draw_fault(world, kind, seed)
                outcomes.append((outcome, world.events, world.places))
            assert outcomes[1] == outcomes[2], 'the same seed gave another run'
        except BaseException as problem:
            problem.add_note(f'RECSORT_WORLD_SEED={seed}, {fault}') if hasattr(
                problem, 'add_note'
            ) else print(seed, fault)
            raise
        if only:
            print(fault, outcomes)
    if not only:
        print(dict(came), dict(events))
        for what in (*wanted, 'flip', 'dies', 'seems dead', 'is lost', 'died too often'):
            assert events[what], f'never happened: {what}'
        assert all(came[what] for what in ('right', 'error', 'flip'))


def test_any_order_deaths_lost_objects_and_failures(sorts, tmp_path, monkeypatch):
    try_seeds(sorts, Job, tmp_path, monkeypatch, [*CALLS, 'short'])


def test_datasets_likewise(sorts, tmp_path, monkeypatch):
    pytest.importorskip('pyarrow')
    try_seeds(sorts, DatasetJob, tmp_path, monkeypatch, ['read'])
