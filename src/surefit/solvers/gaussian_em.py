r"""Expectation maximisation for mixtures of Gaussians: one reading of the data a step.

A reading at parameters :math:`\theta` gives the log-likelihood at :math:`\theta` and the moments that the next parameters are
made of. In exact arithmetic the log-likelihood never falls, except for what the covariance floor ``reg_covar`` takes: adding
:math:`\lambda I` costs at most :math:`\tfrac12 \sum_k \pi_k g(\lambda \operatorname{tr} \Sigma_k^{-1})` a step,
:math:`g(t) = -\ln(1 - t) - t`.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from surefit.core.budget import Budget, Reason
from surefit.solvers.gaussian_covariances import Diagonal, Full, Spherical, Tied, from_covariances
from surefit.solvers.gaussian_tiles import Reading, as_mixture, read

EPS = float(np.finfo(float).eps)


class Parameters(NamedTuple):
    """A mixture: weights, means, covariances as scikit-learn stores them, and their whitening factors."""

    weights: np.ndarray
    means: np.ndarray
    covariances: np.ndarray
    shape: Any


class Rows(NamedTuple):
    """The data as EM reads them."""

    X: np.ndarray  # (n, d) float64, C order
    weights: np.ndarray
    total: float  # sum of the weights
    shift: np.ndarray  # the mean
    scatter: np.ndarray  # (d, d) sum of w (x - shift)(x - shift)', for tied covariances
    n_jobs: int | None


class MixtureFit(NamedTuple):
    """Where EM ended."""

    parameters: Parameters
    log: np.ndarray  # mean log-likelihood before each step
    allowed: float  # largest fall of the log-likelihood that the covariance floor may have caused in one step
    n_iter: int
    reason: Reason

    @property
    def value(self) -> float:
        """Mean log-likelihood before the last step (scikit-learn's lower bound)."""
        return float(self.log[-1]) if len(self.log) else -math.inf


class Stationarity(NamedTuple):
    """How stationary the fitted parameters are."""

    mean_log_likelihood: float
    step_gain: float  # rise of the mean log-likelihood by one further step
    score_norm: float
    at_floor: int  # components whose smallest variance is at the covariance floor


def as_rows(X: np.ndarray, weights: np.ndarray, n_jobs: int | None, tied: bool) -> Rows:
    """Prepare the data."""
    X = np.ascontiguousarray(X, dtype=np.float64)
    total = float(np.sum(weights))
    shift = weights @ X / total
    scatter = np.zeros((0, 0))
    if tied:
        centred = np.sqrt(weights)[:, None] * (X - shift)
        scatter = centred.T @ centred
    return Rows(X, weights, total, shift, scatter, n_jobs)


def maximise(rows: Rows, start: Parameters, kind: str, *, floor: float, tol: float, budget: Budget) -> MixtureFit:
    """Run EM from ``start`` until the mean log-likelihood changes by less than ``tol`` in a step."""
    parameters, log, allowed, n_iter, reason = start, [], 0.0, 0, None
    while reason is None:
        n_iter += 1
        reading = read_rows(rows, parameters)
        parameters = next_parameters(rows, reading, parameters, kind, floor)
        allowed = max(allowed, _floor_cost(parameters, floor))
        log.append(reading.log_likelihood / rows.total)
        change = abs(log[-1] - log[-2]) if n_iter > 1 else math.inf
        if change < tol:
            reason = Reason.CONVERGED
        else:
            reason = budget.spent(n_iter, change)
    return MixtureFit(parameters, np.array(log), allowed, n_iter, reason)


def read_rows(rows: Rows, parameters: Parameters) -> Reading:
    """Read all rows at these parameters."""
    mixture = as_mixture(parameters.weights, parameters.means, parameters.shape, rows.shift)
    return read(rows.X, rows.weights, rows.shift, mixture, rows.n_jobs)


def next_parameters(rows: Rows, reading: Reading, old: Parameters, kind: str, floor: float) -> Parameters:
    """Return the parameters that maximise the expected complete log-likelihood, plus the covariance floor."""
    masses = reading.masses + 10 * EPS  # a component that nobody belongs to keeps its mean
    steps = reading.first / masses[:, None]
    means = old.means + steps
    moments = _moments(rows, reading, old.means, masses, kind)
    if kind == "tied":
        about = means - rows.shift
        covariances = _symmetric(rows.scatter - (masses[:, None] * about).T @ about) / masses.sum()
        covariances.flat[:: len(covariances) + 1] += floor
    elif kind == "full":
        covariances = moments - steps[:, :, None] * steps[:, None, :]
        covariances[:, np.arange(means.shape[1]), np.arange(means.shape[1])] += floor
    else:
        covariances = moments - steps**2 + floor
        covariances = covariances if kind == "diag" else covariances.mean(axis=1)
    return Parameters(masses / masses.sum(), means, covariances, from_covariances(kind, covariances))


def stationarity(rows: Rows, parameters: Parameters, kind: str, floor: float) -> Stationarity:
    """Measure how far one further step goes from ``parameters``, and the norm of the score there."""
    reading = read_rows(rows, parameters)
    further = next_parameters(rows, reading, parameters, kind, floor)
    value = reading.log_likelihood / rows.total
    gain = read_rows(rows, further).log_likelihood / rows.total - value
    variances = smallest_variances(kind, parameters.covariances)
    return Stationarity(
        value,
        gain,
        _score_norm(rows, reading, parameters, kind),
        int(np.sum(variances <= 2 * floor)) if floor > 0 else 0,
    )


def smallest_variances(kind: str, covariances: np.ndarray) -> np.ndarray:
    """Return the smallest variance of each covariance in any direction."""
    if kind == "full":
        return np.array([np.linalg.eigvalsh(matrix)[0] for matrix in covariances])
    if kind == "tied":
        return np.linalg.eigvalsh(covariances)[:1]
    return covariances.min(axis=1) if kind == "diag" else covariances


def _moments(rows: Rows, reading: Reading, means: np.ndarray, masses: np.ndarray, kind: str) -> np.ndarray:
    """Mean second moments about ``means``: matrices, one matrix for all, or variances."""
    if kind == "full":
        lower = reading.second
        both = lower + np.swapaxes(lower, 1, 2)
        index = np.arange(lower.shape[1])
        both[:, index, index] /= 2
        return both / masses[:, None, None]
    if kind == "tied":
        about = means - rows.shift
        cross = reading.first.T @ about
        return (rows.scatter - (reading.masses[:, None] * about).T @ about - cross - cross.T) / masses.sum()
    return reading.second[:, :, 0] / masses[:, None]


def _score_norm(rows: Rows, reading: Reading, p: Parameters, kind: str) -> float:
    r"""Norm of the gradient of the mean log-likelihood, measured by the complete-data information at the parameters.

    Its square is :math:`\sum_k (\pi'_k - \pi_k)^2 / \pi_k + (\pi_k'^2 / \pi_k) (\|\delta_k\|^2 + \tfrac12 \|M_k - I\|_F^2)`
    with :math:`\delta_k` the whitened step of the mean and :math:`M_k` the whitened second moment about the mean.
    """
    shares = reading.masses / rows.total
    present = p.weights > 0
    weights = np.where(present, p.weights, 1.0)
    masses = np.where(reading.masses > 0, reading.masses, 1.0)
    steps = reading.first / masses[:, None]
    moments = _moments(rows, reading, p.means, masses, kind)
    total = float(np.sum(((shares - p.weights) ** 2 / weights)[present]))
    factor = np.where(present, shares**2 / weights, 0.0)
    F = p.shape.factors
    if isinstance(p.shape, (Diagonal, Spherical)):
        white = np.sum((steps * F) ** 2, axis=1)
        ratio = moments * F**2 - 1.0
        spread = 0.5 * np.sum(ratio**2, axis=1)
        if isinstance(p.shape, Spherical):
            spread = 0.5 * ratio.shape[1] * ratio.mean(axis=1) ** 2
        return math.sqrt(total + float(factor @ (white + spread)))
    if isinstance(p.shape, Tied):
        white = np.sum((steps @ F[0]) ** 2, axis=1)
        spread = 0.5 * float(np.sum((F[0].T @ moments @ F[0] - np.eye(len(moments))) ** 2))
        return math.sqrt(total + float(factor @ white) + spread)
    white = np.sum(np.einsum("kj,kji->ki", steps, F) ** 2, axis=1)
    whitened = np.swapaxes(F, 1, 2) @ moments @ F - np.eye(F.shape[1])
    return math.sqrt(total + float(factor @ (white + 0.5 * np.sum(whitened**2, axis=(1, 2)))))


def _floor_cost(p: Parameters, floor: float) -> float:
    """Bound what adding the floor to the covariances took from the mean log-likelihood."""
    F = p.shape.factors
    copies = p.means.shape[1] if isinstance(p.shape, Spherical) else 1
    t = floor * copies * np.sum(F**2, axis=tuple(range(1, F.ndim)))
    with np.errstate(divide="ignore", invalid="ignore"):
        cost = np.where(t < 1, -np.log1p(-t) - t, math.inf)
    weights = p.weights if isinstance(p.shape, (Full, Diagonal, Spherical)) else np.ones(1)
    return 0.5 * float(np.sum(np.where(weights > 0, weights * cost, 0.0)))


def _symmetric(matrix: np.ndarray) -> np.ndarray:
    return (matrix + matrix.T) / 2
