"""Stable sorting of NumPy records, and of rows of columns, by their keys.

>>> import numpy as np, recsort
>>> stars = np.array([(5.5, 1), (2.1, 2), (5.5, 3)], [("mag", "f4"), ("id", "i4")])
>>> recsort.sort(stars, keys=["-mag", "id"])["id"].tolist()
[1, 3, 2]

`Sorter` documents keys and settings, `Schema` describes records for other programs too.
"""

from ._columns import argsort_columns
from ._library import RecsortError, version
from ._schema import Schema
from ._sorter import Sorter, argsort, is_sorted, sort, top, unique

__version__: str = version().decode()
__all__ = [
    'RecsortError',
    'Schema',
    'Sorter',
    'argsort',
    'argsort_columns',
    'is_sorted',
    'sort',
    'top',
    'unique',
]
