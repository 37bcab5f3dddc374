"""Schemas: what a record looks like, for Sorter and for programs in other languages."""

from __future__ import annotations

import math
import os
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _library as lib
from ._keys import (
    ML_TYPES,
    DType,
    dtype_from,
    endian_of,
    find,
    is_extended,
    is_known,
    kind_of,
    leaves,
    names_of,
    shown,
    split_key,
    types_of,
)
from ._library import RecsortError, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import DTypeLike

Node = dict[str, Any]  # a mapping of the schema language

# The formats of dtypes; others are "i", "u" or "f" and the size.
VOID = ['bytes', 'uuid', 'ipv4', 'ipv6', 'mac', 'int128', 'uint128', *ML_TYPES]
VOID += [f'{sign}int{bits}' for sign in ('', 'u') for bits in (24, 40, 48, 56)]
STRINGS = ('char', 'cstring', 'bytes')  # their count is their length
FORMATS = {'char': 'S', 'cstring': 'S', **dict.fromkeys(VOID, 'V')}
NAT = -(1 << 63)
NAME = re.compile('[^.[\\]\x00-\x1f\x7f-\x9f\ud800-\udfff]+')
# The words of recsort_place_kind, from 1; those of a list may have several places.
PLACES = ('skip', 'line', 'lines', 'count', 'length', 'after', 'size', 'heap', 'expect')
LISTS = ('count', 'length', 'after', 'expect')
COMPUTED = ('distance', 'morton', 'hilbert', 'dot')


class Schema:
    """A record's fields and the keys that order it, as docs/schema.md of recsort describes them.

    Make one with `from_yaml` or `from_dtype`. A schema does not change, and threads may share it.
    """

    def __init__(self, handle: lib.Handle) -> None:
        self._handle = handle

    @classmethod
    def from_yaml(cls, source: str | os.PathLike[str]) -> Schema:
        """The schema of a YAML text (a `str`) or of a file (a `pathlib.Path`).

        Raises RecsortError with the line and column of what is wrong.
        """
        if isinstance(source, os.PathLike):
            return cls(lib.Handle(lib.schema_load_file, lib.schema_destroy, os.fsencode(source), None))
        text = lib.text(source)
        if '\n' not in source and source.endswith(('.yaml', '.yml')):
            raise RecsortError(
                f'a str is the text of a schema; name a file by pathlib.Path({source!r})'
            )
        return cls(
            lib.Handle(lib.schema_load_memory, lib.schema_destroy, text, len(text), b'schema', None)
        )

    @classmethod
    def from_dtype(
        cls,
        dtype: DTypeLike,
        keys: str | int | Sequence[str | int] = (),
        *,
        nan: str = 'last',
        name: str = 'record',
    ) -> Schema:
        """The schema of records of a structured dtype; `keys` and `nan` are as for `sort`.

        The language of schemas lacks some types of NumPy. timedelta64, and datetime64 of other units
        than D, s, ms, us and ns, become int64 of which the least value is null: NaT; complex becomes a
        struct of `real` and `imag`; a `U` string becomes an array of uint32; longdouble, and types of other
        packages that have no order here, become bytes and are no keys. A complex number is no key either: give
        its halves, such as `z.real` and `z.imag`. A struct becomes a key for each of its values.
        A field is left out if it has no bytes, or a name that the language lacks: with `.`, `[`, `]` or a
        control character; it is no key. Raises RecsortError if a field overlaps another one or holds
        Python objects.
        """
        dtype = dtype_from(dtype)
        if dtype.names is None:
            raise RecsortError(f'a schema describes a structured dtype, not {dtype}')
        lib.choice(nan, 'nan', lib.NAN)
        named = written(dtype)
        nodes: dict[str, Node] = {}
        for text in names_of(keys):
            for path, descending, leaf in keys_of(dtype, named, text):
                node = {'field': quoted(path), 'order': 'desc' if descending else 'asc'}
                node = {**node, 'nan': nan} if kind_of(leaf.base) in 'fMm' else node
                nodes.setdefault(path, node)  # a value that comes again decides nothing
        if not named.names:
            raise RecsortError('no field has bytes and a name that a schema can have')
        lib.text(name)
        head = {'record': quoted(name)}
        try:
            return cls.from_yaml(write(head, dtype.itemsize, fields_of_dtype(named), [*nodes.values()]))
        except RecsortError as error:  # of a text that the caller has not seen
            raise RecsortError(re.sub(r'^schema:\d+:\d+: ', '', str(error))) from None

    @property
    def name(self) -> str:
        """The record's name."""
        return str(self._desc().record, 'utf-8')

    @property
    def skip(self) -> int:
        """Bytes of a file before the first record; 0 if its header says."""
        return int(self._desc().skip)

    @property
    def trailer(self) -> int:
        """Bytes of a file after the last record; 2**64 - 1: any."""
        return int(self._desc().trailer)

    @property
    def dtype(self) -> DType:
        """The structured dtype of the records, for `numpy.memmap` and `numpy.frombuffer`.

        An enum becomes its integer, a bitfield the integer that holds it; `bytes`, `uuid` and other types
        that NumPy lacks, such as `bfloat16` and `int24`, become `V`, whose bytes do not have their order.
        """
        desc = self._desc()
        return dtype_of(desc.fields[: desc.field_count], desc.size)

    def to_yaml(self) -> str:
        """The schema as a YAML text that `from_yaml` and the command `recsort` read.

        Every field has its offset. Padding at the end of a nested struct becomes a field.
        """
        desc = self._desc()
        head = {'record': quoted(desc.record), **file_of_schema(desc)}
        computed = {
            value.name: computed_of_schema(value) for value in desc.computed[: desc.computed_count]
        }
        keys = [key_of_schema(key, computed) for key in desc.keys[: desc.key_count]]
        fields = fields_of_schema(desc.fields[: desc.field_count])
        return write(head, desc.size, fields, keys)

    def __reduce__(self) -> Any:
        """A schema is pickled as its text."""
        return Schema.from_yaml, (self.to_yaml(),)

    def __repr__(self) -> str:
        return f'<recsort.Schema {self.name!r}, {self.dtype.itemsize} bytes>'

    def _desc(self) -> Any:
        return lib.schema_describe(self._handle).contents


def dtype_of(fields: Sequence[Any], size: int) -> DType:
    """The dtype of a record or struct with these fields of the library."""
    fields = [field for field in fields if lib.TYPES[field.type - 1] != 'bitfield']
    formats: list[Any] = [format_of(field) for field in fields]
    shaped = [(one, (field.count,)) if field.count else one for one, field in zip(formats, fields)]
    names, offsets = [field.name.decode() for field in fields], [field.offset for field in fields]
    return np.dtype({'names': names, 'formats': shaped, 'offsets': offsets, 'itemsize': size})


def format_of(field: Any) -> Any:
    name = lib.TYPES[field.type - 1]
    if name == 'struct':
        return dtype_of(field.fields[: field.field_count], field.size)
    if name == 'enum':
        name = lib.TYPES[field.base - 1]
    if name == 'bool':
        return '?'
    order = '>' if field.endian == lib.BIG else '<'
    if name.startswith('datetime_'):
        unit = name.removeprefix('datetime_')
        return f'{order}M8[{"D" if unit == "d" else unit}]'
    return FORMATS.get(name, order + name[0]) + str(field.size)


# ---- Nodes of the text ------------------------------------------------------------------------


def written(dtype: DType, whole: bool = False) -> DType:
    """The same dtype as a schema has it: complex numbers are structs.

    Fields that the language cannot describe, by their names or without bytes, are kept only if `whole`.
    """
    if dtype.subdtype:
        return np.dtype((written(dtype.base, whole), dtype.shape))
    if dtype.names is None:
        if not is_known(dtype) or is_extended(dtype) or kind_of(dtype) != 'c':
            return dtype
        half = np.dtype(types_of(dtype)[0][0]).newbyteorder(dtype.byteorder)
        return np.dtype([('real', half), ('imag', half)])
    fields = [(name, *dtype.fields[name][:2]) for name in dtype.names]  # type: ignore[index]
    kept = [one for one in fields if whole or (one[1].itemsize and NAME.fullmatch(one[0]))]
    names, formats, offsets = ([one[at] for one in kept] for at in range(3))
    formats = [written(one, whole) for one in formats]
    return np.dtype(
        {'names': names, 'formats': formats, 'offsets': offsets, 'itemsize': dtype.itemsize}
    )


def keys_of(dtype: DType, named: DType, text: str) -> list[tuple[str, bool, DType]]:
    """The paths in a schema of what a key names, whether they descend, and their dtypes.

    `named` is the written dtype.
    """
    path, descending, leaf, offset = split_key(written(dtype, whole=True), text)
    key = f'key {quoted(path)}'
    if not leaf.itemsize:
        raise RecsortError(f'{key}: the field has no bytes and orders nothing; leave it out')
    found = list(paths(named, offset, offset + leaf.itemsize))
    size = sum(one.itemsize for one, _ in leaves(leaf, 0))
    if not find(named, '.' + path) or sum(inner.itemsize for _, inner in found) < size:
        raise RecsortError(f'{key}: a schema has no names with . [ ] or control characters')
    own = find(dtype, '.' + path) or (leaf, offset)  # half of a complex number is no field of it
    for one, _ in leaves(*own):
        if not is_known(one) or is_extended(one):
            raise RecsortError(f'{key}: a schema has no order of {shown(one)}')
        if kind_of(one) == 'c':
            raise RecsortError(
                f'{key}: a schema has no order of {one}; name its halves, with .real and .imag'
            )
    return [(place, descending, inner) for place, inner in found]


def paths(dtype: DType, least: int, end: int, path: str = '') -> Iterator[tuple[str, DType]]:
    """The values of a written dtype in a range of bytes, as a schema names them."""
    if least >= dtype.itemsize or end <= 0:
        return
    if dtype.names is not None:
        for name in dtype.names:
            inner, at = dtype.fields[name][:2]  # type: ignore[index]
            yield from paths(inner, least - at, end - at, f'{path}.{name}' if path else name)
        return
    base = dtype.base
    wrapped = '.value' if dtype.subdtype and 'count' in type_of_dtype(base) else ''
    if dtype.subdtype and (wrapped or base.names or least > 0 or end < dtype.itemsize):
        for number in range(math.prod(dtype.shape)):
            at = number * base.itemsize
            yield from paths(base, least - at, end - at, f'{path}[{number}]{wrapped}')
        return
    yield path, dtype


def fields_of_dtype(dtype: DType) -> list[Node]:
    """The fields of a structured dtype."""
    fields = [(name, *dtype.fields[name][:2]) for name in dtype.names or ()]  # type: ignore[index]
    return [
        {'name': quoted(name), 'offset': offset, **type_of_dtype(inner)}
        for name, inner, offset in fields
    ]


def type_of_dtype(dtype: DType) -> Node:
    kind, size = dtype.kind, dtype.itemsize
    if dtype.subdtype:
        inner, count = type_of_dtype(dtype.base), math.prod(dtype.shape)
        if 'count' not in inner:
            return {**inner, 'count': count}
        return {'type': 'struct', 'count': count, 'fields': [{'name': 'value', 'offset': 0, **inner}]}
    if dtype.names is not None:
        return {'type': 'struct', 'fields': padded(fields_of_dtype(dtype), dtype)}
    if issubclass(dtype.type, (np.void, np.bytes_)) or is_extended(dtype) or not is_known(dtype):
        return {'type': 'char' if kind == 'S' else 'bytes', 'count': size}
    endian = {'endian': 'big'} if endian_of(dtype) == lib.BIG and kind != 'b' else {}
    if kind == 'U':
        return {'type': 'uint32', 'count': size // 4, **endian}
    if kind in 'Mm':
        unit, step = np.datetime_data(dtype)
        name = f'datetime_{unit.lower()}'
        if kind == 'M' and step == 1 and name in lib.TYPE:
            return {'type': name, **endian}
        return {'type': 'int64', 'null': NAT, **endian}
    return {'type': types_of(dtype)[0][0], **endian}


def fields_of_schema(fields: Sequence[Any]) -> list[Node]:
    return [{'name': quoted(field.name), **type_of_field(field)} for field in fields]


def type_of_field(field: Any) -> Node:
    name = lib.TYPES[field.type - 1]
    if name == 'bitfield':
        return {'type': name, 'base': quoted(field.bit_base), 'bit': field.bit, 'width': field.width}
    node: Node = {'type': name, 'offset': field.offset}
    count = field.size if name in STRINGS else field.count
    if count:
        node['count'] = count
    if field.endian == lib.BIG and name not in (*STRINGS, 'struct'):
        node['endian'] = 'big'
    if name == 'struct':
        inner = field.fields[: field.field_count]
        node['fields'] = padded(fields_of_schema(inner), dtype_of(inner, field.size))
    if field.scale:
        node['scale'] = field.scale.decode()
    if field.null_count:
        mask = (1 << 64) - 1 if name == 'uint64' else -1
        node['null'] = [value & mask for value in field.nulls[: field.null_count]]
    if name == 'enum':
        node['base'] = lib.TYPES[field.base - 1]
        mask = (1 << 64) - 1 if node['base'] == 'uint64' else -1
        values = field.enumerators[: field.enumerator_count]
        node['values'] = [{'name': quoted(one.name), 'value': one.value & mask} for one in values]
    return node


def padded(fields: list[Node], dtype: DType) -> list[Node]:
    """The fields of a nested struct, which ends with a field: the language has no `size` for it."""
    names = dtype.names or ()
    places = [dtype.fields[name][:2] for name in names]  # type: ignore[index]
    end = max((offset + inner.itemsize for inner, offset in places), default=0)
    if end == dtype.itemsize:
        return fields
    name, taken = (
        'padding',
        {field['name'] for field in fields},
    )  # also of bitfields, which no dtype has
    while quoted(name) in taken:
        name += '_'
    count = dtype.itemsize - end
    return [*fields, {'name': quoted(name), 'type': 'bytes', 'offset': end, 'count': count}]


def key_of_schema(key: Any, computed: dict[bytes, Node]) -> Node:
    path = quoted(key.path)
    node = dict(computed.get(key.path) or {'field': path})
    if key.order:
        node['order'] = 'desc'
    if key.nan:
        node['nan'] = next(name for name, number in lib.NAN.items() if number == key.nan)
    return node


def computed_of_schema(value: Any) -> Node:
    """The word of a computed key and what it is computed from."""
    word, count = COMPUTED[value.compute - 1], value.coordinate_count
    paths = [quoted(path) for path in value.coordinates[:count]]
    given = {'distance': 'from', 'dot': 'with'}.get(word)
    if not given:
        least, most = value.origin[:count], value.limit[:count]
        return {word: {'fields': paths, 'bits': value.bits, 'min': least, 'max': most}}
    if value.parameter:
        return {word: {'fields': paths, given: quoted(value.parameter)}}
    return {word: {'fields': paths, given: value.origin[:count]}}


def file_of_schema(desc: Any) -> Node:
    """Where the records of a file are."""
    numbers = {'skip': desc.skip, 'count': desc.count, 'trailer': desc.trailer}
    found: Node = {word: number for word, number in numbers.items() if number}
    pad: Node = {'to': desc.pad_to, 'with': desc.pad_with}
    for at in desc.places[: desc.place_count]:
        word = PLACES[at.kind - 1]
        if word in LISTS:
            found.setdefault(word, []).append(place_of_schema(at))
        elif word == 'heap':
            pad[word] = place_of_schema(at)
        else:
            found['size' if word == 'size' else 'skip'] = place_of_schema(at)
    if desc.trailer == lib.ANY_TRAILER:
        found['trailer'] = 'any'
    if desc.pad_to:
        found['pad'] = pad
    if desc.zero_all:
        found['zero'] = 'all'
    if desc.repeat:
        found['repeat'] = 'true'
    return found


def place_of_schema(at: Any) -> Node:
    """A place of the file, as its word has it."""
    word = PLACES[at.kind - 1]
    if word == 'expect':
        return condition_of_schema(at.when[0])
    if not at.field:
        node: Node = {word if word.startswith('line') else 'word': quoted(at.word)}
    else:
        node = type_of_field(at.field[0])
        if at.behind:
            node['trailer'] = node.pop('offset')
    if at.unpadded:
        node['unpadded'] = 'true'
    node.update({'plus': at.plus} if at.plus else {})
    node.update({'unit': at.unit} if at.unit > 1 else {})
    node.update({'when': condition_of_schema(at.when[0])} if at.when else {})
    return node


def condition_of_schema(condition: Any) -> Node:
    if not condition.field:
        return {'line': [quoted(line) for line in condition.line_text.split(b'\n')]}
    field, count = condition.field[0], condition.alternative_count
    node = type_of_field(field)
    if node['type'] in STRINGS:
        texts = [condition.texts[at * field.size : (at + 1) * field.size] for at in range(count)]
        return {'offset': field.offset, 'bytes': [quoted(text) for text in texts]}
    if not count:
        return {**node, 'least': condition.least}
    signed = node['type'].startswith('int')
    values = [value if signed else value % (1 << 64) for value in condition.values[:count]]
    return {**node, 'value': values}


def flow(value: Any) -> str:
    """A node in one line of YAML. Its texts are words of the language, or quoted already."""
    if isinstance(value, dict):
        return '{' + ', '.join(f'{word}: {flow(inner)}' for word, inner in value.items()) + '}'
    if isinstance(value, list):
        return '[' + ', '.join(map(flow, value)) + ']'
    return str(value)


def write(head: Node, size: int, fields: list[Node], keys: list[Node]) -> str:
    head = {'size': size, **head, 'layout': 'explicit'}  # the header of a file may say the size
    lines = [f'{word}: {flow(value)}' for word, value in head.items()] + ['fields:']
    lines += [f'  - {flow(field)}' for field in fields]
    if keys:
        lines += ['keys:'] + [f'  - {flow(key)}' for key in keys]
    return '\n'.join(lines) + '\n'
