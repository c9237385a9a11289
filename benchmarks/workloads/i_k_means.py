"""Fifty steps of Lloyd's algorithm from given centers."""

from typing import NamedTuple

import numpy as np

from benchmarks.workload import OURS, Gate, Quality, Workload

SEED = 0
CLUSTERS = 50
STEPS = 50


class Points(NamedTuple):
    """Rows, and the rows among them at which every solver starts."""

    X: np.ndarray
    start: np.ndarray


def make(n: int, d: int) -> Points:
    rng = np.random.default_rng(SEED)
    centers = rng.standard_normal((60, d)) * 2
    X = centers[rng.integers(60, size=n)] + rng.standard_normal((n, d))
    return Points(X, X[rng.choice(min(n, 2000), CLUSTERS, replace=False)].copy())


def measure(data: Points, centers: np.ndarray) -> Quality:
    """The inertia of all rows at the nearest of the returned centers, in double precision."""
    centers, total = np.asarray(centers, dtype=float), 0.0
    for begin in range(0, len(data.X), 20_000):
        X = data.X[begin : begin + 20_000]
        products = (centers**2).sum(axis=1)[:, None] - 2 * centers @ X.T
        total += float(np.maximum((X**2).sum(axis=1) + products.min(axis=0), 0.0).sum())
    return Quality(total)


workload = Workload(
    module=__name__,
    title="k-means, 200 000 x 20, k = 50, 50 steps",
    recipe="60 overlapping Gaussian clusters (standard deviation 1, centers 2); 50 rows as start; exactly 50 steps, tol = 0",
    seed=SEED,
    objective="inertia at the returned centers",
    floor="50 products of 0.4 GF, about 0.3 s; bounds make most of them unnecessary",
    gate=Gate("distance", 1e-3, "inertia above the least of the run, relative"),
    sizes={"full": {"n": 200_000, "d": 20}, "quick": {"n": 5_000, "d": 10}, "warm": {"n": 2_000, "d": 20}},
    make=make,
    measure=measure,
)

OPTIONS = {"n_init": 1, "max_iter": STEPS, "tol": 0}


@workload.solver(OURS)
def surefit(data: Points):
    from surefit import KMeans

    return KMeans(CLUSTERS, init=data.start, n_jobs=-1, **OPTIONS).fit(data.X).cluster_centers_


@workload.solver("scikit-learn", package="sklearn", variants=[{"algorithm": "elkan"}, {"algorithm": "lloyd"}])
def scikit_learn(data: Points, algorithm: str):
    from sklearn.cluster import KMeans

    return KMeans(CLUSTERS, init=data.start, algorithm=algorithm, **OPTIONS).fit(data.X).cluster_centers_


@workload.solver("faiss")
def faiss(data: Points):
    import faiss

    rows = data.X.astype(np.float32)  # it has no double precision
    model = faiss.Kmeans(rows.shape[1], CLUSTERS, niter=STEPS, max_points_per_centroid=10**9)
    model.train(rows, init_centroids=data.start.astype(np.float32))
    return model.centroids


@workload.solver("scikit-learn-intelex", package="sklearnex")
def scikit_learn_intelex(data: Points):
    from sklearnex.cluster import KMeans

    return KMeans(CLUSTERS, init=data.start, **OPTIONS).fit(data.X).cluster_centers_
