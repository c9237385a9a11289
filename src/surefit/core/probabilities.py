"""Class probabilities from scores, in blocks of rows that stay in the cache.

Each probability of two classes has an exponential of its own, and is accurate to a few units in the last place, however small it is.
"""

from __future__ import annotations

import numpy as np

BLOCK = 8192  # rows; a few vectors of them fit into the cache of a core
FAR = 700.0  # scores whose exponentials are finite


def two_classes(scores: np.ndarray) -> np.ndarray:
    r"""Return :math:`1 / (1 + e^{f})` and :math:`1 / (1 + e^{-f})` for each log-odds :math:`f`, an array of shape (rows, 2).

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.core.probabilities import two_classes
    >>> print(two_classes(np.array([0.0, np.log(3.0), -np.inf])))
    [[0.5  0.5 ]
     [0.25 0.75]
     [1.   0.  ]]
    """
    found = np.empty((len(scores), 2))
    for start in range(0, len(scores), BLOCK):
        f, block = scores[start : start + BLOCK], found[start : start + BLOCK]
        for column, signed in enumerate((f, -f)):
            odds = np.exp(np.minimum(signed, FAR), dtype=np.float64)
            odds += 1.0
            np.divide(1.0, odds, out=block[:, column])
        far = np.abs(f) > FAR
        if far.any():
            block[far] = np.exp(np.minimum(np.column_stack([-f[far], f[far]]), 0.0), dtype=np.float64)
    return found


def two_classes_log(scores: np.ndarray) -> np.ndarray:
    r"""Return the logarithms of :func:`two_classes`, accurate even if a probability underflows to zero."""
    found = np.empty((len(scores), 2))
    for start in range(0, len(scores), BLOCK):
        f = scores[start : start + BLOCK]
        more = -_log_of_one_plus(np.exp(-np.abs(f, dtype=np.float64)))
        found[start : start + BLOCK, 0] = more - np.maximum(f, 0.0)
        found[start : start + BLOCK, 1] = more + np.minimum(f, 0.0)
    return found


def _log_of_one_plus(x: np.ndarray) -> np.ndarray:
    """Return ``log(1 + x)`` for x from 0 to 1; the rounding error of ``1 + x`` is divided out (Kahan), faster than ``log1p``."""
    whole = 1.0 + x
    rounded = whole - 1.0
    tiny = rounded == 0.0
    rounded[tiny] = 1.0
    found = np.log(whole)
    found[tiny] = 1.0
    found *= x
    found /= rounded
    return found


def softmax(scores: np.ndarray) -> np.ndarray:
    """Return the probabilities of the classes from one score per row and class."""
    found = np.empty(scores.shape)
    for start in range(0, len(scores), BLOCK):
        weights = _centered(scores[start : start + BLOCK])
        np.exp(weights, out=weights)
        weights /= weights.sum(axis=0)
        found[start : start + BLOCK] = weights.T
    return found


def softmax_log(scores: np.ndarray) -> np.ndarray:
    """Return the logarithms of :func:`softmax`."""
    found = np.empty(scores.shape)
    for start in range(0, len(scores), BLOCK):
        logs = _centered(scores[start : start + BLOCK])
        with np.errstate(divide="ignore"):  # a row whose scores are all minus infinity
            logs -= np.log(np.exp(logs).sum(axis=0))
        found[start : start + BLOCK] = logs.T
    return found


def _centered(scores: np.ndarray) -> np.ndarray:
    """Return the scores by classes, minus the largest of each row, as a new array."""
    by_class = np.array(scores.T, dtype=np.float64, order="C")
    largest = by_class.max(axis=0)
    if not np.isfinite(largest).all():
        largest[~np.isfinite(largest)] = 0.0
    by_class -= largest
    return by_class
