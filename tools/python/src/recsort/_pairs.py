"""Sorting keys with values that are in the memory of a GPU, on its streams."""

from __future__ import annotations

import ctypes as c
import itertools
from typing import TYPE_CHECKING, Any

from . import _library as lib
from ._device import (
    MOST_INT32,
    Library,
    View,
    current_device,
    handle_of,
    integers,
    library_of,
    target,
    view,
)
from ._keys import dtype_from, is_extended, is_own, types_of
from ._library import RecsortError
from ._sorter import Engine

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import DTypeLike

    from ._keys import DType


class DevicePairs:
    """Sorts keys, with values or to find their indices, in arrays in a GPU's memory.

    Arrays are as for DeviceSorter, with one dimension. Keys are int, uint or float of 32 or 64 bits;
    values are of any type of so many bits. Each sort takes working memory from the library of the
    keys, torch or CuPy, on the stream of the sort: so it is free for other work behind the sort.

    `device` is the number of the GPU; by default the one that is current in the thread. `algorithm`,
    `plugin` and `plugin_options` are as for Sorter. Making this waits for the device. A sort enqueues
    work on a stream and returns. A graph may capture it; unless torch.cuda.graph does, which keeps
    what was allocated meanwhile, give it `workspace`, of `workspace_bytes`, and the arrays to fill. Keep them and this object
    as long as the graph runs. `stream` is as for DeviceSorter. Several threads may use one object.
    Raises RecsortError (a ValueError) for what is refused, also if there is no GPU or it fails.
    """

    def __init__(
        self,
        *,
        device: int | None = None,
        algorithm: str | None = None,
        plugin: str | None = None,
        plugin_options: Mapping[str, str] | None = None,
    ) -> None:
        number = {} if device is None else {'device': str(device)}
        options = Engine(
            0, plugin, algorithm, {**number, **lib.mapping(plugin_options, 'plugin_options')}
        ).options()
        self.device = current_device() if device is None else device
        self._handle = lib.Handle(lib.device_pairs_create, lib.device_pairs_destroy, c.byref(options))

    def sort(
        self,
        keys: Any,
        values: Any = None,
        *,
        keys_out: Any = None,
        values_out: Any = None,
        descending: bool = False,
        nan: str = 'last',
        bits: tuple[int, int] = (0, 0),
        workspace: Any = None,
        stream: Any = None,
    ) -> tuple[Any, Any]:
        """Enqueues a stable sort, and returns the sorted keys and their values.

        Without `values` these are the indices that sort the keys, in what `values_out` is, or int32,
        beyond 2^31 keys int64. The
        results are in `keys_out` and `values_out`, which may be `keys` and `values`, or in new arrays
        of the library of `keys`. `nan` is "last", "first" or "total". Only the bits from `bits[0]` on
        and below `bits[1]` are compared, 0: all above; fewer are sorted faster. `workspace` is an
        array of bytes that overlaps no other; by default a new one. Raises RecsortError.
        """
        source, library = view(keys, 'keys'), library_of(keys)
        on = library.current() if stream is None else handle_of(stream)
        if keys_out is None:
            keys_out = library.empty((source.length,), keys.dtype, on)
        if values_out is None:
            dtype = index_type(source) if values is None else values.dtype
            values_out = library.empty((source.length,), dtype, on)
        self._start(source, library, keys_out, values, values_out, descending, nan, bits, workspace, on)
        return keys_out, values_out

    def argsort(
        self,
        keys: Any,
        *,
        out: Any = None,
        descending: bool = False,
        nan: str = 'last',
        bits: tuple[int, int] = (0, 0),
        workspace: Any = None,
        stream: Any = None,
    ) -> Any:
        """Enqueues a search for the indices that sort the keys, and returns them.

        They are in `out`, of int32 or int64, or in a new array of int32, beyond 2^31 keys of int64. The
        rest is as for `sort`.
        """
        source, library = view(keys, 'keys'), library_of(keys)
        on = library.current() if stream is None else handle_of(stream)
        if out is None:
            out = library.empty((source.length,), index_type(source), on)
        self._start(source, library, None, None, out, descending, nan, bits, workspace, on)
        return out

    def workspace_bytes(
        self,
        count: int,
        dtype: DTypeLike,
        value_bits: int = 32,
        *,
        nan: str = 'last',
        bits: tuple[int, int] = (0, 0),
    ) -> int:
        """How large a `workspace` is enough for every sort and argsort of up to `count` keys.

        `dtype` is that of the keys, as NumPy names it: "f4"; `value_bits`, 32 or 64, is the size of a
        value or an index; `nan` and `bits` are those of the sorts. Raises RecsortError.
        """
        job = self._job(count, dtype_from(dtype), nan, bits)
        job.value_bits = lib.integer(value_bits, 'value_bits')
        most, size = 0, c.c_size_t()
        # Arrays are not accessed: it only matters which are the same, and which are missing.
        for job.order, job.keys_out in itertools.product((0, 1), (None, 1, 2)):
            for job.values_in, job.values_out in (None, 4), (3, 3), (3, 4):
                job.keys_in = 1
                lib.device_pairs_workspace(self._handle, c.byref(job), c.byref(size))
                most = max(most, size.value)
        return most

    def check(self) -> None:
        """Reports what sorts have found since the last call. Wait for their streams first.

        Raises RecsortError if the result of a sort of many pairs is wrong.
        """
        lib.device_pairs_check(self._handle)

    def _job(self, count: int, dtype: DType, nan: str, bits: tuple[int, int]) -> lib.DevicePairsJob:
        lib.choice(nan, 'nan', lib.NAN)
        if dtype.kind not in 'iuf' or not dtype.isnative or not is_own(dtype) or is_extended(dtype):
            raise RecsortError(f'keys are numbers, not {dtype}')
        return lib.DevicePairsJob(
            struct_size=c.sizeof(lib.DevicePairsJob),
            count=lib.integer(count, 'count'),
            type=lib.TYPE[types_of(dtype)[0][0]],
            nan=lib.NAN[nan],
            begin_bit=lib.integer(bits[0], 'bits[0]'),
            end_bit=lib.integer(bits[1], 'bits[1]'),
        )

    def _start(
        self,
        source: View,
        library: Library,
        keys_out: Any,
        values: Any,
        values_out: Any,
        descending: bool,
        nan: str,
        bits: tuple[int, int],
        workspace: Any,
        stream: int,
    ) -> None:
        if source.row:
            raise RecsortError('keys have one dimension')
        job = self._job(source.length, source.dtype, nan, bits)
        job.stream, job.keys_in = stream, source.address
        job.order = lib.flag(descending, 'descending')
        views = [source]
        if keys_out is not None:
            views.append(alike(keys_out, 'keys_out', source, source.length))
            job.keys_out = views[-1].address
        if values is None:
            to = target(integers(values_out, 'the array of indices', [4, 8]), 'it', source.length)
            if to.size == 4 and source.length > MOST_INT32:
                raise RecsortError(f'indices of {source.length} keys have 64 bits')
        else:
            views.append(view(values, 'values'))
            to = alike(values_out, 'values_out', views[-1], source.length)
            job.values_in = views[-1].address
        views.append(to)
        job.value_bits, job.values_out = 8 * to.size, to.address
        numbers = {one.device for one in views if one.device is not None}
        if len(numbers | {self.device} - {None}) > 1:
            raise RecsortError(f'arrays on the devices {numbers}; the pairs are on {self.device}')
        size = c.c_size_t()
        lib.device_pairs_workspace(self._handle, c.byref(job), c.byref(size))
        if workspace is None:
            workspace = library.empty((max(size.value, 1),), 'uint8', stream)
        room = view(workspace, 'workspace')
        lib.device_pairs_sort(self._handle, c.byref(job), room.address, room.length * room.size)


def index_type(keys: View) -> str:
    return 'int64' if keys.length > MOST_INT32 else 'int32'


def alike(a: Any, name: str, source: View, count: int) -> View:
    found = target(view(a, name), name, count)
    if found.kind != source.kind or source.length != count or source.row:
        raise RecsortError(f'{name} is an array like the one that it is sorted from, of one dimension')
    return found
