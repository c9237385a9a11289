r"""Checks of agglomerative clusterings: all merges are repeated with recomputed distances.

The distance between clusters is the minimum, the maximum or the size-weighted mean of the distances between their
parts, or (Ward) it follows from the cluster means. Errors therefore do not accumulate over the merges beyond the
rounding of a mean (theory: ``agglomerative``).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from surefit.checks.eigen import dense
from surefit.checks.enclosure import gamma
from surefit.checks.judge import AtMost, Proof, claim, no_claim, refused, shared
from surefit.checks.neighbors.distances import distances
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.sample import Data

no_claim("agglomerative.unchecked",
         "The merges were not repeated (connectivity, or more than 1000 rows); nothing is claimed about them.")  # fmt: skip


class Merging:
    """Remaining clusters, each at the index of its first row: distances, sizes and, for Ward linkage, means."""

    def __init__(self, how: dict[str, Any], X: np.ndarray, D: np.ndarray) -> None:
        self.linkage, self.n = how["linkage"], len(X)
        self.D, self.sizes = D.copy(), np.ones(self.n)
        self.means = X.copy() if self.linkage == "ward" else None
        np.fill_diagonal(self.D, np.inf)
        self.nearest = self.D.min(axis=1)

    def merge(self, a: int, b: int) -> float:
        """Merge cluster b into cluster a; return by how much their distance exceeds the smallest one."""
        excess = float(self.D[a, b] - self.nearest.min())
        left = np.flatnonzero(np.isfinite(self.D[a]) | np.isfinite(self.D[b]))
        left = left[(left != a) & (left != b)]
        m, k = self.sizes[a], self.sizes[b]
        old = np.minimum(self.D[a, left], self.D[b, left])
        if self.means is not None:
            self.means[a] = (m * self.means[a] + k * self.means[b]) / (m + k)
            away = np.sum((self.means[left] - self.means[a]) ** 2, axis=1)
            new = np.sqrt(2 * self.sizes[left] * (m + k) / (self.sizes[left] + m + k) * away)
        elif self.linkage == "average":
            new = (m * self.D[a, left] + k * self.D[b, left]) / (m + k)
        else:
            new = (np.minimum if self.linkage == "single" else np.maximum)(self.D[a, left], self.D[b, left])
        self.sizes[a] = m + k
        self.D[b, :] = self.D[:, b] = np.inf
        self.D[a, left] = self.D[left, a] = new
        changed = left[old <= self.nearest[left]]  # all others have a nearer cluster that still exists
        self.nearest[left] = np.minimum(self.nearest[left], new)
        self.nearest[changed] = self.D[changed].min(axis=1)
        self.nearest[a], self.nearest[b] = self.D[a].min(), np.inf
        return excess


@claim("agglomerative.merges", kind="process_fact", side="upper", theory="agglomerative",
       says="Of all {merges} merges none joined clusters that were farther apart than the nearest two by more than {value:.2g} of the "
       "largest distance, and no recorded distance is off by more than {distance:.2g} of it.")  # fmt: skip
def merges(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that each merge joins the two nearest clusters, up to ``value``."""
    X, model, how = dense(data.X), certificate.model, certificate.problem
    n, children = len(X), _children(certificate, data)
    found = distances({**how, "kernel": None}, X, np.arange(n), np.arange(n), certificate.subject)
    if found is None:
        return refused("the distance is a function, which a certificate does not carry; pass the model to verify")
    stored = np.asarray(model["distances_"], dtype=np.float64)
    if stored.shape != (n - 1,) or not np.all(np.isfinite(stored)):
        return refused("distances_ must have one finite number per merge")
    D = 0.5 * (found.mid + found.mid.T)
    state, places = Merging(how, X, D), np.arange(2 * n - 1)
    worst = apart = 0.0
    largest = float(np.max(D, initial=0.0))
    for i, (a, b) in enumerate(children):
        first, second = sorted((int(places[a]), int(places[b])))
        apart = max(apart, abs(float(state.D[first, second]) - float(stored[i])))
        largest = max(largest, float(state.D[first, second]))
        worst = max(worst, state.merge(first, second))
        places[n + i] = first
    unit = largest if largest > 0 else 1.0
    shift = float(np.max(np.abs(X), initial=0.0)) if state.means is not None else 0.0
    rounding = (
        gamma(8 * n + 64) * (largest + shift * math.sqrt(8.0 * X.shape[1] * n)) + float(np.max(found.rad, initial=0.0))
    ) / unit
    numbers = {"merges": n - 1, "distance": AtMost(apart / unit + rounding, rounding)}
    return Proof(worst / unit + rounding, "recomputed", "all merges repeated.", numbers, spread=rounding)


@claim("agglomerative.labels", kind="data_fact", side="exact", theory="agglomerative",
       says="The labels follow from the merges, with clusters numbered by their first rows: {value:.0f} of {rows} differ.")  # fmt: skip
def labels(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Count labels that differ from those of the tree cut into the requested number of clusters."""
    n, children, how = data.X.shape[0], _children(certificate, data), certificate.problem
    stored, own = np.asarray(certificate.model["distances_"]), np.asarray(certificate.model["labels_"])
    k = how["n_clusters"]
    if k is None:
        k = int(np.count_nonzero(stored >= how["distance_threshold"])) + 1
    if own.shape != (n,) or own.dtype.kind not in "iu" or int(certificate.model["n_clusters_"]) != k:
        return refused("n_clusters_ or labels_ do not follow from the parameters")
    owner = np.arange(2 * n - 1)
    for i, (a, b) in enumerate(children[: n - k]):
        owner[[a, b]] = n + i
    for node in range(2 * n - 2, -1, -1):  # parents have larger indices
        owner[node] = owner[owner[node]]
    roots, first = np.unique(owner[:n], return_index=True)
    order = np.argsort(np.argsort(first))
    wanted = order[np.searchsorted(roots, owner[:n])]
    different = int(np.count_nonzero(wanted != own))
    return Proof(float(different), "exact", "tree cut again.", {"rows": n}, limit=0.0)


@shared
def _children(certificate: Certificate, data: Data) -> np.ndarray:
    """Return the merges; every node but the last must be merged exactly once, after its creation."""
    n, children = data.X.shape[0], np.asarray(certificate.model["children_"])
    fits = children.shape == (n - 1, 2) and children.dtype.kind in "iu"
    if not fits or not np.array_equal(np.sort(children.ravel()), np.arange(2 * n - 2)):
        raise ValueError("children_ must merge every node but the last once")
    if np.any(children.max(axis=1) >= n + np.arange(n - 1)):
        raise ValueError("children_ must merge nodes that exist")
    return children
