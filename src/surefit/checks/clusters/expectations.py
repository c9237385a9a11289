r"""One step of expectation maximization, evaluated with the factors used for prediction, and its rounding errors."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from surefit.checks.clusters.blocks import BLOCK, over_blocks
from surefit.checks.enclosure import gamma
from surefit.core.certificate import Certificate
from surefit.core.partitioned import Part, count_parts
from surefit.core.sample import Data

ENTRIES = 2**17  # of a table of rows, components and columns that stays in the cache


class Mixture(NamedTuple):
    """Parameters of a mixture; factors are upper triangular matrices, or vectors of inverse standard deviations."""

    weights: np.ndarray
    means: np.ndarray
    factors: np.ndarray  # (k, d, d) or (k, d)
    conditions: np.ndarray


class Expected(NamedTuple):
    """Log-likelihood with its rounding, and expected counts, sums and products about the means of the components."""

    total: float  # weight of the rows
    value: float
    size: float  # sum of absolute values
    rounding: float
    masses: np.ndarray
    first: np.ndarray
    second: np.ndarray


def conditions(factors: np.ndarray) -> np.ndarray:
    """Return Skeel's condition numbers of the factors."""
    k, d = factors.shape[:2]
    if factors.ndim == 2:
        return np.full(k, math.sqrt(d))
    own = factors if factors.strides[0] else factors[:1]  # all components share one
    norms = [float(np.linalg.norm(np.abs(solve_triangular(P, np.eye(d))) @ np.abs(P))) for P in own]
    return np.broadcast_to(norms, (k,))


def expectations(certificate: Certificate, data: Data, mixture: Mixture, moments: bool = True) -> Expected:
    """Return the log-likelihood and, with ``moments``, the expected moments of the components."""
    found = over_blocks(certificate, data, _expected, mixture, moments)
    pieces = data.X.shape[0] // BLOCK + count_parts(data.X)
    return found._replace(rounding=2 * found.rounding + gamma(pieces) * found.size)


def rows_per_piece(k: int, d: int) -> int:
    """Return the number of rows whose differences to all means stay in the cache, within limits."""
    return min(4096, max(256, ENTRIES // (k * d)))


def _expected(part: Part, mixture: Mixture, moments: bool) -> Expected:
    (k, d), (n, _), factors = mixture.means.shape, part.X.shape, mixture.factors
    rows = rows_per_piece(k, d)
    some = min(k, max(1, ENTRIES // (rows * d)))  # components at a time
    groups = [slice(c, c + some) for c in range(0, k, some)]
    constants, fixed = _constants(mixture)
    value, size, rounding, masses, first = [], 0.0, 0.0, np.zeros(k), np.zeros((k, d))
    second = np.zeros(factors.shape)
    space = np.empty((2, some, d, min(rows, n)))  # new memory for each product would cost page faults in every thread
    for start in range(0, n, rows):
        piece = slice(start, min(start + rows, n))
        X = np.ascontiguousarray(part.X[piece].T, dtype=np.float64)  # long loops over rows are the fastest
        s = np.ones(X.shape[1]) if part.weights is None else part.weights[piece]
        squares = np.empty((k, len(s)))
        for group in groups:
            about, white = space[:, : len(factors[group]), :, : len(s)]
            np.subtract(X, mixture.means[group, :, None], out=about)
            if factors.ndim == 2:
                np.multiply(about, factors[group, :, None], out=white)
            else:
                np.matmul(factors[group].transpose(0, 2, 1), about, out=white)
            np.einsum("kji,kji->ki", white, white, out=squares[group])
        shares = constants[:, None] - 0.5 * squares
        each = _to_shares(shares, s)
        value.append(math.fsum(s * each))
        sizes, own = float(s @ np.abs(each)), shares.sum(axis=1)
        size += sizes
        errors = gamma(d + 16) * (1 + mixture.conditions) * np.einsum("ki,ki->k", shares, squares)
        rounding += float(own @ fixed + errors.sum()) + gamma(k + 16) * (sizes + float(s.sum()))
        if not moments:
            continue
        masses += own
        for group in groups:
            about, weighted = space[:, : len(factors[group]), :, : len(s)]
            np.subtract(X, mixture.means[group, :, None], out=about)
            np.multiply(about, shares[group, None], out=weighted)
            first[group] += weighted.sum(axis=2)
            if factors.ndim == 2:
                second[group] += np.einsum("kji,kji->kj", weighted, about)
            else:
                second[group] += weighted @ about.transpose(0, 2, 1)
    total = float(n) if part.weights is None else math.fsum(part.weights)
    return Expected(total, math.fsum(value), size, rounding, masses, first, second)


def _constants(mixture: Mixture) -> tuple[np.ndarray, np.ndarray]:
    """Return the logarithms of weight and normalizing constant of each component, and their rounding."""
    d, factors = mixture.means.shape[1], mixture.factors
    with np.errstate(divide="ignore"):
        logs = np.log(mixture.weights)
    scales = np.log(factors if factors.ndim == 2 else np.einsum("kii->ki", factors))
    sizes = np.abs(np.where(mixture.weights > 0, logs, 0.0)) + np.abs(scales).sum(axis=1) + d
    return logs + scales.sum(axis=1) - d / 2 * math.log(2 * math.pi), gamma(d + 16) * sizes


def _to_shares(table: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Replace log-densities by weighted responsibilities; return the logarithms of their sums over the components."""
    largest = table.max(axis=0)
    table -= largest
    np.exp(table, out=table)
    totals = table.sum(axis=0)
    table *= weights / totals
    return largest + np.log(totals)


def next_step(mixture: Mixture, here: Expected, kind: str, floor: float) -> Mixture:
    """Return the mixture after one maximization step."""
    k, d = mixture.means.shape
    masses = here.masses + 10 * np.finfo(float).eps  # as in the fit: a component without rows does not move
    steps = here.first / masses[:, None]
    if mixture.factors.ndim == 2:
        variances = here.second / masses[:, None] - steps**2 + floor
        variances = variances if kind == "diag" else np.broadcast_to(variances.mean(axis=1, keepdims=True), (k, d))
        if not np.all(variances > 0):
            raise np.linalg.LinAlgError
        factors = 1 / np.sqrt(variances)
    else:
        spread = [here.second[c] - masses[c] * np.outer(steps[c], steps[c]) for c in range(k)]
        if kind == "tied":
            factors = np.broadcast_to(_factor(sum(spread) / masses.sum() + floor * np.eye(d)), (k, d, d))
        else:
            factors = np.array([_factor(spread[c] / masses[c] + floor * np.eye(d)) for c in range(k)])
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
