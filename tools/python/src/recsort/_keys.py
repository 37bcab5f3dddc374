"""Which bytes of a record decide its order: from NumPy's dtypes to the types of the library."""

from __future__ import annotations

import difflib
import math
import re
import sys
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Union

import numpy as np

from . import _library as lib
from ._library import RecsortError, quoted

Array = np.ndarray[Any, Any]
DType = np.dtype[Any]
Keys = Union[None, str, int, Sequence[Union[str, int]]]

NAN_POLICIES = ('last', 'first', 'total', 'error')
NUMPY_TYPES = 24  # NumPy numbers its own types below this; those of other packages lie outside
# The types of ml_dtypes that the library has too, by the same names, and those that are two of them.
ML_TYPES = [name for name in lib.TYPES if re.fullmatch(r'bfloat16|float[468]_\w+|u?int[124]', name)]
PAIRS = {'complex32': 'float16', 'bcomplex32': 'bfloat16'}
INDEX = re.compile(r'\[(\d+(?:,\s*\d+)*)\]')


class Key(NamedTuple):
    """A value of a record, of a dtype without fields, that decides the order."""

    path: str
    dtype: DType
    offset: int
    descending: bool


class Part(NamedTuple):
    """A value that the library compares. A key has one or several."""

    offset: int
    type: str
    size: int
    endian: int
    descending: bool
    nan: str

    def overlaps(self, other: Part) -> bool:
        return self.offset < other.offset + other.size and other.offset < self.offset + self.size


class Column(NamedTuple):
    """An array that decides the order of the rows that it belongs to."""

    values: Array
    descending: bool
    nan: str = 'last'


def find(dtype: DType, path: str, offset: int = 0) -> tuple[DType, int] | None:
    """The dtype and the offset of what `path`, such as ".stats[2].hp", names."""
    if not path:
        return dtype, offset
    index = INDEX.match(path)
    if dtype.subdtype and index:
        base, shape = dtype.subdtype
        place = [int(number) for number in index[1].split(',')]
        if len(place) > len(shape) or any(at >= size for at, size in zip(place, shape)):
            return None
        rest = shape[len(place) :]
        element = np.dtype((base, rest)) if rest else base
        number = int(np.ravel_multi_index(place, shape[: len(place)]))
        return find(element, path[index.end() :], offset + number * element.itemsize)
    # Names may contain anything, so the longest one that leads to a field is meant.
    for name in sorted(dtype.names or (), key=len, reverse=True):
        if path.startswith('.' + name):
            inner, at = dtype.fields[name][:2]  # type: ignore[index]
            found = find(inner, path[1 + len(name) :], offset + at)
            if found:
                return found
    return None


def leaves(dtype: DType, offset: int) -> Iterator[tuple[DType, int]]:
    """The values in a dtype, those of subarrays in C order."""
    if dtype.subdtype:
        base, shape = dtype.subdtype
        for number in range(math.prod(shape)):
            yield from leaves(base, offset + number * base.itemsize)
    elif dtype.names is not None:
        for name in dtype.names:
            inner, at = dtype.fields[name][:2]  # type: ignore[index]
            yield from leaves(inner, offset + at)
    elif dtype.itemsize:
        yield dtype, offset


def signed(text: str) -> list[tuple[str, bool]]:
    """What a key may mean, with whether it descends: `-x` is first of all a name."""
    return [(text, False), *([(text[1:], True)] if text.startswith('-') else [])]


def at_position(names: Sequence[str], text: str) -> str | None:
    """The name at a position, counted from 0, that is written as a text."""
    number = int(text) if text.isascii() and text.isdigit() else len(names)
    return names[number] if number < len(names) else None


def split_key(dtype: DType, text: str) -> tuple[str, bool, DType, int]:
    """The path, whether it descends, and the dtype and offset of what a key names."""
    for path, descending in signed(text):
        found = find(dtype, '.' + path)
        if found:
            return path, descending, *found
    for path, descending in signed(text):
        name = at_position(dtype.names or (), path)
        if name is not None:
            return name, descending, *dtype.fields[name][:2]  # type: ignore[index]
    raise RecsortError(f'no field {quoted(text)}{like(text, dtype.names or ())}')


def like(text: str, names: Sequence[Any]) -> str:
    """A hint at the name that may be meant."""
    known = [name for name in names if isinstance(name, str)]
    found = difflib.get_close_matches(text.lstrip('-'), known, 1)
    return f'; did you mean {quoted(found[0])}?' if found else ''


def names_of(keys: Any, word: str = 'keys') -> list[str]:
    """The keys of an argument as a list of texts; positions become texts too."""
    single = isinstance(keys, (str, int, np.integer))
    return [name_of(key, word) for key in ([keys] if single else lib.sequence(keys, word))]


def given_names(keys: Any) -> list[str] | None:
    """The same; None, for everything, if no keys are given."""
    names = None if keys is None else names_of(keys)
    if names is not None and not any(names):
        raise RecsortError('keys is empty; leave it out to sort by everything')
    return names


def name_of(key: Any, word: str) -> str:
    if isinstance(key, str):
        return key
    if not isinstance(key, (int, np.integer)) or isinstance(key, bool):
        raise RecsortError(f'{word} has {lib.shown(key)}; give names, or positions from 0')
    if key < 0:
        how = f'write "{key}", as a text, to let {-key} descend'
        raise RecsortError(f'{word} has {key}; positions count from 0: {how}')
    return str(key)


def rows_of(base: DType, columns: int) -> DType:
    """A record that is a row of numbers: its fields are named by their positions."""
    return np.dtype([(str(column), base) for column in range(columns)])


def dtype_from(a: Any) -> DType:
    try:
        found: DType = np.dtype(a)
    except (TypeError, ValueError) as error:
        raise RecsortError(f'{lib.shown(a)} is no dtype: {lib.one_line(error)}') from None
    return found


def is_own(dtype: DType) -> bool:
    """Whether it is a type of NumPy, not of another package."""
    return 0 <= dtype.num < NUMPY_TYPES


def is_known(dtype: DType) -> bool:
    """Whether the order of its values is known here. What another package calls V may be anything."""
    if is_own(dtype):
        return True
    of_ml = dtype.type.__module__ == 'ml_dtypes'
    # In the other byte order, ml_dtypes swaps the halves of a pair in some calls and not in others.
    return of_ml and (dtype.name in ML_TYPES or (dtype.name in PAIRS and dtype.isnative))


def shown(dtype: DType) -> str:
    """A dtype for a message; ml_dtypes writes one of the other byte order as ">W4"."""
    return str(dtype) if dtype.isnative or is_own(dtype) else f'byte-swapped {dtype.name}'


def kind_of(dtype: DType) -> str:
    """NumPy's kind of a known type; ml_dtypes calls most of its own V."""
    if is_own(dtype):
        return dtype.kind
    return 'c' if dtype.name in PAIRS else 'f' if 'float' in dtype.name else 'i'


def resolve(dtype: DType, keys: Keys, reverse: bool) -> list[Key]:
    """The values that keys name, most significant first; all of them by default."""
    if keys is None:
        named = [('', False, dtype, 0)]
    else:
        named = [split_key(dtype, text) for text in names_of(keys)]
    found: dict[tuple[DType, int], Key] = {}
    for path, descending, inner, offset in named:
        for leaf, at in leaves(inner, offset):
            if leaf.kind == 'O':
                of = f'field {quoted(path)} holds' if path else 'the records hold'
                raise RecsortError(f'{of} Python objects, which have no order here')
            if not is_known(leaf):
                raise RecsortError(f'values of dtype {shown(leaf)} have no order here; convert them')
            # A value that comes again decides nothing.
            found.setdefault((leaf, at), Key(path, leaf, at, descending != reverse))
    return list(found.values())


def is_extended(dtype: DType) -> bool:
    """Whether it is a longdouble, or complex of such, that no type of the library holds."""
    return (dtype.kind == 'f' and dtype.itemsize > 8) or (dtype.kind == 'c' and dtype.itemsize > 16)


def types_of(dtype: DType) -> list[tuple[str, int]]:
    """The types of the library that a dtype without fields is made of, with their sizes."""
    size = dtype.itemsize
    if dtype.name in PAIRS:
        return [(PAIRS[dtype.name], size // 2)] * 2
    if not is_own(dtype):
        return [(dtype.name, size)]
    if dtype.kind == 'b':
        return [('bool', 1)]
    if dtype.kind in 'iuf':
        return [({'i': 'int', 'u': 'uint', 'f': 'float'}[dtype.kind] + str(8 * size), size)]
    if dtype.kind == 'c':
        return [(f'float{4 * size}', size // 2)] * 2
    if dtype.kind in 'Mm':  # of any unit: they differ in how they are written
        return [('datetime_ns', 8)]
    if dtype.kind == 'U' and endian_of(dtype) == lib.LITTLE:
        return [('uint32', 4)] * (size // 4)
    if dtype.kind in 'SVU':  # the bytes of big-endian code points have their order
        return [('bytes', size)]
    raise RecsortError(f'values of dtype {dtype} cannot be sorted')


def endian_of(dtype: DType) -> int:
    order = dtype.byteorder
    return lib.BIG if order == '>' or (order == '=' and sys.byteorder == 'big') else lib.LITTLE


def parts_of(dtype: DType, offset: int, descending: bool, nan: str) -> Iterator[Part]:
    for name, size in types_of(dtype):
        may_miss = 'float' in name or name == 'datetime_ns'
        policy = nan if may_miss and nan != 'error' else 'last'
        yield Part(offset, name, size, endian_of(dtype), descending, policy)
        offset += size


def direct_parts(keys: Sequence[Key], nan: str) -> list[Part] | None:
    """What the library compares in the records themselves; None if their keys have to be copied."""
    if not keys or any(is_extended(key.dtype) for key in keys):
        return None
    parts = [part for key in keys for part in parts_of(*key[1:], nan)]
    in_memory = sorted(parts)
    overlap = any(map(Part.overlaps, in_memory, in_memory[1:]))
    return None if overlap else parts


def column_of(records: Array, key: Key) -> Array:
    """The values of a key, as a view."""
    whole = records if records.dtype.hasobject else raw(records)
    return whole.getfield(key.dtype, key.offset)


def raw(records: Array) -> Array:
    """The same records as bytes, so that padding is copied too."""
    return records.view(np.dtype((np.void, records.dtype.itemsize)))


def missing(column: Column) -> Any:
    """Which values are NaN or NaT."""
    kind = kind_of(column.values.dtype)
    if kind in 'fc':
        with np.errstate(invalid='ignore'):  # ml_dtypes finds a signalling NaN invalid
            return np.isnan(column.values)
    return np.isnat(column.values) if kind in 'Mm' else np.zeros(column.values.shape, bool)


def refuse_missing(column: Column, path: str) -> None:
    if column.nan == 'error':
        found = missing(column)
        if found.any():
            of = f' of key {quoted(path)}' if path else ''
            value = column.values[found.argmax()]
            raise RecsortError(f'record {found.argmax()}: the value{of} is {value}')


def is_plain(column: Column) -> bool:
    """Whether the library's order of such values is the one that is wanted."""
    dtype = column.values.dtype
    if is_extended(dtype):
        return False
    return kind_of(dtype) != 'c' or column.nan == 'total' or not missing(column).any()


def plain(column: Column) -> list[Column]:
    """Columns of the same order, all of which are plain."""
    if is_plain(column):
        return [column]
    values, descending, nan = column
    if values.dtype.name in PAIRS:
        with np.errstate(invalid='ignore'):
            values = values.astype(np.complex64)
    # First whether a value is NaN: NumPy puts those of which a part is NaN behind all others.
    nan_first = nan == 'first'
    halves = [values.real, values.imag] if values.dtype.kind == 'c' else [values]
    classes = sum(np.isnan(half) * np.uint8(1 << at) for at, half in enumerate(halves[::-1]))
    parts = [Column(np.asarray(classes, np.uint8), nan_first)]
    for half in halves:
        extended = is_extended(half.dtype)
        for part in split_extended(half, nan) if extended else [half]:
            parts.append(Column(part, descending, nan))
    return parts


def split_extended(values: Array, nan: str) -> Iterator[Array]:
    """The sign and exponent of longdoubles, and what float64 parts their fractions are the sum of."""
    if nan == 'total':
        raise RecsortError('nan="total" is not for longdouble')
    finite = np.isfinite(values)
    fraction, exponent = np.frexp(np.where(finite, values, 0))
    exponent = np.where(finite, exponent + (1 << 20), 1 << 21)  # positive; infinity's is greatest
    yield np.where(np.isnan(values), 0, np.sign(values)).astype(np.int32) * exponent
    for _ in range(-(-(np.finfo(values.dtype).nmant + 1) // 53)):
        part = fraction.astype(np.float64)
        yield part
        fraction = fraction - part


def is_direct(key: Key, nan: str) -> bool:
    """Whether the library's order of such values is the one that is wanted, whatever they are."""
    absent = np.nan if kind_of(key.dtype) == 'c' else 0
    return is_plain(Column(np.full(1, absent).astype(key.dtype), key.descending, nan))


def pack(columns: Sequence[Column], count: int) -> tuple[Array, list[Part]]:
    """Records of the columns' values and nothing else, and what to compare in them."""
    columns = [part for column in columns for part in plain(column)]
    if not columns:  # all records are equal
        columns = [Column(np.zeros(count, np.uint8), False)]
    if len(columns) == 1 and columns[0].values.flags.c_contiguous:
        packed = columns[0].values
    else:
        packed = np.empty(count, [(str(at), column.values.dtype) for at, column in enumerate(columns)])
        for at, column in enumerate(columns):
            packed[str(at)] = column.values
    parts: list[Part] = []
    for column, (dtype, offset) in zip(columns, leaves(packed.dtype, 0)):
        parts += parts_of(dtype, offset, column.descending, column.nan)
    return packed, parts
