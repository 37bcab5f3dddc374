"""Sorting the rows of column libraries."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _library as lib
from ._keys import (
    NAN_POLICIES,
    Array,
    Column,
    DType,
    at_position,
    column_of,
    like,
    names_of,
    pack,
    refuse_missing,
    resolve,
    signed,
)
from ._library import RecsortError, quoted
from ._sorter import INDEX_BITS, Engine, address

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._keys import Keys


def argsort_columns(
    columns: Any,
    by: Keys = None,
    *,
    descending: bool | Sequence[bool] = False,
    nan: str = 'last',
    nulls: str = 'last',
    threads: int = 0,
    plugin: str | None = None,
    algorithm: str | None = None,
    plugin_options: Mapping[str, str] | None = None,
    verify: str = 'default',
) -> NDArray[np.intp]:
    """The indices, an array of `intp`, that sort rows stably by columns, the most significant first.

    `columns` is a sequence of columns, a table, or one column. A column is an array of one dimension,
    or anything that hands out Arrow data by the PyCapsule interface, such as a column of pyarrow,
    Polars or pandas; pyarrow then has to be installed. A table, such as a relation of DuckDB, counts
    as its columns, and so does a dict; a structured array counts as its fields. `by` chooses columns by
    their names, or by their positions from 0; `"-mag"` descends. Text sorts by code point, and takes as much
    memory as if each were the longest. Categories sort by their values, or by their places if Arrow
    calls them ordered.

    `descending` is for all columns, or for each. `nan` is as for `sort`. `nulls`, "last" or "first",
    says where Arrow's nulls go, also where a column descends.
    Raises RecsortError if columns differ in length or hold what has no order, and MemoryError.
    """
    lib.choice(nan, 'nan', NAN_POLICIES)
    lib.choice(nulls, 'nulls', ('last', 'first'))
    engine = Engine(threads, plugin, algorithm, plugin_options, verify)
    with reading('the table'):
        names, columns = listed(columns)
    one_for_all = isinstance(descending, (bool, int, str, np.bool_))
    if by is not None:
        if not one_for_all or lib.flag(descending, 'descending'):
            raise RecsortError('by says itself what descends: leave descending out')
        picked = chosen(names, names_of(by, 'by'), len(columns))
        columns, descending = [columns[at] for at, _ in picked], [down for _, down in picked]
        one_for_all = False
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
    return order_of(keys, engine)


def chosen(names: Sequence[Any], by: Sequence[str], positions: int) -> list[tuple[int, bool]]:
    """Which columns keys name, and whether they descend. The first `positions` names may be numbers."""
    texts = [str(name) if isinstance(name, (int, np.integer)) else name for name in names]
    found = []
    for text in by:
        for name, descending in signed(text):
            if texts.count(name) > 1:
                raise RecsortError(f'{quoted(name)} names more than one column')
            if name in texts:
                found.append((texts.index(name), descending))
                break
        else:
            name, descending = signed(text)[-1]
            if at_position(names[:positions], name) is None:
                raise RecsortError(f'no column {quoted(text)}{like(text, texts)}')
            found.append((int(name), descending))
    return found


def order_of(keys: Sequence[Column], engine: Engine) -> NDArray[np.intp]:
    """The indices that sort rows by arrays, the most significant first."""
    lengths = sorted({len(key.values) for key in keys})
    if len(lengths) != 1:
        raise RecsortError(f'columns have different lengths: {lengths}')
    packed, parts = pack(keys, lengths[0])
    index = np.empty(lengths[0], np.intp)
    handle = engine.for_parts(packed.dtype.itemsize, parts)
    lib.argsort(handle, address(packed), len(index), address(index), INDEX_BITS)
    return index


@contextlib.contextmanager
def reading(name: str) -> Iterator[None]:
    """Raises what the library of a column refuses in the way of this package."""
    try:
        yield
    except (MemoryError, ImportError):
        raise
    except RecsortError as error:
        raise RecsortError(f'{name}: {error}') from None
    except Exception as error:
        raise RecsortError(f'{name} cannot be read: {lib.one_line(error)}') from error


def exports(a: Any) -> bool:
    """Whether this is Arrow data. NumPy's arrays are taken as they are."""
    kinds = ('stream', 'array')
    return not isinstance(a, np.ndarray) and any(hasattr(a, f'__arrow_c_{kind}__') for kind in kinds)


def listed(columns: Any) -> tuple[Sequence[Any], Sequence[Any]]:
    """The names of columns and these, also of a table, whose length would be that of its rows."""
    if exports(columns):
        chunks = chunks_of(columns)
        if is_struct(chunks):
            return [field.name for field in chunks.type], list(chunks.flatten())
        return '0', [chunks]
    if isinstance(columns, Mapping):
        return list(columns), list(columns.values())
    if hasattr(columns, '__array__') and getattr(columns, 'ndim', 0) == 1:
        columns = np.asanyarray(columns)  # of torch, or of pandas 2, which has no Arrow interface
    if isinstance(columns, np.ndarray) and columns.ndim == 1 and not columns.dtype.hasobject:
        names = columns.dtype.names
        return ('0', [columns]) if names is None else (names, [columns[name] for name in names])
    found = list(columns)
    return [str(at) for at in range(len(found))], found


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
    found = pa.array(column)
    return found if isinstance(found, pa.ChunkedArray) else pa.chunked_array([found])


def is_struct(chunks: Any) -> bool:
    from pyarrow import types

    return bool(types.is_struct(chunks.type))


def arrow_arrays(chunks: Any) -> Iterator[Any]:
    """The columns of a table or struct, or a column itself; without dictionaries and views."""
    import pyarrow as pa
    from pyarrow import types

    if is_struct(chunks):
        for field in chunks.flatten():
            yield from arrow_arrays(field)
    elif types.is_dictionary(chunks.type) and not len(chunks):
        yield pa.nulls(0)  # pyarrow cannot join some dictionaries of no rows
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
