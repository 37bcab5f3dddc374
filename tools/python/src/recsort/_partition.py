"""What a sort by several processes asks of each: samples, splitters, and parts (partition.h).

A mark is a place in the order of all records: the key of one, then its position. So records with equal
keys are divided like others, and stay in their order.
"""

from __future__ import annotations

import numpy as np

from . import _library as lib
from ._keys import Array
from ._sorter import Sorter, address


class Partitioner:
    """Divides records by the keys of a sorter, which compares them where they are.

    Refuses what Sorter._whole does. So marks of all arrays have one form.
    """

    def __init__(self, sorter: Sorter) -> None:
        self._sorter = sorter
        self._handle = sorter._whole('partitioned')
        self.mark = np.dtype((np.void, lib.key_size(self._handle) + lib.MARK_EXTRA))

    def sample(self, records: Array, positions: Array) -> Array:
        """Marks of records, an array of dtype `mark`; record i is at positions[i] of all records."""
        marks = np.empty(len(records), self.mark)
        for at, position in enumerate(positions):
            one, place = address(records[at:]), int(position)
            lib.partition_sample(self._handle, one, 1, place, 1, address(marks[at:]))
        return marks

    def splitters(self, marks: Array, count: int) -> Array:
        """`count` of the marks, ascending, that divide them into parts of equal size, or one more."""
        marks = marks.copy()
        found = np.empty(count, self.mark)
        lib.partition_splitters(self._handle, address(marks), len(marks), address(found), count)
        return found

    def divide(self, records: Array, first: int, splitters: Array) -> tuple[Array, Array]:
        """The records of one part after the other, a new array, and where parts end (`intp`).

        There is one part more than splitters; each has its records in their order. `records` are
        contiguous; the first one is at position `first` of all records.
        """
        parts = np.empty_like(records)
        offsets = np.empty(len(splitters) + 2, np.uintp)
        given, to = (address(records), len(records), first), (address(parts), address(offsets))
        lib.partition_records(self._handle, *given, address(splitters), len(splitters), *to)
        return parts, offsets[1:].astype(np.intp)
