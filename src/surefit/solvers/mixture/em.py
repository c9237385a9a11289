r"""Expectation maximization for Gaussian mixtures, with one pass over the data per step.

A pass at parameters :math:`\theta` computes the log-likelihood at :math:`\theta` and the moments for the next parameters. In exact
arithmetic the log-likelihood never decreases, except for the effect of the covariance floor ``reg_covar``: adding
:math:`\lambda I` lowers it by at most :math:`\tfrac12 \sum_k \pi_k g(\lambda \operatorname{tr} \Sigma_k^{-1})` per
step, :math:`g(t) = -\ln(1 - t) - t`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from surefit.core.budget import Budget, Reason
from surefit.core.partitioned import Part, PartitionedRows, by_blocks, over_rows, weights_in
from surefit.solvers.mixture.covariances import Diagonal, Full, Spherical, from_covariances
from surefit.solvers.mixture.tiles import Reading, as_mixture, read

EPS = float(np.finfo(float).eps)


class Parameters(NamedTuple):
    """Parameters of a mixture: weights, means, covariances in scikit-learn's format, and their whitening factors."""

    weights: np.ndarray
    means: np.ndarray
    covariances: np.ndarray
    shape: Any


class Rows(NamedTuple):
    """The data for EM, in memory or in partitions."""

    X: Any  # (n, d) float64, C order, or rows in partitions
    weights: Any  # None if they are stored in the partitions
    total: float  # sum of the weights
    shift: np.ndarray  # the mean
    scatter: np.ndarray  # (d, d) sum of w (x - shift)(x - shift)', for tied covariances
    largest: float  # largest absolute entry of x - shift
    n_jobs: int | None

    def over(self, function: Callable[..., Any], *small: Any, combine: Any = None) -> Any:
        """Return the sum of ``function(part, *small)`` over all rows; rows in memory are one part."""
        return over_rows(self.X, self.weights, function, *small, combine=combine)


class MixtureFit(NamedTuple):
    """Result of EM."""

    parameters: Parameters
    log: np.ndarray  # mean log-likelihood before each step
    allowed: float  # largest decrease of the log-likelihood in one step that the covariance floor may have caused
    n_iter: int
    reason: Reason

    @property
    def value(self) -> float:
        """Mean log-likelihood before the last step (scikit-learn's lower bound)."""
        return float(self.log[-1]) if len(self.log) else -math.inf


def as_rows(X: Any, weights: np.ndarray | None, n_jobs: int | None, tied: bool) -> Rows:
    """Prepare the data: float64 rows, weights, shift and moments."""
    X = X if isinstance(X, PartitionedRows) else np.ascontiguousarray(X, dtype=np.float64)
    total, first = over_rows(X, weights, _total)
    shift = first / total
    scatter = over_rows(X, weights, _scatter, shift) if tied else np.zeros((0, 0))
    return Rows(X, weights, total, shift, scatter, over_rows(X, weights, _largest, shift, combine=max), n_jobs)


def numbers_in(part: Part) -> np.ndarray:
    """Return the rows of a part as float64 in C order."""
    return np.ascontiguousarray(part.X, dtype=np.float64)


def _total(part: Part) -> tuple[float, np.ndarray]:
    weights = weights_in(part)
    return float(np.sum(weights)), weights @ numbers_in(part)


@by_blocks
def _scatter(part: Part, shift: np.ndarray) -> np.ndarray:
    centered = np.sqrt(weights_in(part))[:, None] * (part.X - shift)
    return centered.T @ centered


def _largest(part: Part, shift: np.ndarray) -> float:
    above, below = part.X.max(axis=0) - shift, shift - part.X.min(axis=0)
    return float(max(above.max(), below.max()))


def _read(part: Part, shift: np.ndarray, mixture: Any, n_jobs: int | None) -> Reading:
    return read(numbers_in(part), weights_in(part), shift, mixture, n_jobs)


def maximize(
    rows: Rows, start: Parameters, kind: str, *, floor: float, tol: float, budget: Budget, before: float = -math.inf
) -> MixtureFit:
    """Run EM from ``start`` until the mean log-likelihood changes by less than ``tol`` in a step.

    ``before`` is the mean log-likelihood before the step that led to ``start``, if there was one.
    """
    parameters, log, allowed, n_iter, reason = start, [], 0.0, 0, None
    while reason is None:
        n_iter += 1
        reading = read_rows(rows, parameters)
        parameters = next_parameters(rows, reading, parameters, kind, floor)
        allowed = max(allowed, _floor_cost(parameters, floor))
        log.append(reading.log_likelihood / rows.total)
        change = abs(log[-1] - (log[-2] if n_iter > 1 else before))
        if change < tol:
            reason = Reason.CONVERGED
        else:
            reason = budget.spent(n_iter, change)
    return MixtureFit(parameters, np.array(log), allowed, n_iter, reason)


def read_rows(rows: Rows, parameters: Parameters) -> Reading:
    """Compute log-likelihood and moments of all rows at these parameters."""
    mixture = as_mixture(parameters.weights, parameters.means, parameters.shape, rows.shift)
    return rows.over(_read, rows.shift, mixture, rows.n_jobs)


def next_parameters(rows: Rows, reading: Reading, old: Parameters, kind: str, floor: float) -> Parameters:
    """Return the parameters that maximize the expected complete log-likelihood, plus the covariance floor."""
    masses = reading.masses + 10 * EPS  # an empty component keeps its mean
    steps = reading.first / masses[:, None]
    means = old.means + steps
    if kind == "tied":
        about = means - rows.shift
        covariances = _symmetric(rows.scatter - (masses[:, None] * about).T @ about) / masses.sum()
        covariances.flat[:: len(covariances) + 1] += floor
    elif kind == "full":
        covariances = _moments(reading, masses, kind) - steps[:, :, None] * steps[:, None, :]
        covariances[:, np.arange(means.shape[1]), np.arange(means.shape[1])] += floor
    else:
        covariances = _moments(reading, masses, kind) - steps**2 + floor
        covariances = covariances if kind == "diag" else covariances.mean(axis=1)
    return Parameters(masses / masses.sum(), means, covariances, from_covariances(kind, covariances))


def _moments(reading: Reading, masses: np.ndarray, kind: str) -> np.ndarray:
    """Return the mean second moments about the old means: matrices, or variances."""
    if kind == "full":
        lower = reading.second
        both = lower + np.swapaxes(lower, 1, 2)
        index = np.arange(lower.shape[1])
        both[:, index, index] /= 2
        return both / masses[:, None, None]
    return reading.second[:, :, 0] / masses[:, None]


def _floor_cost(p: Parameters, floor: float) -> float:
    """Bound the decrease of the mean log-likelihood caused by the covariance floor."""
    F = p.shape.factors
    copies = p.means.shape[1] if isinstance(p.shape, Spherical) else 1
    t = floor * copies * np.sum(F**2, axis=tuple(range(1, F.ndim)))
    with np.errstate(divide="ignore", invalid="ignore"):
        cost = np.where(t < 1, -np.log1p(-t) - t, math.inf)
    weights = p.weights if isinstance(p.shape, (Full, Diagonal, Spherical)) else np.ones(1)
    return 0.5 * float(np.sum(np.where(weights > 0, weights * cost, 0.0)))


def _symmetric(matrix: np.ndarray) -> np.ndarray:
    return (matrix + matrix.T) / 2
