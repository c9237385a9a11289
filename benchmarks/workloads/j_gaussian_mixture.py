"""Fifty steps of expectation maximization for a mixture with full covariances."""

from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import logsumexp

from benchmarks.workload import OURS, Gate, Quality, Workload

SEED = 0
COMPONENTS = 10
STEPS = 50


class Rows(NamedTuple):
    """Rows of a mixture, and the means at which every solver starts."""

    X: np.ndarray
    start: np.ndarray


class Mixture(NamedTuple):
    """What a solver returns."""

    weights: np.ndarray
    means: np.ndarray
    covariances: np.ndarray


def make(n: int, d: int) -> Rows:
    rng = np.random.default_rng(SEED)
    component = rng.integers(COMPONENTS, size=n)
    roots = rng.standard_normal((COMPONENTS, d, d)) * 0.5 + np.eye(d)
    centers = rng.standard_normal((COMPONENTS, d)) * 2
    X = centers[component] + np.einsum("nij,nj->ni", roots[component], rng.standard_normal((n, d)))
    return Rows(X, X[:COMPONENTS].copy())


def measure(data: Rows, answer: Mixture) -> Quality:
    """Minus the mean log-likelihood, from the definition."""
    d = data.X.shape[1]
    table = np.empty((len(data.X), COMPONENTS))
    for k in range(COMPONENTS):
        root = np.linalg.cholesky(answer.covariances[k])
        white = solve_triangular(root, (data.X - answer.means[k]).T, lower=True)
        constant = np.log(answer.weights[k]) - np.log(np.diag(root)).sum() - d / 2 * np.log(2 * np.pi)
        table[:, k] = constant - 0.5 * (white**2).sum(axis=0)
    return Quality(-float(logsumexp(table, axis=1).mean()))


workload = Workload(
    module=__name__,
    title="Gaussian mixture, full, 50 000 x 10, k = 10, 50 steps",
    recipe="10 Gaussians with random covariances; start at 10 rows, equal weights, unit covariances; exactly 50 steps, tol = 0",
    seed=SEED,
    objective="minus the mean log-likelihood",
    floor="a step is 0.2 GF and 500 000 exponentials: 50 steps in about 0.2 s",
    gate=Gate("distance", 1e-4, "minus the mean log-likelihood above the least of the run, relative"),
    sizes={"full": {"n": 50_000, "d": 10}, "quick": {"n": 2_000, "d": 5}, "warm": {"n": 1_000, "d": 10}},
    make=make,
    measure=measure,
)


def _options(data: Rows) -> dict:
    return {
        "means_init": data.start,
        "weights_init": np.full(COMPONENTS, 1 / COMPONENTS),
        "precisions_init": np.array([np.eye(data.X.shape[1])] * COMPONENTS),
        "init_params": "random_from_data",
        "max_iter": STEPS,
        "tol": 0,
        "random_state": 0,
    }


def _answer(model) -> Mixture:
    return Mixture(model.weights_, model.means_, model.covariances_)


@workload.solver(OURS)
def surefit(data: Rows):
    from surefit import GaussianMixture

    return _answer(GaussianMixture(COMPONENTS, n_jobs=-1, **_options(data)).fit(data.X))


@workload.solver("scikit-learn", package="sklearn")
def scikit_learn(data: Rows):
    from sklearn.mixture import GaussianMixture

    return _answer(GaussianMixture(COMPONENTS, **_options(data)).fit(data.X))
