r"""Checks that a partition of a few points is the best of all, from the least costs of the last points as witness.

Let :math:`f_t` be claimed least costs of the points t, t+1, ... in a given order. Because a partition of all points costs at
least what it costs on the points up to i plus the least cost of those after i, a partial partition that has paid
:math:`f_t - f_{i+1}` or more cannot be completed below :math:`f_t`. Starting from the end, all partial partitions that have
paid less are listed, breadth first; if none can be completed, :math:`f_t` is proved (theory: ``k-means-bound``).
"""

from __future__ import annotations

import math

import numpy as np

from surefit.checks.base import Data, Finding, checker
from surefit.checks.eigen import dense, weights_of
from surefit.checks.enclosure import gamma
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim


@checker("partition.objective")
def check_objective(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The criterion of the certified labels is value."""
    found, radius = _objective(certificate, data)
    ok = abs(found - claim.value) <= radius and float(certificate.model["objective_"]) == claim.value
    return Finding(claim.name, claim.value, found + radius, ok, "enclosed", f"recomputed: {found:.9g}.")


@checker("partition.gap")
def check_gap(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The criterion exceeds that of every other partition by at most value."""
    found, radius = _objective(certificate, data)
    rows, mass = _distinct(data)
    order, least = claim.witness["order"], claim.witness["least"]
    n, solved = len(rows), len(least) - 1
    if sorted(order.tolist()) != list(range(n)) or not 0 <= solved <= n or least[-1] != 0:
        return Finding(claim.name, claim.value, math.inf, False, "exact", "the witness does not list these rows.")
    rows, mass = rows[order][n - solved :], mass[order][n - solved :]
    by_size = certificate.problem["criterion"] == "scatter"
    k = min(int(certificate.problem["n_clusters"]), n)
    rounding = 64 * gamma(n + rows.shape[1] + 8) * n * (found + float(least[0]))
    bound, looked = _proved_least(rows, mass, k, by_size, least, rounding)
    gap = found - bound
    ok = gap - claim.value <= radius + rounding and claim.numbers["lower_bound"] <= bound + rounding
    message = f"no partition is below {max(bound - rounding, 0.0):.6g}: {looked} partial partitions were looked at."
    proved = max(gap + radius + rounding, 0.0) if ok else gap
    return Finding(claim.name, claim.value, proved, ok, "enclosed", message)


def _distinct(data: Data) -> tuple[np.ndarray, np.ndarray]:
    weights = weights_of(data)
    used = np.flatnonzero(weights > 0)
    rows, place = np.unique(dense(data.X[used]), axis=0, return_inverse=True)
    return rows, np.bincount(place.ravel(), weights=weights[used])


def _objective(certificate: Certificate, data: Data) -> tuple[float, float]:
    """Inertia or within scatter of the certified labels, by means, and its radius."""
    X, weights, labels = dense(data.X), weights_of(data), certificate.model["labels_"]
    if labels.shape != weights.shape or len(np.unique(labels[weights > 0])) > certificate.problem["n_clusters"]:
        return math.inf, 0.0
    parts = []
    for c in np.unique(labels):
        mine, w = X[labels == c], weights[labels == c]
        total = math.fsum(w)
        if total > 0:
            difference = mine - w @ mine / total
            inertia = math.fsum(w * np.einsum("ij,ij->i", difference, difference))
            parts.append(inertia * total if certificate.problem["criterion"] == "scatter" else inertia)
    value = math.fsum(parts)
    scale = float(np.sum(weights)) * float(np.max(np.abs(X), initial=0.0)) ** 2 * X.shape[1]
    return value, 8 * gamma(len(X) + X.shape[1] + 16) * value + (gamma(len(X) + 8) ** 2) * scale


def _proved_least(rows, mass, k, by_size, least, rounding) -> tuple[float, int]:
    """Verify the claimed least costs from the last one to the first; return the first that holds, and the work done."""
    n = len(rows)
    D = np.sum((rows[:, None, :] - rows[None, :, :]) ** 2, axis=2) if n else np.zeros((0, 0))
    proved, looked = np.zeros(n + 1), 0
    for t in range(n - 1, -1, -1):
        survivors, count = _survivors(D, mass, k, by_size, proved, t, float(least[t]) - rounding / max(n, 1))
        looked += count
        proved[t] = float(least[t]) if survivors == math.inf else min(float(least[t]), survivors)
    return float(proved[0]), looked


def _survivors(D, mass, k, by_size, proved, first, threshold) -> tuple[float, int]:
    """List partial partitions of the points from ``first`` on that could end below ``threshold``; return the least end."""
    n = len(mass)
    labels = np.zeros((1, 0), dtype=np.int16)
    pairs, sizes, used, looked = np.zeros((1, k)), np.zeros((1, k)), np.zeros(1, dtype=np.int64), 0
    for i in range(first, n):
        states = []
        for c in range(min(k, i - first + 1)):
            can = np.flatnonzero(used >= c)
            if len(can) == 0:
                continue
            tie = (labels[can] == c) @ (mass[first:i] * D[i, first:i])
            new_pairs, new_sizes = pairs[can].copy(), sizes[can].copy()
            new_pairs[:, c] += mass[i] * tie
            new_sizes[:, c] += mass[i]
            shares = new_pairs if by_size else new_pairs / np.where(new_sizes > 0, new_sizes, 1.0)
            paid = shares.sum(axis=1)
            keep = paid + proved[i + 1] < threshold
            looked += len(can)
            column = np.full((int(keep.sum()), 1), c, dtype=np.int16)
            states.append(
                (
                    np.hstack([labels[can][keep], column]),
                    new_pairs[keep],
                    new_sizes[keep],
                    np.maximum(used[can][keep], c + 1),
                    paid[keep],
                )
            )
        labels, pairs, sizes, used, paid = (np.concatenate(part) for part in zip(*states, strict=True))
        if len(labels) == 0:
            return math.inf, looked
    return float(paid.min()), looked
