r"""Gap of the last layer of a network, which is a linear model of the last hidden units.

With the features :math:`h_i` of the last hidden layer held fixed and :math:`f_i = W^\top h_i + b`,

.. math:: P(W, b) = \sum_i s_i \varphi_i(f_i) + \tfrac{\alpha}{2} \|W\|^2 .

Links that share a weight are equivalent to one link from the sum of their features (theory: ``network-stationarity``).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, logsumexp, softmax, xlogy

from surefit.checks.enclosure import gamma
from surefit.checks.linear.columns import gaps
from surefit.core.sample import Data


class LayerGap(NamedTuple):
    """Objective of the last layer and an upper bound on its suboptimality, both divided by the sum of weights."""

    gap: float
    objective: float
    rounding: float = 0.0  # of the gap
    objective_rounding: float = 0.0


class _Layer(NamedTuple):
    """The last layer in the form of a linear model's certificate."""

    problem: dict[str, Any]
    model: dict[str, np.ndarray]
    claims: tuple[()] = ()


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
    >>> from surefit.checks.networks.last_layer import output_layer_gap
    >>> H = Y = np.array([[-1.0], [1.0]])
    >>> at = lambda w: output_layer_gap(H, np.array([[w]]), np.zeros(1), None, Y, None, 1.0, "identity", "half_squares")
    >>> abs(at(2 / 3).gap) < 1e-15, round(2 * at(1 / 2).objective, 6), round(2 * at(1 / 2).gap, 6)  # 1/8; the distance is 1/24
    (True, 0.375, 0.125)
    """
    Y = np.asarray(Y, dtype=np.float64)
    s = np.ones(len(Y)) if weights is None else np.asarray(weights, dtype=np.float64)
    total = math.fsum(s)
    problem = _problem(loss, activation, Y.shape[1], alpha, total)
    if table is None:
        found = gaps(*_linear(problem, H, coef.T, intercept, Y, s))
    else:
        if activation == "softmax" or np.any(_outputs_of(table) > 1):
            raise ValueError("outputs that share weights are not separate problems")
        layers = (_summed(H, coef[:, k], table[:, k]) for k in range(Y.shape[1]))
        found = [
            gaps(*_linear(problem, A, w[None, :], intercept[k : k + 1], Y[:, k : k + 1], s))[0]
            for k, (A, w) in enumerate(layers)
        ]
    objective, spread = sum(g.objective for g in found), sum(g.spread for g in found)
    proved = alpha > 0 and all(math.isinf(g.box) for g in found)
    gap = min(sum(g.value for g in found), objective) if proved else objective
    # Features come from a forward pass; this is the change that another pass may cause, relative to the terms.
    terms = objective + float(s @ np.sum(np.abs(Y * (H @ coef + intercept)), axis=1)) / total
    moved = 4 * gamma(len(Y) + H.shape[1] + 64) * terms
    return LayerGap(gap, objective, spread + moved, sum(g.objective_spread for g in found) + moved)


def _problem(loss: str, activation: str, outputs: int, alpha: float, total: float) -> dict[str, Any]:
    """Return the linear model's problem, with losses divided by the sum of the weights."""
    names = {"softmax": "softmax", "logistic": "logistic", "exp": "poisson", "identity": "squared_error"}
    double = {"loss": "lp", "p": 2.0} if loss == "squared_error" else {}  # the full square, not half of it
    penalty = {"l1": 0.0, "l2": alpha / total, "factors": None}
    classes = [float(k) for k in range(outputs)] if activation == "softmax" else None
    own = {"loss": names[activation], "strength": 1 / total, "mean": False, "fit_intercept": True, "penalty": penalty}
    return {**own, **double, "classes": classes, "class_weights": [1.0] * outputs}


def _linear(problem: dict[str, Any], X: np.ndarray, W: np.ndarray, b: np.ndarray, Y: np.ndarray, s: np.ndarray) -> Any:
    if problem["loss"] == "softmax":
        Y = Y.argmax(axis=1).astype(np.float64)
    elif problem["loss"] == "logistic":
        Y = 2.0 * Y - 1.0
    model = {"coef_": np.ascontiguousarray(W), "intercept_": b}
    return _Layer(problem, model), Data(np.ascontiguousarray(X), Y, s, {}, None)


def _outputs_of(table: np.ndarray) -> np.ndarray:
    """Return the number of outputs to which each free weight is connected."""
    return np.bincount(np.concatenate([np.unique(column[column >= 0]) for column in table.T]))


def _summed(H: np.ndarray, w: np.ndarray, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return one summed feature and one weight per free weight of an output."""
    linked = np.flatnonzero(places >= 0)
    _, first, number = np.unique(places[linked], return_index=True, return_inverse=True)
    A = np.zeros((len(H), len(first)))
    np.add.at(A.T, number.ravel(), H[:, linked].T)
    return A, w[linked][first]


def losses(F: np.ndarray, Y: np.ndarray, activation: str, loss: str) -> np.ndarray:
    """Return the losses of scores, one per row and output (one per row for softmax)."""
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
    """Return the derivatives with respect to the free weights: sums over the links that share them."""
    if table is None:
        return matrix.ravel()
    linked = table >= 0
    return np.bincount(table[linked], weights=matrix[linked])


def free_squares(coef: np.ndarray, table: np.ndarray | None) -> float:
    """Return the sum of squares of the free weights; a shared weight counts once."""
    if table is None:
        return float(np.sum(coef**2))
    linked = table >= 0
    first = np.unique(table[linked], return_index=True)[1]
    return float(np.sum(coef[linked][first] ** 2))
