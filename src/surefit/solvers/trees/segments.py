"""Segments: the rows of a node in the order of one column.

The low bits of an entry are the row; the top bit is set if the value differs from the previous one. Rows with a missing value are at the
end.
"""

from __future__ import annotations

import numpy as np

from surefit.core.jit import compiled

ROW = np.uint32(0x7FFFFFFF)  # the bits that contain the row
NEW_BIT = np.uint32(31)
NEW = np.uint32(1 << 31)  # set if the value differs from the previous one


@compiled
def note_left(left, segment, place, missing, missing_left):
    """Set ``left`` to 1 for the first ``place`` rows (and missing ones that go left), else to 0; return the number on the left."""
    present = len(segment) - missing
    for i in range(len(segment)):
        left[segment[i] & ROW] = i < place or (missing_left and i >= present)
    return place + missing if missing_left else place


@compiled
def partition(segment, buffer, left):
    """Move rows with ``left`` 1 to the front; both parts keep their order and have correct marks.

    The loop has no branches: an entry is written to both sides, and only one of the two positions advances. The mark of
    an entry that went to the other side is transferred to the next entry on this side.
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
        left_new &= (one - goes) << NEW_BIT
        right_new &= goes << NEW_BIT
        a += goes
        b += one - goes
    for i in range(b):
        segment[a + i] = buffer[i]
