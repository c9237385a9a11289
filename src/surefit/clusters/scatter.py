"""Scatter of a partition: total = within + between, by pairs of rows and by distances to means."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.metrics import pairwise_distances
from sklearn.utils import check_array

from surefit.core.errors import InvalidData
from surefit.core.validation import read_weights

BLOCK = 1024  # rows per block of distances


class Scatter(NamedTuple):
    r"""Scatter of a partition, by pairs (first three) and, for squared Euclidean distances, by means (last three).

    With weights :math:`w`, cluster weights :math:`N_k` and means :math:`\bar x_k`:
    :math:`W = \tfrac12 \sum_k \sum_{i, i' \in k} w_i w_{i'} d_{ii'} = \sum_k N_k \sum_{i \in k} w_i \|x_i - \bar x_k\|^2`,
    and the inertia is the same without the factors :math:`N_k`.
    """

    total: float
    within: float
    between: float
    inertia: float  # sum_k sum_i w_i |x_i - mean_k|^2, minimized by Lloyd's algorithm
    between_means: float  # sum_k N_k |mean_k - mean|^2
    total_about_mean: float  # sum_i w_i |x_i - mean|^2 = inertia + between_means


def scatter(X, labels, *, metric="sqeuclidean", sample_weight=None) -> Scatter:
    r"""Return the total, within and between scatter of a partition.

    .. math:: T = \tfrac12 \sum_{i,i'} w_i w_{i'} d_{ii'} = W + B

    where :math:`W` sums over the pairs of rows in the same cluster and :math:`B` over the others. This holds for any dissimilarity
    :math:`d`, so the partition with the smallest :math:`W` has the largest :math:`B`. For squared Euclidean distances (the default),
    pairs are not computed: :math:`W = \sum_k N_k \sum_{i \in k} w_i \|x_i - \bar x_k\|^2`. Note that :math:`W` weights clusters by their
    size and is **not** the inertia that k-means minimizes (theory: :ref:`k-means`).

    Parameters
    ----------
    X : array or sparse matrix of shape (n_rows, n_columns)
        Data; with ``metric="precomputed"`` the symmetric matrix of dissimilarities.
    labels : array of shape (n_rows,)
        The cluster of each row.
    metric : str or callable, default="sqeuclidean"
        Dissimilarity, as in ``sklearn.metrics.pairwise_distances``.
    sample_weight : array of shape (n_rows,) or None, default=None
        Frequency weights.

    Returns
    -------
    Scatter
        ``total``, ``within``, ``between``; for squared Euclidean distances also ``inertia``, ``between_means`` and
        ``total_about_mean`` (else NaN).

    Examples
    --------
    One step of Lloyd's algorithm, from {0, 7}, {8, 9, 14} to {0}, {7, 8, 9, 14}, lowers the inertia and increases W:

    >>> from surefit import scatter
    >>> X = [[0.0], [7.0], [8.0], [9.0], [14.0]]
    >>> before, after = scatter(X, [0, 0, 1, 1, 1]), scatter(X, [0, 1, 1, 1, 1])
    >>> print(before.within, after.within)
    111.0 116.0
    >>> print(round(before.inertia, 4), after.inertia)
    45.1667 29.0
    """
    X = check_array(X, accept_sparse="csr", dtype=np.float64)
    labels = np.asarray(labels)
    if labels.shape != (X.shape[0],):
        raise InvalidData(f"scatter: expected one label per row, {X.shape[0]} in all; got shape {labels.shape}.")
    weights = read_weights("scatter", sample_weight, X.shape[0])
    weights = np.ones(X.shape[0]) if weights is None else weights
    groups = np.unique(labels, return_inverse=True)[1].reshape(-1)
    if metric == "sqeuclidean":
        return _by_means(X, groups, weights)
    return _by_pairs(X, groups, weights, metric)


def scatter_of_parts(sizes: np.ndarray, inertias: np.ndarray, scatter_about_mean: float) -> Scatter:
    """Return the scatter from the weight and the inertia of each cluster."""
    inertia = math.fsum(inertias)
    within, total = math.fsum(sizes * inertias), math.fsum(sizes) * scatter_about_mean
    return Scatter(total, within, total - within, inertia, scatter_about_mean - inertia, scatter_about_mean)


def _by_means(X, groups: np.ndarray, weights: np.ndarray) -> Scatter:
    parts = [_about_mean(X[groups == k], weights[groups == k]) for k in range(groups.max() + 1)]
    whole = _about_mean(X, weights)
    sizes, inertias = np.array([p[0] for p in parts]), np.array([p[1] for p in parts])
    return scatter_of_parts(sizes, inertias, whole[1])


def _about_mean(X, weights: np.ndarray) -> tuple[float, float]:
    """Return the weight of some rows and their weighted sum of squares about their mean."""
    total = math.fsum(weights)
    if total == 0:
        return 0.0, 0.0
    mean = np.asarray(weights @ X).ravel() / total
    if sparse.issparse(X):
        squares = float(weights @ np.asarray(X.multiply(X).sum(axis=1)).ravel())
        return total, max(squares - total * float(mean @ mean), 0.0)
    return total, float(weights @ np.einsum("ij,ij->i", X - mean, X - mean))


def _by_pairs(X, groups: np.ndarray, weights: np.ndarray, metric) -> Scatter:
    n = len(groups)
    if metric == "precomputed" and X.shape[1] != n:
        raise InvalidData(f"scatter: precomputed dissimilarities must be a square matrix; got shape {X.shape}.")
    within, between = [], []
    for start in range(0, n, BLOCK):
        rows = slice(start, min(start + BLOCK, n))
        distances = X[rows] if metric == "precomputed" else pairwise_distances(X[rows], X, metric=metric)
        distances = distances.toarray() if sparse.issparse(distances) else distances
        weighted = distances * weights[rows, None] * weights
        together = groups[rows, None] == groups
        within.append(0.5 * float(weighted[together].sum()))
        between.append(0.5 * float(weighted[~together].sum()))
    W, B, nan = math.fsum(within), math.fsum(between), float("nan")
    return Scatter(W + B, W, B, nan, nan, nan)
