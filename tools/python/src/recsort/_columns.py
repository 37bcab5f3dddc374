"""Sorting the rows of column libraries."""

from __future__ import annotations

import contextlib
import ctypes as c
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _library as lib
from ._keys import NAN_POLICIES, Array, Column, DType, column_of, pack, refuse_missing, resolve
from ._library import RecsortError
from ._sorter import Engine, address

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray


def argsort_columns(
    columns: Any,
    *,
    descending: bool | Sequence[bool] = False,
    nan: str = 'last',
    nulls: str = 'last',
    threads: int = 0,
    plugin: str | None = None,
    algorithm: str | None = None,
    plugin_options: Mapping[str, str] | None = None,
) -> NDArray[np.intp]:
    """The indices, an array of `intp`, that sort rows stably by columns, the most significant first.

    `columns` is a sequence of columns, a table, or one column. A column is an array of one dimension,
    or anything that hands out Arrow data by the PyCapsule interface, such as a column of pyarrow,
    Polars or pandas; pyarrow then has to be installed. A table, such as a relation of DuckDB, counts
    as its columns, and a structured array as its fields. Text sorts by code point, and takes as much
    memory as if each were the longest. Categories sort by their values, or by their places if Arrow
    calls them ordered.

    `descending` is for all columns, or for each. `nan` is as for `sort`. `nulls`, "last" or "first",
    says where Arrow's nulls go, also where a column descends.
    Raises RecsortError if columns differ in length or hold what has no order, and MemoryError.
    """
    lib.choice(nan, 'nan', NAN_POLICIES)
    lib.choice(nulls, 'nulls', ('last', 'first'))
    engine = Engine(threads, plugin, algorithm, plugin_options)
    with reading('the table'):
        columns = listed(columns)
    one_for_all = isinstance(descending, (bool, int, str, np.bool_))
    flags = [descending] * len(columns) if one_for_all else lib.sequence(descending, 'descending')
    flags = [lib.flag(one, 'descending') for one in flags]
    if not len(columns) or len(flags) != len(columns):
        raise RecsortError(f'{len(columns)} columns, {len(flags)} values of descending')
    keys: list[Column] = []
    for number, (column, flag) in enumerate(zip(columns, flags)):
        with reading(f'column {number}'):
            found = list(split(column, flag, nan, nulls))
        for key in found:
            refuse_missing(key, str(number))
        keys += found
    lengths = sorted({len(key.values) for key in keys})
    if len(lengths) != 1:
        raise RecsortError(f'columns have different lengths: {lengths}')
    packed, parts = pack(keys, lengths[0])
    index = np.empty(lengths[0], np.intp)
    handle = engine.for_parts(packed.dtype.itemsize, parts)
    bits = 8 * index.itemsize
    job = lib.job(len(index), records=address(packed), permutation=address(index), index_bits=bits)
    lib.run(handle, c.byref(job), 1)
    return index


@contextlib.contextmanager
def reading(name: str) -> Iterator[None]:
    """Raises what the library of a column refuses in the way of this package."""
    try:
        yield
    except (RecsortError, MemoryError, ImportError):
        raise
    except Exception as error:
        raise RecsortError(f'{name} cannot be read: {lib.one_line(error)}') from error


def exports(a: Any) -> bool:
    """Whether this is Arrow data. NumPy's arrays are taken as they are."""
    kinds = ('stream', 'array')
    return not isinstance(a, np.ndarray) and any(hasattr(a, f'__arrow_c_{kind}__') for kind in kinds)


def listed(columns: Any) -> Sequence[Any]:
    """The columns, also those of a table, whose length would be that of its rows, or a single one."""
    if exports(columns):
        chunks = chunks_of(columns)
        return list(chunks.flatten()) if is_struct(chunks) else [chunks]
    if isinstance(columns, np.ndarray) and columns.ndim == 1 and not columns.dtype.hasobject:
        return [columns]
    return list(columns)


def split(column: Any, descending: bool, nan: str, nulls: str) -> Iterator[Column]:
    """The arrays without nulls that have the order of a column."""
    if isinstance(column, np.ma.MaskedArray):
        raise RecsortError('a masked array has no order; sort its data')
    if exports(column):
        for values in arrow_arrays(chunks_of(column)):
            if values.null_count:
                yield Column(is_null(values).view(np.uint8), nulls == 'first')
            for part in without_nulls(values):
                yield Column(part, descending, nan)
    else:
        values = np.asarray(column)
        if values.ndim != 1:
            raise RecsortError(f'a column has {values.ndim} dimensions, not 1')
        keys = resolve(values.dtype, None, descending)
        if not keys:  # strings without characters
            yield Column(np.zeros(len(values), np.uint8), False)
        for key in keys:
            yield Column(column_of(values, key), key.descending, nan)


# ---- Arrow ------------------------------------------------------------------------------------


def chunks_of(column: Any) -> Any:
    import pyarrow as pa

    if hasattr(column, '__arrow_c_stream__'):
        return pa.chunked_array(column)
    return pa.chunked_array([pa.array(column)])


def is_struct(chunks: Any) -> bool:
    from pyarrow import types

    return bool(types.is_struct(chunks.type))


def arrow_arrays(chunks: Any) -> Iterator[Any]:
    """The columns of a table or struct, or a column itself; without dictionaries and views."""
    from pyarrow import types

    if is_struct(chunks):
        for field in chunks.flatten():
            yield from arrow_arrays(field)
    elif types.is_dictionary(chunks.type):
        array = in_one(chunks.unify_dictionaries())
        values = unviewed(array.dictionary)
        yield array.indices if array.type.ordered else values.take(array.indices)
    else:
        yield in_one(unviewed(chunks))


def in_one(chunks: Any) -> Any:
    import pyarrow as pa

    # pyarrow fails to join empty chunks that are slices.
    full = [chunk for chunk in chunks.chunks if len(chunk)]
    return full[0] if len(full) == 1 else pa.chunked_array(full, chunks.type).combine_chunks()


def unviewed(array: Any) -> Any:
    """Text of which views point to the pieces, in one piece."""
    import pyarrow as pa

    types = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}
    return array.cast(types[array.type]) if array.type in types else array


def is_null(array: Any) -> Array:
    return np.asarray(array.is_null().to_numpy(zero_copy_only=False))


def without_nulls(array: Any) -> Iterator[Array]:
    """The values of an Arrow array; those of nulls are all zero."""
    for values in values_of(array):
        if array.null_count:
            values = np.where(is_null(array), np.zeros((), values.dtype), values)
        yield values


def values_of(array: Any) -> Iterator[Array]:
    """The values of an Arrow array, whatever they are where it is null."""
    import pyarrow as pa
    from pyarrow import types

    kind = array.type
    if kind in (pa.bool_(), pa.null()):
        yield buffer(array.cast(pa.uint8()), 1, np.dtype('u1'))
    elif types.is_integer(kind) or types.is_floating(kind):
        yield buffer(array, 1, np.dtype(kind.to_pandas_dtype()))
    elif types.is_temporal(kind) and not types.is_interval(kind):
        yield buffer(array, 1, np.dtype(f'i{kind.bit_width // 8}'))
    elif types.is_decimal(kind):
        step = min(kind.bit_width // 8, 8)
        words = buffer(array, 1, np.dtype((f'u{step}', (kind.bit_width // 8 // step,))))
        yield words[:, -1].view(f'i{step}')
        yield from words.T[-2::-1]
    elif types.is_fixed_size_binary(kind):
        yield buffer(array, 1, np.dtype((np.void, kind.byte_width)))
    elif kind in (pa.string(), pa.large_string(), pa.binary(), pa.large_binary()):
        yield from texts(array.cast(pa.large_binary()))
    else:
        raise RecsortError(f'a column of Arrow type {kind} cannot be sorted')


def texts(array: Any) -> Iterator[Array]:
    """Text, padded with zeros, and its length if a zero may be part of it."""
    ends = buffer(array, 1, np.dtype(np.int64), 1)
    lengths, data = np.diff(ends), np.frombuffer(array.buffers()[2] or b'', np.uint8)
    data = data[ends[0] : ends[-1]]
    width = max(lengths.max(initial=0), 1)
    padded = np.zeros((len(array), width), np.uint8)
    padded[np.arange(width) < lengths[:, np.newaxis]] = data
    yield padded.view(np.dtype((np.void, width))).ravel()
    if not data.all():
        yield lengths


def buffer(array: Any, number: int, dtype: DType, more: int = 0) -> Array:
    """A buffer of an Arrow array as an array of the same length, or `more` elements longer."""
    memory, count = array.buffers()[number], len(array) + more
    if memory is None or not memory.size:
        return np.zeros(count, dtype)
    return np.frombuffer(memory, dtype, count, array.offset * dtype.itemsize)
