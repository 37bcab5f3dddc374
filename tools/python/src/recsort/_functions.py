"""Functions that make a sorter for a single call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar, overload

from . import _library as lib
from ._device import DeviceSorter, interface_of, library_of
from ._library import RecsortError
from ._sorter import Sorter, as_array

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np
    from numpy.typing import ArrayLike, NDArray
    from typing_extensions import TypedDict, Unpack

    from ._keys import Array, Keys

    class Settings(TypedDict, total=False):
        """Arguments of Sorter that the functions pass on."""

        reverse: bool
        nan: str
        threads: int
        plugin: str | None
        algorithm: str | None
        plugin_options: Mapping[str, str] | None

    class DeviceSettings(Settings, total=False):
        """Arguments of Sorter or DeviceSorter."""

        stream: Any

    Columns = Keys | int | Sequence[str | int]


class OnDevice(Protocol):
    """An array in the memory of a GPU."""

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...


Records = TypeVar('Records')


def on_host(a: ArrayLike, keys: Any, settings: Any) -> Sorter:
    return Sorter(as_array(a).dtype, keys, **settings)


def on_device(a: Any, keys: Any, settings: Any, call: Callable[[DeviceSorter, Any], Any]) -> Any:
    """What `call` enqueues on a stream, once it is there and has been checked."""
    library = library_of(a)
    stream = library.number(settings.pop('stream', None))
    sorter, status = DeviceSorter(a, keys, **settings), library.empty((1,), 'int32', stream)
    result = call(sorter, {'stream': stream, 'status': status})
    library.wait(stream)
    sorter.check(status)
    return result


def sort(
    a: Records, keys: Columns = None, *, out: Records | None = None, **settings: Unpack[DeviceSettings]
) -> Records:
    """Sorts `a` stably, in place or into `out`; returns the sorted one.

    `a` is an array of one dimension in the memory of the host: keys and settings are those of Sorter;
    see Sorter.sort for `out`, copies and errors. Or it is a tensor of torch or an array of CuPy in the
    memory of a GPU: see DeviceSorter. Then `stream` is a setting too, and the function waits for it.
    """
    if interface_of(a) is None:
        return on_host(a, keys, settings).sort(a, out=out)  # type: ignore[arg-type, return-value]
    return on_device(a, keys, settings, lambda by, how: by.sort(a, out=out, **how))  # type: ignore[no-any-return]


@overload
def argsort(a: OnDevice, keys: Columns = None, **settings: Unpack[DeviceSettings]) -> Any: ...
@overload
def argsort(a: ArrayLike, keys: Keys = None, **settings: Unpack[Settings]) -> NDArray[np.intp]: ...
def argsort(a: Any, keys: Any = None, **settings: Any) -> Any:
    """The indices that sort `a` stably: see Sorter.argsort.

    If `a` is in the memory of a GPU, they are a new array of int64 there: see `sort`.
    """
    if interface_of(a) is None:
        return on_host(a, keys, settings).argsort(a)
    return on_device(a, keys, settings, lambda by, how: by.argsort(a, index_bits=64, **how))


def merge(
    arrays: Sequence[ArrayLike],
    keys: Keys = None,
    *,
    out: Array | None = None,
    **settings: Unpack[Settings],
) -> Array:
    """The records of sorted arrays as one sorted array: see Sorter and Sorter.merge."""
    arrays = lib.sequence(arrays, 'arrays')
    if not arrays:
        raise RecsortError('there is no array to merge')
    return on_host(arrays[0], keys, settings).merge(arrays, out=out)


def is_sorted(a: ArrayLike, keys: Keys = None, **settings: Unpack[Settings]) -> bool:
    """Whether `a` is sorted: see Sorter and Sorter.is_sorted."""
    return on_host(a, keys, settings).is_sorted(a)


def unique(a: ArrayLike, keys: Keys = None, **settings: Unpack[Settings]) -> Array:
    """The first of all records with equal keys, sorted: see Sorter and Sorter.unique."""
    return on_host(a, keys, settings).unique(a)


@overload
def top(a: OnDevice, n: int, keys: Columns = None, **settings: Unpack[DeviceSettings]) -> Any: ...
@overload
def top(a: ArrayLike, n: int, keys: Keys = None, **settings: Unpack[Settings]) -> Array: ...
def top(a: Any, n: int, keys: Any = None, **settings: Any) -> Any:
    """The first `n` records in order: see Sorter and Sorter.top; on a GPU DeviceSorter.top and `sort`."""
    if interface_of(a) is None:
        return on_host(a, keys, settings).top(a, n)
    return on_device(a, keys, settings, lambda by, how: by.top(a, n, **how))
