r"""Largest decrease of the inertia by moving one row to another cluster (Hartigan's criterion; theory: ``k-means``).

A move of a row of weight :math:`w` from a cluster of weight :math:`m` at distance :math:`d` to one of weight :math:`M`
at distance :math:`D` lowers the inertia by :math:`\frac{mw}{m-w} d^2 - \frac{Mw}{M+w} D^2`. A lower bound on the
second term from the nearest other center excludes most rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from surefit.checks.clusters.partition import distances, partition_of, pieces, stored
from surefit.checks.eigen import dense, weights_of
from surefit.checks.enclosure import Bound, gamma, row_blocks
from surefit.checks.judge import shared
from surefit.core.certificate import Certificate
from surefit.core.partitioned import Part, over_rows
from surefit.core.sample import Data


class Clusters(NamedTuple):
    """Centers and weights of the clusters, and what the weights are without one row."""

    centers: np.ndarray
    sizes: np.ndarray  # (k,)
    holder: np.ndarray  # (k,) index of the heaviest row
    others: np.ndarray  # (k,) weight of the other rows
    moved: np.ndarray  # (k,) largest distances of the means from the centers

    def without(self, own: np.ndarray, weights: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return the weights of the clusters ``own`` without the given rows."""
        heavy = self.holder[own] == rows
        return np.where(heavy, self.others[own], self.sizes[own] - weights)


@shared
def best_move(certificate: Certificate, data: Data) -> Bound:
    """Return the largest decrease of the inertia by the move of one row."""
    (centers, labels), found = stored(certificate, data), partition_of(certificate, data)
    if len(centers) == 1:
        return Bound(0.0, 0.0)
    sums = found.sums
    clusters = Clusters(centers, sums.sizes, sums.holder, sums.others[0] + sums.others[1], found.moved)
    if not len(found.near):
        return over_rows(data.X, data.weights, _moves, clusters, combine=_larger, sliced=labels)
    X, weights, own, move = data.X, weights_of(data), labels[0], Bound(0.0, 0.0)
    X = X.tocsr() if hasattr(X, "tocsr") else X
    rows = np.concatenate([_candidates(clusters, piece, weights, own, found.near) for piece in row_blocks(len(own))])
    for start in range(0, len(rows), 1024):
        some = rows[start : start + 1024]
        block = np.ascontiguousarray(dense(X[some]))
        move = _larger(move, _gains(clusters, some, weights[some], own[some], block, found.near[some, 0]))
    return move


def _candidates(clusters: Clusters, piece: slice, w: np.ndarray, own: np.ndarray, near: np.ndarray) -> np.ndarray:
    """Return the rows of a block that may have a gain."""
    rows = np.arange(piece.start, piece.stop)
    return rows[_may_gain(clusters, rows, w[piece], own[piece], near[piece])]


def _moves(part: Part, clusters: Clusters, labels: np.ndarray | None = None) -> Bound:
    """Bound the gain of moving a row to another cluster."""
    weights, move = weights_of(part), Bound(0.0, 0.0)
    for piece, X, own in pieces(part, clusters.centers, labels):
        difference = X - clusters.centers[own]
        squared = np.einsum("ij,ij->i", difference, difference)
        rows = part.start + np.arange(piece.start, piece.stop)
        move = _larger(move, _gains(clusters, rows, weights[piece], own, X, squared))
    return move


def _larger(one: Bound, other: Bound) -> Bound:
    return Bound(max(one.value, other.value), max(one.spread, other.spread))


def _may_gain(clusters: Clusters, rows: np.ndarray, w: np.ndarray, own: np.ndarray, near: np.ndarray) -> np.ndarray:
    """Return which rows may have a gain, including rounding; for the others, :func:`_gains` would not find any."""
    rest, (squared, least, radius) = clusters.without(own, w, rows), near.T
    smallest, rounding = float(clusters.sizes.min()), 8 * gamma(2 * clusters.centers.shape[1] + 64)
    with np.errstate(divide="ignore", invalid="ignore"):
        leaving = (w / rest + 1.0) * (np.sqrt(squared) + clusters.moved[own]) ** 2
        away = np.maximum(np.sqrt(np.maximum(least - radius, 0.0)) - float(clusters.moved.max()), 0.0)
        cost = smallest / (smallest + w) * away**2
        never = leaving * (1 + rounding) + 8 * radius <= cost * (1 - rounding)
    return (rest > 0) & (w > 0) & ~never


def _gains(
    clusters: Clusters, rows: np.ndarray, w: np.ndarray, own: np.ndarray, X: np.ndarray, squared: np.ndarray
) -> Bound:
    """Bound the decrease of the inertia by moves of rows with squared distances ``squared`` from their centers."""
    rest, sizes, moved = clusters.without(own, w, rows), clusters.sizes, clusters.moved
    can = (rest > 0) & (w > 0)
    if not can.any():
        return Bound(0.0, 0.0)
    table, radius = distances(X, clusters.centers)
    table[np.arange(len(X)), own] = np.inf
    w, own, rest, squared, table, radius = w[can], own[can], rest[can], squared[can], table[can], radius[can]
    far = (np.sqrt(squared) + moved[own]) ** 2
    near = np.maximum(np.sqrt(np.maximum(table - radius[:, None], 0.0)) - moved, 0.0) ** 2
    cost = np.min(sizes / (sizes + w[:, None]) * near, axis=1)
    leaving = w * (w / rest + 1.0) * far
    rounding = gamma(2 * X.shape[1] + 64) * (leaving + w * cost) + 2 * w * radius
    gain = leaving - w * cost + rounding
    worst = int(np.argmax(gain))
    return Bound(max(float(gain[worst]), 0.0), float(np.max(rounding[gain > -2 * rounding], initial=0.0)))
