"""Functions that make a sorter for a single call."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, overload

import numpy as np

from . import _library as lib
from ._device import DeviceSorter, interface_of, library_of
from ._keys import names_of
from ._library import RecsortError
from ._sorter import Sorter, as_array

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray
    from typing_extensions import TypedDict, Unpack

    from ._keys import Array, Keys

    class Settings(TypedDict, total=False):
        """Arguments of Sorter that functions pass on."""

        reverse: bool
        nan: str
        threads: int
        plugin: str | None
        algorithm: str | None
        plugin_options: Mapping[str, str] | None
        verify: str

    class HostSettings(Settings, total=False):
        """The same; `order` is NumPy's word for `keys`."""

        order: Keys

    class DeviceSettings(HostSettings, total=False):
        """Arguments of Sorter or DeviceSorter."""

        stream: Any


class OnDevice(Protocol):
    """An array in the memory of a GPU."""

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...


Records = TypeVar('Records')


SETTINGS = ('reverse', 'nan', 'threads', 'plugin', 'algorithm', 'plugin_options', 'verify')
MOST_BYTES = 1 << 20  # of an array whose sorter is kept: of a larger one it has too much memory
MOST_KEPT = 16
KEPT: dict[Any, Sorter] = {}  # idle sorters, the oldest first


def arguments(function: str, keys: Any, settings: dict[str, Any], known: Sequence[str]) -> Any:
    """The keys of a call of `function`, whose other arguments are checked here and not further in."""
    for word in settings:
        if word not in known and word != 'order':
            like = difflib.get_close_matches(word, ('keys', 'order', *known), 1)
            hint = f"; did you mean '{like[0]}'?" if like else ''
            raise TypeError(f"{function}() got an unexpected keyword argument '{word}'{hint}")
    order = settings.pop('order', None)
    if order is not None and keys is not None:
        raise TypeError(f"{function}() got 'keys' and 'order', which mean the same")
    return keys if order is None else order


def on_host(method: str, a: Any, keys: Any, settings: dict[str, Any], *rest: Any, **named: Any) -> Any:
    """What a method of a sorter gives for `a`. Sorters are kept, as one is made in longer than it sorts."""
    if settings:
        keys = arguments(method, keys, settings, SETTINGS)
    array = as_array(a if method != 'merge' else a[0])
    dtype, names = array.dtype, keys
    if keys is not None:
        names = (keys,) if type(keys) is str else tuple(names_of(keys))
    slot: Any = (dtype, array.shape[1:], names, *settings.items())
    try:
        sorter = KEPT.pop(slot, None)
    except TypeError:  # plugin_options cannot be hashed
        sorter = slot = None
    if sorter is None:
        records = (dtype, array.shape[1:]) if array.ndim == 2 and dtype.names is None else dtype
        sorter = Sorter(records, names, **settings)
    result = getattr(sorter, method)(a, *rest, **named)
    if slot is not None and array.nbytes <= MOST_BYTES and method != 'merge':
        KEPT[slot] = sorter
        if len(KEPT) > MOST_KEPT:
            drop_one()
    return result


def drop_one() -> None:
    try:
        KEPT.pop(next(iter(KEPT)), None)
    except (RuntimeError, StopIteration):  # another thread takes one
        pass


def on_device(
    function: str, a: Any, keys: Any, settings: dict[str, Any], call: Callable[[DeviceSorter, Any], Any]
) -> Any:
    """What `call` enqueues on a stream, once it is there and has been checked."""
    keys = arguments(function, keys, settings, ('stream', *SETTINGS))
    library = library_of(a)
    stream = library.number(settings.pop('stream', None))
    sorter, status = DeviceSorter(a, keys, **settings), library.empty((1,), 'int32', stream)
    result = call(sorter, {'stream': stream, 'status': status})
    library.wait(stream)
    sorter.check(status)
    return result


def is_on_device(a: Any) -> bool:
    return type(a) is not np.ndarray and interface_of(a) is not None


def sort(
    a: Records, keys: Keys = None, *, out: Records | None = None, **settings: Unpack[DeviceSettings]
) -> Records:
    """Sorts `a` stably, in place or into `out`; returns the sorted one.

    `a` is an array in the memory of the host: keys and settings are those of Sorter, and `order` is
    another word for `keys`; see Sorter.sort for `out`, copies and errors. Or it is a tensor of torch or an array of CuPy in the
    memory of a GPU: see DeviceSorter. Then `stream` is a setting too, and the function waits for it.
    """
    words: Any = settings
    if is_on_device(a):
        return on_device('sort', a, keys, words, lambda by, how: by.sort(a, out=out, **how))  # type: ignore[no-any-return]
    return on_host('sort', a, keys, words, out=out)  # type: ignore[no-any-return]


@overload
def argsort(a: OnDevice, keys: Keys = None, **settings: Unpack[DeviceSettings]) -> Any: ...
@overload
def argsort(a: ArrayLike, keys: Keys = None, **settings: Unpack[HostSettings]) -> NDArray[np.intp]: ...
def argsort(a: Any, keys: Any = None, **settings: Any) -> Any:
    """The indices that sort `a` stably: see Sorter.argsort.

    If `a` is in the memory of a GPU, they are a new array of int64 there: see `sort`.
    """
    if not is_on_device(a):
        return on_host('argsort', a, keys, settings)
    return on_device('argsort', a, keys, settings, lambda by, how: by.argsort(a, index_bits=64, **how))


def merge(
    arrays: Sequence[ArrayLike],
    keys: Keys = None,
    *,
    out: Array | None = None,
    **settings: Unpack[HostSettings],
) -> Array:
    """The records of sorted arrays as one sorted array: see Sorter and Sorter.merge."""
    arrays = lib.sequence(arrays, 'arrays')
    if not arrays:
        raise RecsortError('there is no array to merge')
    words: Any = settings
    return on_host('merge', arrays, keys, words, out=out)  # type: ignore[no-any-return]


def is_sorted(a: ArrayLike, keys: Keys = None, **settings: Unpack[HostSettings]) -> bool:
    """Whether `a` is sorted: see Sorter and Sorter.is_sorted."""
    words: Any = settings
    return on_host('is_sorted', a, keys, words)  # type: ignore[no-any-return]


def unique(
    a: ArrayLike,
    keys: Keys = None,
    *,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    **settings: Unpack[HostSettings],
) -> Any:
    """The first of all records with equal keys, sorted: see Sorter and Sorter.unique."""
    words: Any = settings
    more = {
        'return_index': return_index,
        'return_inverse': return_inverse,
        'return_counts': return_counts,
    }
    return on_host('unique', a, keys, words, **more)


@overload
def top(a: OnDevice, n: int, keys: Keys = None, **settings: Unpack[DeviceSettings]) -> Any: ...
@overload
def top(a: ArrayLike, n: int, keys: Keys = None, **settings: Unpack[HostSettings]) -> Array: ...
def top(a: Any, n: int, keys: Any = None, **settings: Any) -> Any:
    """The first `n` records in order: see Sorter and Sorter.top; on a GPU DeviceSorter.top and `sort`."""
    if not is_on_device(a):
        return on_host('top', a, keys, settings, n)
    return on_device('top', a, keys, settings, lambda by, how: by.top(a, n, **how))


def argtop(
    a: ArrayLike, n: int, keys: Keys = None, **settings: Unpack[HostSettings]
) -> NDArray[np.intp]:
    """The indices of the first `n` records in order: see Sorter and Sorter.argtop."""
    words: Any = settings
    return on_host('argtop', a, keys, words, n)  # type: ignore[no-any-return]


def partition(
    a: ArrayLike, kth: int | Sequence[int], keys: Keys = None, **settings: Unpack[HostSettings]
) -> Array:
    """As `top`, with the other records behind: see Sorter and Sorter.argpartition."""
    words: Any = settings
    return on_host('partition', a, keys, words, kth)  # type: ignore[no-any-return]


def argpartition(
    a: ArrayLike, kth: int | Sequence[int], keys: Keys = None, **settings: Unpack[HostSettings]
) -> NDArray[np.intp]:
    """As `argtop`, with the other indices behind: see Sorter and Sorter.argpartition."""
    words: Any = settings
    return on_host('argpartition', a, keys, words, kth)  # type: ignore[no-any-return]


def searchsorted(
    a: ArrayLike, v: Any, keys: Keys = None, *, side: str = 'left', **settings: Unpack[HostSettings]
) -> Any:
    """Where records go into a sorted array: see Sorter and Sorter.searchsorted."""
    words: Any = settings
    return on_host('searchsorted', a, keys, words, v, side)
