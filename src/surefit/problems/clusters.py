"""Problems of clustering and Gaussian mixtures."""

from __future__ import annotations

import math
from typing import Any

from surefit.problems.base import Given, problem_of

#: Smaller dimension of X up to which the spectral bound is computed by default.
LARGEST_SPECTRUM = 2000
MOST_LEAVES = 1000  # number of rows up to which the checker repeats the merges of agglomerative clustering
LARGEST_TABLE = 2**28  # largest number of entries of the dynamic-programming table


@problem_of("KMeans", "MiniBatchKMeans")
def k_means(given: Given) -> dict[str, Any]:
    """Return the number of clusters, the method of the lower bound on the inertia, and the tolerance."""
    (n, d), k = given.X.shape, int(given.params["n_clusters"])
    how = given.params["lower_bound"]
    if how == "auto":
        how = "line" if d == 1 and affordable(n, k) else "spectral" if min(n, d) <= LARGEST_SPECTRUM else None
    return {"n_clusters": k, "bound": how or "none", "tol": float(given.params["tol"])}


@problem_of("AgglomerativeClustering")
def agglomerative(given: Given) -> dict[str, Any]:
    """Return linkage and metric, and the number of clusters or distance at which the tree is cut."""
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
    """Return the number of clusters and the criterion: inertia or within-cluster scatter."""
    return {"n_clusters": int(given.params["n_clusters"]), "criterion": given.params["criterion"]}


@problem_of("GaussianMixture")
def mixture(given: Given) -> dict[str, Any]:
    """Return the covariance type, the covariance floor, and the tolerance."""
    floor, tol = float(given.params["reg_covar"]), float(given.params["tol"])
    return {"covariance_type": given.params["covariance_type"], "reg_covar": floor, "tol": tol}


def affordable(n: int, k: int) -> bool:
    """Return whether dynamic programming on a line is affordable in memory and time."""
    return n * min(k, n) <= LARGEST_TABLE and n * min(k, n) * math.log2(n + 1) <= 2e9
