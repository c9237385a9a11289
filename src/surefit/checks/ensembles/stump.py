r"""Checks of stumps by enumeration: every cut of every column, with the best labels on both sides.

Weights are summed column by column in the order of the values. The sums are exact if the weights are integers with a
total below :math:`2^{52}`; otherwise a sum of n weights has a relative error of at most :math:`\gamma_n` (theory:
``stump-optimality``).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from surefit.checks.enclosure import UNIT, gamma, sums_exactly
from surefit.checks.judge import Proof, claim, refused
from surefit.checks.labels import label_codes, row_weights
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.jit import compiled
from surefit.core.sample import Data
from surefit.core.threads import blas_threads, map_blocks

ENTRIES = 2**17  # in a block of columns, which threads share


class SortedColumns(NamedTuple):
    """Row indices of each column in ascending order of its values."""

    order: np.ndarray  # (columns, rows) twice the row index, plus one if a cut may follow (end of equal values)


def sort_columns(X: np.ndarray) -> SortedColumns:
    """Return the row indices of all columns in ascending order."""
    n, d = X.shape
    order = np.empty((d, n), dtype=np.uint32)
    for j in range(d):
        column = np.ascontiguousarray(X[:, j], dtype=np.float64)
        rows = np.argsort(column)  # the order of equal values does not matter
        values = column[rows]
        order[j] = rows.astype(np.uint32) << np.uint32(1)
        order[j, :-1] |= values[1:] > values[:-1]
    return SortedColumns(order)


def least_error(columns: SortedColumns, codes: np.ndarray, weights: np.ndarray, n_classes: int) -> float:
    """Return the smallest weight of rows that a stump misclassifies; constants count as stumps."""
    whole = np.bincount(codes, weights=weights, minlength=n_classes)
    return float(np.sum(whole)) - _greatest(columns, lambda order: _most_right(order, codes, weights, whole))


def largest_edge(columns: SortedColumns, signed: np.ndarray) -> float:
    """Return the largest absolute edge, the sum of w t h(x), of a stump with values -1 and 1, from ``signed`` = w t."""
    total = math.fsum(signed)
    return _greatest(columns, lambda order: _largest(order, signed, total))


def _greatest(columns: SortedColumns, found: Callable[[np.ndarray], float]) -> float:
    """Return the maximum of ``found`` over blocks of columns."""
    d, n = columns.order.shape
    return max(
        map_blocks(
            lambda start, stop: found(columns.order[start:stop]), d, max(1, ENTRIES // max(1, n)), blas_threads()
        )
    )


@compiled
def _largest(order: Any, signed: Any, total: Any) -> Any:
    best = abs(total)
    for j in range(len(order)):
        below = 0.0
        for k in range(order.shape[1]):
            entry = order[j, k]
            below += signed[entry >> 1]
            if entry & 1:
                best = max(best, abs(total - 2.0 * below))
    return best


@compiled
def _most_right(order: Any, codes: Any, weights: Any, whole: Any) -> Any:
    best, below = np.max(whole), np.empty(len(whole))
    for j in range(len(order)):
        below[:] = 0.0
        for k in range(order.shape[1]):
            row = order[j, k] >> 1
            below[codes[row]] += weights[row]
            if order[j, k] & 1:
                best = max(best, np.max(below) + np.max(whole - below))
    return best


def said_by(column: np.ndarray, threshold: float, left: int, right: int, n_classes: int) -> np.ndarray:
    """Return the class indices that a stump predicts from its column; raise an error for unknown classes."""
    if not (0 <= left < n_classes and 0 <= right < n_classes) or math.isnan(threshold):
        raise ValueError("a stump predicts a class that does not exist, or has no threshold")
    return np.where(
        column <= np.float64(threshold), left, right
    )  # in double precision, whatever the type of the column


@claim(
    "stump.optimal",
    kind="optimality",
    side="upper",
    theory="stump-optimality",
    says="The weighted error is {error:.6g}, and no stump has a smaller one by more than {value:.1g}.",
)
def optimal(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that no stump has a weighted error smaller by more than ``value``."""
    model, (codes, n_classes), weights = certificate.model, label_codes(certificate, data), row_weights(data)
    feature = int(model["feature_"])
    if not 0 <= feature < data.X.shape[1]:
        return refused(f"the stump cuts column {feature}, which does not exist")
    said = said_by(data.X[:, feature], float(model["threshold_"]), int(model["left_"]), int(model["right_"]), n_classes)
    lost, total = math.fsum(weights[said != codes]), math.fsum(weights)
    least = least_error(sort_columns(data.X), codes, weights, n_classes)
    if float(model["error_"]) != lost / total:
        return refused(f"error_ is {float(model['error_'])!r}, the weighted error is {lost / total!r}")
    exact = sums_exactly(weights)
    doubt = 0.0 if exact else 4 * gamma(len(codes) + 4)
    gap = max(lost - least, 0.0) / total * (1 + 4 * UNIT) + doubt
    note = f"all stumps of {data.X.shape[1]} columns were tried: none misclassifies less than {least:.9g}."
    # The sums of the misclassified and of all weights are correctly rounded, so all evaluations give the same quotient.
    return Proof(gap, "exact" if exact else "enclosed", note, {"error": lost / total}, spread=2 * doubt)
