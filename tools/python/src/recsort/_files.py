"""Sorting of more records than memory holds, by way of temporary files (file.h)."""

from __future__ import annotations

import contextlib
import ctypes as c
import errno
import os
import stat
import threading
import uuid
import weakref
from typing import TYPE_CHECKING, Any, NamedTuple, Union

import numpy as np

from . import _library as lib
from ._keys import Array, DType, raw
from ._library import RecsortError
from ._schema import Schema, file_of_schema
from ._sorter import Sorter, address

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import BinaryIO

    from numpy.typing import ArrayLike, DTypeLike
    from typing_extensions import Unpack

    from ._functions import Settings
    from ._keys import Keys

StrPath = Union[str, os.PathLike[str]]  # not `|`: Python 3.9 runs this

STEP = 1 << 20  # bytes that are read at a time; at least a record

# How files begin that hold no records as they are: those of tools/support/signature.c, and .npy.
SIGNATURES = {
    b'\x93NUMPY': 'a .npy file; the command recsort sorts it in one process',
    b'\x1f\x8b\x08': 'compressed by gzip',
    **{b'BZh%d1AY&SY' % level: 'compressed by bzip2' for level in range(1, 10)},
    **{b'BZh%d\x17rE8P\x90' % level: 'compressed by bzip2' for level in range(1, 10)},  # no bytes
    b'\xfd7zXZ\0': 'compressed by xz',
    b'\x28\xb5\x2f\xfd': 'compressed by zstd',
    b'\x04\x22\x4d\x18': 'compressed by lz4',
    b'PK\3\4': 'a ZIP archive',
    b'7z\xbc\xaf\x27\x1c': 'a 7z archive',
    b'\x89HDF\r\n\x1a\n': 'an HDF5 file',
    b'ARROW1\0\0': 'an Arrow file',
    b'PAR1': 'a Parquet file',
}


class FileSort:
    """Sorts records that come one array after the other, more than memory holds.

    >>> import numpy as np, recsort
    >>> with recsort.FileSort('i4', memory=1 << 20) as files:
    ...     for part in [[3, 1], [2]]:
    ...         files.append(np.array(part, 'i4'))
    ...     for part in files:
    ...         print(part)
    [1 2 3]

    `records`, `keys` and settings are those of Sorter, but the default plugin is "cpu". `memory` is the
    most bytes that the sort takes, None: three quarters of the available memory. Other records go to
    temporary files without names in `folders`, a path or several; None: the folder that TMPDIR names,
    or /var/tmp.

    Keys of `longdouble` and `nan="error"` are refused, and complex numbers need `nan="total"`. POSIX only.
    Raises RecsortError, OSError if a temporary file cannot be written, and MemoryError, which says how
    much is enough. After an error the sort can only be closed.
    """

    def __init__(
        self,
        records: DTypeLike | Schema,
        keys: Keys = None,
        *,
        memory: int | None = None,
        folders: StrPath | Sequence[StrPath] | None = None,
        **settings: Unpack[Settings],
    ) -> None:
        if not settings.get('algorithm') and not settings.get('plugin_options'):
            settings.setdefault('plugin', 'cpu')  # a GPU does not pay for files, and takes memory
        self._sorter = Sorter(records, keys, **settings)
        self.dtype: DType = self._sorter.dtype
        paths = [os.fsencode(path) for path in paths_of(folders or (), 'folders')]
        most = 0 if memory is None else lib.integer(memory, 'memory')
        if memory is not None and not 0 < most < 1 << 64:
            raise RecsortError(f'memory={most}; give the number of bytes')
        options = lib.FileOptions(
            struct_size=c.sizeof(lib.FileOptions),
            memory=most,
            folders=(c.c_char_p * len(paths))(*paths),
            folder_count=len(paths),
        )
        self._lock = threading.RLock()
        self._finished = False
        self._file = c.c_void_p()
        sorter, library = self._sorter._whole('sorted by way of files'), lib.files()
        self._close = weakref.finalize(self, close, self._file, self._sorter)
        library.open(sorter, c.byref(options), c.byref(self._file))

    def append(self, a: ArrayLike) -> None:
        """Adds the records of an array, behind all that were added before. They are copied."""
        records = np.ascontiguousarray(raw(self._sorter._checked(a)))
        self._call(lib.files().append, address(records), len(records))

    def __iter__(self) -> Iterator[Array]:
        """Ends the input, and gives the sorted records, each once, as new arrays of some MiB."""
        while True:
            with self._lock:
                part = self._next().copy()
            if not len(part):
                return
            yield part.view(self.dtype)

    @property
    def stats(self) -> dict[str, Any]:
        """What was done so far: `records`, `runs`, `bytes_written` and so on, as file.h says."""
        stats = lib.FileStats()
        self._call(lib.files().get_stats, c.byref(stats), c.sizeof(stats))
        return {name: getattr(stats, name) for name, *_ in stats._fields_}

    def close(self) -> None:
        """Gives memory and temporary files back, at any time."""
        with self._lock:
            self._close()

    def __enter__(self) -> FileSort:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _call(self, function: Any, *arguments: Any) -> None:
        with self._lock:
            if not self._close.alive:
                raise RecsortError('the sort is closed')
            function(self._file, *arguments)

    def _next(self) -> Array:
        """The bytes of the next records, which are there until the next call; none at the end."""
        if not self._finished:
            self._call(lib.files().finish)
            self._finished = True
        records, count = c.c_void_p(), c.c_size_t()
        self._call(lib.files().next, c.byref(records), c.byref(count))
        if not count.value:
            return np.empty(0, np.uint8)
        memory: Any = (c.c_char * (count.value * self.dtype.itemsize)).from_address(records.value or 0)
        return np.frombuffer(memory, np.uint8)


def close(file: c.c_void_p, sorter: Sorter) -> None:
    """Ends a sort. Its sorter is an argument, as it must exist until then."""
    lib.files().close(file)


# ---- Files ------------------------------------------------------------------------------------


class Piece(NamedTuple):
    """Bytes of a file."""

    path: str
    offset: int
    size: int


def read(pieces: Sequence[Piece], begin: int, end: int) -> Array:
    """Bytes [begin, end) of pieces."""
    data = np.empty(end - begin, np.uint8)
    at = 0
    for path, offset, size in pieces:
        low, high = max(begin, at), min(end, at + size)
        if low < high:
            view = data.data[low - begin : high - begin]
            with open(path, 'rb', buffering=0) as file:
                file.seek(offset + low - at)
                while view:
                    count = file.readinto(view)
                    if not count:
                        raise RecsortError(f'{path} has become shorter')
                    view = view[count:]
        at += size
    return data


def paths_of(value: StrPath | Sequence[StrPath], name: str) -> list[str]:
    """The paths of an argument, which is one or several."""
    try:
        given = [value] if isinstance(value, (str, bytes, os.PathLike)) else list(value)
        found = [os.fsdecode(path) for path in given]
        [os.fsencode(path) for path in found]
    except (TypeError, UnicodeEncodeError):
        raise RecsortError(f'{name}={lib.shown(value)}; give a path or a list of paths') from None
    for path in found:
        if '\0' in path:
            raise RecsortError(f'{lib.shown(path)} has a NUL; leave it out')
    return found


def length_of(path: str) -> int:
    status = os.stat(path)
    if not stat.S_ISREG(status.st_mode):
        raise RecsortError(f'{path} is not a file')
    return status.st_size


def refuse_packed(path: str) -> None:
    """Refuses a file that says it is of a format which has no records as they are."""
    with open(path, 'rb') as file:
        head = file.read(10)
        file.seek(-min(4, file.seek(0, os.SEEK_END)), os.SEEK_END)
        tail = file.read()
    for signature, what in SIGNATURES.items():
        # The upper bits of gzip's flags are reserved.
        no_gzip = signature == b'\x1f\x8b\x08' and not b'\0' <= head[3:4] <= b'\x1f'
        no_parquet = signature == b'PAR1' and tail != signature
        if head.startswith(signature) and not no_gzip and not no_parquet:
            raise RecsortError(
                f'{path} is {what}; give raw=True (--raw) if it has records nevertheless'
            )


def pieces_of(paths: Sequence[StrPath], size: int, raw: bool) -> list[Piece]:
    """The files, if each has whole records of `size` bytes and nothing else."""
    files = []
    for path in [os.fspath(path) for path in paths]:
        length = length_of(path)
        if not raw:
            refuse_packed(path)
        if length % size:
            raise RecsortError(f'{path}: {length} bytes are not a multiple of the record size, {size}')
        files.append(Piece(os.path.abspath(path), 0, length))
    return files


def is_npy(path: str) -> bool:
    length_of(path)
    with open(path, 'rb') as file:
        return file.read(6) == b'\x93NUMPY'


def npy_of(path: str) -> tuple[Piece, Array]:
    """The data of a .npy file, and an array of no records that is like the one in it."""
    if not is_npy(path):
        raise RecsortError(f'{path} is no .npy file, but others are')
    try:
        found = np.load(path, mmap_mode='r')
    except ValueError as error:
        raise RecsortError(f'{path}: {lib.one_line(error)}') from None
    return Piece(path, found.offset, found.nbytes), np.empty((0,) * found.ndim, found.dtype)


def unnamed(folder: str) -> BinaryIO | None:
    """A new file that vanishes with the process, where the system and the file system have such."""
    try:
        return open(os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o666), 'wb')
    except (AttributeError, OSError):
        return None


def name_of(file: BinaryIO) -> str:
    return file.name if isinstance(file.name, str) else f'/proc/self/fd/{file.name}'


@contextlib.contextmanager
def replacing(path: str) -> Iterator[BinaryIO]:
    """A new file that becomes `path` in one step, when it is on the disk. It keeps an old one's mode."""
    old = os.stat(path) if os.path.exists(path) else None
    if old and not stat.S_ISREG(old.st_mode):
        raise RecsortError(f'{path} is not a file')
    if old and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
    folder = os.path.dirname(path)
    place = os.path.join(folder, f'.recsort.{uuid.uuid4().hex}')
    try:
        with unnamed(folder) or open(place, 'xb') as file:
            yield file
            if old:
                os.fchmod(file.fileno(), stat.S_IMODE(old.st_mode))
            file.flush()
            os.fsync(file.fileno())
            if file.name != place:
                # With src_dir_fd Python follows the link that this name is.
                os.link(name_of(file), place, src_dir_fd=file.fileno())
        os.replace(place, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(place)
        raise
    sync(folder)


def sync(folder: StrPath) -> None:
    file = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def sort_file(
    inputs: StrPath | Sequence[StrPath],
    output: StrPath,
    records: DTypeLike | Schema | None = None,
    keys: Keys = None,
    *,
    memory: int | None = None,
    folders: StrPath | Sequence[StrPath] | None = None,
    progress: Callable[[str, int], object] | None = None,
    raw: bool = False,
    **settings: Unpack[Settings],
) -> dict[str, Any]:
    """Sorts the records of files stably, as one sequence, into one file, in no more than `memory`.

    `output` may be one of the inputs. It is replaced in one step, when the new file is on the disk:
    whatever fails, the old one stays.

    `records` is a dtype or a Schema of files that hold records and nothing else. Or the files are `.npy`
    files with arrays of one dimension, which say the dtype themselves; then the output is one too. Files
    with a header or a trailer are refused. A file that begins like a compressed or columnar one is
    refused too, unless `raw` says that it holds records.

    `keys`, `memory` and the settings are those of FileSort. So are `folders`, but None is the folder of
    the output. `progress` is called with "read" or "written" and the number of records, every few MiB.
    Returns FileSort.stats. Raises what FileSort does, and OSError for a file that cannot be read or
    written. KeyboardInterrupt, and what `progress` raises, end the sort.
    """
    paths, place = paths_of(inputs, 'inputs'), os.path.realpath(paths_of([output], 'output')[0])
    if isinstance(records, Schema) and file_of_schema(records._desc()):
        raise RecsortError('only the command recsort sorts files with a header or a trailer')
    found = [npy_of(path) for path in paths] if not raw and paths and is_npy(paths[0]) else []
    if records is None:
        if not found:
            raise RecsortError('no dtype or schema is given, and only .npy files have their own')
        records = found[0][1].dtype
    folders = os.path.dirname(place) if folders is None else folders
    tell = progress or (lambda *_: None)
    with FileSort(records, keys, memory=memory, folders=folders, **settings) as files:
        for piece, like in found:
            try:
                files.append(like)
            except RecsortError as error:
                raise RecsortError(f'{piece.path}: {error}') from None
        size, count = files.dtype.itemsize, 0
        pieces = [piece for piece, _ in found] or pieces_of(paths, size, raw)
        step = max(1, STEP // size) * size
        with replacing(place) as file:
            for piece in pieces:
                for at in range(0, piece.size, step):
                    part = read([piece], at, min(at + step, piece.size))
                    files.append(part.view(files.dtype))
                    count += len(part) // size
                    tell('read', count)
            if found:
                head = np.lib.format.open_memmap(name_of(file), 'w+', found[0][1].dtype, (count,))
                file.seek(head.offset)
            count = 0
            while len(part := files._next()):
                file.write(part.data)
                count += len(part) // size
                tell('written', count)
        return files.stats
