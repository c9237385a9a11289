r"""Checks a partition around centres: nearest centres, means, inertia, single moves and the log of the fit.

Distances are first taken by products with a rounding radius; where that does not decide, directly as
:math:`\sum_j (x_{ij} - c_j)^2`, whose relative error is at most :math:`\gamma_{d+4}` (theory: ``k-means``).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy import sparse

from surefit.checks.base import Data, Finding, checker
from surefit.checks.eigen import dense, rows_at_once, weights_of
from surefit.checks.enclosure import UNIT, gamma
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim


class Walk(NamedTuple):
    """What one walk over the rows, with the certified centres and labels in hand, proves."""

    inertia: float
    radius: float  # of the inertia
    excess: float  # largest amount (squared distance) by which another centre is nearer, less what rounding explains
    excess_bound: float  # the same with rounding against the claim
    worst_row: int
    off: np.ndarray  # (k, d) mean minus centre
    off_radius: np.ndarray
    sizes: np.ndarray  # (k,) weights
    gain: float  # largest decrease of the inertia by one move, less its rounding
    gain_bound: float
    movable: int  # rows whose move surely brings a decrease


@checker("k_means.nearest")
def check_nearest(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """No row is nearer to another centre."""
    walk = walk_of(certificate, data)
    if walk is None:
        return _bad_labels(claim)
    ok = walk.excess <= claim.value
    message = f"no other centre is nearer by more than {walk.excess_bound:.3g} (squared distance, rounding included)."
    if not ok:
        message = f"row {walk.worst_row} is nearer to another centre."
    return Finding(claim.name, claim.value, walk.excess_bound if ok else walk.excess, ok, "enclosed", message)


@checker("k_means.means")
def check_means(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """Centres are the means of their rows, up to value (sum of squared distances)."""
    walk = walk_of(certificate, data)
    if walk is None:
        return _bad_labels(claim)
    least = math.fsum((np.maximum(np.abs(walk.off) - walk.off_radius, 0.0) ** 2).ravel())
    most = math.fsum(((np.abs(walk.off) + walk.off_radius) ** 2).ravel()) * (1 + gamma(8))
    ok = least <= claim.value * (1 + gamma(64))
    return Finding(claim.name, claim.value, most if ok else least, ok, "enclosed", "means recomputed from the labels.")


@checker("k_means.inertia")
def check_inertia(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The inertia is value, and it is what the certificate lists as the model's."""
    walk = walk_of(certificate, data)
    if walk is None:
        return _bad_labels(claim)
    near = abs(walk.inertia - claim.value) <= 2 * walk.radius and float(certificate.model["inertia_"]) == claim.value
    proved = walk.inertia + walk.radius
    return Finding(claim.name, claim.value, proved, near, "enclosed", f"recomputed: {walk.inertia:.9g}.")


@checker("k_means.single_move")
def check_single_move(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """Moving one row to another cluster lowers the inertia by at most value (Hartigan)."""
    walk = walk_of(certificate, data)
    if walk is None:
        return _bad_labels(claim)
    ok = walk.gain <= claim.value and walk.movable <= claim.numbers["rows"]
    message = f"{walk.movable} rows can surely change cluster and lower the inertia."
    return Finding(claim.name, claim.value, walk.gain_bound if ok else walk.gain, ok, "enclosed", message)


@checker("k_means.monotone")
def check_monotone(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The log rises by at most value, starts at the inertia of the start and ends at that of the model."""
    log, start = claim.witness["log"], claim.witness["start"]
    rise = float(np.max(np.diff(log), initial=0.0))
    first, radius = _inertia_of_start(data, start)
    walk = walk_of(certificate, data)
    if walk is None:
        return _bad_labels(claim)
    allowed = (claim.limit or 0.0) + radius + walk.radius
    weight = float(data.X.shape[0]) if data.weights is None else math.fsum(data.weights)
    begins = allowed + _rounding_of_centres(start, first, weight)
    ends = allowed + _rounding_of_centres(certificate.model["cluster_centers_"], walk.inertia, weight)
    ok = rise <= claim.value and abs(first - log[0]) <= begins and walk.inertia <= log[-1] + ends
    message = f"both ends of the log re-derived; {len(log)} entries, largest rise {rise:.3g}."
    if rise <= claim.value and not ok:
        message, rise = "the ends of the log are not those of this fit.", math.inf
    return Finding(claim.name, claim.value, rise, ok, "recomputed", message)


def _rounding_of_centres(centres: np.ndarray, inertia: float, weight: float) -> float:
    """Bound what it does to the inertia that centres are stored to the last digit of their distance from the origin."""
    moved = 2 * UNIT * float(np.max(np.linalg.norm(centres, axis=1)))
    return 2 * moved * math.sqrt(weight * max(inertia, 0.0)) + weight * moved**2


def walk_of(certificate: Certificate, data: Data) -> Walk | None:
    """Return what the rows prove about the certified centres and labels; None if the labels name no partition."""
    if "clusters" not in data.memo:
        labels = certificate.model["labels_"]
        centres = np.asarray(certificate.model["cluster_centers_"], dtype=np.float64)
        fit = labels.shape == (data.X.shape[0],) and labels.dtype.kind in "iu" and centres.ndim == 2
        fit = fit and len(labels) > 0 and 0 <= labels.min() and labels.max() < len(centres)
        data.memo["clusters"] = _walk(data, centres, labels) if fit and np.isfinite(centres).all() else None
    return data.memo["clusters"]


def _bad_labels(claim: Claim) -> Finding:
    message = "the labels do not name one of the centres for each row."
    return Finding(claim.name, claim.value, math.inf, False, "exact", message)


def _walk(data: Data, centres: np.ndarray, labels: np.ndarray) -> Walk:
    n, d = data.X.shape
    k, weights = len(centres), weights_of(data)
    sizes = np.array([math.fsum(weights[labels == c]) for c in range(k)])
    inertia: list[float] = []
    slack: list[float] = []
    worst, excess, bound = 0, 0.0, 0.0
    gain, gain_bound, movable = 0.0, 0.0, 0
    off, spread = np.zeros((k, d)), np.zeros((k, d))
    rows = rows_at_once(d)
    for start in range(0, n, rows):
        piece = slice(start, min(start + rows, n))
        X, own, w = dense(data.X[piece]), labels[piece], weights[piece]
        difference = X - centres[own]
        distance = np.einsum("ij,ij->i", difference, difference)
        inertia.append(math.fsum(w * distance))
        table, reach = _distances(X, centres)
        stored = _rounding_of_sparse_products(X, centres) if sparse.issparse(data.X) else np.zeros(len(X))
        slack.append(math.fsum(w * stored))
        table[np.arange(len(X)), own] = np.inf
        e, b, row = _excess(X, centres, own, distance, table, reach, stored)
        if e > excess or (e == excess == 0.0 and b > bound):
            worst = start + row
        excess, bound = max(excess, e), max(bound, b)
        g, gb, m = _gains(w, own, sizes, distance, table, reach + stored)
        gain, gain_bound, movable = max(gain, g), max(gain_bound, gb), movable + m
        for c in np.unique(own):
            mine = own == c
            off[c] += w[mine] @ difference[mine]
            spread[c] += w[mine] @ np.abs(difference[mine])
    filled = np.where(sizes > 0, sizes, 1.0)[:, None]
    off_radius = gamma(min(rows, n) + n // rows + 8) * spread / filled * (1 + gamma(8))
    total = math.fsum(inertia)
    radius = gamma(d + 16) * total + math.fsum(slack)
    off = off / filled
    return Walk(total, radius, excess, bound, worst, off, off_radius, sizes, gain, gain_bound, movable)


def _distances(X: np.ndarray, centres: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Squared distances of all rows to all centres by products, and one radius a row."""
    shift = centres.mean(axis=0)
    Y, Z = X - shift, centres - shift
    lengths = np.einsum("ij,ij->i", Y, Y)
    squares = np.einsum("kj,kj->k", Z, Z)
    table = lengths[:, None] - 2 * (Y @ Z.T) + squares
    radius = gamma(X.shape[1] + 16) * 2 * (np.sqrt(lengths) + math.sqrt(squares.max())) ** 2
    return table, radius


def _rounding_of_sparse_products(X: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """What a fit on sparse rows may be off by: it has distances as differences of products, about the origin."""
    lengths = np.sqrt(np.einsum("ij,ij->i", X, X))
    return gamma(X.shape[1] + 8) * (lengths + math.sqrt(np.einsum("kj,kj->k", centres, centres).max())) ** 2


def _excess(X, centres, own, distance, table, radius, stored) -> tuple[float, float, int]:
    """By how much some row is nearer to another centre: surely, possibly, and which row."""
    doubtful = np.flatnonzero(~(distance <= table.min(axis=1) - radius))
    excess, bound, worst = 0.0, 0.0, 0
    for i in doubtful:
        others = np.flatnonzero(table[i] <= table[i].min() + 2 * radius[i])
        if len(others) == 0 or not np.isfinite(table[i, others]).any():
            continue  # one centre only
        direct = np.sum((X[i] - centres[others]) ** 2, axis=1).min()
        rounding = 4 * gamma(X.shape[1] + 4) * (distance[i] + direct) + 2 * stored[i]  # the fit's rounding and ours
        surely = float(distance[i] - direct - rounding)
        if surely > excess:
            worst = int(i)
        excess, bound = max(excess, surely), max(bound, float(distance[i] - direct + rounding))
    return excess, bound, worst


def _gains(w, own, sizes, distance, table, radius) -> tuple[float, float, int]:
    """Decrease of the inertia by Hartigan moves: surely, possibly, and the number of rows that surely have one."""
    leave = sizes[own]
    can = (leave > w * (1 + 1e-12)) & (w > 0)
    if not can.any() or table.shape[1] == 1:
        return 0.0, 0.0, 0
    w, leave, distance, table, radius = w[can], leave[can], distance[can], table[can], radius[can]
    price = np.min(sizes / (sizes + w[:, None]) * np.maximum(table, 0.0), axis=1)
    gain = w * (leave / (leave - w) * distance - price)
    rounding = 2 * w * radius * leave / (leave - w) + 64 * gamma(table.shape[1] + 8) * np.abs(gain)
    surely = gain - rounding
    return (
        max(float(surely.max()), 0.0),
        max(float((gain + rounding).max()), 0.0),
        int(np.sum(surely > 0)),
    )


def _inertia_of_start(data: Data, start: np.ndarray) -> tuple[float, float]:
    """Inertia of all rows at the nearest of the starting centres, and its radius."""
    weights, rows = weights_of(data), rows_at_once(data.X.shape[1])
    total, radius = [], []
    for begin in range(0, data.X.shape[0], rows):
        piece = slice(begin, min(begin + rows, data.X.shape[0]))
        table, rad = _distances(dense(data.X[piece]), start)
        total.append(math.fsum(weights[piece] * np.maximum(table.min(axis=1), 0.0)))
        radius.append(math.fsum(weights[piece] * rad))
    return math.fsum(total), math.fsum(radius)
