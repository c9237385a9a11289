"""Ten nearest rows among 50 000 standard normal ones, and how each package finds them."""

from typing import NamedTuple

import numpy as np

from benchmarks.workload import OURS, Gate, Quality, Workload

SEED = 0
NEIGHBORS = 10


class Queries(NamedTuple):
    """Training rows and queries."""

    X: np.ndarray
    Q: np.ndarray


def make(n: int, q: int, d: int) -> Queries:
    rng = np.random.default_rng(SEED)
    return Queries(rng.standard_normal((n, d)), rng.standard_normal((q, d)))


def measure(data: Queries, distances: np.ndarray) -> Quality:
    """The mean distance to the neighbors that were returned."""
    return Quality(float(np.mean(np.asarray(distances, dtype=float))))


def neighbors_workload(module: str, d: int, floor: str) -> Workload:
    """Return the workload in ``d`` columns with all solvers."""
    workload = Workload(
        module=module,
        title=f"10 nearest neighbors, 50 000 rows, 10 000 queries, d = {d}",
        recipe="rows and queries standard normal",
        seed=SEED,
        objective="mean distance to the ten neighbors returned",
        floor=floor,
        gate=Gate("distance", 1e-4, "mean distance above the least of the run, relative"),
        sizes={
            "full": {"n": 50_000, "q": 10_000, "d": d},
            "quick": {"n": 3_000, "q": 500, "d": d},
            "warm": {"n": 1_000, "q": 400, "d": d},
        },
        make=make,
        measure=measure,
    )

    @workload.solver(OURS)
    def surefit(data: Queries):
        from surefit import KNeighborsRegressor

        model = KNeighborsRegressor(NEIGHBORS, n_jobs=-1).fit(data.X, data.X[:, 0])
        return model.kneighbors(data.Q)[0]

    @workload.solver("scikit-learn", package="sklearn", variants=[{"algorithm": "brute"}, {"algorithm": "kd_tree"}])
    def scikit_learn(data: Queries, algorithm: str):
        from sklearn.neighbors import NearestNeighbors

        return NearestNeighbors(n_neighbors=NEIGHBORS, algorithm=algorithm, n_jobs=-1).fit(data.X).kneighbors(data.Q)[0]

    @workload.solver("scikit-learn-intelex", package="sklearnex")
    def scikit_learn_intelex(data: Queries):
        from sklearnex.neighbors import NearestNeighbors

        return NearestNeighbors(n_neighbors=NEIGHBORS, algorithm="brute", n_jobs=-1).fit(data.X).kneighbors(data.Q)[0]

    @workload.solver("faiss")
    def faiss(data: Queries):
        import faiss

        index = faiss.IndexFlatL2(data.X.shape[1])  # it has no double precision
        index.add(data.X.astype(np.float32))
        return np.sqrt(np.maximum(0, index.search(data.Q.astype(np.float32), NEIGHBORS)[0]))

    return workload
