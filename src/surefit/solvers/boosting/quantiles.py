"""Exact weighted quantiles of groups of rows in partitions, found bit by bit from the most significant bit.

Numbers are mapped to 64-bit integers in the same order. A pass adds up the weights of the rows that agree with the bits
found so far, by their next ten or eleven bits; six passes determine all bits. Nothing is sorted, and the amount of
communication does not depend on the number of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from surefit.core.partitioned import PartValues

DIGITS = (11, 11, 11, 11, 10, 10)  # bits per pass
TIE = 1e-14  # relative tolerance of the weight at which a quantile counts as reached, as in memory
SIGN = np.uint64(1) << np.uint64(63)


def quantiles(
    values: PartValues,
    read: Callable[..., tuple[np.ndarray, np.ndarray, np.ndarray]],
    groups: int,
    q: float,
    *small: Any,
    beside: Sequence[PartValues] = (),
) -> np.ndarray:
    """Return, for each group, the mean of the lower and the upper q-quantile; zero for a group without rows.

    ``read(value, *small, *others)`` returns the numbers, positive weights and groups of the rows of a partition.
    """
    found = np.zeros((groups, 2), dtype=np.uint64)
    below, wanted = np.zeros((groups, 2)), None
    left = 64
    for bits in DIGITS:
        left -= bits
        sums = values.map_reduce(weigh, read, found, left, bits, *small, beside=beside)
        reached = below[:, :, None] + np.cumsum(sums, axis=2)
        if wanted is None:
            wanted = q * reached[:, :, -1] * [1 - TIE, 1 + TIE]
        enough = reached >= wanted[:, :, None]
        enough[:, 1] = reached[:, 1] > wanted[:, 1, None]
        present = sums > 0
        last = sums.shape[2] - 1 - np.argmax(present[:, :, ::-1], axis=2)  # if no digit has enough weight by rounding
        digit = np.where((enough & present).any(axis=2), np.argmax(enough & present, axis=2), last)
        earlier = np.concatenate([below[:, :, None], reached[:, :, :-1]], axis=2)
        before = np.take_along_axis(earlier, digit[:, :, None], axis=2)[:, :, 0]
        below = np.where(present.any(axis=2), before, below)
        found = (found << np.uint64(bits)) | digit.astype(np.uint64)
    bits64 = np.where(found & SIGN, found ^ SIGN, ~found)
    ends = bits64.view(np.float64)
    return np.where(np.any(sums > 0, axis=(1, 2)), (ends[:, 0] + ends[:, 1]) / 2, 0.0)


def weigh(value: Any, read: Any, found: np.ndarray, left: int, bits: int, *more: Any) -> np.ndarray:
    """Return the weights of the rows of a partition by group, by end of the interval of quantiles, and by next digit."""
    numbers, weights, group = read(value, *more)
    groups, size = len(found), 1 << bits
    key = (np.asarray(numbers, dtype=np.float64) + 0.0).view(np.uint64)  # -0.0 becomes 0.0
    key = np.where(key & SIGN, ~key, key | SIGN)
    head = key >> np.uint64(left + bits) if left + bits < 64 else np.zeros_like(key)
    digit = ((key >> np.uint64(left)) & np.uint64(size - 1)).astype(np.int64)
    sums = np.empty((groups, 2, size))
    for end in range(2):
        same = head == found[group, end]
        place = group[same] * size + digit[same]
        sums[:, end] = np.bincount(place, weights=weights[same], minlength=groups * size).reshape(groups, size)
    return sums
