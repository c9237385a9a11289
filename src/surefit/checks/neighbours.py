"""Neighbours recorded by a nearest-neighbour rule, compared with all distances."""

from __future__ import annotations

import math

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise_distances

from surefit.checks.base import Data, Finding, checker
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.errors import InvalidParameter
from surefit.kernels import Kernel, kernel_distances

#: Distances closer than this, relatively, may be told apart by one arithmetic and not by another.
ROUNDING = 1e-9


@checker("knn.neighbours")
def neighbours(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """Count recorded rows whose neighbours are not the nearest, or not in order."""
    rows, recorded = claim.witness["rows"], claim.witness["neighbours"]
    present = np.arange(data.X.shape[0]) if data.weights is None else np.flatnonzero(data.weights > 0)
    known = np.isin(recorded, present).all() and np.isin(rows, present).all()
    if not known:
        return Finding(
            claim.name, claim.value, math.inf, False, "recomputed", "A recorded row takes no part in the fit."
        )
    distances = _distances(claim, data, rows, present)
    if distances is None:
        message = "The distance is a function of the user's own, which a certificate does not carry: not re-derived."
        return Finding(claim.name, claim.value, claim.value, True, "computed", message)
    wrong = 0
    position = np.full(data.X.shape[0], -1)
    position[present] = np.arange(len(present))
    for row, names in zip(distances, position[recorded], strict=True):
        wrong += not _nearest(row, names)
    message = (
        f"{len(rows) - wrong} of {len(rows)} recorded rows have the neighbours that all {len(present)} distances give."
    )
    return Finding(claim.name, claim.value, float(wrong), wrong <= claim.value, "recomputed", message)


def _nearest(distances: np.ndarray, names: np.ndarray) -> bool:
    """Whether ``names`` are distinct, in order, and no other row is nearer, up to rounding."""
    if len(np.unique(names)) != len(names):
        return False
    found = distances[names]
    slack = ROUNDING * max(float(np.max(distances)), 1e-300)
    others = np.delete(distances, names)
    in_order = np.all(np.diff(found) >= -slack)
    exact_ties = (np.diff(found) == 0) & (np.diff(names) < 0)  # equal numbers must come by index
    left_out = np.delete(np.arange(len(distances)), names)
    earlier = (others == found[-1]) & (left_out < names[-1]) & (found[-1] == np.max(found))
    none_nearer = len(others) == 0 or float(np.min(others)) >= found[-1] - slack
    return bool(in_order and none_nearer and not np.any(exact_ties) and not np.any(earlier))


def _distances(claim: Claim, data: Data, rows: np.ndarray, present: np.ndarray) -> np.ndarray | None:
    X = data.X
    Q, T = X[rows], X[present]
    if claim.numbers.get("kernel") is not None:
        try:
            return kernel_distances(Kernel.from_record(claim.numbers["kernel"]), Q, T)
        except InvalidParameter:  # a function, which no record can hold
            return None
    metric = claim.numbers.get("metric")
    if metric is None:
        return None
    if hasattr(X, "toarray"):
        return pairwise_distances(Q, T, metric=metric)
    names = {"manhattan": "cityblock", "l1": "cityblock", "l2": "euclidean"}
    options = {"p": claim.numbers["exponent"]} if metric == "minkowski" else {}
    Q, T = np.asarray(Q, dtype=np.float64), np.asarray(T, dtype=np.float64)
    if metric in (
        "euclidean",
        "l2",
    ):  # differences are taken before squares, so equal distances of equal rows are equal
        return np.sqrt(np.stack([np.sum((T - q) ** 2, axis=1) for q in Q]))
    try:
        return cdist(Q, T, metric=names.get(metric, metric), **options)
    except ValueError:
        return pairwise_distances(Q, T, metric=metric)
