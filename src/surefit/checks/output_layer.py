r"""The last layer of a network alone: a convex problem, with a dual lower bound.

With the features :math:`h_i` of the last hidden layer held fixed and :math:`f_i = W^\top h_i + b`,

.. math:: P(W, b) = \sum_i s_i \varphi_i(f_i) + \tfrac{\alpha}{2} \|W\|^2 .

Any :math:`q` in the domain with :math:`\sum_i s_i (y_i - q_i) = 0` proves :math:`\min P \ge - \sum_i s_i \varphi_i^*(q_i - y_i)
- \|H^\top s (y - q)\|^2 / (2\alpha)`. The model's own means, shifted and mixed until the equality holds, are such a point, and
so is :math:`(1 - c) y + c q` for every :math:`0 \le c \le 1`; :math:`c = 0` proves :math:`\min P \ge 0` (theory:
``network-stationarity``).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logsumexp, softmax, xlogy

SHIFTS = 6  # passes that move the biases towards the equality before it is repaired exactly


class LayerGap(NamedTuple):
    """Objective of the last layer and how far it can be above the smallest one, both divided by the sum of weights."""

    gap: float
    objective: float


def output_layer_gap(
    H: np.ndarray,
    coef: np.ndarray,
    intercept: np.ndarray,
    table: np.ndarray | None,
    Y: np.ndarray,
    weights: np.ndarray | None,
    alpha: float,
    activation: str,
    loss: str,
) -> LayerGap:
    """Bound ``P(W, b) - min P`` of the last layer given its features.

    Examples
    --------
    One feature, ridge: with y = h = (-1, 1), P = sum (y - w h)^2 / 2 + w^2 / 2 is smallest at w = 2/3, where P = 1/3:

    >>> import numpy as np
    >>> from surefit.checks.output_layer import output_layer_gap
    >>> H = Y = np.array([[-1.0], [1.0]])
    >>> at = lambda w: output_layer_gap(H, np.array([[w]]), np.zeros(1), None, Y, None, 1.0, "identity", "half_squares")
    >>> abs(at(2 / 3).gap) < 1e-15, round(2 * at(1 / 2).objective, 6), round(2 * at(1 / 2).gap, 6)  # 3/8 - 1/3 = 1/24
    (True, 0.375, 0.041667)
    """
    Y = np.asarray(Y, dtype=np.float64)
    s = np.ones((len(Y), 1)) if weights is None else np.asarray(weights, dtype=np.float64)[:, None]
    total = math.fsum(s.ravel())
    F = H @ coef + intercept
    primal = float(np.sum(s * losses(F, Y, activation, loss))) + 0.5 * alpha * free_squares(coef, table)
    dual = 0.0
    if alpha > 0:
        if activation == "identity":
            dual = _dual_of_squares(H, F, Y, s, table, alpha, 2.0 if loss == "squared_error" else 1.0)
        else:
            dual = _dual_of_means(H, F, Y, s, table, alpha, activation)
    return LayerGap(max(primal - max(dual, 0.0), 0.0) / total, primal / total)


def losses(F: np.ndarray, Y: np.ndarray, activation: str, loss: str) -> np.ndarray:
    """Return the losses of scores, one a row and output (one a row for softmax)."""
    if loss == "squared_error":
        found = {"softmax": lambda f: softmax(f, axis=1), "logistic": expit, "identity": lambda f: f}[activation](F)
        return (found - Y) ** 2
    if loss == "half_squares":
        return 0.5 * (F - Y) ** 2
    if loss == "poisson":
        return xlogy(Y, Y) - Y * F - Y + np.exp(F)
    if activation == "softmax":
        return (logsumexp(F, axis=1) - np.sum(Y * F, axis=1))[:, None]
    return np.logaddexp(0.0, F) - Y * F


def projected(matrix: np.ndarray, table: np.ndarray | None) -> np.ndarray:
    """Return the slopes of the free weights: sums of the slopes of the links that share them."""
    if table is None:
        return matrix.ravel()
    linked = table >= 0
    return np.bincount(table[linked], weights=matrix[linked])


def free_squares(coef: np.ndarray, table: np.ndarray | None) -> float:
    """Return the sum of squares of the free weights: a shared weight counts once."""
    if table is None:
        return float(np.sum(coef**2))
    linked = table >= 0
    first = np.unique(table[linked], return_index=True)[1]
    return float(np.sum(coef[linked][first] ** 2))


def _dual_of_squares(H, F, Y, s, table, alpha, scale) -> float:
    """Return the best dual value on the ray of the centred residual; scale * (f - y)^2 / 2."""
    r = F - Y
    r = r - np.sum(s * r, axis=0) / np.sum(s)
    v = projected(H.T @ (s * r), table) * scale
    curve = scale * float(np.sum(s * r * r)) + float(v @ v) / alpha
    tilt = -scale * float(np.sum(s * r * Y))
    return 0.5 * tilt * tilt / curve if curve > 0 else 0.0


def _dual_of_means(H, F, Y, s, table, alpha, activation) -> float:
    q = {"softmax": _softmax_means, "logistic": _logistic_means, "exp": _poisson_means}[activation](F, Y, s)
    v = projected(H.T @ (s * (Y - q)), table)
    price = float(v @ v) / (2 * alpha)
    mass = float(np.sum(s * np.maximum(Y - q, 0.0)))

    def value(c: float) -> float:
        return -float(np.sum(s * _conjugate(Y + c * (q - Y), Y, activation))) - c * c * price

    c = 1.0
    for _ in range(8):  # where the slope of the entropy, mass * ln(1/c), meets that of the price
        c = min(1.0, mass * (1.0 - math.log(c)) / (2 * price)) if price > 0 else 1.0
        c = max(c, 1e-300)
    return max(value(x) for x in {c / 3, c, min(3 * c, 1.0), 1.0})


def _conjugate(q, Y, activation) -> np.ndarray:
    if activation == "softmax":
        return xlogy(q, q)
    if activation == "exp":
        return xlogy(q, q) - q - xlogy(Y, Y) + Y
    return xlogy(q, q) + xlogy(1 - q, 1 - q)


def _softmax_means(F, Y, s) -> np.ndarray:
    """Class probabilities whose weighted sums are those of Y: shifted by proportional fitting, then mixed."""
    wanted = np.sum(s * Y, axis=0)
    shift = np.where(wanted > 0, 0.0, -np.inf)
    for _ in range(SHIFTS):
        Q = softmax(F + shift, axis=1)
        found = np.sum(s * Q, axis=0)
        shift = shift + np.where(wanted > 0, np.log(np.maximum(wanted, 1e-300) / np.maximum(found, 1e-300)), 0.0)
    Q = softmax(F + shift, axis=1)
    found = np.sum(s * Q, axis=0)
    over = np.divide(found - wanted, found, out=np.zeros(len(found)), where=found > 0)
    share = float(np.max(over, initial=0.0))
    if share <= 0:
        return Q
    mix = np.maximum(wanted - (1 - share) * found, 0.0) / (share * np.sum(s))
    return (1 - share) * Q + share * mix


def _logistic_means(F, Y, s) -> np.ndarray:
    """Probabilities, column by column: the bias is moved by Newton steps, then the heavier class is scaled down."""
    shift = np.zeros(F.shape[1])
    for _ in range(SHIFTS):
        q = expit(F + shift)
        slope, curve = np.sum(s * (q - Y), axis=0), np.sum(s * q * (1 - q), axis=0)
        step = np.divide(slope, curve, out=np.zeros(len(curve)), where=curve > 0)
        shift = shift - np.clip(step, -4.0, 4.0)
    q = expit(F + shift)
    up, down = np.sum(s * Y * (1 - q), axis=0), np.sum(s * (1 - Y) * q, axis=0)
    small = np.minimum(up, down)
    keep_up = np.divide(small, up, out=np.zeros(len(up)), where=up > 0)
    keep_down = np.divide(small, down, out=np.zeros(len(down)), where=down > 0)
    return np.where(Y > 0.5, 1 - keep_up * (1 - q), keep_down * q)


def _poisson_means(F, Y, s) -> np.ndarray:
    q = np.exp(F)
    return q * (np.sum(s * Y, axis=0) / np.sum(s * q, axis=0))
