"""Segments: the rows of a node in the order of one column.

The low bits of an entry are the row, the top bit says that the value differs from the one before. Rows with a missing value stand at
the end.
"""

from __future__ import annotations

import numpy as np

from surefit.core.jit import compiled

ROW = np.uint32(0x7FFFFFFF)  # the bits that are the row
NEW = np.uint32(0x80000000)  # set where the value differs from the one before


@compiled
def note_left(left, segment, place, missing, missing_left):
    """Set ``left`` to 1 for the first ``place`` rows, and for missing ones if they go left, else to 0; return how many go left."""
    present = len(segment) - missing
    for i in range(len(segment)):
        left[segment[i] & ROW] = i < place or (missing_left and i >= present)
    return place + missing if missing_left else place


@compiled
def partition(segment, buffer, left):
    """Move rows with ``left`` 1 to the front, both parts in their old order, with correct marks.

    No branches: an entry is written to both sides, and only one of the two places moves on. The mark of an entry that went to the
    other side is kept for the next one that comes to this side.
    """
    one, none = np.uint32(1), np.uint32(0)
    a, b = none, none
    left_new, right_new = none, none
    for i in range(len(segment)):
        entry = segment[i]
        row, new = entry & ROW, entry & NEW
        goes = np.uint32(left[row])
        left_new |= new
        right_new |= new
        segment[a] = row | left_new
        buffer[b] = row | right_new
        left_new &= goes - one
        right_new &= none - goes
        a += goes
        b += one - goes
    for i in range(b):
        segment[a + i] = buffer[i]
