r"""Kernel Fisher discriminant: :math:`(\Sigma + \lambda I) f = m_1 - m_0`, as coefficients of the rows.

With the weights :math:`s`, :math:`d_i = \pm s_i / n_c` and the projection :math:`P` that removes (weighted) class means, the coefficients
solve :math:`P K \beta / \mu + \lambda \beta = d`. As :math:`d` has no component in the image of :math:`P`,
:math:`\beta = d / \lambda + \gamma` with :math:`\gamma` in the image of :math:`P`. The equation for :math:`\gamma` is a
symmetric positive definite system.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg

from surefit.solvers.kernel.squares import solve_shifted

CERTAIN = 64.0  # multiple of the rounding error of eigenvalues from which a mean component outside the range counts


class Facts(NamedTuple):
    """Properties of a function: its criterion, within-class variance, and the residual of the equation."""

    criterion: float
    spread: float
    middle: float  # between the class means
    rest: float  # squared norm of the residual, including rounding


class RankDirection(NamedTuple):
    """Limit of the regularized direction as the ridge goes to zero."""

    beta: np.ndarray
    rank: int  # of the within-class variance
    least: float  # smallest eigenvalue of the within-class variance above rounding
    most: float  # its largest eigenvalue
    outside: bool  # whether the direction lies where the within-class variance is zero


def direction(K: np.ndarray, second: np.ndarray, s: np.ndarray, ridge: float, divisor: float) -> np.ndarray:
    """Return the coefficients of the rows; ``second`` marks the rows of the second class."""
    root = np.sqrt(s)
    G = K * root[:, None] * root
    centered = _centring(second, root)
    inner = centered(centered(G).T)
    d = differences(second, s) / root
    beta = d / ridge
    for _ in range(2):  # the second iteration removes rounding errors
        left = d - centered(G @ beta) / divisor - ridge * beta
        outer = (left - centered(left)) / ridge
        right = divisor * centered(left) - centered(G @ outer)
        beta = beta + outer + centered(solve_shifted(inner, ridge * divisor, right[:, None])[:, 0])
    return root * beta


def limit_direction(K: np.ndarray, second: np.ndarray, s: np.ndarray, divisor: float) -> RankDirection:
    r"""Return the limit of the regularized direction at ridge zero.

    The difference of the means may have a component outside the range of the within-class variance. If it is not zero, the classes differ
    in a direction without variance, the criterion is unbounded, and the direction is that component, scaled so that the means differ by
    one. Otherwise it is :math:`\Sigma^+ (m_1 - m_0)`, the optimal direction.
    """
    root = np.sqrt(s)
    G = K * root[:, None] * root
    centered = _centring(second, root)
    values, vectors = linalg.eigh(centered(centered(G).T), check_finite=False)
    noise = 4 * len(s) * np.finfo(np.float64).eps * float(np.max(np.abs(G).sum(axis=1)))
    kept = values > noise
    values, vectors = values[kept], centered(vectors[:, kept])
    d = differences(second, s) / root
    part = d
    for _ in range(3):  # orthogonal to the range, also after rounding
        part = part - vectors @ ((vectors.T @ (G @ part)) / values)
    square, rank = float(part @ G @ part), len(values)
    least, most = (float(values[0]) / divisor, float(values[-1]) / divisor) if rank else (1.0, 1.0)
    if square > CERTAIN * noise * float(part @ part):
        return RankDirection(root * part / square, rank, least, most, True)
    beta = np.zeros(len(s))
    for _ in range(3):
        rest = d - centered(G @ beta) / divisor
        beta = beta + divisor * (vectors @ ((vectors.T @ (G @ rest)) / values**2))
    return RankDirection(root * beta, rank, least, most, False)


def measured(K: np.ndarray, second: np.ndarray, s: np.ndarray, beta: np.ndarray, ridge: float, divisor: float) -> Facts:
    """Return the properties of the function with coefficients ``beta``."""
    F, side = K @ beta, second.astype(int)
    means = np.array([np.average(F[side == k], weights=s[side == k]) for k in (0, 1)])
    about = F - means[side]
    v = differences(second, s) - s * about / divisor - ridge * beta
    spread, distance = float(s @ about**2) / divisor, float(means[1] - means[0])
    within = spread + ridge * float(beta @ F)
    criterion = distance**2 / within if within > 0 else 0.0
    # Values have rounding errors of about n units of their terms, which enter the residual.
    unit, lengths = len(s) * np.finfo(np.float64).eps, np.sqrt(np.maximum(K.diagonal(), 0.0))
    size = np.abs(K) @ np.abs(beta)
    slip = float((s * size / divisor) @ lengths) * unit + np.sqrt(unit * float(np.abs(v) @ (np.abs(K) @ np.abs(v))))
    rest = (np.sqrt(max(float(v @ (K @ v)), 0.0)) + slip) ** 2
    return Facts(criterion, spread, float(means.sum()) / 2, float(rest))


def least_spread(facts: Facts, least: float, most: float, wanted: float) -> float:
    """Return the smallest relative variance of functions for which the gap is at most ``wanted`` times the criterion.

    Rounding errors of the equation matter least for functions with large variance. If almost no function has enough variance, only the
    smallest eigenvalue ``least`` can be stated.
    """
    enough = facts.rest / (0.2 * wanted) ** 2 / facts.spread if facts.spread > 0 else 0.0
    return enough if least < enough < most / 10 else least


def _centring(second: np.ndarray, root: np.ndarray):
    """Return the projection that removes class means, for rows multiplied by the square roots of their weights."""
    sides = np.column_stack([np.where(second == side, root, 0.0) for side in (False, True)])
    sides /= np.linalg.norm(sides, axis=0)
    return lambda v: v - sides @ (sides.T @ v)


def differences(second: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Return the coefficients of the difference of the class means."""
    return np.where(second, s / s[second].sum(), -s / s[~second].sum())
