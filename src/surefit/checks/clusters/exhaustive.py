r"""Checks that a partition of a few points is optimal, with the least costs of the last points as witness.

Let :math:`f_t` be claimed least costs of the points t, t+1, ... in a given order. The cost of a partition of these
points is at least its cost on the points up to i plus the least cost of the points after i. A partial partition with
cost :math:`f_t - f_{i+1}` or more thus cannot be completed below :math:`f_t`. Starting from the end, all partial
partitions with a smaller cost are listed, breadth first. If none can be completed, :math:`f_t` is proved (theory:
``k-means-bound``).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from surefit.checks.eigen import dense, weights_of
from surefit.checks.enclosure import gamma
from surefit.checks.judge import AtLeast, Proof, claim, refused
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.distinct import unique_rows
from surefit.core.sample import Data

MOST_STATES = 2**24  # largest number of partial partitions that the checker lists


def _gap_in_words(claim: Claim) -> str:
    n, solved = claim.numbers["rows"], claim.numbers["solved"]
    which = "all" if solved == n else f"all those of {solved} of"
    return (
        f"No partition is below {max(claim.numbers['lower_bound'], 0.0):.6g}, and this one is within {claim.value:.3g} of that: of "
        f"the partitions of the distinct rows, {which} {n}, every one was tried or excluded."
    )


@claim("partition.objective", kind="data_fact", side="upper", theory="k-means-bound",
       says="The criterion of the partition is {objective:.6g}, up to {value:.2g}.")  # fmt: skip
def objective(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that the error of ``objective_`` is at most ``value``."""
    (found, radius), stored = _objective(certificate, data), float(certificate.model["objective_"])
    note = f"recomputed: {found:.9g}."
    return Proof(abs(stored - found) + radius, numbers={"objective": stored}, spread=radius, note=note)


@claim("partition.gap", kind="optimality", side="upper", theory="k-means-bound", says=_gap_in_words)
def gap(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that the criterion exceeds that of every other partition by at most ``value``."""
    found, radius = _objective(certificate, data)
    rows, mass = _distinct(data)
    order, least = claim.witness["order"], claim.witness["least"]
    n, solved = len(rows), len(least) - 1
    if sorted(order.tolist()) != list(range(n)) or not 0 <= solved <= n or not np.all(np.isfinite(least)) or least[-1]:
        return refused("the witness does not list these rows")
    rows, mass = rows[order][n - solved :], mass[order][n - solved :]
    by_size = certificate.problem["criterion"] == "scatter"
    k = min(int(certificate.problem["n_clusters"]), n)
    rounding = 64 * gamma(n + rows.shape[1] + 8) * n * (found + abs(float(least[0])))
    bound, looked = _proved_least(rows, mass, k, by_size, least, rounding)
    low = bound - rounding
    note = f"no partition is below {max(low, 0.0):.6g}: {looked} partial partitions were tried."
    numbers = {"lower_bound": AtLeast(max(low, 0.0), rounding if low > 0 else 0.0), "rows": n, "solved": solved}
    limit = 4 * (radius + rounding)  # gap that rounding alone may leave
    value = max(found + radius - max(low, 0.0), 0.0)
    return Proof(
        value, note=note, numbers=numbers, limit=limit, spread=radius + rounding, limit_spread=gamma(64) * limit
    )


def _distinct(data: Data) -> tuple[np.ndarray, np.ndarray]:
    weights = weights_of(data)
    used = np.flatnonzero(weights > 0)
    rows, place = unique_rows(dense(data.X[used]), return_inverse=True)
    return rows, np.bincount(place.ravel(), weights=weights[used])


def _objective(certificate: Certificate, data: Data) -> tuple[float, float]:
    """Return the inertia or within-cluster scatter of the certified labels, and its radius."""
    X, weights, labels = dense(data.X), weights_of(data), np.asarray(certificate.model["labels_"])
    whole = labels.shape == weights.shape and labels.dtype.kind in "iu"
    if not whole or labels.min() < 0 or labels.max() >= certificate.problem["n_clusters"]:
        raise ValueError("the labels are not a partition into at most n_clusters clusters")
    parts = []
    for c in np.unique(labels):
        mine, w = X[labels == c], weights[labels == c]
        total = math.fsum(w)
        if total > 0:
            difference = mine - w @ mine / total
            inertia = math.fsum(w * np.einsum("ij,ij->i", difference, difference))
            parts.append(inertia * total if certificate.problem["criterion"] == "scatter" else inertia)
    value, total = math.fsum(parts), math.fsum(weights)
    scale = total * float(np.max(np.abs(X), initial=0.0)) ** 2 * X.shape[1]
    scale *= total if certificate.problem["criterion"] == "scatter" else 1.0
    underflow = 2.0**-1074 * (X.size + 2 * len(X) + 4) * max(total, 1.0) * max(total, 1.0)
    return value, 8 * gamma(len(X) + X.shape[1] + 16) * value + (gamma(len(X) + 8) ** 2) * scale + underflow


def _proved_least(rows: Any, mass: Any, k: Any, by_size: Any, least: Any, rounding: Any) -> tuple[float, int]:
    """Verify the claimed least costs from the last to the first; return the proved bound and the number of states."""
    n = len(rows)
    D = np.sum((rows[:, None, :] - rows[None, :, :]) ** 2, axis=2) if n else np.zeros((0, 0))
    proved, looked = np.zeros(n + 1), 0
    for t in range(n - 1, -1, -1):
        survivors, count = _survivors(D, mass, k, by_size, proved, t, float(least[t]) - rounding / max(n, 1))
        looked += count
        if looked > MOST_STATES:  # the costs of the last points alone still prove a smaller bound
            return float(proved[t + 1]), looked
        proved[t] = float(least[t]) if survivors == math.inf else min(float(least[t]), survivors)
    return float(proved[0]), looked


def _survivors(D: Any, mass: Any, k: Any, by_size: Any, proved: Any, first: Any, threshold: Any) -> tuple[float, int]:
    """List partial partitions from ``first`` on that may end below ``threshold``; return their smallest final cost."""
    n = len(mass)
    labels = np.zeros((1, 0), dtype=np.int16)
    pairs, sizes, used, looked = np.zeros((1, k)), np.zeros((1, k)), np.zeros(1, dtype=np.int64), 0
    for i in range(first, n):
        states = []
        for c in range(min(k, i - first + 1)):
            can = np.flatnonzero(used >= c)
            looked += len(can)
            if len(can) == 0:
                continue
            tie = (labels[can] == c) @ (mass[first:i] * D[i, first:i])
            new_pairs, new_sizes = pairs[can].copy(), sizes[can].copy()
            new_pairs[:, c] += mass[i] * tie
            new_sizes[:, c] += mass[i]
            shares = new_pairs if by_size else new_pairs / np.where(new_sizes > 0, new_sizes, 1.0)
            cost = shares.sum(axis=1)
            keep = cost + proved[i + 1] < threshold
            column = np.full((int(keep.sum()), 1), c, dtype=np.int16)
            now_used = np.maximum(used[can][keep], c + 1)
            states.append(
                (np.hstack([labels[can][keep], column]), new_pairs[keep], new_sizes[keep], now_used, cost[keep])
            )
        labels, pairs, sizes, used, cost = (np.concatenate(part) for part in zip(*states, strict=True))
        if len(labels) == 0:
            return math.inf, looked
        if looked > MOST_STATES:
            break
    return float(cost.min()), looked
