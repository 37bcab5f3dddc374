"""Sorting tables of column libraries, each as its own library sorts them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from . import _library as lib
from ._columns import chosen, chunks_of, is_struct, order_of, reading, split
from ._keys import Array, Column, names_of
from ._library import RecsortError, quoted
from ._sorter import Engine

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._keys import Keys

Frame = TypeVar('Frame')

# What DuckDB's Arrow data has as another type, of which a cast makes the same value again.
CAST_BACK = ('enum', 'hugeint', 'uhugeint', 'uuid')
REFUSED = 'this has no order here; convert it'
# Objects that pandas compares as Arrow does: no mixture, no float.
OBJECTS = ('string', 'bytes', 'boolean', 'integer', 'date', 'empty')


class Table(NamedTuple):
    """What is asked of a table: of any library, and only here."""

    names: list[Any]
    column: Callable[[int], Any]
    take: Callable[[NDArray[np.intp]], Any]
    positions: int  # how many of the names have one: an index of pandas has none


def sort_table(
    frame: Frame,
    by: Keys,
    *,
    nulls: str = 'last',
    threads: int = 0,
    plugin: str | None = None,
    algorithm: str | None = None,
    plugin_options: Mapping[str, str] | None = None,
    verify: str = 'default',
) -> Frame:
    """The rows of a table sorted stably by columns, the most significant first, as a new table.

    `frame` is a DataFrame of pandas or Polars, a Table or RecordBatch of pyarrow, a relation of DuckDB,
    or a dict of arrays, all of one length; the result is one too. `by` are names of columns, or their
    positions from 0; `"-mag"` descends. Of pandas they may also be names of index levels, and the rows
    keep their index.

    The order is that of the library's own stable sort: pandas orders categories as they are listed,
    whereas Polars orders those of an Enum so, and others by their text. `nulls`, "last" or "first",
    says where nulls go, also where a column descends. With them goes NaN, which is null in pandas; but
    Polars and DuckDB have it greater than any number. All but numbers and times takes pyarrow.

    `threads`, `plugin`, `algorithm`, `plugin_options` and `verify` are those of Sorter. The GIL is released while
    the rows are sorted. Raises RecsortError, which names the column and its dtype, for what has no
    order, such as lists, structs and mixed objects, and MemoryError.
    """
    lib.choice(nulls, 'nulls', ('last', 'first'))
    engine = Engine(threads, plugin, algorithm, plugin_options, verify)
    texts = names_of(by, 'by')
    if not texts:
        raise RecsortError('by is empty; name a column')
    table = table_of(frame)
    keys: list[Column] = []
    for at, descending in chosen(table.names, texts, table.positions):
        name, column = quoted(str(table.names[at])), table.column(at)
        with reading(f'column {name} of dtype {dtype_of(column)}'):
            keys += keys_of(column, descending, nulls)
    return table.take(order_of(keys, engine))  # type: ignore[no-any-return]


def is_a(a: Any, module: str, *names: str) -> bool:
    """Whether `a` is of a library's class, without importing the library."""
    found = sys.modules.get(module)
    return any(isinstance(a, getattr(found, name, ())) for name in names)


def table_of(frame: Any) -> Table:
    if is_a(frame, 'pandas', 'DataFrame'):
        return of_pandas(frame)
    if is_a(frame, 'polars', 'DataFrame'):
        columns = frame.columns
        return Table(columns, frame.to_series, lambda order: frame[order], len(columns))
    if is_a(frame, 'pyarrow', 'Table', 'RecordBatch'):
        names = frame.schema.names
        return Table(names, frame.column, frame.take, len(names))
    if is_a(frame, 'duckdb', 'DuckDBPyRelation'):
        return of_duckdb(frame)
    if isinstance(frame, Mapping):
        return of_arrays(frame)
    lazy = is_a(frame, 'polars', 'LazyFrame')
    hint = 'collect it first' if lazy else 'sort sorts arrays, argsort_columns finds the order of rows'
    raise RecsortError(f'a {type(frame).__name__} is no table that can be given back sorted; {hint}')


def of_pandas(frame: Any) -> Table:
    width, levels = frame.shape[1], list(frame.index.names)

    def column(at: int) -> Any:
        return frame.iloc[:, at] if at < width else frame.index.get_level_values(at - width)

    return Table([*frame.columns, *levels], column, frame.take, width)


class OfDuckDB(NamedTuple):
    """A column of DuckDB as Arrow data, with its type."""

    values: Any
    type: Any


def of_duckdb(relation: Any) -> Table:
    import duckdb

    with reading('the relation'):
        table = relation.to_arrow_table()
    names, types = relation.columns, relation.types

    def column(at: int) -> Any:
        return OfDuckDB(table.column(at), types[at])

    def take(order: Array) -> Any:
        found = duckdb.from_arrow(table.take(order))
        if found.types == types:
            return found
        casts = []
        for name, own, other in zip(names, types, found.types):
            if own != other and own.id not in CAST_BACK:
                raise RecsortError(
                    f'column {quoted(name)} of dtype {own}: Arrow has it as {other}; cast it'
                )
            text = '"' + name.replace('"', '""') + '"'
            casts.append(text if own == other else f'cast({text} as {own}) as {text}')
        return found.project(', '.join(casts))

    return Table(names, column, take, len(names))


def of_arrays(arrays: Mapping[Any, Any]) -> Table:
    names, columns = list(arrays), list(arrays.values())
    for name, column in zip(names, columns):
        if not (
            isinstance(column, np.ndarray) and column.ndim or is_series(column) or is_arrow(column)
        ):
            raise RecsortError(f'column {quoted(str(name))} is a {type(column).__name__}, not an array')
        if len(column) != len(columns[0]):
            counts = f'{len(column)} rows, {quoted(str(names[0]))} {len(columns[0])}'
            raise RecsortError(f'column {quoted(str(name))} has {counts}')

    def take(order: Array) -> Any:
        return {name: taken(column, order) for name, column in zip(names, columns)}

    return Table(names, columns.__getitem__, take, len(names))


def is_series(a: Any) -> bool:
    return is_a(a, 'pandas', 'Series', 'Index') or is_a(a, 'polars', 'Series')


def is_arrow(a: Any) -> bool:
    return is_a(a, 'pyarrow', 'Array', 'ChunkedArray')


def taken(column: Any, order: Array) -> Any:
    by_index = isinstance(column, np.ndarray) or is_a(column, 'polars', 'Series')
    return column[order] if by_index else column.take(order)


def dtype_of(column: Any) -> Any:
    found = getattr(column, 'dtype', None)
    return getattr(column, 'type', None) if found is None else found


# ---- Columns ----------------------------------------------------------------------------------


def keys_of(column: Any, descending: bool, nulls: str) -> list[Column]:
    """The arrays that have the order of a column in its own library."""
    nan = nulls
    if is_a(column, 'pandas', 'Series', 'Index'):
        return keys_of_pandas(column, descending, nulls)
    if is_a(column, 'polars', 'Series') or isinstance(column, OfDuckDB):
        nan = 'first' if descending else 'last'  # it is greater than all numbers
    if is_a(column, 'polars', 'Series'):
        if column.dtype == sys.modules['polars'].Object:
            raise RecsortError(REFUSED)
        if getattr(column.dtype, 'ordering', None) == 'physical':  # before Polars 1.32
            column = column.to_physical()
    if isinstance(column, OfDuckDB):
        column = by_place(column.values) if column.type.id == 'enum' else column.values
    if not isinstance(column, np.ndarray):
        column = chunks_of(column)
        if is_struct(column):
            raise RecsortError(REFUSED)
    return list(split(column, descending, nan, nulls))


def by_place(chunks: Any) -> Any:
    """Arrow's categories as the numbers of their places."""
    import pyarrow as pa

    places = [chunk.indices for chunk in chunks.unify_dictionaries().chunks]
    return pa.chunked_array(places, chunks.type.index_type)


def keys_of_pandas(column: Any, descending: bool, nulls: str) -> list[Column]:
    """The same for a column of pandas, in which NaN, NaT and None are null."""
    import pandas

    values, dtype, missing = column.array, column.dtype, None
    if hasattr(values, 'asi8'):  # times, of any zone, and periods
        values = np.asarray(values.asi8).view('M8[s]')
    elif isinstance(dtype, pandas.CategoricalDtype):
        values = values.codes
        missing = values < 0
    elif isinstance(dtype, (pandas.SparseDtype, pandas.IntervalDtype)):
        raise RecsortError(REFUSED)
    elif dtype == object or not isinstance(dtype, np.dtype):
        values = arrow_of_pandas(column)
    else:
        values = values.to_numpy()
        missing = np.isnan(values) if dtype.kind == 'c' else None  # null if one part is NaN
    if missing is None:
        return list(split(values, descending, nulls, nulls))
    flags = Column(missing.view(np.uint8), nulls == 'first')
    return [flags, Column(np.where(missing, values.dtype.type(0), values), descending)]


def arrow_of_pandas(column: Any) -> Any:
    """Text, objects and the types of pandas that have a mask, as Arrow data."""
    import pandas
    import pyarrow as pa
    import pyarrow.compute

    if column.dtype == object:
        if pandas.api.types.infer_dtype(column, skipna=True) not in OBJECTS:
            raise RecsortError(REFUSED)
        return pa.array(column.to_numpy(), from_pandas=True)
    found = chunks_of(column.array)
    if pa.types.is_nested(found.type) or pa.types.is_dictionary(found.type):
        raise RecsortError(REFUSED)
    if pa.types.is_floating(found.type) and pa.compute.any(pa.compute.is_nan(found)).as_py():
        raise RecsortError('NaN beside nulls has no one place in pandas; make it null')
    return found
