"""Sorting of arrays in the memory of the host."""

from __future__ import annotations

import ctypes as c
import re
import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _library as lib
from ._keys import (
    NAN_POLICIES,
    Array,
    Column,
    DType,
    Key,
    Keys,
    Part,
    at_position,
    column_of,
    direct_parts,
    dtype_from,
    given_names,
    is_direct,
    is_plain,
    kind_of,
    pack,
    raw,
    refuse_missing,
    resolve,
    rows_of,
    signed,
)
from ._library import RecsortError, quoted
from ._schema import Schema

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, DTypeLike, NDArray

INDEX_BITS = 8 * np.dtype(np.intp).itemsize


class Engine:
    """What sorts: makes sorters of the library, all with the same options."""

    def __init__(
        self,
        threads: int,
        plugin: str | None,
        algorithm: str | None,
        plugin_options: Mapping[str, str] | None,
        verify: str,
        on_device: bool = False,
    ) -> None:
        self.threads = lib.integer(threads, 'threads')
        if not 0 <= self.threads < 1 << 32:
            raise RecsortError(f'threads={threads}; give 0 for one a processor, or a number')
        self._plugin = None if plugin is None else lib.text(plugin) or None
        self._algorithm = None if algorithm is None else lib.text(algorithm) or None
        given = lib.mapping(plugin_options, 'plugin_options').items()
        self._verify = lib.VERIFY.index(lib.choice(verify, 'verify', lib.VERIFY))
        self._on_device = on_device
        self._words = [lib.text(f'{name}={value}') for name, value in given]

    def for_schema(self, schema: lib.Handle, keys: Any = None, reverse: bool = False) -> lib.Handle:
        """A sorter by `keys`, an array of KeyDesc; None: by the schema's own."""
        options = lib.Options(
            struct_size=c.sizeof(lib.Options),
            keys=keys,
            key_count=0 if keys is None else len(keys),
            reverse=reverse,
            plugin=self._plugin,
            algorithm=self._algorithm,
            threads=self.threads,
            plugin_options=(c.c_char_p * len(self._words))(*self._words),
            plugin_option_count=len(self._words),
            verify=self._verify,
            on_device=self._on_device,
        )
        return lib.Handle(lib.sorter_create, lib.sorter_destroy, schema, c.byref(options))

    def for_parts(self, size: int, parts: Sequence[Part]) -> lib.Handle:
        """A sorter of records of `size` bytes, by parts of them."""
        return self.for_schema(schema_of_parts(size, parts))


def arrays_of(parts: Sequence[Part]) -> list[tuple[Part, int]]:
    """Parts, each with a count: those that are alike and lie one behind the other become an array.

    The library takes more elements of arrays than keys, and in less time.
    """
    found: list[tuple[Part, int]] = []
    for part in parts:
        first, count = found[-1] if found else (part, 0)
        if part == first._replace(offset=first.offset + count * first.size) and part.type != 'bytes':
            found[-1:] = [(first, count + 1)]
        else:
            found.append((part, 1))
    return found


def schema_of_parts(size: int, parts: Sequence[Part]) -> lib.Handle:
    """A schema of the library: records of `size` bytes, by parts of them."""
    arrays = arrays_of(parts)
    fields = (lib.FieldDesc * len(arrays))()
    keys = (lib.KeyDesc * len(arrays))()
    for number, ((part, count), field, key) in enumerate(zip(arrays, fields, keys)):
        field.name = key.path = b'%d' % number
        field.type, field.endian, field.offset = lib.TYPE[part.type], part.endian, part.offset
        field.size, field.count = part.size, count if count > 1 else 0
        key.order, key.nan = part.descending, lib.NAN[part.nan]
    desc = lib.SchemaDesc(
        struct_size=c.sizeof(lib.SchemaDesc),
        record=b'record',
        layout=lib.EXPLICIT,
        size=size,
        fields=fields,
        field_count=len(arrays),
        keys=keys,
        key_count=len(arrays),
    )
    return lib.Handle(lib.schema_create, lib.schema_destroy, c.byref(desc), None)


class Sorter:
    """Sorts arrays of one dtype, or of one schema, as often as you like, in memory that it keeps.

    `records` is the dtype of the arrays, structured or not, or a Schema. With `("f4", 5)` the arrays
    have two dimensions: a row of five numbers is a record, and its columns are the fields.

    `keys` are names of fields or their positions from 0, most significant first; None: all fields, for
    a Schema its keys. `"-name"` and `"-0"` descend; what is the name of a field is no position. A name
    may lead into nested structs and subarrays: `stats.hp`, `pos[2]`, `grid[1,0]`. A struct or subarray
    counts as its values in their order; with a Schema a key names one value. Equal records keep their
    order, whatever descends. `reverse` reverses the order of every key.

    An array may be of another library, such as torch, if it is in the memory of the host and says so by
    `__array__` or DLPack.

    `nan` says where NaN and NaT go: "last", NumPy's order, behind all other values, also where a key
    descends; "first"; "total", IEEE 754's totalOrder, where NaT is the least time; "error", refused.
    A Schema's keys have their own.

    `threads` is the most CPU threads that work, 0: one for each processor. `plugin`, `algorithm` and
    `plugin_options` choose what sorts, such as "cpu"; by default the best that works here. `verify` says
    how results are checked: "default", "off" or "full", as the library's header describes them.

    The GIL is released while the library works. Threads that use one Sorter wait for each other. You
    can pickle it: pickle stores its schema and settings, and makes a new Sorter of them.
    Raises RecsortError (a ValueError), here if a key is wrong or the dtype has no order.
    """

    def __init__(
        self,
        records: DTypeLike | Schema,
        keys: Keys = None,
        *,
        reverse: bool = False,
        nan: str = 'last',
        threads: int = 0,
        plugin: str | None = None,
        algorithm: str | None = None,
        plugin_options: Mapping[str, str] | None = None,
        verify: str = 'default',
    ) -> None:
        lib.choice(nan, 'nan', NAN_POLICIES)
        keys, reverse = given_names(keys), lib.flag(reverse, 'reverse')
        # What pickle makes the sorter of again.
        self._given = (records if isinstance(records, Schema) else dtype_from(records), keys)
        self._settings = {'reverse': reverse, 'nan': nan, 'threads': threads, 'plugin': plugin}
        self._settings.update(algorithm=algorithm, plugin_options=plugin_options, verify=verify)
        self._points: dict[str, list[float]] = {}
        self._lock = threading.RLock()
        self._engine = Engine(threads, plugin, algorithm, plugin_options, verify)
        self._nan = nan
        self._keys: list[Key] = []
        self._direct: lib.Handle | None = None
        self._by_schema = isinstance(records, Schema)
        self._columns: int | None = None  # of rows of numbers
        self._settled = self._by_schema  # whether the library's order is the one that is wanted
        if isinstance(records, Schema):
            if nan != 'last':
                raise RecsortError('the keys of a schema say themselves where NaN goes')
            self.dtype: DType = records.dtype
            self._record = self.dtype
            self._direct = self._engine.for_schema(records._handle, key_descs(keys, records), reverse)
        else:
            self.dtype = dtype_from(records)
            if self.dtype.subdtype and len(self.dtype.shape) == 1:
                self._columns = self.dtype.shape[0]
                if not self._columns:
                    raise RecsortError('rows without columns have no order')
                self._record = rows_of(self.dtype.base, self._columns)
            else:
                self._record = self.dtype
            self._keys = resolve(self._record, keys, reverse)
            self._settled = nan != 'error' and all(is_direct(key, nan) for key in self._keys)
            parts = direct_parts(self._keys, nan)
            if parts:
                self._direct = self._engine.for_parts(self.dtype.itemsize, parts)

    def sort(self, a: Array, *, out: Array | None = None) -> Array:
        """Sorts `a` in place, or into `out`, and returns the sorted one.

        `out` has the shape and dtype of `a` and shares no memory with it. The array may be a
        `numpy.memmap`. No copy is made of a contiguous array, except what the library works in;
        a view with strides is copied, sorted and copied back: `sort(a.T)` sorts columns by their rows.
        Raises RecsortError if an array does not fit or cannot be written, or if the data is refused,
        and MemoryError; then `a` is as it was.
        """
        array = self._array(a, write=out is None)
        into = array if out is None else self._array(out, write=True)
        if into.shape != array.shape:
            raise RecsortError(f'out has {len(into)} records, not {len(array)}')
        if out is not None and np.shares_memory(array, into):
            raise RecsortError('out shares memory with the array; leave it out to sort in place')
        if self.dtype.itemsize:
            with self._lock:
                if array.flags.c_contiguous and into.flags.c_contiguous:
                    source = self._records(array)
                    self._move(source, source if out is None else self._records(into))
                else:
                    copy = self._records(array, copy=True)
                    self._move(copy, copy)
                    self._fill(into, copy)
        return a if out is None else out

    def argsort(self, a: ArrayLike) -> NDArray[np.intp]:
        """The indices that sort `a` stably, an array of `intp`: `a[argsort(a)]` is sorted.

        Records may hold Python objects if no key does.
        """
        records = self._checked(a, moved=False)
        index = np.empty(len(records), np.intp)
        with self._lock:
            handle, keyed = self._keyed(records)
            if len(index):
                memory: Any = index
                to = c.addressof(c.c_char.from_buffer(memory))  # in two thirds of the time of address
                lib.argsort(handle, address(keyed), len(index), to, INDEX_BITS)
        return index

    def merge(self, arrays: Sequence[ArrayLike], *, out: Array | None = None) -> Array:
        """The records of sorted arrays as one sorted array: a new one, or `out`.

        Equal records come in the order of their arrays. `out` is as for `sort`: it has as many records
        as all arrays together. At most 65,536 arrays are merged, by all threads. Keys that cannot be
        compared where they are, such as NaT, take a copy of all records. An array that is not sorted is
        refused: the error names it, counted from 0, and its first record that comes before the one
        ahead of it; `out` may have been written to then.
        """
        runs = [self._checked(a) for a in lib.sequence(arrays, 'arrays')]
        offsets = np.zeros(len(runs) + 1, np.uint64)
        offsets[1:] = np.cumsum([len(run) for run in runs])
        count = int(offsets[-1])
        into = None if out is None else self._array(out, write=True)
        if into is not None and len(into) != count:
            raise RecsortError(f'out has {len(into)} records, not {count}')
        if into is not None and any(np.shares_memory(run, into) for run in runs):
            raise RecsortError('out shares memory with an array that is merged')
        if into is not None and into.flags.c_contiguous:
            target = self._records(into)
        else:
            target = self._new(count, runs[0] if runs else None)
        if count and self.dtype.itemsize:
            with self._lock:
                self._merge(runs, offsets, target)
            if into is not None and not into.flags.c_contiguous:
                self._fill(into, target)
        return self._shaped(target) if out is None else out

    def is_sorted(self, a: ArrayLike) -> bool:
        """Whether no record of `a` comes after one that is greater."""
        records = self._checked(a, moved=False)
        disorder = c.c_size_t()
        with self._lock:
            handle, keyed = self._keyed(records)
            lib.check(handle, address(keyed), len(records), c.byref(disorder))
        return disorder.value == len(records)

    def unique(
        self,
        a: ArrayLike,
        *,
        return_index: bool = False,
        return_inverse: bool = False,
        return_counts: bool = False,
    ) -> Any:
        """The first of all records with equal keys, in the order of their keys, as a new array.

        With one of the other arguments it is the first one of a tuple, as in NumPy. Behind it are, in
        this order: the indices of these records in `a`; for each record of `a` the place of the one
        that is equal; how many are equal to each.
        """
        records = self._checked(a)
        order = None
        with self._lock:
            handle, keyed = self._keyed(records)
            job, count, bits = self._run(handle, keyed), c.c_size_t(), c.c_uint()
            if return_inverse or return_counts:
                order = permutation(handle, len(records))
            lib.unique(handle, c.byref(job), c.byref(count))
            first = self._new(count.value, records)
            index = lib.sorter_permutation(handle, c.byref(bits), None)
            if first.nbytes:
                whole, size = np.ascontiguousarray(raw(records)), records.dtype.itemsize
                lib.gather(handle, index, bits, len(first), address(whole), size, address(first))
            firsts = permutation(handle, count.value if return_index or order is not None else 0)
        found = [self._shaped(first)]
        if return_index:
            found.append(firsts)
        if order is not None:
            begins = np.zeros(len(records), bool)
            begins[firsts] = True
            begins = begins[order]
            if return_inverse:
                found.append(np.empty(len(records), np.intp))
                found[-1][order] = np.cumsum(begins) - 1
            if return_counts:
                found.append(np.diff(np.flatnonzero(begins), append=len(records)))
        return found[0] if len(found) == 1 else tuple(found)

    def top(self, a: ArrayLike, n: int) -> Array:
        """The first `n` records in order, or all if there are fewer, as a new array.

        Few of many are selected in one pass; the other records are not sorted.
        """
        records = self._checked(a)
        first = self._new(head(n, records), records)
        with self._lock:
            handle, keyed = self._keyed(records)
            if first.nbytes:
                self._run(handle, keyed, records, first, head=len(first))
        return self._shaped(first)

    def argtop(self, a: ArrayLike, n: int) -> NDArray[np.intp]:
        """The indices of the first `n` records in order: `top(a, n)` is `a[argtop(a, n)]`."""
        records = self._checked(a, moved=False)
        index = np.empty(head(n, records), np.intp)
        with self._lock:
            handle, keyed = self._keyed(records)
            if len(index):
                to = address(index)
                self._run(handle, keyed, permutation=to, index_bits=INDEX_BITS, head=len(index))
        return index

    def partition(self, a: ArrayLike, kth: int | Sequence[int]) -> Array:
        """The records of `a` as `argpartition` orders them, as a new array."""
        records = self._checked(a)
        return self._shaped(raw(records)[self.argpartition(a, kth)].view(records.dtype))

    def argpartition(self, a: ArrayLike, kth: int | Sequence[int]) -> NDArray[np.intp]:
        """Indices by which record `kth` is where a sort puts it, and none behind it comes before it.

        It does more than NumPy's: the records up to the greatest `kth` are sorted, as by `argtop`,
        and those behind it are in the order of `a`. A negative `kth` counts from the end.
        """
        count, last = len(self._checked(a, moved=False)), -1
        for k in [kth] if isinstance(kth, (int, np.integer)) else lib.sequence(kth, 'kth'):
            place = lib.integer(k, 'kth')
            if not -count <= place < count:
                raise RecsortError(f'kth={place}; there are {count} records')
            last = max(last, place % count)
        first, rest = self.argtop(a, last + 1), np.ones(count, bool)
        rest[first] = False
        return np.concatenate([first, np.flatnonzero(rest)])

    def searchsorted(self, a: ArrayLike, v: Any, side: str = 'left') -> Any:
        """Where the records `v` go into the sorted array `a`: before equal ones, or after with "right".

        `v` is a record, which gives an integer, or an array of them. It is converted to the dtype of
        `a`, and refused if that changes an integer, a time or a text. Takes the logarithm of the length
        of `a` for each, if that is contiguous. Keys of `longdouble` and `nan="error"` are refused, and
        complex numbers need `nan="total"`. Nothing checks that `a` is sorted.
        """
        lib.choice(side, 'side', ('left', 'right'))
        records = self._checked(a)
        wanted, single = self._wanted(v)
        cuts = np.empty(len(wanted), np.uintp)
        with self._lock:
            handle = self._whole('searched')
            whole, size = np.ascontiguousarray(raw(records)), lib.key_size(handle)
            # Marks, which are keys and positions: the least position, or the greatest.
            marks = np.empty((len(wanted), size + lib.MARK_EXTRA), np.uint8)
            count = len(wanted)
            lib.partition_sample(handle, address(wanted), count, 0, count, address(marks))
            marks[:, size:] = 0 if side == 'left' else 255
            to = address(marks), count, address(cuts)
            lib.partition_sorted(handle, address(whole), len(whole), 0, *to)
        found = cuts.astype(np.intp)
        return found[0] if single else found

    def set_parameter(self, name: str, values: Sequence[float]) -> None:
        """Sets a point or vector that keys of a Schema name, as `{distance: ..., from: name}`."""
        point = lib.point(values)
        with self._lock:
            if not self._direct:
                raise RecsortError(f'no key has a point "{name}"')
            lib.set_parameter(self._direct, lib.text(name), point, len(values))
            self._points[name] = list(point)

    def __reduce__(self) -> Any:
        """Pickle stores the arguments of the sorter, and its points."""
        return remade, (self._given, self._settings, self._points)

    def _checked(self, a: Any, *, moved: bool = True) -> Array:
        """The records of an array, if this sorter sorts it. Those that are not `moved` may hold objects."""
        return self._records(self._array(a, moved=moved))

    def _array(self, a: Any, *, write: bool = False, moved: bool = True) -> Array:
        """The array, if it is one that this sorter sorts, and can be written to if it has to be."""
        array = a if type(a) is np.ndarray else shared(a) if write else as_array(a)
        dimensions, dtype = 1 if self._columns is None else 2, array.dtype
        if array.ndim != dimensions:
            raise RecsortError(f'the array has {array.ndim} dimensions, not {dimensions}')
        if moved and dtype.hasobject:
            raise RecsortError(f'records that hold Python objects cannot be sorted: {dtype}')
        if self._columns is not None:
            if array.shape[1] != self._columns or dtype != self.dtype.base:
                own = f'{self._columns} columns of {self.dtype.base}'
                raise RecsortError(
                    f'the array has {array.shape[1]} columns of {dtype}; the sorter is for {own}'
                )
        elif dtype.itemsize != self.dtype.itemsize if self._by_schema else dtype != self.dtype:
            raise RecsortError(f'the array has dtype {dtype}; the sorter is for {self.dtype}')
        if write and not array.flags.writeable:
            raise RecsortError('the array is read-only')
        return array

    def _records(self, array: Array, *, copy: bool = False) -> Array:
        """The array as records: rows of numbers become structs. It is the same memory if it can be."""
        if self._columns is not None:
            rows = array.copy() if copy else np.ascontiguousarray(array)
            return rows.view(self._record).reshape(len(array))
        return raw(array).copy().view(array.dtype) if copy else array

    def _new(self, count: int, like: Array | None) -> Array:
        return np.empty(count, self._record if like is None else like.dtype)

    def _shaped(self, records: Array) -> Array:
        """New records as the caller's arrays are."""
        if self._columns is None:
            return records
        return records.view(self.dtype.base).reshape(len(records), self._columns)

    def _fill(self, into: Array, records: Array) -> None:
        if self._columns is None:
            raw(into)[...] = raw(records)
        else:
            into[...] = self._shaped(records)

    def _wanted(self, v: Any) -> tuple[Array, bool]:
        """Records to search for, contiguous, and whether it was a single one."""
        base = self.dtype.base if self._columns else self.dtype
        as_it_is = base.names is None or isinstance(v, (np.ndarray, np.void))
        try:
            given = np.asarray(v, None if as_it_is else base)
            values = given if base.names is not None else given.astype(base)
        except (TypeError, ValueError, RuntimeError, OverflowError) as error:
            raise RecsortError(f'{lib.shown(v)} is no {base}: {lib.one_line(error)}') from None
        exact = base.names is None and kind_of(base) not in 'fc'
        if exact and not np.array_equal(values, given, equal_nan=base.kind in 'Mm'):
            raise RecsortError(f'{lib.shown(v)} is no {base}')
        dimensions = 1 if self._columns is None else 2
        single = values.ndim == dimensions - 1
        array = np.ascontiguousarray(values[np.newaxis] if single else values)
        return self._checked(array), single

    def _whole(self, done: str) -> lib.Handle:
        """The library's sorter, for records that are `done` without a copy of their keys.

        Refuses keys that NumPy orders as the library does not: `longdouble`, and values that may be complex
        NaN unless `nan` is "total". `nan="error"` is refused too.
        """
        if self._direct is None:
            raise RecsortError(
                f'a longdouble, overlapping keys or records without keys cannot be {done}'
            )
        if self._nan == 'error':
            raise RecsortError(f'nan="error"; records to be {done} take "last", "first" or "total"')
        for key in self._keys:
            if kind_of(key.dtype) == 'c' and self._nan != 'total':
                what = f'key {quoted(key.path)}: for {key.dtype.name} to be {done}'
                raise RecsortError(f'{what} give nan="total"')
        return self._direct

    def _keyed(self, records: Array) -> tuple[lib.Handle, Array]:
        """A sorter of the library and what it sorts: the records, or copies of their keys."""
        if self._direct and self._settled and records.flags.c_contiguous:
            return self._direct, records
        if self._by_schema and self._direct:
            return self._direct, np.ascontiguousarray(raw(records))
        columns = [Column(column_of(records, key), key.descending, self._nan) for key in self._keys]
        for column, key in zip(columns, self._keys):
            refuse_missing(column, key.path)
        if self._direct and records.flags.c_contiguous and all(map(is_plain, columns)):
            return self._direct, records
        packed, parts = pack(columns, len(records))
        return self._engine.for_parts(packed.dtype.itemsize, parts), packed

    def _move(self, source: Array, target: Array) -> None:
        """Sorts records into contiguous ones, which may be the same."""
        handle, keyed = self._keyed(source)
        if keyed is not source:
            self._run(handle, keyed, source, target)
        elif target is source:
            lib.sort(handle, address(source), len(source))
        else:
            lib.sort_to(handle, address(source), len(source), address(target))

    def _run(
        self,
        handle: lib.Handle,
        keyed: Array,
        source: Array | None = None,
        target: Array | None = None,
        **members: Any,
    ) -> lib.Job:
        """Sorts what _keyed has found for `source`, and moves its records to contiguous memory."""
        if target is not None and source is not None:
            if handle is self._direct:
                members['sorted'] = address(target)
            else:
                whole = np.ascontiguousarray(raw(source))
                members['arrays'] = [(address(whole), address(target), whole.dtype.itemsize)]
        job = lib.job(len(keyed), records=address(keyed), **members)
        lib.run(handle, c.byref(job), 1)
        return job

    def _merge(self, runs: Sequence[Array], offsets: Array, target: Array) -> None:
        """Merges runs into a contiguous array."""
        parts: dict[str, Any] = {
            'parts': lib.RUNS,
            'offsets': address(offsets),
            'part_count': len(runs),
        }
        keyed = [self._keyed(run) for run in runs]
        if all(handle is self._direct for handle, _ in keyed):
            each = (c.c_void_p * len(runs))(*(address(array) for _, array in keyed))
            job = lib.job(len(target), part_records=each, sorted=address(target), **parts)
            lib.run(self._direct, c.byref(job), 1)
        else:
            whole = np.concatenate([raw(run) for run in runs]).view(target.dtype)
            self._run(*self._keyed(whole), whole, target, **parts)


def remade(given: Any, settings: Any, points: Mapping[str, Sequence[float]]) -> Sorter:
    """A sorter that was pickled."""
    sorter = Sorter(*given, **settings)
    for name, values in points.items():
        sorter.set_parameter(name, values)
    return sorter


def as_array(a: Any) -> Array:
    """An array of NumPy with the values of `a`, in the same memory if `a` hands it out."""
    if type(a) is np.ndarray:
        return a
    if getattr(a, '__cuda_array_interface__', None) is not None:
        raise RecsortError('the array is in the memory of a GPU; a DeviceSorter sorts it')
    if isinstance(a, np.ma.MaskedArray):
        raise RecsortError('a masked array has no order; sort its data')
    by_dlpack = hasattr(a, '__dlpack__') and not hasattr(a, '__array__')
    try:
        array: Array = np.from_dlpack(a) if by_dlpack else np.asarray(a)
    except (TypeError, ValueError, RuntimeError, BufferError) as error:
        name = type(a).__name__
        raise RecsortError(f'a {name} is not an array of NumPy: {lib.one_line(error)}') from error
    if hasattr(a, '__arrow_c_stream__') and array.ndim == 2 or hasattr(a, 'to_arrow_table'):
        raise RecsortError('a table has no records: sort_table sorts it')
    return array


def shared(a: Any) -> Array:
    """An array whose memory NumPy shares, to be written; another library may own it."""
    if not isinstance(a, np.ndarray) and not hasattr(a, '__dlpack__'):
        raise RecsortError(f'only a NumPy array is sorted in place, not {type(a).__name__}')
    array = as_array(a)
    if not isinstance(a, np.ndarray):
        try:
            same = np.shares_memory(array, np.from_dlpack(a))
        except (TypeError, ValueError, RuntimeError, BufferError):
            same = False
        if not same:
            raise RecsortError(f'a {type(a).__name__} does not share its memory; sort a copy of it')
    return array


def address(array: Array) -> int:
    # __array_interface__ would describe every field of the dtype, in ten times as long.
    return array.ctypes.data


def head(n: Any, records: Array) -> int:
    count = lib.integer(n, 'n')
    if count < 0:
        raise RecsortError(f'n is {count}; give the number of records')
    return min(count, len(records))


def permutation(handle: lib.Handle, count: int) -> NDArray[np.intp]:
    """A copy of the first indices that a sorter of the library keeps."""
    bits = c.c_uint()
    place = lib.sorter_permutation(handle, c.byref(bits), None)
    if not count:
        return np.empty(0, np.intp)
    kept = (c.c_uint32 if bits.value == 32 else c.c_uint64) * count
    return np.array(kept.from_address(place), np.intp)


def key_descs(names: Sequence[str] | None, schema: Schema) -> Any:
    """The keys of a schema's sorter; None: the schema's own."""
    if names is None:
        return None
    keys = (lib.KeyDesc * len(names))()
    desc = schema._desc()
    fields = [field.name.decode() for field in desc.fields[: desc.field_count]]
    for name, key in zip(names, keys):
        # "-x" is the name of a field where there is one.
        named = any(re.match(re.escape(field) + r'($|[.[])', name) for field in fields)
        path, key.order = (name, False) if named else signed(name)[-1]
        key.path = lib.text(path if named or path in fields else at_position(fields, path) or path)
    return keys
