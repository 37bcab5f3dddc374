"""Stable sorting of NumPy records, of tables, and of arrays on a GPU, by their keys.

>>> import numpy as np, recsort
>>> stars = np.array([(5.5, 1), (2.1, 2), (5.5, 3)], [("mag", "f4"), ("id", "i4")])
>>> recsort.sort(stars, keys=["-mag", "id"])["id"].tolist()
[1, 3, 2]

`sort_table` sorts tables of pandas, Polars, pyarrow and DuckDB, and dicts of arrays. `Sorter` documents
keys and settings, `DeviceSorter` arrays on a GPU, such as tensors of torch and arrays of CuPy. `Schema` describes records for other programs too.
"""

from ._columns import argsort_columns
from ._device import DeviceSorter
from ._files import FileSort, sort_file
from ._functions import (
    argpartition,
    argsort,
    argtop,
    is_sorted,
    merge,
    partition,
    searchsorted,
    sort,
    top,
    unique,
)
from ._library import RecsortError, version
from ._schema import Schema
from ._sorter import Sorter
from ._tables import sort_table

__version__: str = version().decode()
__all__ = [
    'DeviceSorter',
    'FileSort',
    'RecsortError',
    'Schema',
    'Sorter',
    'argpartition',
    'argsort',
    'argsort_columns',
    'argtop',
    'is_sorted',
    'merge',
    'partition',
    'searchsorted',
    'sort',
    'sort_file',
    'sort_table',
    'top',
    'unique',
]
