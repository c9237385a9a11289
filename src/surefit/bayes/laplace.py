"""Laplace's approximation of a density: mode, curvature and integral."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from surefit.core.errors import InvalidData


class LaplaceApproximation(NamedTuple):
    """A normal approximation of a density that need not be normalized."""

    mode: np.ndarray
    covariance: np.ndarray
    log_integral: float  # approximate logarithm of the density's integral
    score: float  # largest derivative at the mode, per standard deviation


def laplace_approximation(
    log_density: Callable[[np.ndarray], float],
    start,
    *,
    gradient: Callable | None = None,
    hessian: Callable | None = None,
) -> LaplaceApproximation:
    r"""Approximate a density near its mode by a normal density.

    .. math:: \ln \int e^{Q(\theta)} d\theta \approx Q(\tilde\theta) + \frac d2 \ln 2\pi - \frac12 \ln |\tilde H|, \qquad
              \tilde\theta = \operatorname*{argmax} Q, \quad \tilde H = -\nabla^2 Q(\tilde\theta)

    Guarantee: exact if Q is quadratic; for n observations the relative error of the integral is of the order 1/n. The
    mode is a local maximum found by a search from ``start``; nothing is claimed about other modes (theory:
    :ref:`laplace-approximation`).

    Parameters
    ----------
    log_density : callable
        The function Q; an additive constant also appears in ``log_integral``.
    start : array of shape (d,)
        Starting point of the search.
    gradient, hessian : callable or None, default=None
        Derivatives of Q; if not given, they are approximated by central differences.

    Examples
    --------
    >>> from surefit import laplace_approximation
    >>> found = laplace_approximation(lambda t: -0.5 * (t[0] - 3.0) ** 2 / 4.0, [0.0])
    >>> print(found.mode.round(6), found.covariance.round(6), round(found.log_integral, 6))
    [3.] [[4.]] 1.612086
    """
    start = np.atleast_1d(np.asarray(start, dtype=np.float64))

    def slope(t: np.ndarray) -> np.ndarray:
        return np.asarray(gradient(t), dtype=np.float64) if gradient is not None else _differences(log_density, t)

    found = minimize(
        lambda t: -float(log_density(t)), start, jac=lambda t: -slope(t), method="BFGS", options={"gtol": 1e-8}
    )
    mode = found.x
    for _ in range(20):  # Newton steps: quadratic convergence near the mode
        H = _curvature(mode, slope, hessian)
        step = np.linalg.lstsq(H, slope(mode), rcond=None)[0]
        if float(log_density(mode + step)) < float(log_density(mode)) or not np.any(step):
            break
        mode = mode + step
        if np.max(np.abs(step)) <= 1e-12 * (1 + np.max(np.abs(mode))):
            break
    H = _curvature(mode, slope, hessian)
    values = np.linalg.eigvalsh(H)
    if not np.all(np.isfinite(values)) or values[0] <= 0:
        raise InvalidData(
            "laplace_approximation: the search did not end at a maximum of the density (the Hessian is not "
            "negative definite); use another start, or a proper prior."
        )
    covariance = np.linalg.inv(H)
    log_integral = (
        float(log_density(mode)) + 0.5 * len(mode) * math.log(2 * math.pi) - 0.5 * float(np.sum(np.log(values)))
    )
    score = float(np.max(np.abs(slope(mode)) * np.sqrt(np.diag(covariance))))
    return LaplaceApproximation(mode, (covariance + covariance.T) / 2, log_integral, score)


def _curvature(t: np.ndarray, slope: Callable, hessian: Callable | None) -> np.ndarray:
    """Return the symmetrized negative Hessian."""
    if hessian is not None:
        H = -np.atleast_2d(np.asarray(hessian(t), dtype=np.float64))
    else:
        columns = []
        for j in range(len(t)):
            h = 1e-4 * (1 + abs(t[j]))
            move = np.zeros(len(t))
            move[j] = h
            columns.append(-(slope(t + move) - slope(t - move)) / (2 * h))
        H = np.stack(columns, axis=1)
    return (H + H.T) / 2


def _differences(function: Callable, t: np.ndarray) -> np.ndarray:
    found = np.empty(len(t))
    for j in range(len(t)):
        h = 1e-5 * (1 + abs(t[j]))
        move = np.zeros(len(t))
        move[j] = h
        found[j] = (float(function(t + move)) - float(function(t - move))) / (2 * h)
    return found
