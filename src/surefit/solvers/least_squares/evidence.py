r"""Precisions of noise and prior that maximize the evidence of Bayesian ridge regression, by MacKay's updates.

One singular value decomposition turns every update into sums over the singular values. With :math:`\gamma = \sum_k \alpha s_k^2 /
(\lambda + \alpha s_k^2)` the derivatives of the log evidence (with Gamma priors on both precisions) are

.. math:: \frac{\partial}{\partial\ln\lambda} = \tfrac12(\gamma - \lambda|m|^2) + \lambda_1 - \lambda_2\lambda, \qquad
          \frac{\partial}{\partial\ln\alpha} = \tfrac12(n - \gamma - \alpha\,\mathrm{RSS}) + \alpha_1 - \alpha_2\alpha .
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy import linalg

from surefit.core.budget import Budget, Reason

APART = 0.1  # sine of the smallest angle of a column with the span of those before it, for products of columns
SHORTEST = 1e-140  # length of a column whose squares do not underflow
SHORTER = 1e-3  # length of a column, relative to the longest


class GammaPriors(NamedTuple):
    """Shape and rate parameters of the Gamma priors on both precisions."""

    alpha_1: float
    alpha_2: float
    lambda_1: float
    lambda_2: float


class Precisions(NamedTuple):
    """A point of the search, with the posterior in the axes of the singular values."""

    alpha: float  # of the noise
    lambda_: float  # of the coefficients
    m: np.ndarray  # posterior mean
    rss: float
    slopes: tuple[float, float]  # derivatives of the log evidence in the logarithms of lambda and alpha


class Axes(NamedTuple):
    """Singular value decomposition of the centered and weighted rows, and the targets in its coordinates."""

    values: np.ndarray
    vectors: np.ndarray  # all rows of V', also those of zero singular values
    targets: np.ndarray  # U'y
    rest: float  # squared length of the part of y outside the span of the columns
    total: float  # weight of all rows

    @classmethod
    def of(cls, stacked: np.ndarray, total: float) -> Axes:
        """Compute the singular value decomposition of the rows, whose last column is the target.

        The triangular factor of many rows has the same singular values.
        """
        n, p = stacked.shape[0], stacked.shape[1] - 1
        if n > 2 * p:
            R = _triangular_factor(stacked)
            U, values, vectors = linalg.svd(R[:p, :p], check_finite=False)
            return cls(values, vectors, U.T @ R[:p, p], float(R[p, p] ** 2), total)
        y = stacked[:, p]
        U, values, vectors = linalg.svd(stacked[:, :p], full_matrices=n < p, check_finite=False)
        U = U[:, : len(values)]
        targets = U.T @ y
        outside = y - U @ targets
        return cls(values, vectors, targets, float(outside @ outside), total)

    def posterior(self, point: Precisions) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and covariance of the coefficients."""
        squares = np.zeros(len(self.vectors))
        squares[: len(self.values)] = self.values**2
        covariance = self.vectors.T @ (self.vectors / (point.alpha * squares + point.lambda_)[:, None])
        return self.vectors[: len(self.values)].T @ point.m, 0.5 * (covariance + covariance.T)

    def log_evidence(self, point: Precisions, priors: GammaPriors) -> float:
        """Return the log density of the targets, with the log priors of the precisions up to a constant."""
        alpha, lam, p = point.alpha, point.lambda_, len(self.vectors)
        logs = float(np.sum(np.log(lam + alpha * self.values**2))) + (p - len(self.values)) * math.log(lam)
        score = priors.lambda_1 * math.log(lam) - priors.lambda_2 * lam
        score += priors.alpha_1 * math.log(alpha) - priors.alpha_2 * alpha
        squares = alpha * point.rss + lam * float(point.m @ point.m)
        return score + 0.5 * (p * math.log(lam) + self.total * math.log(alpha / (2 * math.pi)) - squares - logs)


def _triangular_factor(A: np.ndarray) -> np.ndarray:
    """Return R of ``A = QR``: by Cholesky's method from products of the columns if these are far from dependent and of similar
    length, else by QR.

    Rounding errors of the products grow with the square of the condition number, which is then moderate.
    """
    products = A.T @ A
    lengths = np.sqrt(np.diag(products))
    if lengths.min() > max(SHORTEST, SHORTER * lengths.max()):
        R, failed = linalg.lapack.dpotrf(products / np.outer(lengths, lengths))
        if not failed and np.diag(R).min() > APART:
            return R * lengths
    return np.triu(linalg.lapack.dgeqrf(np.asfortranarray(A), overwrite_a=1)[0][: A.shape[1]])


def maximize_evidence(
    axes: Axes, priors: GammaPriors, alpha: float, lambda_: float, tol: float, budget: Budget
) -> tuple[list[Precisions], Reason]:
    """Run MacKay's updates until no derivative exceeds ``tol``; return all points and the stopping reason."""
    points: list[Precisions] = []
    reason: Reason | None = None
    while reason is None:
        squares = alpha * axes.values**2
        shares = squares / (lambda_ + squares)
        effective = float(np.sum(shares))
        m = np.divide(shares * axes.targets, axes.values, out=np.zeros(len(shares)), where=axes.values > 0)
        rss = axes.rest + float(np.sum(((1.0 - shares) * axes.targets) ** 2))
        norm = float(m @ m)
        by_lambda = 0.5 * (effective - lambda_ * norm) + priors.lambda_1 - priors.lambda_2 * lambda_
        by_alpha = 0.5 * (axes.total - effective - alpha * rss) + priors.alpha_1 - priors.alpha_2 * alpha
        points.append(Precisions(alpha, lambda_, m, rss, (by_lambda, by_alpha)))
        if max(abs(by_lambda), abs(by_alpha)) <= tol:
            return points, Reason.CONVERGED
        reason = budget.spent(len(points), max(abs(by_lambda), abs(by_alpha)))
        up, down = effective + 2 * priors.lambda_1, norm + 2 * priors.lambda_2
        more, less = axes.total - effective + 2 * priors.alpha_1, rss + 2 * priors.alpha_2
        if not (up > 0 and down > 0 and more > 0 and less > 0):
            return points, Reason.STALLED  # the evidence is unbounded; proper Gamma priors would prevent this
        lambda_, alpha = up / down, more / less
    return points, reason
