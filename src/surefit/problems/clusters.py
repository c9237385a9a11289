"""Partitions and mixtures: the problem that the parameters define."""

from __future__ import annotations

import math
from typing import Any

from surefit.problems.base import Given, problem_of

#: Up to this many rows or columns, whichever are fewer, all eigenvalues are computed without being asked for.
LARGEST_SPECTRUM = 2000
MOST_LEAVES = 1000  # rows of agglomerative clusterings up to which the checker repeats the merges
LARGEST_TABLE = 2**28  # entries of the table of cuts


@problem_of("KMeans", "MiniBatchKMeans")
def k_means(given: Given) -> dict[str, Any]:
    """Sum of squared distances to k centers, bounded from below by the method ``lower_bound``."""
    (n, d), k = given.X.shape, int(given.params["n_clusters"])
    how = given.params["lower_bound"]
    if how == "auto":
        how = "line" if d == 1 and affordable(n, k) else "spectral" if min(n, d) <= LARGEST_SPECTRUM else None
    return {"n_clusters": k, "bound": how or "none", "tol": float(given.params["tol"])}


@problem_of("AgglomerativeClustering")
def agglomerative(given: Given) -> dict[str, Any]:
    """The distances of rows and of clusters, and where the tree is cut."""
    params = given.params
    k, threshold, metric = params["n_clusters"], params["distance_threshold"], params["metric"]
    named = isinstance(metric, str) and not metric.startswith("function ")
    return {
        "linkage": params["linkage"],
        "metric": metric if named else "function",
        "options": {},
        "n_clusters": None if k is None else int(k),
        "distance_threshold": None if threshold is None else float(threshold),
    }


@problem_of("ExhaustiveClustering")
def exhaustive(given: Given) -> dict[str, Any]:
    """The best partition by inertia or within scatter."""
    return {"n_clusters": int(given.params["n_clusters"]), "criterion": given.params["criterion"]}


@problem_of("GaussianMixture")
def mixture(given: Given) -> dict[str, Any]:
    """The likelihood of a mixture whose covariances have a shape and a floor."""
    floor, tol = float(given.params["reg_covar"]), float(given.params["tol"])
    return {"covariance_type": given.params["covariance_type"], "reg_covar": floor, "tol": tol}


def affordable(n: int, k: int) -> bool:
    """Whether the table of cuts of a line is small enough for memory and patience."""
    return n * min(k, n) <= LARGEST_TABLE and n * min(k, n) * math.log2(n + 1) <= 2e9
