r"""The linear classifiers of the workloads: data, objectives, and the gap that judges an answer.

.. math:: P(w) = \Omega(w) + C \sum_i \phi(t_i x_i^\top w), \qquad \Omega = \tfrac12\|w\|^2 \text{ or } \|w\|_1,

without an intercept. Nothing here comes from surefit. Answers are compared by their objective; for the hinge no dual point follows
from coefficients alone, so the gate is the distance from the best objective of the run.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from benchmarks.workload import Gate, Quality


class ScoreData(NamedTuple):
    """A design, labels -1 and +1, the weight of the loss, and which problem it is."""

    X: Any
    y: np.ndarray
    C: float
    loss: str = "logistic"
    l1: bool = False


def distance_gate(limit: float) -> Gate:
    """Gate on the distance from the best objective."""
    return Gate("distance", limit, "objective above the best one of the run / best")


def noisy_half_space(n: int, d: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Gaussian rows; labels of a random half-space with logistic noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    w = rng.standard_normal(d) / np.sqrt(d)
    return X, np.sign(X @ w * 2 + rng.logistic(size=n))


def text_like(n: int, d: int, draws: int, seed: int) -> tuple[sp.csr_matrix, np.ndarray]:
    """Rows like documents: Zipf popularity, log-normal weights, unit length; labels of a sparse half-space with noise."""
    rng = np.random.default_rng(seed)
    popularity = 1 / np.arange(10, d + 10)
    columns = rng.choice(d, size=n * draws, p=popularity / popularity.sum())
    X = sp.csr_matrix((rng.lognormal(size=n * draws), (np.repeat(np.arange(n), draws), columns)), shape=(n, d))
    lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    X = (sp.diags(1 / lengths) @ X).tocsr()
    X.sort_indices()
    w = rng.standard_normal(d) * (rng.random(d) < 0.2)
    scores = X @ w
    return X, np.sign(scores / scores.std() * 2 + rng.logistic(size=n))


def l1_strength(X: Any, y: np.ndarray, share: float = 0.02) -> float:
    """C at ``share`` of the l1 penalty at which every coefficient is zero."""
    return float(1 / (share * np.abs(X.T @ y).max() / 2))


def objective(data: ScoreData, w: np.ndarray) -> float:
    """P(w)."""
    margins = data.y * (data.X @ w)
    losses = np.maximum(0, 1 - margins) if data.loss == "hinge" else np.logaddexp(0, -margins)
    return float(data.C * losses.sum() + (np.abs(w).sum() if data.l1 else 0.5 * w @ w))


def quality(data: ScoreData, w: np.ndarray) -> Quality:
    """Of one fit; for the logistic loss also its duality gap over P(0), from the slopes of the loss."""
    w = np.asarray(w, dtype=float).ravel()
    value = objective(data, w)
    if data.loss == "hinge":
        return Quality(value, None)
    margins = data.y * (data.X @ w)
    p = 1 / (1 + np.exp(np.clip(margins, -700, 700)))
    v = data.X.T @ (data.C * p * data.y)
    if data.l1:
        p = p * min(1.0, 1 / np.abs(v).max())
        v = data.X.T @ (data.C * p * data.y)
    entropy = -(p * np.log(np.maximum(p, 1e-300)) + (1 - p) * np.log1p(-np.minimum(p, 1 - 1e-16)))
    dual = data.C * entropy.sum() - (0.0 if data.l1 else 0.5 * v @ v)
    return Quality(value, float((value - dual) / (data.C * len(data.y) * np.log(2))))
