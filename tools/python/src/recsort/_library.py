"""librecsort by ctypes: the structs and functions of its headers that the package calls.

ctypes releases the GIL during each call.
"""

from __future__ import annotations

import ctypes as c
import functools
import itertools
import json
import operator
import weakref
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np


class RecsortError(ValueError):
    """What recsort refuses, or what failed; the text is one line. Lack of memory is a MemoryError."""


# YAML has these only as escapes.
CONTROLS = {code: f'\\u{code:04x}' for code in range(0x7F, 0xA0)}

# ---- Arguments --------------------------------------------------------------------------------


def shown(value: Any) -> str:
    """A value for a message of one line."""
    return ' '.join(repr(value).split())[:99]


def quoted(name: str | bytes) -> str:
    """A name as in JSON and YAML, in one line."""
    found = name.decode() if isinstance(name, bytes) else name
    return json.dumps(found, ensure_ascii=False).translate(CONTROLS)


def text(value: Any) -> bytes:
    """A text for the library, which would read only what is before a NUL."""
    try:
        found: bytes = value.encode()
    except (AttributeError, UnicodeEncodeError):
        raise RecsortError(f'{shown(value)} is no text that UTF-8 can hold') from None
    if b'\0' in found:
        raise RecsortError(f'{shown(value)} has a NUL; leave it out')
    return found


def choice(value: Any, name: str, choices: Iterable[str]) -> str:
    if isinstance(value, str) and value in choices:
        return value
    raise RecsortError(f'{name}={shown(value)}; give one of {", ".join(choices)}')


def flag(value: Any, name: str) -> bool:
    if isinstance(value, (bool, int, np.bool_)):
        return bool(value)
    raise RecsortError(f'{name}={shown(value)}; give True or False')


def integer(value: Any, name: str) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise RecsortError(f'{name}={shown(value)}; give an integer') from None


def mapping(value: Any, name: str) -> dict[Any, Any]:
    if value is None or isinstance(value, Mapping):
        return dict(value or {})
    raise RecsortError(f'{name}={shown(value)}; give a dict')


def sequence(value: Any, name: str) -> list[Any]:
    try:
        return list(value)
    except TypeError:
        raise RecsortError(f'{name}={shown(value)}; give a list') from None


def point(values: Any) -> Any:
    try:
        return (c.c_double * len(values))(*values)
    except TypeError:
        raise RecsortError(f'{shown(values)} are no numbers') from None


def one_line(error: Exception) -> str:
    """What another library says of an error."""
    return next(iter(str(error).splitlines()), type(error).__name__)


# ---- Structs ----------------------------------------------------------------------------------


class Error(c.Structure):
    _fields_ = [
        ('status', c.c_int),
        ('line', c.c_uint32),
        ('column', c.c_uint32),
        ('text', c.c_char * 500),
    ]


class Enumerator(c.Structure):
    _fields_ = [('name', c.c_char_p), ('value', c.c_int64)]


class FieldDesc(c.Structure):
    pass


FieldDesc._fields_ = [
    ('name', c.c_char_p),
    ('type', c.c_int),
    ('base', c.c_int),
    ('endian', c.c_int),
    ('offset', c.c_size_t),
    ('size', c.c_size_t),
    ('count', c.c_size_t),
    ('bit_base', c.c_char_p),
    ('bit', c.c_uint32),
    ('width', c.c_uint32),
    ('scale', c.c_char_p),
    ('enumerators', c.POINTER(Enumerator)),
    ('enumerator_count', c.c_size_t),
    ('fields', c.POINTER(FieldDesc)),
    ('field_count', c.c_size_t),
    ('nulls', c.POINTER(c.c_int64)),
    ('null_count', c.c_size_t),
    ('line', c.c_uint32),
    ('column', c.c_uint32),
]


class KeyDesc(c.Structure):
    _fields_ = [
        ('path', c.c_char_p),
        ('order', c.c_int),
        ('nan', c.c_int),
        ('line', c.c_uint32),
        ('column', c.c_uint32),
    ]


class ComputedDesc(c.Structure):
    _fields_ = [
        ('name', c.c_char_p),
        ('compute', c.c_int),
        ('bits', c.c_uint32),
        ('coordinates', c.POINTER(c.c_char_p)),
        ('coordinate_count', c.c_size_t),
        ('parameter', c.c_char_p),
        ('origin', c.POINTER(c.c_double)),
        ('limit', c.POINTER(c.c_double)),
        ('line', c.c_uint32),
        ('column', c.c_uint32),
    ]


class ConditionDesc(c.Structure):
    _fields_ = [
        ('field', c.POINTER(FieldDesc)),
        ('values', c.POINTER(c.c_int64)),
        ('texts', c.POINTER(c.c_char)),
        ('alternative_count', c.c_size_t),
        ('least', c.c_uint64),
        ('line_text', c.c_char_p),
        ('line', c.c_uint32),
        ('column', c.c_uint32),
    ]


class PlaceDesc(c.Structure):
    _fields_ = [
        ('kind', c.c_int),
        ('field', c.POINTER(FieldDesc)),
        ('word', c.c_char_p),
        ('behind', c.c_bool),
        ('unpadded', c.c_bool),
        ('plus', c.c_int64),
        ('unit', c.c_uint32),
        ('when', c.POINTER(ConditionDesc)),
        ('line', c.c_uint32),
        ('column', c.c_uint32),
    ]


class SchemaDesc(c.Structure):
    _fields_ = [
        ('struct_size', c.c_size_t),
        ('record', c.c_char_p),
        ('source', c.c_char_p),
        ('endian', c.c_int),
        ('layout', c.c_int),
        ('size', c.c_size_t),
        ('skip', c.c_uint64),
        ('trailer', c.c_uint64),
        ('fields', c.POINTER(FieldDesc)),
        ('field_count', c.c_size_t),
        ('keys', c.POINTER(KeyDesc)),
        ('key_count', c.c_size_t),
        ('line', c.c_uint32),
        ('column', c.c_uint32),
        ('computed', c.POINTER(ComputedDesc)),
        ('computed_count', c.c_size_t),
        ('count', c.c_uint64),
        ('places', c.POINTER(PlaceDesc)),
        ('place_count', c.c_size_t),
        ('pad_to', c.c_uint32),
        ('pad_with', c.c_uint8),
        ('zero_all', c.c_bool),
        ('repeat', c.c_bool),
    ]


class Options(c.Structure):
    _fields_ = [
        ('struct_size', c.c_size_t),
        ('keys', c.POINTER(KeyDesc)),
        ('key_count', c.c_size_t),
        ('reverse', c.c_bool),
        ('plugin', c.c_char_p),
        ('algorithm', c.c_char_p),
        ('threads', c.c_uint),
        ('allocator', c.c_void_p),
        ('executor', c.c_void_p),
        ('plugin_options', c.POINTER(c.c_char_p)),
        ('plugin_option_count', c.c_size_t),
        ('record_size', c.c_size_t),
        ('verify', c.c_uint),
        ('on_device', c.c_bool),
    ]


class Moved(c.Structure):
    _fields_ = [('from', c.c_void_p), ('to', c.c_void_p), ('element_size', c.c_size_t)]


class Job(c.Structure):
    _fields_ = [
        ('struct_size', c.c_size_t),
        ('count', c.c_size_t),
        ('device_count', c.c_void_p),
        ('records', c.c_void_p),
        ('columns', c.c_void_p),
        ('column_count', c.c_size_t),
        ('parts', c.c_int),
        ('offsets', c.c_void_p),
        ('part_count', c.c_size_t),
        ('offset_bits', c.c_uint),
        ('index_bits', c.c_uint),
        ('part_records', c.POINTER(c.c_void_p)),
        ('longest_part', c.c_size_t),
        ('first_bit', c.c_uint),
        ('bits', c.c_uint),
        ('sorted', c.c_void_p),
        ('keys_out', c.c_void_p),
        ('permutation', c.c_void_p),
        ('arrays', c.POINTER(Moved)),
        ('array_count', c.c_size_t),
        ('head', c.c_size_t),
        ('stream', c.c_void_p),
        ('workspace', c.c_void_p),
        ('workspace_size', c.c_size_t),
        ('status', c.c_void_p),
        ('device', c.c_int),
    ]


class Needs(c.Structure):
    _fields_ = [('struct_size', c.c_size_t), ('host', c.c_size_t), ('device', c.c_size_t)]


class FileOptions(c.Structure):
    _fields_ = [
        ('struct_size', c.c_size_t),
        ('memory', c.c_uint64),
        ('folders', c.POINTER(c.c_char_p)),
        ('folder_count', c.c_size_t),
        ('head', c.c_uint64),
        ('most_runs', c.c_size_t),
        ('progress', c.c_void_p),
        ('context', c.c_void_p),
    ]


class FileStats(c.Structure):
    _fields_ = [
        ('records', c.c_uint64),
        ('memory', c.c_uint64),
        ('runs', c.c_uint64),
        ('bytes_written', c.c_uint64),
        ('bytes_read', c.c_uint64),
        ('sort_seconds', c.c_double),
        ('write_seconds', c.c_double),
        ('merge_seconds', c.c_double),
        ('wait_seconds', c.c_double),
    ]


# The structs by their names in the headers. A test compares them with the compiler's.
STRUCTS = {
    'condition_desc': ConditionDesc,
    'place_desc': PlaceDesc,
    'error': Error,
    'enumerator': Enumerator,
    'field_desc': FieldDesc,
    'key_desc': KeyDesc,
    'computed_desc': ComputedDesc,
    'schema_desc': SchemaDesc,
    'options': Options,
    'array': Moved,
    'job': Job,
    'needs': Needs,
    'file_options': FileOptions,
    'file_stats': FileStats,
}

# The members of recsort_type, from 1.
TYPES = (
    'bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 '
    'char bytes struct enum bitfield uuid ipv4 ipv6 mac int128 uint128 '
    'datetime_d datetime_s datetime_ms datetime_us datetime_ns cstring '
    'int24 int40 int48 int56 uint24 uint40 uint48 uint56 int1 int2 int4 uint1 uint2 uint4 '
    'float8_e3m4 float8_e4m3 float8_e4m3b11fnuz float8_e4m3fn float8_e4m3fnuz float8_e5m2 '
    'float8_e5m2fnuz float8_e8m0fnu float6_e2m3fn float6_e3m2fn float4_e2m1fn'
).split()
VERIFY = ('default', 'off', 'full')
TYPE = {name: number for number, name in enumerate(TYPES, 1)}
LITTLE, BIG, EXPLICIT, SEGMENTS, RUNS, MARK_EXTRA = 1, 2, 2, 1, 2, 8
INVALID_ARGUMENT, OUT_OF_MEMORY, IO_ERROR, INVALID_RECORD, CORRUPT_RESULT = 1, 2, 3, 6, 10
ANY_TRAILER = (1 << 64) - 1
NAN = {'last': 0, 'first': 1, 'total': 2}

_pointer, _size, _schema, _sorter = c.c_void_p, c.c_size_t, c.c_void_p, c.c_void_p
# A wheel has the library beside this file; Debian's package uses the one of the system.
_beside = Path(__file__).with_name('librecsort.so')
_library = c.CDLL(str(_beside) if _beside.exists() else 'librecsort.so.1')


def _declare(name: str, result: Any, *arguments: Any, library: Any = _library) -> Any:
    function = getattr(library, 'recsort_' + name)
    function.restype, function.argtypes = result, arguments
    return function


version = _declare('version', c.c_char_p)
schema_destroy = _declare('schema_destroy', None, _schema)
schema_describe = _declare('schema_describe', c.POINTER(SchemaDesc), _schema)
key_size = _declare('key_size', _size, _sorter)
sorter_destroy = _declare('sorter_destroy', None, _sorter)
sorter_permutation = _declare(
    'sorter_permutation', _pointer, _sorter, c.POINTER(c.c_uint), c.POINTER(_size)
)
gather = _declare('gather', None, _sorter, _pointer, c.c_uint, _size, _pointer, _size, _pointer)


def _call(name: str, *arguments: Any, library: Any = _library, unread: Any = RecsortError) -> Any:
    """A function that can fail; its last argument, the error, is left out.

    `unread` is raised if a file cannot be read or written.
    """
    function = _declare(name, c.c_int, *arguments, c.POINTER(Error), library=library)

    def call(*values: Any) -> None:
        error = Error()
        if function(*values, c.byref(error)):
            text = error.text.decode(errors='replace')
            kinds: Any = {OUT_OF_MEMORY: MemoryError, IO_ERROR: unread}
            raise kinds.get(error.status, RecsortError)(text)

    return call


schema_load_file = _call('schema_load_file', c.c_char_p, _pointer, c.POINTER(_schema))
schema_load_memory = _call(
    'schema_load_memory', c.c_char_p, _size, c.c_char_p, _pointer, c.POINTER(_schema)
)
schema_create = _call('schema_create', c.POINTER(SchemaDesc), _pointer, c.POINTER(_schema))
sorter_create = _call('sorter_create', _schema, c.POINTER(Options), c.POINTER(_sorter))
sort = _call('sort', _sorter, _pointer, _size)
sort_to = _call('sort_to', _sorter, _pointer, _size, _pointer)
argsort = _call('argsort', _sorter, _pointer, _size, _pointer, c.c_uint)
run = _call('run', _sorter, c.POINTER(Job), _size)
plan = _call('plan', _sorter, c.POINTER(Job), _size, c.POINTER(Needs))
unique = _call('unique', _sorter, c.POINTER(Job), c.POINTER(_size))
check = _call('check', _sorter, _pointer, _size, c.POINTER(_size))
partition_sample = _call('partition_sample', _sorter, _pointer, _size, c.c_uint64, _size, _pointer)
partition_splitters = _call('partition_splitters', _sorter, _pointer, _size, _pointer, _size)
partition_sorted = _call(
    'partition_sorted', _sorter, _pointer, _size, c.c_uint64, _pointer, _size, _pointer
)
partition_records = _call(
    'partition_records', _sorter, _pointer, _size, c.c_uint64, _pointer, _size, _pointer, _pointer
)
set_parameter = _call('sorter_set_parameter', _sorter, c.c_char_p, c.POINTER(c.c_double), _size)
bind_parameter = _call('sorter_bind_parameter', _sorter, c.c_char_p, _pointer, _size)


@functools.cache
def files() -> Any:
    """The functions of file.h, which have a library of their own."""
    name = 'librecsort_file.so'
    try:
        library = c.CDLL(str(_beside.with_name(name)) if _beside.exists() else name + '.1')
    except OSError as error:
        what = 'to sort files takes librecsort_file, which is for POSIX systems'
        raise RecsortError(f'{what}: {one_line(error)}') from None
    call = functools.partial(_call, library=library, unread=OSError)
    declare = functools.partial(_declare, library=library)
    return SimpleNamespace(
        open=call('file_open', _sorter, c.POINTER(FileOptions), c.POINTER(_pointer)),
        append=call('file_append', _pointer, _pointer, _size),
        finish=call('file_finish', _pointer),
        next=call('file_next', _pointer, c.POINTER(_pointer), c.POINTER(_size)),
        get_stats=declare('file_get_stats', None, _pointer, c.POINTER(FileStats), _size),
        close=declare('file_close', None, _pointer),
    )


def job(count: int, arrays: Sequence[tuple[int, int, int]] = (), **members: Any) -> Job:
    """A job of `count` records. `arrays` are addresses from and to, and the sizes of elements."""
    moved = (Moved * len(arrays))(*itertools.starmap(Moved, arrays))
    size = c.sizeof(Job)
    return Job(struct_size=size, count=count, arrays=moved, array_count=len(arrays), **members)


class Handle(c.c_void_p):
    """A schema or sorter of the library, which is destroyed with this object."""

    def __init__(self, create: Any, destroy: Any, *arguments: Any) -> None:
        super().__init__()
        create(*arguments, c.byref(self))
        weakref.finalize(self, destroy, self.value)
