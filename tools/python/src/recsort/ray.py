"""Sorts files, or a Dataset, of fixed-size records on a Ray cluster, as one process would.

A few records of each slice of the input are samples, of which splitters are chosen. Then tasks divide
each slice into parts by the splitters and sort these, and others merge what belongs to a part and write
it: the shape of Exoshuffle-CloudSort (Luan et al., 2023). Ray carries, spills and keeps the records
between the tasks, and repeats those whose process or machine is lost.

Needs Ray, which the extra "ray" of the package installs, and recsort on all machines of the cluster.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import logging
import math
import os
import shutil
import sys
import uuid
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ._files import Piece, StrPath, pieces_of, read, sync
from ._keys import Array, DType, Keys, dtype_from, names_of
from ._library import RecsortError
from ._partition import Partitioner
from ._schema import Schema, file_of_schema
from ._sorter import Sorter

try:
    import ray
except ModuleNotFoundError as error:
    if error.name != 'ray':
        raise
    needed = 'recsort.ray needs Ray: pip install "ray[data]>=2.40"'
    raise ModuleNotFoundError(needed, name='ray') from None

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import DTypeLike

SAMPLES = 512  # for each part: of thousands of parts, none is likely to have 1.2 times its share
MOST_BLOCKS = 1 << 14  # between slices and parts; above that, some slices are merged first


class Job(NamedTuple):
    """By what records are sorted. All tasks get one."""

    records: str | DType  # a schema's text, or a dtype
    keys: list[str] | None
    reverse: bool
    nan: str
    cpus: int
    place: str  # where the output is made; '': in a Dataset

    def sorter(self) -> Sorter:
        # If the sort has failed the place is gone, and the tasks that are left end at once. Ray's own
        # cancel ended this process in tests: "An unexpected system state has occurred".
        if self.place and not os.path.exists(self.place):
            raise RecsortError(
                f'{self.place} is not there; all machines must see the folder of the output'
            )
        records = Schema.from_yaml(self.records) if isinstance(self.records, str) else self.records
        words = {'reverse': self.reverse, 'nan': self.nan, 'threads': self.cpus, 'plugin': 'cpu'}
        return Sorter(records, self.keys, **words)  # type: ignore[arg-type]

    def remote(self, function: Any, **options: Any) -> Any:
        """A function as a task of Ray. Ray repeats it if it was lost, not if it raised an error."""
        return ray.remote(function).options(num_cpus=self.cpus, **options).remote


class Slice(NamedTuple):
    """Consecutive records of the input: pieces of files, or a block that tasks get beside this."""

    first: int
    length: int
    pieces: list[Piece]


# ---- Reading ----------------------------------------------------------------------------------


def slices_of(paths: Sequence[StrPath], size: int, slice_bytes: int, raw: bool) -> list[Slice]:
    """Cuts files, which are one sequence of records, into slices of nearly equal size."""
    files = pieces_of(paths, size, raw)
    total = sum(file.size for file in files) // size
    number = max(1, -(-total // max(1, slice_bytes // size)))
    slices = [Slice(total * at // number, 0, []) for at in range(number)]
    ends = [following.first for following in slices[1:]] + [total]
    at, position = 0, 0
    for path, _, left in files:
        offset = 0
        while left:
            taken = min(left, ends[at] * size - position)
            slices[at].pieces.append(Piece(path, offset, taken))
            offset, position, left = offset + taken, position + taken, left - taken
            at += position == ends[at] * size
    return [one._replace(length=end - one.first) for one, end in zip(slices, ends)]


def rows_of(block: Any) -> int:
    return 0 if block is None else int(block.num_rows)


def bytes_of(block: Any, column: str, size: int) -> Array:
    """The records in a column of a block of a Dataset, which is an Arrow table."""
    import pyarrow as pa

    if column not in block.column_names:
        raise RecsortError(f'no column "{column}"')
    values = block.column(column)
    kind = values.type
    tensor = getattr(kind, 'shape', None) == (size,) and kind.storage_type.value_type == pa.uint8()
    if values.null_count or not (
        tensor or pa.types.is_binary(kind) or pa.types.is_fixed_size_binary(kind)
    ):
        raise RecsortError(
            f'column "{column}" is {kind}, or has nulls; give bytes, or {size} uint8 a row'
        )
    chunks = [np.empty(0, np.uint8)]
    try:
        for chunk in values.chunks if tensor else values.cast(pa.binary(size)).chunks:
            if tensor:
                chunks.append(chunk.storage.flatten().to_numpy())
            elif len(chunk):
                begin = chunk.offset * size
                chunks.append(
                    np.frombuffer(chunk.buffers()[1], np.uint8)[begin : begin + len(chunk) * size]
                )
    except pa.ArrowInvalid:
        raise RecsortError(f'column "{column}" has values that are not of {size} bytes') from None
    return chunks[1] if len(chunks) == 2 else np.concatenate(chunks)


# ---- Tasks ------------------------------------------------------------------------------------


def sealed(run: Array) -> tuple[int, Array]:
    """A run and its checksum, so that a bit that a network or a disk changes is noticed."""
    return zlib.crc32(run.view(np.uint8).data), run


def opened(runs: Sequence[tuple[int, Array]]) -> list[Array]:
    for checksum, run in runs:
        if zlib.crc32(run.view(np.uint8).data) != checksum:
            raise RecsortError('records were changed between two tasks; a machine is at fault')
    return [run for _, run in runs]


def load(one: Slice, block: Any, column: str, dtype: DType) -> Array:
    """The records of a slice."""
    size = dtype.itemsize
    in_block = block is not None and one.length
    data = bytes_of(block, column, size) if in_block else read(one.pieces, 0, one.length * size)
    return data.view(dtype)


def sample(job: Job, wanted: int, column: str, one: Slice, block: Any) -> Array:
    """Marks of so many records of a slice: one at random in each of as many equal stretches."""
    sorter, wanted = job.sorter(), min(wanted, one.length)
    dtype, chance = sorter.dtype, np.random.default_rng(one.first)
    places = ((np.arange(wanted) + chance.random(wanted)) * (one.length / max(1, wanted))).astype(
        np.intp
    )
    places = np.minimum(places, one.length - 1)
    if block is not None:
        records = load(one, block, column, dtype)[places]
    else:
        size = dtype.itemsize
        parts = [read(one.pieces, place * size, (place + 1) * size) for place in places.tolist()]
        records = np.concatenate([np.empty(0, np.uint8), *parts]).view(dtype)
    return Partitioner(sorter).sample(records, one.first + places)


def choose(job: Job, count: int, *marks: Array) -> Array:
    """The splitters; any, if there is no record."""
    partitioner, found = Partitioner(job.sorter()), np.concatenate(marks)
    return partitioner.splitters(found, count) if len(found) else np.zeros(count, found.dtype)


def divide(
    job: Job, splitters: Array, groups: Sequence[tuple[int, int]], column: str, one: Slice, block: Any
) -> list[Any]:
    """How many records of a slice are in each part, and the sealed records of each group of parts, sorted."""
    sorter = job.sorter()
    records, ends = Partitioner(sorter).divide(
        load(one, block, column, sorter.dtype), one.first, splitters
    )
    begins = np.concatenate([[0], ends[:-1]])
    for begin, end in zip(begins, ends):
        sorter.sort(records[begin:end])
    return [ends - begins, *(sealed(records[begins[low] : ends[high - 1]]) for low, high in groups)]


def join(job: Job, low: int, high: int, *counts_and_runs: Any) -> Any:
    """Parts [low, high) of some slices, of which it gets the counts, then one run of these parts."""
    half = len(counts_and_runs) // 2
    merged = job.sorter().merge(opened(counts_and_runs[half:]))
    counts = np.sum(counts_and_runs[:half], axis=0)
    parts = [sealed(part) for part in np.split(merged, np.cumsum(counts[low:high])[:-1])]
    return parts if len(parts) > 1 else parts[0]


def write(job: Job, path: Path, flags: int, offset: int, *runs: tuple[int, Array]) -> int:
    """Merges runs and writes them to a place in a file. Doing it twice changes nothing."""
    data = job.sorter().merge(opened(runs)).view(np.uint8).data
    file = os.open(path, os.O_WRONLY | flags, 0o666)
    try:
        at = 0
        while at < len(data):
            at += os.pwrite(file, data[at : at + (1 << 30)], offset + at)
        os.fsync(file)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
    finally:
        os.close(file)
    return len(data)


def table(job: Job, column: str, *runs: tuple[int, Array]) -> Any:
    """Merges runs to a block of a Dataset."""
    import pyarrow as pa

    merged = job.sorter().merge(opened(runs))
    size, data = merged.dtype.itemsize, pa.py_buffer(merged.view(np.uint8))
    return pa.table({column: pa.Array.from_buffers(pa.binary(size), len(merged), [None, data])})


# ---- The shuffle ------------------------------------------------------------------------------


class Shuffle:
    """The tasks of a sort."""

    def __init__(self, job: Job, slices: Sequence[Slice], blocks: Sequence[Any], column: str) -> None:
        self.job = job
        self.inputs = list(zip(itertools.repeat(column), slices, blocks))
        self.total = sum(one.length for one in slices)

    def splitters(self, parts: int) -> Any:
        share = SAMPLES * parts / max(1, self.total)
        take, job = self.job.remote(sample), self.job
        marks = [take(job, math.ceil(one[1].length * share), *one) for one in self.inputs]
        # What is put stays as it is, also if tasks are repeated.
        return ray.put(ray.get(job.remote(choose)(job, parts - 1, *marks)))

    def runs(self, parts: int) -> tuple[Array, list[list[Any]]]:
        """How many records each part has, and its sorted runs in the order of the slices."""
        splitters, slices = self.splitters(parts), len(self.inputs)
        direct = slices * parts <= MOST_BLOCKS
        width = 1 if direct else math.isqrt(parts - 1) + 1
        batch = slices if direct else math.isqrt(slices - 1) + 1
        groups = [(low, min(low + width, parts)) for low in range(0, parts, width)]
        remote = self.job.remote(divide, num_returns=1 + len(groups))
        counts, *blocks = zip(*[remote(self.job, splitters, groups, *one) for one in self.inputs])
        if direct:
            return self.sizes(counts), [list(some) for some in blocks]
        runs: list[list[Any]] = [[] for _ in range(parts)]
        for (low, high), some in zip(groups, blocks):
            remote = self.job.remote(join, num_returns=high - low)
            for at in range(0, slices, batch):
                refs = remote(self.job, low, high, *counts[at : at + batch], *some[at : at + batch])
                for part, ref in zip(range(low, high), refs if high - low > 1 else [refs]):
                    runs[part].append(ref)
        return self.sizes(counts), runs

    def sizes(self, counts: Sequence[Any]) -> Array:
        sizes = np.sum(ray.get(list(counts)), axis=0)
        assert sizes.sum() == self.total
        return sizes  # type: ignore[no-any-return]


@contextlib.contextmanager
def errors_of_tasks() -> Iterator[None]:
    """Raises what a task raised itself, in one line, not what Ray tells of it."""
    try:
        yield
    except ray.exceptions.RayTaskError as error:
        cause: Any = error
        while isinstance(cause, ray.exceptions.RayTaskError):
            cause = cause.cause
        raise cause from None


def job_of(records: DTypeLike | Schema, keys: Keys, reverse: bool, nan: str, cpus: int) -> Job:
    """A job; what cannot be sorted is refused here, before any task."""
    by = records.to_yaml() if isinstance(records, Schema) else dtype_from(records)
    job = Job(by, None if keys is None else names_of(keys), reverse, nan, cpus, '')
    Partitioner(job.sorter())
    return job


def sort_files(
    inputs: StrPath | Sequence[StrPath],
    output: StrPath,
    records: DTypeLike | Schema,
    keys: Keys = None,
    *,
    reverse: bool = False,
    nan: str = 'last',
    one_file: bool = False,
    parts: int | None = None,
    slice_bytes: int = 1 << 28,
    cpus: int = 1,
    raw: bool = False,
) -> list[str]:
    """Sorts files of records stably, as one sequence, by the Ray cluster of this process.

    `output` becomes a folder with the files part-00000, part-00001 ..., which one after the other have
    the bytes that the command `recsort` would write. It must not exist, or be empty. With `one_file` it
    becomes one file with these bytes, and an old one is replaced. Either appears in one step, when
    everything is on the disk; if the sort fails nothing does. All machines must see the inputs and the
    folder of the output under the same names.

    `records`, `keys`, `reverse` and `nan` are those of `Sorter`. Files with a header or a trailer are
    refused, and so are keys of `longdouble`; complex numbers need `nan="total"`. A file that begins as
    `.npy`, compressed and columnar files do is refused, unless `raw` says that it has records.

    `slice_bytes` is about how much a task reads, and `parts` how many parts are written: by default as
    many as slices. A task takes about twice `slice_bytes` of memory, beside Ray's object store. `cpus`
    is the number of processors for each task. Returns the names of the files written.

    Raises RecsortError, or OSError for a file that cannot be read or written, in one line. Ray repeats
    a task whose process or machine was lost; if that fails too often its own error is raised.
    """
    paths = [inputs] if isinstance(inputs, (str, os.PathLike)) else list(inputs)
    if isinstance(records, Schema) and file_of_schema(records._desc()):
        raise RecsortError('files with a header or a trailer are not sorted on a cluster')
    job = job_of(records, keys, reverse, nan, cpus)
    size = job.sorter().dtype.itemsize
    slices = slices_of(paths, size, slice_bytes, raw)
    if parts is None:
        parts = len(slices)
    check_parts(parts)
    with appearing(Path(os.path.abspath(output)), one_file) as place, errors_of_tasks():
        job = job._replace(place=os.fspath(place))
        sizes, runs = Shuffle(job, slices, [None] * len(slices), '').runs(parts)
        names = [f'part-{number:0{max(5, len(str(parts - 1)))}}' for number in range(parts)]
        written = []
        for name, offset in zip(names, np.cumsum(sizes) - sizes):
            # One file is there already, and a folder that a machine does not see is not made by it.
            to = (place, 0, int(offset) * size) if one_file else (place / name, os.O_CREAT, 0)
            # Nothing here refers to these runs any more, so Ray frees them once they are written.
            written.append(job.remote(write)(job, *to, *runs.pop(0)))
        ray.get(written)
    return [os.fspath(output)] if one_file else [os.path.join(output, name) for name in names]


def sort_dataset(
    dataset: Any,
    records: DTypeLike | Schema,
    keys: Keys = None,
    *,
    column: str = 'bytes',
    reverse: bool = False,
    nan: str = 'last',
    parts: int | None = None,
    cpus: int = 1,
) -> Any:
    """Sorts a ray.data.Dataset stably; returns a new one with one column of fixed-size binary.

    Each row of `column` is a record: bytes, or an array of uint8 with the shape (size,), such as
    `map_batches` makes of a NumPy array of the shape (n, size). Equal records keep the order of the
    blocks that Ray made of the Dataset. `parts` is the number of blocks of the result, by default as
    many as those of the Dataset. Everything else is as for `sort_files`.
    """
    import ray.data

    job = job_of(records, keys, reverse, nan, cpus)
    with errors_of_tasks():
        blocks = dataset.to_arrow_refs() or [ray.put(None)]
        counts = ray.get([job.remote(rows_of)(block) for block in blocks])
    firsts = np.cumsum([0, *counts]).tolist()
    slices = [Slice(first, count, []) for first, count in zip(firsts, counts)]
    if parts is None:
        parts = len(slices)
    check_parts(parts)
    with errors_of_tasks():
        runs = Shuffle(job, slices, blocks, column).runs(parts)[1]
        tables = [job.remote(table)(job, column, *some) for some in runs]
        return ray.data.from_arrow_refs(tables)


def check_parts(parts: int) -> None:
    if parts < 1:
        raise RecsortError(f'parts={parts}; give 1 or more')


@contextlib.contextmanager
def appearing(output: Path, one_file: bool) -> Iterator[Path]:
    """A place beside `output` for what is written. It becomes `output` in one step, or is removed."""
    if one_file and output.is_dir():
        raise RecsortError(f'{output} is a folder')
    if not one_file and output.exists() and not (output.is_dir() and not any(output.iterdir())):
        raise RecsortError(f'{output} exists; name a folder that does not exist, or is empty')
    place = output.with_name(f'.{output.name}.{uuid.uuid4().hex}')
    place.touch(exist_ok=False) if one_file else place.mkdir()
    try:
        yield place
        if not one_file:
            sync(place)
        place.replace(output)
        sync(output.parent)
    except BaseException:
        if place.exists():
            # Under another name, so that no task that is left finds the folder.
            gone = place.rename(f'{place}.gone')
            gone.unlink() if one_file else shutil.rmtree(gone, ignore_errors=True)
        raise


def main(arguments: Sequence[str] | None = None) -> int:
    """The command: `python3 -m recsort.ray --help`."""
    parser = argparse.ArgumentParser(
        'python3 -m recsort.ray',
        description='Sorts files of records on a Ray cluster: RAY_ADDRESS, one that runs here, or a new one.',
    )
    parser.add_argument('-s', '--schema', type=Path, required=True, help='the schema of the records')
    parser.add_argument(
        '-k', '--key', action='append', metavar='PATH[:asc|:desc]', help='sort by this key; repeatable'
    )
    parser.add_argument('-r', '--reverse', action='store_true', help='reverse the order of every key')
    parser.add_argument('-o', '--output', required=True, help='the folder, or with --one-file the file')
    parser.add_argument('--one-file', action='store_true', help='write one file, not a folder of parts')
    parser.add_argument('--parts', type=int, help='how many parts; by default one for each slice')
    parser.add_argument('--slice', type=int, default=1 << 28, metavar='BYTES', help='what a task reads')
    parser.add_argument('--cpus', type=int, default=1, help='processors for each task')
    parser.add_argument('--raw', action='store_true', help='take files that look compressed as records')
    parser.add_argument('inputs', nargs='+', metavar='INPUT')
    given = parser.parse_args(arguments)
    keys = given.key and [
        '-' + key[:-5] if key.endswith(':desc') else key.removesuffix(':asc') for key in given.key
    ]
    try:
        schema = Schema.from_yaml(given.schema)
        job_of(schema, keys, given.reverse, 'last', given.cpus)  # refuses a wrong key before Ray starts
        os.environ.setdefault('RAY_USAGE_STATS_ENABLED', '0')
        if not ray.is_initialized():
            ray.init(include_dashboard=False, log_to_driver=False, logging_level=logging.WARNING)
        sort_files(
            given.inputs,
            given.output,
            schema,
            keys,
            reverse=given.reverse,
            one_file=given.one_file,
            parts=given.parts,
            slice_bytes=given.slice,
            cpus=given.cpus,
            raw=given.raw,
        )
    except (RecsortError, OSError, MemoryError, ray.exceptions.RayError) as problem:
        print(f'recsort.ray: {str(problem).strip().partition(chr(10))[0]}', file=sys.stderr)
        return 2
    return 0


if __name__ == '__main__':
    # Ray sends what is in __main__ by value; tasks shall import the module.
    from recsort.ray import main as command

    sys.exit(command())
