"""Variance of all entries of a sample, bitwise reproducible on every machine, since ``gamma="scale"`` is part of a problem's statement."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import sparse

FAR = 2.0**512  # larger values are scaled by this factor so that sums do not overflow
LEVELS = 3  # with 53 - log2(n) bits each: more than twice the digits of a float64


def exact_sum(terms: np.ndarray) -> float:
    """Return the sum of finite numbers, independent of their order and of the processor.

    Each level rounds the terms to multiples of a power of two that is so coarse that their sum has no rounding error in any order. The
    remainders, which are exact, go to the next level.
    """
    rest = np.asarray(terms, dtype=np.float64).ravel()
    if not np.all(np.isfinite(rest)):
        return float(np.sum(rest))
    if float(np.max(np.abs(rest), initial=0.0)) > FAR:
        return exact_sum(rest / FAR) * FAR
    room = math.ceil(math.log2(max(len(rest), 2))) + 1
    sums = []
    for _ in range(LEVELS):
        largest = float(np.max(np.abs(rest), initial=0.0))
        if largest == 0.0:
            break
        anchor = math.ldexp(1.5, math.frexp(largest)[1] + room)
        coarse = (rest + anchor) - anchor
        sums.append(float(np.sum(coarse)))
        rest = rest - coarse
    return math.fsum(sums)


def variance(X: Any, weights: np.ndarray | None = None) -> float:
    """Return the variance of all entries of ``X``; rows are weighted by ``weights``."""
    n, d = X.shape
    if sparse.issparse(X):
        X = X.tocsr()
        values, times = np.asarray(X.data, dtype=np.float64), np.diff(X.indptr)
        absent = d - times
        each = None if weights is None else np.repeat(weights, times)
    else:
        values = np.asarray(X, dtype=np.float64)
        absent = None
        each = None if weights is None else weights[:, None]
    total = float(n) if weights is None else exact_sum(weights)
    mean = exact_sum(values if each is None else values * each) / (total * d)
    with np.errstate(over="ignore"):
        squares = (values - mean) ** 2
        result = exact_sum(squares if each is None else squares * each)
        if absent is not None:
            zeros = float(np.sum(absent)) if weights is None else exact_sum(weights * absent)
            result += zeros * mean**2
    return result / (total * d)
