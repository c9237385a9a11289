"""Lagrangian dual of kernel ridge regression in a ball, as a function of both multipliers."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from surefit.core.errors import InvalidData


class KernelRidgeDual(NamedTuple):
    """Best dual value for a given multiplier of the ball.

    Examples
    --------
    >>> from surefit import kernel_ridge_dual
    >>> kernel_ridge_dual([[1.0]], [1.0], 1.0)
    KernelRidgeDual(value=-0.25, multipliers=array([0.5]), derivative=-0.375, norm=0.5)
    """

    value: float  # max over mu of theta(lambda, mu)
    multipliers: np.ndarray  # the maximizing mu, which equals the residuals
    derivative: float  # of the value in lambda: |w(lambda)|^2 / 2 - radius^2 / 2
    norm: float  # |w(lambda)|


def kernel_ridge_dual(K, y, lam: float, mu=None, *, radius: float = 1.0):
    r"""Return the dual function of least squares in the ball :math:`\|w\| \le \rho`, or its maximum over :math:`\mu`.

    .. math:: \theta(\lambda, \mu) = \mu^\top y - \tfrac12 \|\mu\|^2 - \tfrac{1}{2\lambda} \mu^\top K \mu - \tfrac\lambda2 \rho^2

    Guarantee: :math:`\theta(\lambda, \mu) \le \tfrac12 \sum_i (y_i - f(x_i))^2` for every f in the ball and every :math:`\lambda > 0`
    (weak duality); the maximum over :math:`\mu` is at :math:`\mu = \lambda (\lambda I + K)^{-1} y` and has derivative
    :math:`\tfrac12 \|w(\lambda)\|^2 - \tfrac12 \rho^2` in :math:`\lambda`, whose root gives the constrained fit. At :math:`\lambda = 0` the
    dual is minus infinity unless :math:`K \mu = 0`.

    Parameters
    ----------
    K : array of shape (n, n)
        Kernel matrix.
    y : array of shape (n,)
        Targets.
    lam : float >= 0
        Multiplier of the ball.
    mu : array of shape (n,) or None, default=None
        Multipliers of the residuals; None maximizes over them.
    radius : float > 0, default=1.0
        :math:`\rho`.

    Returns
    -------
    float if ``mu`` is given, otherwise KernelRidgeDual

    Examples
    --------
    >>> from surefit import kernel_ridge_dual
    >>> best = kernel_ridge_dual([[2.0, 1.0], [1.0, 2.0]], [1.0, 0.0], 1.0, radius=0.21875**0.5)
    >>> best.multipliers, round(best.value, 6), round(best.derivative, 12)
    (array([ 0.375, -0.125]), 0.078125, 0.0)
    """
    K, y = np.asarray(K, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if K.shape != (len(y), len(y)) or not lam >= 0 or not radius > 0:
        raise InvalidData("kernel_ridge_dual: expected a square matrix K of the length of y, lam >= 0 and radius > 0.")
    if mu is not None:
        mu = np.asarray(mu, dtype=np.float64)
        free = float(mu @ y) - 0.5 * float(mu @ mu)
        if lam == 0:
            return free if np.allclose(K @ mu, 0.0, atol=1e-12 * (1 + np.abs(K).max())) else -math.inf
        return free - 0.5 * float(mu @ K @ mu) / lam - 0.5 * lam * radius**2
    if lam == 0:
        raise InvalidData("kernel_ridge_dual: lam must be > 0 to maximize over mu.")
    best = lam * np.linalg.solve(K + lam * np.eye(len(y)), y)
    square = float(best @ K @ best) / lam**2
    value = kernel_ridge_dual(K, y, lam, best, radius=radius)
    return KernelRidgeDual(float(value), best, 0.5 * square - 0.5 * radius**2, math.sqrt(max(square, 0.0)))
