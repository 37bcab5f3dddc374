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
    column_of,
    direct_parts,
    dtype_from,
    is_plain,
    kind_of,
    names_of,
    pack,
    raw,
    refuse_missing,
    resolve,
)
from ._library import RecsortError, quoted
from ._schema import Schema

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, DTypeLike, NDArray


class Engine:
    """What sorts: makes sorters of the library, all with the same options."""

    def __init__(
        self,
        threads: int,
        plugin: str | None,
        algorithm: str | None,
        plugin_options: Mapping[str, str] | None,
        on_device: bool = False,
    ) -> None:
        self.threads = lib.integer(threads, 'threads')
        if not 0 <= self.threads < 1 << 32:
            raise RecsortError(f'threads={threads}; give 0 for one a processor, or a number')
        self._plugin = None if plugin is None else lib.text(plugin) or None
        self._algorithm = None if algorithm is None else lib.text(algorithm) or None
        given = lib.mapping(plugin_options, 'plugin_options').items()
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

    `records` is the dtype of the arrays, structured or not, or a Schema.

    `keys` are names of fields, most significant first; None: all fields, for a Schema its keys.
    `-name` descends. A name may lead into nested structs and subarrays: `stats.hp`, `pos[2]`,
    `grid[1,0]`. A struct or subarray counts as its values in their order; with a Schema a key names
    one value. Equal records keep their order, whatever descends. `reverse` reverses the order of
    every key.

    `nan` says where NaN and NaT go: "last", NumPy's order, behind all other values, also where a key
    descends; "first"; "total", IEEE 754's totalOrder, where NaT is the least time; "error", refused.
    A Schema's keys have their own.

    `threads` is the most CPU threads that work, 0: one for each processor. `plugin`, `algorithm` and
    `plugin_options` choose what sorts, such as "cpu"; by default the best that works here.

    The GIL is released while the library works. Threads that use one Sorter wait for each other.
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
    ) -> None:
        lib.choice(nan, 'nan', NAN_POLICIES)
        keys = None if keys is None else names_of(keys)
        reverse = lib.flag(reverse, 'reverse')
        if keys is not None and not any(keys):
            raise RecsortError('keys is empty; leave it out to sort by everything')
        self._lock = threading.RLock()
        self._engine = Engine(threads, plugin, algorithm, plugin_options)
        self._nan = nan
        self._keys: list[Key] = []
        self._direct: lib.Handle | None = None
        self._by_schema = isinstance(records, Schema)
        if isinstance(records, Schema):
            if nan != 'last':
                raise RecsortError('the keys of a schema say themselves where NaN goes')
            self.dtype: DType = records.dtype
            self._direct = self._engine.for_schema(records._handle, key_descs(keys, records), reverse)
        else:
            self.dtype = dtype_from(records)
            self._keys = resolve(self.dtype, keys, reverse)
            parts = direct_parts(self._keys, nan)
            if parts:
                self._direct = self._engine.for_parts(self.dtype.itemsize, parts)

    def sort(self, a: Array, *, out: Array | None = None) -> Array:
        """Sorts `a`, an array of one dimension, in place, or into `out`, and returns the sorted one.

        `out` has the shape and dtype of `a` and shares no memory with it. The array may be a
        `numpy.memmap`. No copy is made of a contiguous array, except what the library works in;
        a view with strides is copied, sorted and copied back.
        Raises RecsortError if an array does not fit or cannot be written, or if the data is refused,
        and MemoryError; then `a` is as it was.
        """
        source = self._checked(a, out is None)
        target = source if out is None else self._checked(out, True)
        if target.shape != source.shape:
            raise RecsortError(f'out has {len(target)} records, not {len(source)}')
        if out is not None and np.shares_memory(source, target):
            raise RecsortError('out shares memory with the array; leave it out to sort in place')
        if source.dtype.itemsize:
            with self._lock:
                if source.flags.c_contiguous and target.flags.c_contiguous:
                    self._run(*self._keyed(source), source, target)
                else:
                    copy = raw(source).copy().view(source.dtype)
                    self._run(*self._keyed(copy), copy, copy)
                    raw(target)[...] = raw(copy)
        return a if out is None else out

    def argsort(self, a: ArrayLike) -> NDArray[np.intp]:
        """The indices that sort `a` stably, an array of `intp`: `a[argsort(a)]` is sorted."""
        records = self._checked(a)
        index = np.empty(len(records), np.intp)
        with self._lock:
            self._run(*self._keyed(records), permutation=address(index), index_bits=8 * index.itemsize)
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
        if out is None:
            target = np.empty(count, runs[0].dtype if runs else self.dtype)
        else:
            target = self._checked(out, True)
        if len(target) != count:
            raise RecsortError(f'out has {len(target)} records, not {count}')
        if any(np.shares_memory(run, target) for run in runs):
            raise RecsortError('out shares memory with an array that is merged')
        if count and target.dtype.itemsize:
            with self._lock:
                if target.flags.c_contiguous:
                    self._merge(runs, offsets, target)
                else:
                    copy = np.empty(count, target.dtype)
                    self._merge(runs, offsets, copy)
                    raw(target)[...] = raw(copy)
        return target if out is None else out

    def is_sorted(self, a: ArrayLike) -> bool:
        """Whether no record of `a` comes after one that is greater."""
        records = self._checked(a)
        disorder = c.c_size_t()
        with self._lock:
            handle, keyed = self._keyed(records)
            lib.check(handle, address(keyed), len(records), c.byref(disorder))
        return disorder.value == len(records)

    def unique(self, a: ArrayLike) -> Array:
        """The first of all records with equal keys, in the order of their keys, as a new array."""
        records = self._checked(a)
        with self._lock:
            handle, keyed = self._keyed(records)
            job, count, bits = self._run(handle, keyed), c.c_size_t(), c.c_uint()
            lib.unique(handle, c.byref(job), c.byref(count))
            first = np.empty(count.value, records.dtype)
            if first.nbytes:
                index = lib.sorter_permutation(handle, c.byref(bits), None)
                whole, size = np.ascontiguousarray(raw(records)), records.dtype.itemsize
                lib.gather(handle, index, bits, len(first), address(whole), size, address(first))
        return first

    def top(self, a: ArrayLike, n: int) -> Array:
        """The first `n` records in order, or all if there are fewer, as a new array.

        Few of many are selected in one pass; the other records are not sorted.
        """
        n = lib.integer(n, 'n')
        if n < 0:
            raise RecsortError(f'n is {n}; give the number of records')
        records = self._checked(a)
        first = np.empty(min(n, len(records)), records.dtype)
        with self._lock:
            handle, keyed = self._keyed(records)
            if first.nbytes:
                self._run(handle, keyed, records, first, head=len(first))
        return first

    def set_parameter(self, name: str, values: Sequence[float]) -> None:
        """Sets a point or vector that keys of a Schema name, as `{distance: ..., from: name}`."""
        point = lib.point(values)
        with self._lock:
            if not self._direct:
                raise RecsortError(f'no key has a point "{name}"')
            lib.set_parameter(self._direct, lib.text(name), point, len(values))

    def _checked(self, a: Any, write: bool = False) -> Array:
        """The array, if it is one that this sorter sorts."""
        if write and not isinstance(a, np.ndarray):
            raise RecsortError(f'only a NumPy array is sorted in place, not {type(a).__name__}')
        if isinstance(a, np.ma.MaskedArray):
            raise RecsortError('a masked array has no order; sort its data')
        records = as_array(a)
        if records.ndim != 1:
            raise RecsortError(f'the array has {records.ndim} dimensions, not 1')
        size, dtype = self.dtype.itemsize, records.dtype
        if dtype.hasobject:
            raise RecsortError(f'records that hold Python objects cannot be sorted: {dtype}')
        if dtype.itemsize != size if self._by_schema else dtype != self.dtype:
            raise RecsortError(f'the array has dtype {dtype}; the sorter is for {self.dtype}')
        if write and not records.flags.writeable:
            raise RecsortError('the array is read-only')
        return records

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
                what = f'key {quoted(key.path)}: for {key.dtype} to be {done}'
                raise RecsortError(f'{what} give nan="total"')
        return self._direct

    def _keyed(self, records: Array) -> tuple[lib.Handle, Array]:
        """A sorter of the library and what it sorts: the records, or copies of their keys."""
        if self._by_schema and self._direct:
            return self._direct, np.ascontiguousarray(raw(records))
        columns = [Column(column_of(records, key), key.descending, self._nan) for key in self._keys]
        for column, key in zip(columns, self._keys):
            refuse_missing(column, key.path)
        if self._direct and records.flags.c_contiguous and all(map(is_plain, columns)):
            return self._direct, records
        packed, parts = pack(columns, len(records))
        return self._engine.for_parts(packed.dtype.itemsize, parts), packed

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


def as_array(a: ArrayLike) -> Array:
    if getattr(a, '__cuda_array_interface__', None) is not None:
        raise RecsortError('the array is in the memory of a GPU; a DeviceSorter sorts it')
    try:
        array = np.asarray(a)
    except (TypeError, ValueError, RuntimeError) as error:
        name = type(a).__name__
        raise RecsortError(f'a {name} is not an array of NumPy: {lib.one_line(error)}') from error
    if array.ndim == 2 and hasattr(a, '__arrow_c_stream__'):
        raise RecsortError('a table has no records: argsort_columns finds the order of its rows')
    return array


def address(array: Array) -> int:
    return array.__array_interface__['data'][0]  # type: ignore[no-any-return]


def key_descs(keys: Keys, schema: Schema) -> Any:
    """The keys of a schema's sorter; None: the schema's own."""
    if keys is None:
        return None
    names = names_of(keys)
    descs = (lib.KeyDesc * len(names))()
    desc = schema._desc()
    fields = [field.name.decode() for field in desc.fields[: desc.field_count]]
    for name, desc in zip(names, descs):
        # "-x" is the name of a field where there is one.
        named = any(re.match(re.escape(field) + r'($|[.[])', name) for field in fields)
        desc.order = name.startswith('-') and not named
        desc.path = lib.text(name[desc.order :])
    return descs
