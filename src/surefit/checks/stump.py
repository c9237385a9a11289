r"""Checks stumps by trying all of them: every cut of every column, with the best labels on both sides.

Sums of weights are taken column by column in the order of the values. They are exact if the weights are integers with a
total below :math:`2^{53}`; else a sum of n weights is off by at most :math:`\gamma_n S`, and both compared errors are two such sums
(theory: ``stump-optimality``).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from surefit.checks.base import Data, Finding, checker
from surefit.checks.enclosure import gamma
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.errors import CertificateError

CELLS = 2_000_000  # sorted at a time


class SortedColumns(NamedTuple):
    """Rows of each column in ascending order, and where a run of equal values ends."""

    order: np.ndarray  # (columns, rows)
    ends: np.ndarray  # (columns, rows): a cut may follow


def sort_columns(X: np.ndarray) -> list[SortedColumns]:
    """Sort all columns, a few at a time."""
    n, d = X.shape
    width = max(1, CELLS // max(n, 1))
    found = []
    for start in range(0, d, width):
        part = np.asarray(X[:, start : start + width], dtype=np.float64).T
        order = np.argsort(part, axis=1, kind="stable")
        values = np.take_along_axis(part, order, axis=1)
        ends = np.zeros(values.shape, dtype=bool)
        ends[:, :-1] = values[:, 1:] > values[:, :-1]
        found.append(SortedColumns(order.astype(np.int32), ends))
    return found


def least_error(columns: list[SortedColumns], codes: np.ndarray, weights: np.ndarray, n_classes: int) -> float:
    """Smallest weight of the rows that a stump gets wrong; constants are stumps."""
    whole = np.bincount(codes, weights=weights, minlength=n_classes)
    total, best = float(np.sum(whole)), float(np.max(whole))
    classes = range(n_classes)
    for order, ends in columns:
        below = [np.cumsum(np.where(codes == k, weights, 0.0)[order], axis=1) for k in classes]
        right = np.max([below[k] for k in classes], axis=0) + np.max([whole[k] - below[k] for k in classes], axis=0)
        best = max(best, float(np.max(right, where=ends, initial=0.0)))
    return total - best


def largest_edge(columns: list[SortedColumns], signed: np.ndarray) -> float:
    """Largest absolute edge, the sum of w t h(x), of a stump with values -1 and 1, from ``signed`` = w t."""
    total = math.fsum(signed)
    best = abs(total)
    for order, ends in columns:
        edges = np.abs(total - 2 * np.cumsum(signed[order], axis=1))
        best = max(best, float(np.max(edges, where=ends, initial=0.0)))
    return best


def codes_of(classes: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Place of each label among the classes."""
    codes = np.full(len(y), -1, dtype=np.int64)
    for k, label in enumerate(classes):
        codes[y == label] = k
    if (codes < 0).any():
        raise CertificateError("A label of y is not among the classes of the model.")
    return codes


def sums_exactly(weights: np.ndarray) -> bool:
    """Whether sums of these weights have no rounding, and differ visibly: integers with a small total."""
    return bool(np.all(weights == np.rint(weights)) and np.sum(weights) < 1e12)


def resolution(n: int) -> float:
    """Part of the total weight that sums of ``n`` weights, in several orders, cannot tell from nothing."""
    return 1e-12 + 8 * gamma(n + 2)


@checker("stump.error", "stump.optimal")
def check_stump(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The weighted error is value; no stump has one that is smaller by more than value."""
    model, X = certificate.model, data.X
    codes = codes_of(model["classes_"], data.target)
    weights = np.ones(len(codes)) if data.weights is None else data.weights
    said = np.where(
        X[:, int(model["feature_"])] <= float(model["threshold_"]), int(model["left_"]), int(model["right_"])
    )
    lost, total = math.fsum(weights[said != codes]), math.fsum(weights)
    exact = sums_exactly(weights)
    level = "exact" if exact else "enclosed"
    if claim.name == "stump.error":
        error = lost / total
        ok = abs(error - claim.value) <= gamma(len(codes) + 4) * max(error, claim.value)
        return Finding(claim.name, claim.value, error, ok, level, f"{lost:.9g} of {total:.9g} is misclassified.")
    least = least_error(sort_columns(X), codes, weights, certificate.problem["classes"])
    doubt = 0.0 if exact else 3 * gamma(len(codes) + 2) * total
    gap = (max(lost - least, 0.0) + doubt) / total
    message = f"all stumps of {X.shape[1]} columns were tried: none misclassifies less than {least:.9g}."
    return Finding(claim.name, claim.value, gap, gap <= claim.value, level, message)
