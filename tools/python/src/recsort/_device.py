"""Sorting arrays that are in the memory of a GPU, on its streams."""

from __future__ import annotations

import ctypes as c
import math
import operator
import re
import sys
import threading
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from . import _library as lib
from ._keys import (
    ML_TYPES,
    DType,
    Part,
    direct_parts,
    dtype_from,
    given_names,
    is_direct,
    is_known,
    is_own,
    resolve,
    rows_of,
)
from ._library import RecsortError, quoted
from ._schema import Schema
from ._sorter import Engine, key_descs

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import DTypeLike
    from typing_extensions import TypedDict, Unpack

    from ._keys import Keys

    class How(TypedDict, total=False):
        """Arguments of every sort: see DeviceSorter."""

        also: Sequence[Any]
        segments: Any
        longest_segment: int
        bits: tuple[int, int]
        status: Any
        stream: Any
        workspace: Any


# NumPy lacks bfloat16; torch exports it so. Bytes are "|V2".
BFLOAT16 = '<V2'
MOST_BITS = 128  # of the keys on a device
MOST_INT32 = 2**31  # elements that indices of int32 reach
NOWHERE = 256  # in place of the address of an array without elements, which may have none

# What a sort may have found, by its status.
FOUND = {
    lib.INVALID_ARGUMENT: 'a segment is longer than longest_segment',
    lib.INVALID_RECORD: 'a record has an invalid value of an enum',
    lib.CORRUPT_RESULT: 'the result of the sort is wrong',
}


class View(NamedTuple):
    """What an array on a device says of its memory. A row is an element of the first dimension."""

    address: int  # not 0, which means no array to the library
    writable: bool
    dtype: DType
    type: str  # of the library if NumPy has none, and dtype is so many bytes; otherwise ''
    length: int
    row: tuple[int, ...]
    device: int | None

    @property
    def size(self) -> int:
        """Bytes of a row."""
        return math.prod(self.row) * self.dtype.itemsize

    @property
    def kind(self) -> tuple[DType, str, tuple[int, ...]]:
        return self.dtype, self.type, self.row


def interface_of(a: Any) -> dict[str, Any] | None:
    """What `a` says of itself if it is in a device's memory; otherwise None."""
    try:
        face: dict[str, Any] | None = getattr(a, '__cuda_array_interface__', None)
    except (RuntimeError, KeyError) as error:  # torch: it needs a gradient, or NumPy has no such dtype
        raise RecsortError(f'{type(a).__name__} of {a.dtype} is refused: {error}') from None
    return face


def view(a: Any, name: str) -> View:
    """The memory of an array, if recsort can sort or fill it."""
    face = interface_of(a)
    if face is None:
        raise RecsortError(f'{name} is not in the memory of a device: {type(a).__name__}')
    shape, strides = tuple(face['shape']), face.get('strides')
    dtype, kind = element_of(a, face, name)
    if not shape or face.get('mask') is not None:
        raise RecsortError(f'{name} has no dimension, or a mask')
    if strides and 0 not in shape:
        steps = (math.prod(shape[at + 1 :]) * dtype.itemsize for at in range(len(shape)))
        if any(size > 1 and step != own for size, step, own in zip(shape, steps, strides)):
            raise RecsortError(f'{name} is not contiguous; make a copy that is')
    address, read_only = face['data']
    return View(address or NOWHERE, not read_only, dtype, kind, shape[0], shape[1:], device_of(a))


def element_of(a: Any, face: dict[str, Any], name: str) -> tuple[DType, str]:
    """The dtype of an array's elements, and their type in the library if NumPy has none."""
    text = face['typestr']
    described, own_dtype = face.get('descr', [('', text)]), getattr(a, 'dtype', None)
    # Types of other packages look like bytes with a byte order, or like numbers that do not exist.
    if text[1] == 'V' and described[0][0]:
        if isinstance(own_dtype, np.dtype):
            return own_dtype, ''
        if re.search("'[<>]V", str(described)):
            raise RecsortError(f'{name} has fields of types that it does not tell: {described}')
        return np.lib.format.descr_to_dtype(described), ''
    own = str(own_dtype).rpartition('.')[2]
    own = own if own in ML_TYPES else 'bfloat16' if text == BFLOAT16 else ''
    try:
        if text[0] == '|' or text[1] != 'V':
            return np.dtype(text), ''
    except TypeError:
        pass
    if not own:
        raise RecsortError(f'{name} has elements of type {text}, which have no order here')
    return np.dtype('V' + text[2:]), own


def device_of(a: Any) -> int | None:
    """The number of an array's device, if it tells."""
    device = getattr(a, 'device', None)
    numbers = (getattr(device, name, None) for name in ('index', 'id'))
    return next((number for number in numbers if isinstance(number, int)), None)


def handle_of(stream: Any) -> int:
    """The cudaStream_t of a stream, as a number."""
    if hasattr(stream, '__cuda_stream__'):
        return int(stream.__cuda_stream__()[1])
    try:
        return operator.index(getattr(stream, 'cuda_stream', getattr(stream, 'ptr', stream)))
    except TypeError:
        raise RecsortError(f'stream is a {type(stream).__name__}, not a CUDA stream') from None


class Address:
    """A cudaStream_t as an object, for from_external of CuPy."""

    def __init__(self, stream: int) -> None:
        self.stream = stream

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.stream


def current_device() -> int | None:
    """The number of the device that is current in the thread, if a library here tells it."""
    torch, cupy = sys.modules.get('torch'), sys.modules.get('cupy')
    if torch is not None and torch.cuda.is_initialized():
        return int(torch.cuda.current_device())
    return None if cupy is None else int(cupy.cuda.runtime.getDevice())


class Library:
    """What an array's library does: streams and memory. This one is for libraries not known here."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def current(self) -> int:
        """The stream on which the library works now."""
        stream = (interface_of(self.array) or {}).get('stream')
        if stream is None:
            raise RecsortError(f'give stream=; {type(self.array).__name__} does not tell it')
        return int(stream)

    def number(self, stream: Any) -> int:
        """The cudaStream_t of a stream; None: the current one."""
        return self.current() if stream is None else handle_of(stream)

    def empty(self, shape: tuple[int, ...], dtype: Any, stream: int) -> Any:
        """A new array; `dtype` is one of the library or the name of an integer."""
        name = type(self.array).__name__
        raise RecsortError(
            f'no {name} can be made here: give a DeviceSorter every array to fill, and workspace='
        )

    def wait(self, stream: int) -> None:
        """Waits for a stream of a library that makes arrays."""
        self.external(stream).synchronize()

    external: Callable[[int], Any]  # the stream as an object of the library


class Torch(Library):
    def __init__(self, array: Any) -> None:
        super().__init__(array)
        self.torch: Any = sys.modules['torch']

    def current(self) -> int:
        return int(self.torch.cuda.current_stream(self.array.device).cuda_stream)

    def external(self, stream: int) -> Any:
        cuda, device = self.torch.cuda, self.array.device
        return cuda.ExternalStream(stream, device) if stream else cuda.default_stream(device)

    def empty(self, shape: tuple[int, ...], dtype: Any, stream: int) -> Any:
        # The allocator gives memory that was freed to later work on the stream it was allocated on.
        # As that is the stream of the sort, record_stream is not needed.
        dtype = getattr(self.torch, dtype) if isinstance(dtype, str) else dtype
        if stream == self.current():  # to make it current again takes longer than the call
            return self.torch.empty(shape, dtype=dtype, device=self.array.device)
        with self.torch.cuda.stream(self.external(stream)):
            return self.torch.empty(shape, dtype=dtype, device=self.array.device)


class CuPy(Library):
    # Memory of cudaMallocAsync is freed on its stream only while the object of that stream lives.
    streams: ClassVar[dict[tuple[int, int], Any]] = {}

    def __init__(self, array: Any) -> None:
        super().__init__(array)
        self.cupy: Any = sys.modules['cupy']

    def current(self) -> int:
        return int(self.cupy.cuda.get_current_stream(self.array.device.id).ptr)

    def external(self, stream: int) -> Any:
        cuda, device = self.cupy.cuda, self.array.device.id
        if not stream:
            return cuda.Stream.null
        if (device, stream) not in self.streams:
            self.streams[device, stream] = (
                cuda.Stream.from_external(Address(stream))  # from CuPy 14 on
                if hasattr(cuda.Stream, 'from_external')
                else cuda.ExternalStream(stream, device)
            )
        return self.streams[device, stream]

    def empty(self, shape: tuple[int, ...], dtype: Any, stream: int) -> Any:
        # As torch's, the pool gives memory to later work on the stream it was allocated on.
        with self.array.device, self.external(stream):
            return self.cupy.empty(shape, dtype)

    def wait(self, stream: int) -> None:
        with self.array.device:  # the default stream is that of the current device
            super().wait(stream)


def library_of(array: Any) -> Library:
    """The library of an array. None is imported: it made the array."""
    names = {base.__module__.partition('.')[0] for base in type(array).__mro__}
    known = Torch if 'torch' in names else CuPy if 'cupy' in names else Library
    return known(array)


def parts_on_device(dtype: DType, kind: str, keys: Keys, reverse: bool, nan: str) -> list[Part]:
    """What the library compares in records on a device. Their values are not read here."""
    lib.choice(nan, 'nan', lib.NAN)
    found = resolve(dtype, keys, reverse)
    for key in found:
        if not is_direct(key, nan):
            where = f'key {quoted(key.path)}' if key.path else 'the array'
            raise RecsortError(f'{where}: {key.dtype} has no order on a device with nan="{nan}"')
    parts = direct_parts(found, nan)
    if not parts:
        raise RecsortError('on a device, keys must not overlap, and have at least one byte')
    nan = nan if 'float' in kind else 'last'
    return [part._replace(type=kind, nan=nan) for part in parts] if kind else parts


class DeviceSorter:
    """Sorts arrays in a GPU's memory, on its streams.

    An array is anything with `__cuda_array_interface__`: a tensor of torch, an array of CuPy, Numba
    and others. It is contiguous and sorted where it is: nothing is copied to the host. Each element of
    its first dimension is a record. Arrays of JAX do not change and are not made here: they are only
    read, into arrays of torch or CuPy.

    `records` says what records are:
    - an array: those to come are like it, in dtype and in all dimensions but the first. With two
      dimensions the columns are the fields of a record, and `keys` are their numbers: `[4, "-0"]`
      sorts by column 4, then by column 0 descending. The types of ml_dtypes are known where the
      array tells them, and torch's bfloat16.
    - a structured dtype of NumPy or a Schema: the rows of an array have as many bytes, such as uint8
      with the shape (n, size), or structured arrays of CuPy. `keys` are as for Sorter.
    - any other dtype, such as "f4" or ("f4", 5): the arrays have one dimension, or two.

    `device` is the number of the GPU: by default that of the array `records`, otherwise the one that
    is current in the thread. `reverse`, `nan` (but for "error"), `algorithm`, `plugin_options` and
    `verify` are as for Sorter. Keys have at most 128 bits in all. Making a sorter waits for the device.

    A sort enqueues work on a stream and returns. Every call has these arguments:
    - `stream`: a stream of torch or CuPy, one with `__cuda_stream__`, or its address; by default the
      one that is current in the library of the array. As for any work on another stream, you see to
      it that the arrays are complete before, and are neither freed nor written meanwhile.
    - `workspace`: an array that overlaps no other, of as many bytes as `workspace_bytes` says. By
      default a sort takes it from the memory pool of torch or CuPy, on its stream: so it is free for
      other work behind the sort.
    - `also`: arrays with as many elements as there are records, which are moved as the records are:
      an array, in place, or a pair (from, to).
    - `segments`: offsets of 32 or 64 bits. Records from each one to the next are sorted by
      themselves, faster if none has more than `longest_segment` records; 0: not known.
    - `bits`: only the bits of the key from `bits[0]` on and below `bits[1]` are compared, 0: all
      above. Those of an unsigned integer are its own. Fewer are sorted faster.
    - `status`: an array of one int32 or uint32, for `check`. Without it, a sort does not check what it
      finds.

    A graph may capture a call. Unless torch.cuda.graph does, which keeps what was allocated meanwhile,
    give it `workspace` and all arrays to fill; so you do with arrays of other libraries than torch and
    CuPy. Keep them and the sorter as long as the graph runs.

    Raises RecsortError (a ValueError) for what is refused, also if there is no GPU or it fails, and
    MemoryError. Several threads may use one sorter.
    """

    def __init__(
        self,
        records: DTypeLike | Schema | Any,
        keys: Keys = None,
        *,
        reverse: bool = False,
        nan: str = 'last',
        device: int | None = None,
        algorithm: str | None = None,
        plugin: str | None = None,
        plugin_options: Mapping[str, str] | None = None,
        verify: str = 'default',
    ) -> None:
        names = given_names(keys)
        reverse = lib.flag(reverse, 'reverse')
        if isinstance(records, np.ndarray):
            raise RecsortError('the array is in the memory of the host: use sort or Sorter')
        example = None
        if not isinstance(records, (Schema, np.dtype, str)) and interface_of(records) is not None:
            example = view(records, 'records')
        device = example.device if example and device is None else device
        number = {} if device is None else {'device': str(device)}
        options = {**number, **lib.mapping(plugin_options, 'plugin_options')}
        engine = Engine(0, plugin, algorithm, options, verify, on_device=True)
        self._lock = threading.Lock()
        self.device = current_device() if device is None else device
        self._kind: tuple[DType, str, tuple[int, ...]] | None = None
        self._points: dict[str, Any] = {}  # those on the device, which must not be freed
        if isinstance(records, Schema):
            if nan != 'last':
                raise RecsortError('the keys of a schema say themselves where NaN goes')
            self._size = records.dtype.itemsize
            self._handle = engine.for_schema(records._handle, key_descs(names, records), reverse)
            return
        dtype, kind, row = example.kind if example else (dtype_from(records), '', ())
        if dtype.subdtype:
            dtype, row = dtype.subdtype
        if not is_own(dtype):
            if not is_known(dtype) or dtype.name not in ML_TYPES:
                raise RecsortError(f'values of dtype {dtype} have no order here; convert them')
            dtype, kind = np.dtype((np.void, dtype.itemsize)), dtype.name
        self._size = math.prod(row) * dtype.itemsize
        if dtype.names is None:
            self._kind = dtype, kind, row
        if len(row) > 1 or row and dtype.names is not None:
            raise RecsortError('records have one dimension, or two if all fields are of one dtype')
        if row:
            dtype = rows_of(dtype, row[0])
        parts = parts_on_device(dtype, kind, names, reverse, nan)
        self._handle = engine.for_parts(self._size, parts)

    def sort(self, a: Any, *, out: Any = None, index: Any = None, **how: Unpack[How]) -> Any:
        """Enqueues a sort of `a` in place, or into `out`, and returns the one that will be sorted.

        `out` is like `a` and shares no memory with it. `index`, of int32 or int64, gets the indices
        that sort `a`. Raises RecsortError if an array does not fit or cannot be written.
        """
        moved = a if out is None else out
        self._run(a, moved, index, **how)
        return moved

    def argsort(self, a: Any, *, out: Any = None, index_bits: int = 32, **how: Unpack[How]) -> Any:
        """Enqueues a search for the indices that sort `a`, and returns them.

        They are in `out`, of int32 or int64, or in a new array of the library of `a`, of `index_bits`,
        beyond 2^31 records of int64. `a` does not change. Raises RecsortError.
        """
        if index_bits not in (32, 64):
            raise RecsortError(f'index_bits={lib.shown(index_bits)}; give 32 or 64')
        if out is None:
            library, length = library_of(a), view(a, 'the array').length
            dtype = f'int{64 if length > MOST_INT32 else index_bits}'
            out = library.empty((length,), dtype, library.number(how.get('stream')))
        self._run(a, None, out, **how)
        return out

    def top(self, a: Any, n: int, *, out: Any = None, index: Any = None, **how: Unpack[How]) -> Any:
        """Enqueues a search for the first `n` records in order, all if there are fewer; returns them.

        They are in `out`, or in a new array of the library of `a`, which does not change. `out`,
        `index` and what pairs of `also` go to have as many elements. Few of many are selected without
        sorting the others. Raises RecsortError.
        """
        n = lib.integer(n, 'n')
        if n < 0:
            raise RecsortError(f'n is {n}; give the number of records')
        if out is None:
            library, found = library_of(a), view(a, 'the array')
            shape = (min(n, found.length), *found.row)
            out = library.empty(shape, a.dtype, library.number(how.get('stream')))
        self._run(a, out, index, n, **how)
        return out

    def workspace_bytes(
        self, a: Any, *, out: Any = None, index: Any = None, n: int | None = None, **how: Unpack[How]
    ) -> int:
        """How large a `workspace` is enough for a call with these arrays, and for fewer records.

        `out` gets the records: it is `a` to sort in place, and None for `argsort`. `n` is for `top`.
        Nothing is sorted. Raises RecsortError.
        """
        return self._needs(self._job(a, out, index, n, **how))

    @staticmethod
    def check(status: Any) -> None:
        """Raises a RecsortError if a sort has found something wrong.

        `status` is the array that the sort was given. Wait for its stream first. A record had an
        invalid value of an enum, a segment was longer than `longest_segment`, or the result of the
        sort is wrong.
        """
        number = int(status[0])
        if number:
            raise RecsortError(FOUND.get(number, f'the status of the sort is {number}'))

    def set_parameter(self, name: str, values: Sequence[float]) -> None:
        """As Sorter.set_parameter, for sorts that are enqueued from now on."""
        point = lib.point(values)
        with self._lock:
            lib.set_parameter(self._handle, lib.text(name), point, len(values))
            self._points.pop(name, None)

    def bind_parameter(self, name: str, values: Any) -> None:
        """The same, but each sort reads the values on the device, when its stream gets there.

        So a graph can be replayed with another point. `values` is an array of float64 on the device,
        which the sorter keeps until the next call for this name. Raises RecsortError.
        """
        found = view(values, 'the point')
        if found.row or found.dtype != np.float64:
            raise RecsortError('the point has one dimension, of float64')
        self._same_device([found])
        with self._lock:
            lib.bind_parameter(self._handle, lib.text(name), found.address, found.length)
            self._points[name] = values

    def _same_device(self, views: list[View]) -> None:
        numbers = {one.device for one in views if one.device is not None}
        if len(numbers | {self.device} - {None}) > 1:
            raise RecsortError(f'arrays on the devices {numbers}; the sorter is on {self.device}')

    def _records(self, a: Any, name: str) -> View:
        """The memory of an array that has this sorter's records."""
        found = view(a, name)
        if found.size != self._size if self._kind is None else found.kind != self._kind:
            own = f'of {self._size} bytes' if self._kind is None else show(*self._kind)
            raise RecsortError(f'{name} has records {show(*found.kind)}; the sorter is for those {own}')
        return found

    def _job(
        self,
        a: Any,
        out: Any,
        index: Any,
        n: int | None = None,
        *,
        also: Sequence[Any] = (),
        segments: Any = None,
        longest_segment: int = 0,
        bits: tuple[int, int] = (0, 0),
        status: Any = None,
        stream: Any = None,
        workspace: Any = None,
    ) -> lib.Job:
        """The job of a call. `n` is None for all records."""
        source = self._records(a, 'the array')
        count = source.length if n is None else min(n, source.length)
        views, members = [source], dict[str, int]()

        def add(name: str, found: View) -> None:
            views.append(found)
            members[name] = found.address

        if out is not None:
            name = 'the array' if out is a else 'out'
            add('sorted', target(self._records(out, name), name, count))
        if index is not None:
            add('permutation', target(integers(index, 'index', [4, 8]), 'index', count))
            members['index_bits'] = 8 * views[-1].size
            if views[-1].size == 4 and source.length > MOST_INT32:
                raise RecsortError(f'indices of {source.length} records have 64 bits')
        moves = [moved(one, source.length, count) for one in also]
        views += [side for pair in moves for side in pair]
        if segments is not None:
            add('offsets', integers(segments, 'segments', [4, 8]))
            members['parts'], members['part_count'] = lib.SEGMENTS, max(views[-1].length - 1, 0)
            members['offset_bits'] = 8 * views[-1].size
            members['longest_part'] = lib.integer(longest_segment, 'longest_segment')
        if status is not None:
            add('status', target(integers(status, 'status', [4]), 'status', 1))
        if workspace is not None:
            add('workspace', view(workspace, 'workspace'))
            members['workspace_size'] = views[-1].length * views[-1].size
        self._same_device(views)
        first, end = (lib.integer(bit, 'bits') for bit in bits)
        if not 0 <= first < MOST_BITS or end and not first < end <= MOST_BITS:
            raise RecsortError(
                f'bits={lib.shown(bits)}; give the first one and the one behind the last'
            )
        return lib.job(
            source.length if count else 0,  # a head of 0 would be all
            [(one.address, to.address, one.size) for one, to in moves],
            records=source.address,
            head=0 if n is None else count,
            stream=library_of(a).number(stream),
            first_bit=first,
            bits=end and end - first,
            **members,
        )

    def _needs(self, job: lib.Job) -> int:
        needs = lib.Needs(struct_size=c.sizeof(lib.Needs))
        with self._lock:
            lib.plan(self._handle, c.byref(job), 1, c.byref(needs))
        return int(needs.device)

    def _run(self, a: Any, out: Any, index: Any, n: int | None = None, **how: Unpack[How]) -> None:
        job = self._job(a, out, index, n, **how)
        if not job.workspace:
            job.workspace_size = self._needs(job)
            room = library_of(a).empty((job.workspace_size,), 'uint8', job.stream or 0)
            job.workspace = view(room, 'workspace').address
        with self._lock:
            lib.run(self._handle, c.byref(job), 1)


def show(dtype: DType, kind: str, row: tuple[int, ...]) -> str:
    return f'of {kind or dtype}' + (f' with the shape {row}' if row else '')


def target(found: View, name: str, count: int) -> View:
    """A view that is written."""
    if found.length != count:
        raise RecsortError(f'{name} has {found.length} elements, not {count}')
    if not found.writable:
        raise RecsortError(f'{name} is read-only')
    return found


def moved(also: Any, length: int, count: int) -> tuple[View, View]:
    """Where rows are moved from, and to where."""
    one, to = also if isinstance(also, tuple) else (also, also)
    source, own = view(one, 'also'), target(view(to, 'also'), 'also', count)
    if source.length != length or source.kind != own.kind:
        raise RecsortError('also: an array has a row for each record, and a pair is alike')
    return source, own


def integers(a: Any, name: str, sizes: list[int]) -> View:
    """A view of indices or offsets."""
    found = view(a, name)
    if found.row or found.dtype.kind not in 'iu' or found.dtype.itemsize not in sizes:
        bits = ' or '.join(str(8 * size) for size in sizes)
        raise RecsortError(f'{name} has one dimension, of integers of {bits} bits')
    return found
