r"""Posterior of logistic weights with a normal prior: Laplace approximation, a grid for one or two weights, and a closed form.

:math:`Q(w) = -\sum_i s_i \ln(1 + e^{-t_i x_i^\top w}) - \frac12 w^\top \Sigma^{-1} w`, up to the constant of the prior.
"""

from __future__ import annotations

import math
from itertools import count
from typing import NamedTuple

import numpy as np
from scipy import linalg
from scipy.linalg import lapack
from scipy.special import expit, logsumexp

from surefit.core.budget import Budget, Reason

DROP = 40.0  # the grid ends where the density is below exp(-DROP) of its maximum
HALF_WIDTH = 7.0  # initial half-width in standard deviations of the Laplace approximation
CHUNK = 2**22  # numbers in memory at the same time
FLAT = 1e-4  # smaller pivots of the scaled curvature have lost half of their digits


class WeightDistribution(NamedTuple):
    """Mean, covariance and log evidence of a posterior distribution; for the mode also its gap, for a grid its nodes."""

    mean: np.ndarray
    covariance: np.ndarray
    log_evidence: float
    gap: float = 0.0
    n_steps: int = 0
    reason: Reason = Reason.CONVERGED
    nodes: np.ndarray | None = None
    masses: np.ndarray | None = None


class Curvature(NamedTuple):
    """Triangular factor U of ``X' diag(v) X + precision = U' U``, with columns divided by ``scale``."""

    factor: np.ndarray
    scale: np.ndarray

    @classmethod
    def at(cls, X: np.ndarray, v: np.ndarray, precision: np.ndarray) -> Curvature:
        """Factorize by Cholesky, or by QR of the rows if rounding dominates small eigenvalues of their products."""
        H = precision + (X.T * v) @ X
        scale = np.sqrt(np.diagonal(H))
        factor, info = lapack.dpotrf(H / scale / scale[:, None])
        if info != 0 or float(np.min(np.diagonal(factor))) < FLAT:
            roots = linalg.cholesky(precision)
            factor = linalg.qr(np.vstack([np.sqrt(v)[:, None] * X, roots]) / scale, mode="r")[0][: len(H)]
        return cls(np.triu(factor), scale)

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Return the solution of the linear system with this matrix."""
        half = linalg.solve_triangular(self.factor, right / self.scale, trans="T")
        return linalg.solve_triangular(self.factor, half) / self.scale

    def inverse(self) -> np.ndarray:
        """Return the inverse matrix, exactly symmetric."""
        root = linalg.solve_triangular(self.factor, np.eye(len(self.scale))) / self.scale[:, None]
        return root @ root.T

    @property
    def log_determinant(self) -> float:
        """Logarithm of the determinant."""
        return 2 * float(np.sum(np.log(np.abs(np.diagonal(self.factor))) + np.log(self.scale)))


def log_density(
    W: np.ndarray, X: np.ndarray, signs: np.ndarray, weights: np.ndarray, precision: np.ndarray
) -> np.ndarray:
    """Return Q at each row of ``W``."""
    values = np.empty(len(W))
    step = max(1, CHUNK // max(1, len(X)))
    for start in range(0, len(W), step):
        part = W[start : start + step]
        losses = np.logaddexp(0.0, -(part @ X.T) * signs)
        values[start : start + step] = -losses @ weights - 0.5 * np.einsum("ij,jk,ik->i", part, precision, part)
    return values


def laplace(X, signs, weights, prior: np.ndarray, *, tol: float, budget: Budget) -> WeightDistribution:
    """Run Newton's method until the gap, half the squared gradient norm in the prior metric, is at most ``tol`` times |Q(0)|."""
    precision = linalg.inv(prior)
    w = np.zeros(X.shape[1])
    limit = tol * math.log(2) * float(np.sum(weights))
    value = log_density(w[None], X, signs, weights, precision)[0]
    flat, before, reason = False, math.inf, None
    for step in count():
        p = expit(-signs * (X @ w))  # probability of the other class
        derivative = X.T @ (weights * signs * p) - precision @ w
        gap = 0.5 * float(derivative @ prior @ derivative)
        H = Curvature.at(X, weights * p * (1 - p), precision)
        if gap > limit and flat and gap >= before:
            reason = Reason.STALLED
            break
        reason = Reason.CONVERGED if gap <= limit else budget.spent(step, gap)
        if reason is not None:
            break
        move, length = H.solve(derivative), 1.0
        while length > 1e-9:
            new = log_density((w + length * move)[None], X, signs, weights, precision)[0]
            if new >= value:
                break
            length /= 2
        else:
            reason = Reason.STALLED
            break
        w, value, flat, before = w + length * move, new, new == value, gap
    logs = np.linalg.slogdet(prior)[1] + H.log_determinant
    return WeightDistribution(w, H.inverse(), float(value - 0.5 * logs), gap, step, reason or Reason.STALLED)


def on_grid(X, signs, weights, prior: np.ndarray, around: WeightDistribution, points: int) -> WeightDistribution:
    """Integrate by the trapezoidal rule in the axes of the Laplace approximation, over a box with negligible mass outside."""
    precision, d = linalg.inv(prior), X.shape[1]
    axes = linalg.cholesky(around.covariance, lower=True)
    low, high = np.full(d, -HALF_WIDTH), np.full(d, HALF_WIDTH)
    while True:
        ticks = [np.linspace(a, b, points) for a, b in zip(low, high, strict=True)]
        Z = np.stack(np.meshgrid(*ticks, indexing="ij"), -1).reshape(-1, d)
        W = around.mean + Z @ axes.T
        logs = log_density(W, X, signs, weights, precision)
        table, grown = logs.reshape((points,) * d) - np.max(logs), False
        for j in range(d):
            faces = np.moveaxis(table, j, 0)
            if np.max(faces[0]) > -DROP:
                low[j], grown = low[j] * 1.3, True
            if np.max(faces[-1]) > -DROP:
                high[j], grown = high[j] * 1.3, True
        if not grown:
            break
    total = logsumexp(logs)
    masses = np.exp(logs - total)
    mean = masses @ W
    covariance = ((W - mean).T * masses) @ (W - mean)
    cell = math.fsum(np.log((high - low) / (points - 1))) + float(np.sum(np.log(np.diag(axes))))
    constant = -0.5 * d * math.log(2 * math.pi) - 0.5 * np.linalg.slogdet(prior)[1]
    keep = masses > 1e-20
    return WeightDistribution(mean, covariance, float(total + cell + constant), nodes=W[keep], masses=masses[keep])


def modeled_inputs(X, signs, weights, prior: np.ndarray) -> WeightDistribution:
    r"""Return the exact normal posterior if x also has density :math:`\frac12 \varphi(x - w/2) + \frac12 \varphi(x + w/2)`."""
    total, d = float(np.sum(weights)), X.shape[1]
    P = linalg.inv(prior) + 0.25 * total * np.eye(d)
    pull = 0.5 * X.T @ (weights * signs)
    C = linalg.inv(P)
    mean = C @ pull
    rows = -total * (math.log(2) + 0.5 * d * math.log(2 * math.pi)) - 0.5 * float(weights @ np.einsum("ij,ij->i", X, X))
    logs = np.linalg.slogdet(prior)[1] + np.linalg.slogdet(P)[1]
    return WeightDistribution(mean, (C + C.T) / 2, float(rows + 0.5 * pull @ mean - 0.5 * logs))
