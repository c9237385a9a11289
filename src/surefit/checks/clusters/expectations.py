r"""One step of expectation maximization, evaluated with the factors used for prediction, and its rounding errors."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import logsumexp

from surefit.checks.eigen import rows_at_once, weights_of
from surefit.checks.enclosure import gamma
from surefit.core.partitioned import Part, count_parts, over_rows
from surefit.core.sample import Data


class Mixture(NamedTuple):
    """Parameters of a mixture; factors are upper triangular matrices, or vectors of inverse standard deviations."""

    weights: np.ndarray
    means: np.ndarray
    factors: list[np.ndarray]
    conditions: np.ndarray


class Expected(NamedTuple):
    """Log-likelihood with its rounding, and expected counts, sums and products about the means of the components."""

    total: float  # weight of the rows
    value: float
    size: float  # sum of absolute values
    rounding: float
    masses: np.ndarray
    first: np.ndarray
    second: tuple[np.ndarray, ...]


def conditions(factors: list[np.ndarray]) -> np.ndarray:
    """Return Skeel's condition numbers of the factors."""
    known: dict[int, float] = {}
    for P in factors:
        if P.ndim == 2 and id(P) not in known:
            known[id(P)] = float(np.linalg.norm(np.abs(solve_triangular(P, np.eye(len(P)))) @ np.abs(P)))
    return np.array([known[id(P)] if P.ndim == 2 else math.sqrt(len(P)) for P in factors])


def expectations(data: Data, mixture: Mixture) -> Expected:
    """Return the log-likelihood and the expected moments of the components, in blocks of rows."""
    found = over_rows(data.X, data.weights, _expected, mixture)
    return found._replace(rounding=2 * found.rounding + gamma(count_parts(data.X) - 1) * found.size)


def _expected(part: Part, mixture: Mixture) -> Expected:
    k, d = mixture.means.shape
    sample_weights, size = weights_of(part), rows_at_once(d * 8)
    with np.errstate(divide="ignore"):
        logs = np.log(mixture.weights)
    scales = np.array([np.log(P if P.ndim == 1 else np.diag(P)) for P in mixture.factors])
    constants = logs + scales.sum(axis=1) - d / 2 * math.log(2 * math.pi)
    fixed = gamma(d + 16) * (np.abs(np.where(mixture.weights > 0, logs, 0.0)) + np.abs(scales).sum(axis=1) + d)
    value, sizes, rounding, masses, first = [], [], [], np.zeros(k), np.zeros((k, d))
    second = [np.zeros_like(P) if P.ndim == 2 else np.zeros(d) for P in mixture.factors]
    for start in range(0, part.X.shape[0], size):
        piece = slice(start, min(start + size, part.X.shape[0]))
        X, s = np.asarray(part.X[piece], dtype=np.float64), sample_weights[piece]
        squares = np.empty((len(X), k))
        for c, (P, mean) in enumerate(zip(mixture.factors, mixture.means, strict=True)):
            white = (X - mean) * P if P.ndim == 1 else (X - mean) @ P
            squares[:, c] = np.einsum("ij,ij->i", white, white)
        table = constants - 0.5 * squares
        each = logsumexp(table, axis=1)
        value.append(math.fsum(s * each))
        sizes.append(math.fsum(s * np.abs(each)))
        shares = s[:, None] * np.exp(table - each[:, None])
        error = fixed + gamma(d + 16) * (1 + mixture.conditions) * squares
        rounding.append(float(np.sum(shares * error)) + gamma(16) * float(s @ (np.abs(each) + 1)))
        masses += shares.sum(axis=0)
        for c, mean in enumerate(mixture.means):
            about = X - mean
            first[c] += shares[:, c] @ about
            weighted = shares[:, c, None] * about
            second[c] += weighted.T @ about if second[c].ndim == 2 else np.sum(weighted * about, axis=0)
    total = math.fsum(sample_weights)
    return Expected(total, math.fsum(value), math.fsum(sizes), math.fsum(rounding), masses, first, tuple(second))


def next_step(mixture: Mixture, here: Expected, kind: str, floor: float) -> Mixture:
    """Return the mixture after one maximization step."""
    k, d = mixture.means.shape
    masses = here.masses + 10 * np.finfo(float).eps  # as in the fit: a component without rows does not move
    steps = here.first / masses[:, None]
    if mixture.factors[0].ndim == 1:
        variances = np.array(here.second) / masses[:, None] - steps**2 + floor
        variances = variances if kind == "diag" else np.broadcast_to(variances.mean(axis=1, keepdims=True), (k, d))
        if not np.all(variances > 0):
            raise np.linalg.LinAlgError
        factors = list(1 / np.sqrt(variances))
    else:
        spread = [here.second[c] - masses[c] * np.outer(steps[c], steps[c]) for c in range(k)]
        if kind == "tied":
            factors = [_factor(sum(spread) / masses.sum() + floor * np.eye(d))] * k
        else:
            factors = [_factor(spread[c] / masses[c] + floor * np.eye(d)) for c in range(k)]
    return Mixture(masses / masses.sum(), mixture.means + steps, factors, conditions(factors))


def _factor(covariance: np.ndarray) -> np.ndarray:
    root = np.linalg.cholesky((covariance + covariance.T) / 2)
    return solve_triangular(root, np.eye(len(root)), lower=True).T


def score_norm(mixture: Mixture, here: Expected, total: float, kind: str) -> float:
    """Return the norm of the gradient of the mean log-likelihood in the complete-data information metric."""
    d = mixture.means.shape[1]
    shares = here.masses / total
    square, pooled = 0.0, np.zeros((d, d))
    for c, P in enumerate(mixture.factors):
        w = mixture.weights[c]
        if w == 0:
            continue
        square += (shares[c] - w) ** 2 / w
        if here.masses[c] == 0:
            continue
        mean = here.first[c] / here.masses[c]
        step = mean * P if P.ndim == 1 else mean @ P
        moment = here.second[c] * P**2 if P.ndim == 1 else P.T @ here.second[c] @ P
        factor = shares[c] ** 2 / w
        square += factor * float(step @ step)
        if kind == "tied":
            pooled += moment / total
            continue
        excess = moment / here.masses[c] - (1.0 if P.ndim == 1 else np.eye(d))
        excess = np.full(d, np.mean(excess)) if kind == "spherical" else excess
        square += 0.5 * factor * float(np.sum(excess**2))
    if kind == "tied":
        square += 0.5 * float(np.sum((pooled - np.eye(d)) ** 2))
    return math.sqrt(square)
